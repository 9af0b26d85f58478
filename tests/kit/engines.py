"""Scripted engines and streams, for tests that do not need llama.cpp."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.chat import ChatRequest, Prompt
from server.dashboard.trial import Trials
from server.engine.base import Embeddings, Engine, LoadState, ModelFacts, Ranking
from server.errors import AppError
from server.events import Event, Events, Finished, OfChoice, Piece, Pieces, TextDelta
from server.observe import Value


class ScriptedEngine:
    """Answers each request with the next script. An AppError in a script is raised in its place."""

    def __init__(self, *scripts: Sequence[Piece | AppError]) -> None:
        self.facts = ModelFacts(name="scripted", context_tokens=4096)
        self.state: Value[LoadState] = Value(LoadState())
        self.requests: list[ChatRequest] = []
        self._scripts = list(scripts)

    async def load(self) -> None:
        self.state.set(LoadState("ready", 1.0))

    async def close(self) -> None:
        self.state.set(LoadState())

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        for piece in self._scripts.pop(0):
            if isinstance(piece, AppError):
                raise piece
            yield piece

    async def apply_template(self, request: ChatRequest) -> str:
        return "".join(message.content for message in request.messages)

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        return list(text.encode())

    async def detokenize(self, tokens: Sequence[int]) -> str:
        return bytes(tokens).decode()

    async def embed(self, texts: Sequence[Prompt]) -> Embeddings:
        return Embeddings([[float(len(text)), 1.0] for text in texts], len(texts))

    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking:
        return Ranking([float(text.count(query)) for text in documents], len(documents))

    async def stats(self) -> dict[str, Any]:
        return {}


class EndlessEngine(ScriptedEngine):
    """Writes until it is stopped. `stopped` is then set."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped = asyncio.Event()

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        try:
            while True:
                yield TextDelta("more ")
                await asyncio.sleep(0.01)
        finally:
            self.stopped.set()


@dataclass(slots=True)
class ScriptedTrial:
    """A trial with a fixed outcome. It is already known, or made at the first call."""

    able: bool
    known: bool = True
    made: int = 0

    async def __call__(self, _engine: Engine, _client: str) -> bool:
        self.made += not self.known
        self.known = True
        return self.able

    def is_known(self, _engine: Engine) -> bool:
        return self.known


passes_trial = ScriptedTrial(able=True)
fails_trial = ScriptedTrial(able=False)


def count_as_able(engine: Engine, data: Path) -> None:
    """Records that the model passed its trial, because a script has no answers for one."""
    Trials(data / "trials.json").keep(engine, able=True)


def says(*texts: str) -> list[Piece]:
    return [*(TextDelta(text) for text in texts), Finished("stop")]


def ready(events: Events) -> Callable[[], Awaitable[Events]]:
    """Makes a run that does not wait before its first event."""

    async def begin() -> Events:
        return events

    return begin


async def replay(*events: Event | OfChoice) -> Events:
    for event in events:
        yield event
