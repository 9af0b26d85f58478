"""What goes on by itself from opening to closing: a look after sleep, a look for new versions."""

import asyncio
from collections.abc import Awaitable, Callable

from server.core.sleep import watch
from server.core.updates import Updates
from server.tasks import spawn, stop


class Upkeep:
    def __init__(self, woke: Callable[[], Awaitable[None]], updates: Updates) -> None:
        self._woke = woke
        self._updates = updates
        self._tasks: list[asyncio.Task[None]] = []

    def open(self) -> None:
        self._tasks = [
            spawn(watch(self._woke), "watch for sleep"),
            spawn(self._updates.watch(), "look for new versions"),
        ]

    async def close(self) -> None:
        for task in self._tasks:
            await stop(task)
