"""Measures how long a Qt event loop was blocked, by the beats of a timer.

On a busy machine a gap is longer than its work: other programs had the core meanwhile. So the
processor time that the loop's thread took in a gap is measured as well.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt, QTimer

BEAT_MS = 10


class Beats:
    """The gaps between beats, minus the beat itself, in milliseconds."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self.most_computed_ms = 0.0
        """The most processor time that the thread took between two beats."""
        self._last, self._computed = time.perf_counter(), time.thread_time()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    @contextmanager
    def counted(self) -> Iterator[None]:
        self.gaps.clear()
        self.most_computed_ms = 0.0
        self._last, self._computed = time.perf_counter(), time.thread_time()
        self._timer.start(BEAT_MS)
        try:
            yield
        finally:
            self._timer.stop()

    def p(self, share: float) -> float:
        ordered = sorted(self.gaps)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

    def _beat(self) -> None:
        now, computed = time.perf_counter(), time.thread_time()
        self.gaps.append((now - self._last) * 1000 - BEAT_MS)
        self.most_computed_ms = max(self.most_computed_ms, (computed - self._computed) * 1000)
        self._last, self._computed = now, computed
