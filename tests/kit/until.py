"""Waits on the running loop until a condition holds; raises `TimeoutError` after a while."""

import asyncio
from collections.abc import Callable

PATIENCE_S = 180.0


async def until(holds: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    async with asyncio.timeout(patience_s):
        while not holds():
            await asyncio.sleep(0.005)
