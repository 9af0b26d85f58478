"""A lock on an open file, which the system lifts when its holder dies."""

import sys


def try_lock(file: int) -> None:
    """Raises OSError where another process has it."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
