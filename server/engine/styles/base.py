"""What a tool-call style is: how a request becomes a prompt, and how its text becomes pieces."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from server.chat import ChatRequest, Constraint, Tool
from server.engine.base import ModelFacts
from server.events import Piece, StopReason, TokenLogprob, Usage

MOST_CALLS = 8


def callable_tools(request: ChatRequest) -> tuple[Tool, ...]:
    names = request.tool_choice.names
    return tuple(tool for tool in request.tools if not names or tool.name in names)


def most_calls(request: ChatRequest) -> int:
    return 1 if request.takes_one_call else MOST_CALLS


def wants_tools(request: ChatRequest) -> bool:
    return bool(callable_tools(request)) and request.tool_choice.mode != "none"


TemplateMessage = dict[str, Any]


class Parser(Protocol):
    """Turns the model's text, cut anywhere, into pieces. What it cannot read is text."""

    @property
    def stopped(self) -> bool:
        """Whether a stop text occurred, so that nothing more is needed."""
        ...

    @property
    def holds(self) -> bool:
        """Whether text is held back that may become a call."""
        ...

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]: ...
    def end(self, reason: StopReason, usage: Usage) -> list[Piece]: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request in one style: the template's input, the constraint, and how to read the text."""

    messages: tuple[TemplateMessage, ...]
    parser: Parser
    tools: tuple[dict[str, Any], ...] = ()
    constraint: Constraint | None = None
    trigger: str | None = None
    """Constrain only what follows this text. None: from the start."""
    trigger_lead: str | None = None
    """The trigger counts only at the answer's start or right after this text. None: everywhere."""
    trigger_thought: tuple[str, str] | None = None
    """The marks of a thought before the answer, in which the trigger does not count. The first is
    empty if the prompt has opened the thought."""
    visible_tokens: tuple[str, ...] = ()
    """Special tokens whose text the parser needs to see."""
    stop: tuple[str, ...] = ()
    """Stop texts for the worker, if the model's whole text is the answer; else the parser stops."""
    prompt_suffix: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    """Further options for the template. The request's own options come first."""


@dataclass(frozen=True, slots=True)
class Format:
    """A style. `fits` tells whether a model's template was made for it."""

    name: str
    fits: Callable[[ModelFacts], bool]
    prepare: Callable[[ChatRequest, ModelFacts], Prepared]
    always: bool = False
    """It also reads answers without tools: its marks appear in every answer."""
    shape: Any = None
    """The `Shape` of a style that is declared as data."""
