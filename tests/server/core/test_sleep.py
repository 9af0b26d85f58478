"""Sleep is noticed by the clock that went on."""

import asyncio

from server import tasks
from server.core.core import JUMP_S, clock, watch


class Clock:
    """Jumps by the next of these at every second look."""

    def __init__(self, *jumps: float) -> None:
        self._jumps = list(jumps)
        self._at = 0.0
        self._looks = 0

    def __call__(self) -> float:
        self._looks += 1
        if self._looks % 2 == 0 and self._jumps:
            self._at += self._jumps.pop(0)
        return self._at


async def test_only_a_jump_of_the_clock_is_sleep():
    woke: list[int] = []
    enough = asyncio.Event()

    async def wake() -> None:
        woke.append(1)
        if len(woke) == 2:
            enough.set()

    now = Clock(0.0, JUMP_S - 1, 3600.0, 0.0, JUMP_S + 1)
    watching = tasks.spawn(watch(wake, now, 0.001), "watch")
    async with asyncio.timeout(30):
        await enough.wait()
    await tasks.stop(watching)
    assert len(woke) == 2


def test_the_clock_goes_forward():
    assert clock() <= clock()
