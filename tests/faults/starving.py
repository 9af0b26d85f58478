"""Lets the kernel kill a process for memory. Needs the right to make a control group."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIRST = Path("/sys/fs/cgroup/memory")
"""The memory groups of cgroup version 1. Version 2 has them at its root."""
SECOND = Path("/sys/fs/cgroup")
ROOM_BYTES = 8 * 1024 * 1024


@contextmanager
def starving(pid: int) -> Iterator[None]:
    """Limits the process to a few megabytes, until the block ends."""
    root, limit = _groups()
    group = root / f"moat-starving-{pid}"
    group.mkdir()
    try:
        (group / limit).write_text(str(ROOM_BYTES))
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for left in (group / "cgroup.procs").read_text().split():
            (root / "cgroup.procs").write_text(left)
        group.rmdir()


def can_starve() -> bool:
    root, _ = _groups()
    has_memory = root == FIRST or "memory" in _controllers(root)
    return has_memory and os.access(root, os.W_OK)


def _groups() -> tuple[Path, str]:
    return (FIRST, "memory.limit_in_bytes") if FIRST.is_dir() else (SECOND, "memory.max")


def _controllers(root: Path) -> list[str]:
    """Returns the resources that groups below the root may limit."""
    handed_down = root / "cgroup.subtree_control"
    return handed_down.read_text().split() if handed_down.is_file() else []
