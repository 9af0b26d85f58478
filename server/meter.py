"""How busy the engine is: tokens per second and memory, measured while requests run."""

import time
from contextlib import suppress

import psutil

from server.face import Load
from server.observe import Value
from server.requests import Requests

MB = 1024 * 1024


class Meter:
    def __init__(self) -> None:
        self.load: Value[Load] = Value(Load())
        self._measured = (time.monotonic(), 0)

    def measure(self, requests: Requests) -> None:
        """Called while requests run, about twice a second, and once after the last."""
        then, before = self._measured
        now, tokens = time.monotonic(), requests.tokens
        self._measured = (now, tokens)
        shown = requests.running.get()
        waiting = sum(one.phase == "waiting" for one in shown)
        speed = (tokens - before) / max(now - then, 0.001) if shown else 0.0
        self.load.set(Load(len(shown) - waiting, waiting, round(speed, 1), _memory_mb()))


def _memory_mb() -> float:
    """What this process and its workers hold."""
    own = psutil.Process()
    total = own.memory_info().rss
    for child in own.children(recursive=True):
        with suppress(psutil.Error):
            total += child.memory_info().rss
    return round(total / MB, 1)
