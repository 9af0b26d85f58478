"""The child process that runs a plugin's own tools, one call at a time.

A frame on its private pipe is four bytes of length, then JSON. What the code prints goes to the
plugin's log.

The code has no network, no programs, and no files but its own. The audit hook here only names what
is not allowed: it sees what Python does, not what native code does, and code in this process can
undo it. The real protection is the system's sandbox, in `server.plugins.walls.walls`. On a system
without it, the person who enables such a plugin is warned.
"""

import asyncio
import contextlib
import importlib.util
import inspect
import json
import os
import re
import sqlite3
import sqlite3.dbapi2
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO
from urllib.parse import unquote_to_bytes

from server.plugins.walls import inside
from server.system.processes import die_with_parent

DENIED = (
    "socket.", "subprocess.", "ctypes.", "os.system", "os.exec", "os.posix_spawn", "os.spawn",
    "os.fork", "os.startfile", "pty.spawn", "winreg.", "webbrowser.", "os.kill", "signal.pthread",
    "os.chroot", "os.unshare", "mmap.", "sys.addaudithook",
    "sqlite3.enable_load_extension", "sqlite3.load_extension",
)  # fmt: skip
"""The beginnings of the audit events that are always refused."""
CHANGING = frozenset({
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.mkfifo", "os.mknod",
    "shutil.copyfile", "shutil.move", "shutil.rmtree", "shutil.unpack_archive",
})  # fmt: skip
"""The audit events that change files. Their paths must be writable."""
ONE_PATH = frozenset({"os.utime", "os.setxattr", "os.removexattr"})
"""Changes whose second argument is not a path and not a number."""
LISTING = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "os.chdir"})
"""The audit events that list folders. Their paths must be readable."""
SYSTEM_FILES = ("/usr/share/zoneinfo", "/etc/localtime", "/dev/null", "/dev/urandom")
ADDRESS = re.compile(r"file:(?://(?:localhost)?(?=/))?([^?#]*)", re.DOTALL)
"""The address of a database, as SQLite reads it."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Forbidden(PermissionError):
    pass


def install(writable: Iterable[str], readable: Iterable[str]) -> None:
    """Installs the audit hook. It cannot be removed."""
    may_write = tuple(_real(path) for path in writable)
    may_read = (*may_write, *(_real(path) for path in (*readable, *_own(), *SYSTEM_FILES)))

    def check(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = given
            _check_path(path, may_write if _writes(mode, flags) else may_read, "open")
        elif event in CHANGING:
            for path in given[: 1 if event in ONE_PATH else 2]:
                _check_path(path, may_write, event)
        elif event in LISTING:
            _check_path(given[0] if given else ".", may_read, event)
        elif event == "sqlite3.connect":
            if not getattr(connecting, "is_guarded", False):
                raise Forbidden("A plugin may not do this: a connection not by sqlite3.connect.")
            _check_database(given[0], may_write, event)
        elif event.startswith(DENIED):
            raise Forbidden(f"A plugin may not do this: {event}.")

    connecting = _guard_connections(may_write)
    sys.addaudithook(check)


def _guard_connections(roots: tuple[str, ...]) -> threading.local:
    """Wraps sqlite3.connect so that each connection gets an authorizer.

    The returned flag is set in a thread while a wrapped connection is made.
    """
    connecting, plain, authorize = threading.local(), sqlite3.connect, _attaching(roots)

    def connect(*given: Any, **more: Any) -> Any:
        connecting.is_guarded = True
        try:
            made = plain(*given, **more)
        finally:
            connecting.is_guarded = False
        sqlite3.Connection.set_authorizer(made, authorize)
        return made

    for module in (sqlite3, sqlite3.dbapi2):
        vars(module)["connect"] = connect
    return connecting


def _check_database(name: Any, roots: tuple[str, ...], event: str) -> None:
    path = os.fsdecode(name)
    if address := ADDRESS.match(path):
        path = os.fsdecode(unquote_to_bytes(os.fsencode(address[1])))
        if os.name == "nt" and re.match("/[A-Za-z]:", path):
            path = path[1:]
    if path not in ("", ":memory:"):
        _check_path(path, roots, event)


def _attaching(roots: tuple[str, ...]) -> Callable[..., int]:
    """Returns an authorizer that refuses only ATTACH of files outside the plugin's folders."""

    def authorize(action: int, name: str | None, *_rest: str | None) -> int:
        if action != sqlite3.SQLITE_ATTACH:
            return sqlite3.SQLITE_OK
        try:
            # A name that is known only when the statement runs cannot be checked.
            _check_database(name if name is not None else os.sep, roots, "ATTACH")
        except (Forbidden, ValueError):
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    return authorize


def _check_path(path: Any, roots: tuple[str, ...], event: str) -> None:
    if path is None or isinstance(path, int):
        return
    real = _real(os.fsdecode(path))
    if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
        raise Forbidden(f"A plugin may not do this: {event} {real}.")


def _writes(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool((flags or 0) & WRITING)


def _own() -> list[str]:
    """Returns the folders of Python and its packages."""
    found = [sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *sys.path]  # noqa: PTH120
    return [path for path in (*found, getattr(sys, "_MEIPASS", "")) if path]


def _real(path: str) -> str:
    return os.path.realpath(path)


try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEMORY_BYTES = 1024 * 1024 * 1024
"""The most memory of the child, in bytes. `LibHost` also watches what it uses."""
FILE_BYTES = 64 * 1024 * 1024
LENGTH = struct.Struct(">I")
LONGEST_FRAME = 16 * 1024 * 1024
SCHEMA_PLACES = ("params_schema", "params", "Params", "_params", "params_model")
"""The attributes of a tool that may hold the schema of its arguments."""
Json = dict[str, Any]


class Wire:
    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._job = ""
        """The id of the last request. Every frame that is sent carries it."""

    def receive(self) -> Json | None:
        head = self._incoming.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        frame: Json = json.loads(self._incoming.read(LENGTH.unpack(head)[0]))
        self._job = frame.get("id", self._job)
        return frame

    def send(self, frame: Json) -> None:
        # A text with half a surrogate pair, such as an odd file name, must not end this process.
        text = json.dumps({**frame, "id": self._job}, ensure_ascii=False)
        raw = text.encode("utf-8", "replace")
        if len(raw) > LONGEST_FRAME:
            failed = {"failed": "The tool's result is too large.", "id": self._job}
            raw = json.dumps(failed).encode()
        self._outgoing.write(LENGTH.pack(len(raw)) + raw)
        self._outgoing.flush()


class Host:
    """Moat, as a tool sees it: `self.host.http(...)` calls a declared host."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def http(self, method: str, url: str, **options: Any) -> Json:
        """Sends GET or HEAD; the only option is `headers`. Returns {"status": …, "text": …}."""
        self._wire.send({"ask": "http", "method": method, "url": url, **options})
        answer = self._wire.receive()
        if answer is None:
            raise ConnectionError("Moat is gone.")
        if "failed" in answer:
            raise ConnectionError(answer["failed"])
        return answer


def main() -> None:
    die_with_parent()
    wire = _private_wire()
    loop = asyncio.new_event_loop()
    opening = wire.receive()
    if opening is None:
        return
    _limit()
    sys.dont_write_bytecode = True
    os.chdir(opening["data"])
    if sys.platform == "linux":
        inside.forbid_programs()
    install([opening["data"]], [opening["folder"], *opening["readable"]])
    try:
        tools = _tools(Path(opening["folder"]))
        wire.send({"tools": [_describe(name, tool) for name, tool in tools.items()]})
    except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything
        traceback.print_exc()
        wire.send({"failed": f"{type(error).__name__}: {error}"})
        return
    host = Host(wire)
    while (job := wire.receive()) is not None:
        wire.send(_answer(tools, job, host, loop))


def _private_wire() -> Wire:
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return Wire(incoming, outgoing)


def _limit() -> None:
    if sys.platform != "win32":
        limits = {resource.RLIMIT_AS: MEMORY_BYTES, resource.RLIMIT_FSIZE: FILE_BYTES}
        for kind, most in limits.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(kind, (most, most))


def _tools(folder: Path) -> dict[str, Any]:
    modules = [_import("lib", folder / "lib" / "__init__.py", package=True)]
    if not (folder / "lib" / "__init__.py").is_file():
        paths = sorted((folder / "lib").glob("*.py"))
        modules = [_import(f"lib.{path.stem}", path) for path in paths]
    found: dict[str, Any] = {}
    for module in modules:
        if module is None:
            continue
        listed = getattr(module, "exported", None) or getattr(module, "_exported", None)
        for tool in listed or vars(module).values():
            name = getattr(tool, "name", None) or getattr(tool, "_name", None)
            if inspect.isclass(tool) and isinstance(name, str) and hasattr(tool, "call"):
                found[name] = tool
    return found


def _import(name: str, path: Path, *, package: bool = False) -> ModuleType | None:
    if not path.is_file():
        return None
    places = [str(path.parent)] if package else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _describe(name: str, tool: Any) -> Json:
    description = getattr(tool, "description", None) or getattr(tool, "_description", None) or ""
    return {"name": name, "description": str(description), "schema": _schema(tool)}


def _schema(tool: Any) -> Json:
    for place in SCHEMA_PLACES:
        found = getattr(tool, place, None)
        if found is None:
            found = getattr(tool, "__annotations__", {}).get(place)
        if isinstance(found, dict):
            return found
        made = getattr(found, "model_json_schema", None)
        if made is not None:
            schema: Json = made()
            return schema
    return {"type": "object", "properties": {}}


def _answer(tools: dict[str, Any], job: Json, host: Host, loop: asyncio.AbstractEventLoop) -> Json:
    try:
        tool = tools[job["tool"]]
        takes = inspect.signature(tool).parameters
        made = tool(job["arguments"]) if takes else tool()
        made.host = host
        found = made.call({**job["surroundings"], **job["arguments"]})
        if inspect.isawaitable(found):
            found = loop.run_until_complete(found)
        if not isinstance(found, dict) or "output" not in found:
            found = {"output": found, "message": ""}
        return {"result": json.loads(json.dumps(found))}
    except MemoryError:
        return {"failed": "The tool took too much memory."}
    except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


if __name__ == "__main__":
    main()
