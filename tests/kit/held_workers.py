"""Engines that load when a test lets them, and a core with three models for them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from server.chat import ChatRequest
from server.core.core import Core
from server.engine.base import EngineOptions, LoadState
from server.errors import ModelLoadFailed, Stopping
from server.events import Finished, Pieces, TextDelta
from server.system import backends
from server.system.paths import find
from server.tasks import spawn, stop
from tests.kit.engines import ScriptedEngine
from tests.kit.gguf_files import write_model


class Workers:
    """Makes engines that load when the test lets them, and records them with their options."""

    def __init__(self) -> None:
        self.made: list[Worker] = []
        self.may_load = asyncio.Event()
        self.may_load.set()
        self.loads_begin = asyncio.Event()
        self.broken = ""

    def __call__(self, path: Path, options: EngineOptions) -> "Worker":
        self.made.append(Worker(path.stem, options, self))
        return self.made[-1]

    @property
    def loaded(self) -> list[str]:
        return [one.name for one in self.made if one.state.get().phase == "ready"]

    def hold(self) -> None:
        self.may_load.clear()
        self.loads_begin.clear()


class Worker(ScriptedEngine):
    def __init__(self, name: str, options: EngineOptions, workers: Workers) -> None:
        super().__init__()
        self.name, self.options, self._workers = name, options, workers
        self.folder = backends.folder()
        self.may_end = asyncio.Event()
        self.closed = asyncio.Event()

    async def load(self) -> None:
        self.state.set(LoadState("loading"))
        self._workers.loads_begin.set()
        await self._may_go_on()
        if self._workers.broken == self.name:
            self.state.set(LoadState("failed", 0.0, "It is broken."))
            raise ModelLoadFailed("It is broken.")
        await super().load()

    async def _may_go_on(self) -> None:
        """Waits for the permission to load. If the engine is closed meanwhile, it raises
        `Stopping`, like a real worker."""
        waits = [spawn(one.wait(), "wait") for one in (self._workers.may_load, self.closed)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                await stop(one)
        if self.closed.is_set():
            raise Stopping

    async def close(self) -> None:
        await super().close()
        self.closed.set()

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        yield TextDelta(self.name)
        await self.may_end.wait()
        yield Finished("stop")


@asynccontextmanager
async def opened(workers: Workers, folder: Path) -> AsyncGenerator[Core, None]:
    core = Core(find(), workers)
    for name in ("first", "second", "third"):
        write_model(folder / f"{name}.gguf")
        core.library.add(folder / f"{name}.gguf")
    await core.open()
    yield core
    workers.may_load.set()
    await core.close()


async def gone(worker: Worker) -> None:
    async with asyncio.timeout(30):
        await worker.closed.wait()
