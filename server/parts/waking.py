"""A machine that slept is noticed by a clock that went on meanwhile."""

import asyncio
import time
from collections.abc import Awaitable, Callable

TICK_S = 20.0
JUMP_S = 20.0
"""Later than this is not a busy machine but one that slept."""


def clock() -> float:
    """Goes on while the machine sleeps; where no such clock is told, the one on the wall."""
    number: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.time() if number is None else time.clock_gettime(number)


async def watch(
    woke: Callable[[], Awaitable[None]],
    now: Callable[[], float] = clock,
    tick_s: float = TICK_S,
) -> None:
    """Calls `woke` after each sleep, until cancelled."""
    while True:
        before = now()
        await asyncio.sleep(tick_s)
        if now() - before > tick_s + JUMP_S:
            await woke()
