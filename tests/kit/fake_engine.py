"""An engine for the pool. It answers with its own name, and fails to load if that is "broken"."""

import asyncio
from typing import Any

from server.chat import ChatRequest
from server.engine.base import LoadState, ModelFacts
from server.errors import ModelLoadFailed
from server.events import Finished, Pieces, TextDelta
from tests.kit.engines import ScriptedEngine


class NamedEngine(ScriptedEngine):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.facts = ModelFacts(name=name)
        self.loads = 0
        self.closed = asyncio.Event()
        self._loading = asyncio.Lock()

    async def load(self) -> None:
        async with self._loading:
            if self.state.get().phase == "ready":
                return
            self.loads += 1
            await asyncio.sleep(0)
            if self.facts.name == "broken":
                self.state.set(LoadState("failed", 0.0, "It is broken."))
                raise ModelLoadFailed("It is broken.")
            self.state.set(LoadState("ready", 1.0))

    async def close(self) -> None:
        await super().close()
        self.closed.set()

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        yield TextDelta(self.facts.name)
        yield Finished("stop")

    async def stats(self) -> dict[str, Any]:
        return {"loads": self.loads}
