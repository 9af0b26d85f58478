"""What a conversation may use: the model that answers, and the tools we run ourselves."""

from dataclasses import dataclass

from server.chat import Tool
from server.engine.base import Engine


@dataclass(frozen=True, slots=True)
class Means:
    engine: Engine
    tools: tuple[Tool, ...] = ()
    client: str = ""
