"""A machine that slept is noticed by a clock that went on meanwhile."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

TICK_S = 20.0
JUMP_S = 20.0
"""Later than this is not a busy machine but one that slept."""


def clock() -> float:
    """Goes on while the machine sleeps. Only Linux has such a clock; elsewhere it is the wall's."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time()


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
