"""How much memory a process takes at most while something is done to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

EVERY_S = 0.01


@dataclass
class Peak:
    before_mb: float
    most_mb: float

    @property
    def grown_mb(self) -> float:
        return self.most_mb - self.before_mb


@contextmanager
def watched(pid: int) -> Iterator[Peak]:
    """Looked at all the while: what is freed again in the end counts too."""
    process, done = psutil.Process(pid), threading.Event()
    now_mb = _rss_mb(process)
    peak = Peak(now_mb, now_mb)

    def watch() -> None:
        while not done.wait(EVERY_S):
            peak.most_mb = max(peak.most_mb, _rss_mb(process))

    watcher = threading.Thread(target=watch, name="memory", daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def _rss_mb(process: psutil.Process) -> float:
    return float(process.memory_info().rss / 2**20)
