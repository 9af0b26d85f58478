"""How many threads to compute with: those for which a core is free.

With one thread per core, a single busy core elsewhere stalls every barrier of a step, and fewer
threads are faster. So the processor time that other programs use is watched, and as many threads
are left out as they keep cores busy.
"""

import math
from collections.abc import Callable
from time import process_time

import psutil

LOOK_EVERY_S = 0.5
ROUNDING = 0.6
"""Other programs must use this much of a core before a thread is left out."""


class ThreadCount:
    def __init__(
        self,
        most: int,
        apply: Callable[[int], None],
        others_s: Callable[[], float] | None = None,
    ) -> None:
        self.current = most
        self._most = most
        self._apply = apply
        self._others_s = others_s or used_by_others_s
        self._seen_at = -math.inf
        self._seen_s = 0.0

    def forget(self) -> None:
        """What others did while we had nothing to do says nothing of now."""
        self._seen_at = -math.inf

    def look(self, now: float) -> None:
        """Called between steps; looks at the machine now and then."""
        passed_s = now - self._seen_at
        if self._most < 2 or passed_s < LOOK_EVERY_S:
            return
        used_s = self._others_s()
        busy_cores = (used_s - self._seen_s) / passed_s
        self._seen_at, self._seen_s = now, used_s
        count = max(1, self._most - int(busy_cores + 1 - ROUNDING))
        if count != self.current:
            self.current = count
            self._apply(count)


def used_by_others_s() -> float:
    """Processor time that all other processes have used since the machine started."""
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "nice", 0.0)) - process_time()
