"""What a conversation may use: the model that answers, and the tools we run ourselves."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from server.chat import ChatRequest, Tool
from server.engine.base import Engine
from server.events import Event


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
    tools: tuple[Tool, ...] = ()
    client: str = ""
    plugins: Answering | None = None
    """Asked first whether one of their flows answers; None: the model answers by itself."""
    text_only: bool = False
    """The client shows text and nothing else: tables and charts are written into it."""
    files: LinkedFiles | None = None
    """Fetches files that come as links; None: no link is opened."""
    can_plan: Callable[[Engine, str], Awaitable[bool]] | None = None
    """Whether a model is able to make plans, found out by a trial; None: no model is asked to."""
