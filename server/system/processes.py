"""The roles of this one program: how another role is started, and what it may inherit."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Role = Literal["worker", "render", "tools", "inside", "sheets", "serve", "window"]

PARENT = "MOAT_PARENT_PID"
"""Tells a child whose it is; `server.system.lifeline` reads it."""
GIVEN_SECRET = "MOAT_SECRET_"
"""A variable that begins so holds a secret for the server; `server.system.keychain` reads it."""

WORKER_TUNING: Mapping[str, str] = {
    "GOMP_SPINCOUNT": "20000",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""Variables of the native libraries, set for a worker unless the user set them.

Threads that spin long at a barrier starve the thread they wait for when a core is busy elsewhere.
Large buffers in huge pages cost fewer look-ups of addresses.
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
    if getattr(sys, "frozen", False):
        return [sys.executable, "--role", role, *arguments]
    # -P: a folder named "server" where the user happens to stand must not be run.
    return [sys.executable, "-P", "-m", *_MODULES[role], *arguments]


def environment(role: Role) -> dict[str, str]:
    """What a child sees of our environment: no secrets but the server's, little for a worker."""
    kept = {name: text for name, text in os.environ.items() if not _is_secret_from(role, name)}
    if role == "worker":
        kept = {name: text for name, text in kept.items() if _FOR_WORKER.fullmatch(name.upper())}
        kept = {**WORKER_TUNING, **kept}
    if not getattr(sys, "frozen", False):
        kept["PYTHONPATH"] = str(_PROGRAM_FOLDER)
    kept[PARENT] = str(os.getpid())
    return kept


def _is_secret_from(role: Role, name: str) -> bool:
    if name.upper().startswith(GIVEN_SECRET):
        return role != "serve"
    return name.upper().endswith(_SECRET_ENDINGS)
