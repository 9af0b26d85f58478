"""A rail around a plugin's code: no network, no programs, no files but its own.

An audit hook sees what Python does, not what native code does: it stops mistakes and the plain
ways to do harm. It is no wall, and the person who enables such a plugin is told so.
"""

import os
import sys
from collections.abc import Iterable
from typing import Any

DENIED = (
    "socket.", "subprocess.", "ctypes.", "os.system", "os.exec", "os.posix_spawn", "os.spawn",
    "os.fork", "os.startfile", "pty.spawn", "winreg.", "webbrowser.", "os.kill", "signal.pthread",
    "os.chroot", "os.unshare", "mmap.", "sys.addaudithook",
)  # fmt: skip
CHANGING = frozenset({
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.mkfifo", "os.mknod",
    "shutil.copyfile", "shutil.move", "shutil.rmtree", "shutil.unpack_archive",
})  # fmt: skip
LISTING = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "os.chdir"})
SYSTEM_FILES = ("/usr/share/zoneinfo", "/etc/localtime", "/dev/null", "/dev/urandom")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Forbidden(PermissionError):
    pass


def install(writable: Iterable[str], readable: Iterable[str]) -> None:
    """From here on, for the rest of this process."""
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
            if given[0] != ":memory:":
                _check_path(given[0], may_write, event)
        elif event.startswith(DENIED):
            raise Forbidden(f"A plugin may not do this: {event}.")

    sys.addaudithook(check)


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
    """Where Python and its packages lie."""
    found = [sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *sys.path]  # noqa: PTH120
    return [path for path in (*found, getattr(sys, "_MEIPASS", "")) if path]


def _real(path: str) -> str:
    return os.path.realpath(path)
