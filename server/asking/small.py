"""Small questions to the model: the answer is bound to a schema, or is a short text."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from server.chat import ChatRequest, Constraint, Json, Message, Sampling
from server.engine.base import Engine
from server.errors import AppError
from server.events import Event, TextDelta


class LinkedFiles(Protocol):
    """Fetches a file that came as a link, at most so many bytes of it."""

    async def fetch(self, item: Any, room: int) -> bytes: ...


class Answering(Protocol):
    """Whoever may answer a request in place of the model."""

    async def take(
        self, engine: Engine, request: ChatRequest
    ) -> AsyncGenerator[Event, None] | None:
        """The events of the answer; None: the model answers by itself."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    engine: Engine
    client: str = ""
    plugins: Answering | None = None
    """Asked first whether one of their flows answers; None: the model answers by itself."""
    text_only: bool = False
    """The client shows text and nothing else: tables and charts are written into it."""
    files: LinkedFiles | None = None
    """Fetches files that come as links; None: no link is opened."""
    can_plan: Callable[[Engine, str], Awaitable[bool]] | None = None
    """Whether a model is able to make plans, found out by a trial; None: no model is asked to."""


CERTAIN = Sampling(temperature=0.0, top_k=1)


async def ask_json(
    means: Means, system: str, question: str, schema: Json, max_tokens: int = 128
) -> Json | None:
    """None when the model cannot answer: whoever asks goes on without it."""
    request = ChatRequest(
        (Message("system", system), Message("user", question)),
        sampling=CERTAIN,
        max_tokens=max_tokens,
        constraint=Constraint("json_schema", json.dumps(schema)),
        client=means.client,
    )
    try:
        return _object("".join(await _texts(means, request)))
    except AppError:
        return None


async def ask_text(means: Means, system: str, question: str, max_tokens: int) -> str:
    """A short text; empty when the model cannot answer."""
    messages = (Message("system", system), Message("user", question))
    request = ChatRequest(messages, sampling=CERTAIN, max_tokens=max_tokens, client=means.client)
    try:
        return "".join(await _texts(means, request)).strip()
    except AppError:
        return ""


async def _texts(means: Means, request: ChatRequest) -> list[str]:
    async with aclosing(means.engine.generate(request)) as pieces:
        return [piece.text async for piece in pieces if isinstance(piece, TextDelta)]


def _object(text: str) -> Json | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
