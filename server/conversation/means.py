"""What a conversation may use: the model that answers, and the tools we run ourselves."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from server.chat import Tool
from server.engine.base import Engine
from server.plugins.talk import PluginTalk


class LinkedFiles(Protocol):
    """Fetches a file that came as a link, at most so many bytes of it."""

    async def fetch(self, item: Any, room: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Means:
    engine: Engine
    tools: tuple[Tool, ...] = ()
    client: str = ""
    plugins: PluginTalk | None = None
    """Asked first whether one of their flows answers; None: the model answers by itself."""
    text_only: bool = False
    """The client shows text and nothing else: tables and charts are written into it."""
    files: LinkedFiles | None = None
    """Fetches files that come as links; None: no link is opened."""
    can_plan: Callable[[Engine, str], Awaitable[bool]] | None = None
    """Whether a model is able to make plans, found out by a trial; None: no model is asked to."""
