"""The roles of this program: starts a process in another role, and ends it with its parent.

On Linux the kernel sends SIGKILL when the thread that started the child ends. On all systems a
child watches a pipe that its parent holds. The system closes it when the parent ends, however that
happens.
"""

import asyncio
import ctypes
import os
import re
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

import psutil

from server.system import backends

Role = Literal["worker", "render", "tools", "inside", "sheets", "serve", "window"]

PARENT = "MOAT_PARENT_PID"
"""The variable that tells a child its parent's process id; `die_with_parent` reads it."""
GIVEN_SECRET = "MOAT_SECRET_"
"""Variables with this prefix hold secrets for the server; `server.system.keychain` reads them."""

WORKER_TUNING: Mapping[str, str] = {
    "GOMP_SPINCOUNT": "20000",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""Variables of native libraries that a worker gets unless the user has set them.

Threads that spin for long at a barrier starve the thread they wait for if a core is busy elsewhere.
Large buffers in huge pages need fewer address look-ups.
"""

_MODULES: Mapping[Role, tuple[str, ...]] = {
    "worker": ("server.engine.worker",),
    "render": ("server.engine.worker.prompt.render",),
    "tools": ("server.plugins.python.child",),
    "inside": ("server.plugins.walls.inside",),
    "sheets": ("server.data.old_workbook",),
    "serve": ("app", "serve"),
    "window": ("app",),
}
_PROGRAM_FOLDER = Path(__file__).resolve().parents[2]
_SECRET_ENDINGS = ("KEY", "TOKEN", "PASSWORD", "PASSWD", "SECRET", "CREDENTIALS")
_FOR_WORKER = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP|USER|LOGNAME|USERPROFILE|APPDATA|LOCALAPPDATA"
    r"|PROGRAMDATA|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|NUMBER_OF_PROCESSORS"
    r"|PROCESSOR_ARCHITECTURE|GLIBC_TUNABLES|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONUTF8|PYTHONDONTWRITEBYTECODE"
    r"|(MOAT|LC|XDG|OMP|GOMP|KMP|GGML|LLAMA|CUDA|NVIDIA|HIP|ROCR|HSA|VK|DYLD)_.*"
)


def command(role: Role, *arguments: str) -> list[str]:
    """Returns the command line that starts a role, from a frozen program or with Python."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--role", role, *arguments]
    modules = _MODULES[role]
    if role == "window" and (_PROGRAM_FOLDER / "__init__.py").is_file():
        # Installed by pip: the login entry knows that package, not the ones inside.
        modules = (_PROGRAM_FOLDER.name,)
    # -P: a folder named "server" in the user's working directory must not be run.
    return [sys.executable, "-P", "-m", *modules, *arguments]


def environment(role: Role) -> dict[str, str]:
    """Returns a child's environment. Only the server gets secrets; a worker gets little else."""
    kept = {name: text for name, text in os.environ.items() if not _is_secret_from(role, name)}
    if role == "worker":
        kept = {name: text for name, text in kept.items() if _FOR_WORKER.fullmatch(name.upper())}
        kept = {**WORKER_TUNING, **kept}
    if not getattr(sys, "frozen", False):
        folders = (str(_PROGRAM_FOLDER), os.environ.get(backends.ENGINE_FOLDER, ""))
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    kept[PARENT] = str(os.getpid())
    return kept


def _is_secret_from(role: Role, name: str) -> bool:
    if name.upper().startswith(GIVEN_SECRET):
        return role != "serve"
    return name.upper().endswith(_SECRET_ENDINGS)


_PR_SET_PDEATHSIG = 1
_ORPHANED = 1


class HasDescriptor(Protocol):
    def fileno(self) -> int: ...


def die_with_parent() -> None:
    """Ends this child as soon as its parent has ended. Call it first in a child process."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before that call. Then no signal will come.
    parent = int(os.environ.get(PARENT, 0))
    if parent and not (psutil.pid_exists(parent) or os.getppid() == parent):
        os._exit(_ORPHANED)


async def parent_gone(stream: HasDescriptor) -> None:
    """Returns when the pipe from the parent (a child's stdin) has closed. Ignores its content."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def watch(descriptor: int) -> None:
        while _read(descriptor):
            continue
        if not loop.is_closed():
            loop.call_soon_threadsafe(ended.set)

    # A thread, because not every event loop can read a pipe it did not make. A daemon, because
    # nothing can interrupt its read.
    threading.Thread(target=watch, args=(stream.fileno(),), name="lifeline", daemon=True).start()
    await ended.wait()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def processor_s(pid: int) -> float:
    """Returns the processor seconds that a process has used, all threads together."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
