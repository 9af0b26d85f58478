"""Limits a plugin's code: no network, no programs, no files but its own.

An audit hook sees what Python does, not what native code does, and code in its process can undo
it. It only names what is not allowed. The real walls are the system's, in
`server.plugins.walls.command`. Without walls, the person who enables such a plugin is warned.
"""

import os
import re
import sqlite3
import sqlite3.dbapi2
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

DENIED = (
    "socket.", "subprocess.", "ctypes.", "os.system", "os.exec", "os.posix_spawn", "os.spawn",
    "os.fork", "os.startfile", "pty.spawn", "winreg.", "webbrowser.", "os.kill", "signal.pthread",
    "os.chroot", "os.unshare", "mmap.", "sys.addaudithook",
    "sqlite3.enable_load_extension", "sqlite3.load_extension",
)  # fmt: skip
CHANGING = frozenset({
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.mkfifo", "os.mknod",
    "shutil.copyfile", "shutil.move", "shutil.rmtree", "shutil.unpack_archive",
})  # fmt: skip
LISTING = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "os.chdir"})
SYSTEM_FILES = ("/usr/share/zoneinfo", "/etc/localtime", "/dev/null", "/dev/urandom")
ADDRESS = re.compile(r"file:(?://(?:localhost)?(?=/))?([^?#]*)", re.DOTALL)
"""A database's address, as SQLite reads it."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Forbidden(PermissionError):
    pass


def install(writable: Iterable[str], readable: Iterable[str]) -> None:
    """Guards this process for the rest of its life."""
    may_write = tuple(_real(path) for path in writable)
    may_read = (*may_write, *(_real(path) for path in (*readable, *_own(), *SYSTEM_FILES)))

    def check(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = given
            _check_path(path, may_write if _writes(mode, flags) else may_read, "open")
        elif event in CHANGING:
            for path in given[:2]:
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
    """Gives every connection an authorizer. The result shows whether one is being made."""
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
    """Lets a connection do everything except open files that are not the plugin's."""

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
