"""How busy the engine is: tokens per second and memory, measured while requests run."""

import math
import time
from contextlib import suppress

import psutil

from server.core.running_requests import Requests
from server.face.core import Load
from server.observe import Value

MB = 1024 * 1024
LOOK_EVERY_S = 2.0


class Meter:
    def __init__(self) -> None:
        self.load: Value[Load] = Value(Load())
        self._measured = (time.monotonic(), 0)
        self._memory = Memory()

    def measure(self, requests: Requests) -> None:
        """Called while requests run, about twice a second, and once after the last."""
        then, before = self._measured
        now, tokens = time.monotonic(), requests.tokens
        self._measured = (now, tokens)
        shown = requests.running.get()
        waiting = sum(one.phase == "waiting" for one in shown)
        speed = (tokens - before) / max(now - then, 0.001) if shown else 0.0
        memory_mb = self._memory.look(now)
        self.load.set(Load(len(shown) - waiting, waiting, round(speed, 1), memory_mb))

    def workers_changed(self) -> None:
        self._memory.forget_children()


class Memory:
    """What this process and its workers hold.

    Finding the workers reads about every process of the machine: only done when they changed.
    """

    def __init__(self) -> None:
        self._own = psutil.Process()
        self._children: list[psutil.Process] | None = None
        self._looked_at = -math.inf
        self._found_mb = 0.0

    def look(self, now: float) -> float:
        if now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            if self._children is None:
                self._children = self._own.children(recursive=True)
            total = self._own.memory_info().rss
            for child in self._children:
                with suppress(psutil.Error):
                    total += child.memory_info().rss
            self._found_mb = round(total / MB, 1)
        return self._found_mb

    def forget_children(self) -> None:
        self._children = None
        self._looked_at = -math.inf
