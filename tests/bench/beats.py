"""Measures how long a Qt event loop was blocked, by the beats of a timer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt, QTimer

BEAT_MS = 10


class Beats:
    """The gaps between beats, minus the beat itself, in milliseconds."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    @contextmanager
    def counted(self) -> Iterator[None]:
        self.gaps.clear()
        self._last = time.perf_counter()
        self._timer.start(BEAT_MS)
        try:
            yield
        finally:
            self._timer.stop()

    def p(self, share: float) -> float:
        ordered = sorted(self.gaps)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

    def _beat(self) -> None:
        now = time.perf_counter()
        self.gaps.append((now - self._last) * 1000 - BEAT_MS)
        self._last = now
