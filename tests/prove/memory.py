"""Measures the peak memory of a process while something is done to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from tests.prove.again import again_and_again

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
    """Samples the memory until the block ends, so that memory that is freed again counts too."""
    process = psutil.Process(pid)
    now_mb = _rss_mb(process)
    peak = Peak(now_mb, now_mb)

    def look() -> None:
        peak.most_mb = max(peak.most_mb, _rss_mb(process))

    with again_and_again(look, EVERY_S):
        yield peak


def _rss_mb(process: psutil.Process) -> float:
    return float(process.memory_info().rss / 2**20)
