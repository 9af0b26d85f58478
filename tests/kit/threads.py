"""Conversation threads that are not stored, and end with the program."""

import time
from collections.abc import Callable
from pathlib import Path

from server.conversation.threads import BOUNDS, Bounds, ThreadFiles, Threads


def make_threads(bounds: Bounds = BOUNDS, clock: Callable[[], float] = time.time) -> Threads:
    return Threads(ThreadFiles(Path("no such folder"), lambda: False), bounds, clock)
