"""An engine out of a pool: each call keeps its model loaded while it lasts, or loads it again."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

from server.chat import ChatRequest, Prompt
from server.engine.base import Embeddings, Engine, Ranking
from server.events import Pieces

Use = Callable[..., AbstractAsyncContextManager[Engine]]
"""Called with how long the model is to stay afterwards, where somebody asks for that."""


class PooledEngine:
    """Closing it closes nothing: the pool owns the engines."""

    def __init__(self, engine: Engine, use: Use) -> None:
        self.facts = engine.facts
        self.state = engine.state
        self._use = use

    async def load(self) -> None:
        async with self._use() as engine:
            self.facts, self.state = engine.facts, engine.state

    async def close(self) -> None:
        return

    async def generate(self, request: ChatRequest) -> Pieces:
        using = self._use(request.keep_s)
        async with using as engine, aclosing(engine.generate(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def apply_template(self, request: ChatRequest) -> str:
        async with self._use() as engine:
            return await engine.apply_template(request)

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        async with self._use() as engine:
            return await engine.tokenize(text, special=special)

    async def detokenize(self, tokens: Sequence[int]) -> str:
        async with self._use() as engine:
            return await engine.detokenize(tokens)

    async def embed(self, texts: Sequence[Prompt]) -> Embeddings:
        async with self._use() as engine:
            return await engine.embed(texts)

    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking:
        async with self._use() as engine:
            return await engine.rerank(query, documents)

    async def stats(self) -> dict[str, Any]:
        async with self._use() as engine:
            return await engine.stats()
