"""How fast bytes come, how long it will take, and a limit on it."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 8.0
Clock = Callable[[], float]


class Pace:
    """Bytes per second over the last few seconds; a pause leaves no trace."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, count: int) -> None:
        self._seen.append((self._clock(), count))

    def reset(self) -> None:
        self._seen.clear()

    @property
    def bytes_per_s(self) -> float:
        now = self._clock()
        while self._seen and now - self._seen[0][0] > WINDOW_S:
            self._seen.popleft()
        if not self._seen:
            return 0.0
        lasted = max(now - self._seen[0][0], 0.5)
        return sum(count for _, count in self._seen) / lasted

    def left_s(self, bytes_left: int) -> float | None:
        speed = self.bytes_per_s
        return bytes_left / speed if speed > 0 else None


class Throttle:
    """A limit shared by everything that downloads; 0 is none."""

    def __init__(self, limit: Callable[[], float], clock: Clock = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._free_at = 0.0

    async def take(self, count: int) -> None:
        limit = self._limit()
        if limit <= 0:
            return
        now = self._clock()
        self._free_at = max(now, self._free_at) + count / limit
        wait = self._free_at - now
        if wait > 0.01:
            await asyncio.sleep(wait)
