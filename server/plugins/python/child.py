"""The child process that runs a plugin's own tools: started once, then one call at a time.

Frames on its private pipe have four bytes of length, then JSON. What the code prints is logged.
"""

import asyncio
import contextlib
import importlib.util
import inspect
import json
import os
import struct
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from server.plugins.python import guard
from server.plugins.walls import inside
from server.system.processes import die_with_parent

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEMORY_BYTES = 1024 * 1024 * 1024
FILE_BYTES = 64 * 1024 * 1024
LENGTH = struct.Struct(">I")
LONGEST_FRAME = 16 * 1024 * 1024
SCHEMA_PLACES = ("params_schema", "params", "Params", "_params", "params_model")
Json = dict[str, Any]


class Wire:
    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._job = ""
        """The id of the last request. Every frame names the request it belongs to."""

    def receive(self) -> Json | None:
        head = self._incoming.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        frame: Json = json.loads(self._incoming.read(LENGTH.unpack(head)[0]))
        self._job = frame.get("id", self._job)
        return frame

    def send(self, frame: Json) -> None:
        raw = json.dumps({**frame, "id": self._job}, ensure_ascii=False).encode()
        if len(raw) > LONGEST_FRAME:
            failed = {"failed": "The tool's result is too large.", "id": self._job}
            raw = json.dumps(failed).encode()
        self._outgoing.write(LENGTH.pack(len(raw)) + raw)
        self._outgoing.flush()


class Host:
    """What a tool sees of Moat: `self.host.http(...)` calls a declared host."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def http(self, method: str, url: str, **options: Any) -> Json:
        """Returns {"status": …, "text": …}. Options: headers, json."""
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
    guard.install([opening["data"]], [opening["folder"], *opening["readable"]])
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
