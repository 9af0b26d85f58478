"""No child outlives its parent, `kill -9` included.

Linux: the kernel sends SIGKILL when the thread that started us ends. Everywhere: a child watches a
pipe its parent holds, which the system closes when the parent ends, however it ends.
"""

import asyncio
import ctypes
import os
import signal
import sys
import threading
from typing import Protocol

import psutil

from server.system.processes import PARENT

_PR_SET_PDEATHSIG = 1
_ORPHANED = 1


class HasDescriptor(Protocol):
    def fileno(self) -> int: ...


def die_with_parent() -> None:
    """Call first thing in a child: ends it now or later, as soon as its parent has ended."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before that call; then no signal will come.
    parent = os.environ.get(PARENT)
    if parent is not None and not _lives(int(parent)):
        os._exit(_ORPHANED)


async def parent_gone(stream: HasDescriptor) -> None:
    """Returns when the pipe from the parent (a child's stdin) has ended, whatever it carried."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def watch(descriptor: int) -> None:
        while _read(descriptor):
            continue
        if not loop.is_closed():
            loop.call_soon_threadsafe(ended.set)

    # A thread, because not every event loop can read a pipe it did not make; a daemon, because
    # nothing can interrupt its read.
    threading.Thread(target=watch, args=(stream.fileno(),), name="lifeline", daemon=True).start()
    await ended.wait()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def _lives(pid: int) -> bool:
    return psutil.pid_exists(pid) or os.getppid() == pid
