"""The interface of a tool-call style, which turns a request into a prompt and text into pieces.

A style is chosen by what the model's chat template can show, as the worker found by rendering it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Protocol

from server.chat import ChatRequest, Constraint, Tool
from server.engine.base import ModelFacts
from server.events import Piece, StopReason, TokenLogprob, Usage

MOST_CALLS = 8
"""The most calls that a grammar allows in one turn."""


def callable_tools(request: ChatRequest) -> tuple[Tool, ...]:
    names = request.tool_choice.names
    return tuple(tool for tool in request.tools if not names or tool.name in names)


def most_calls(request: ChatRequest) -> int:
    return 1 if request.takes_one_call else MOST_CALLS


def wants_tools(request: ChatRequest) -> bool:
    return bool(callable_tools(request)) and request.tool_choice.mode != "none"


TemplateMessage = dict[str, Any]


class Parser(Protocol):
    """Turns the model's text, cut anywhere, into pieces. Text that it cannot parse stays text."""

    @property
    def stopped(self) -> bool:
        """Whether a stop text occurred, so that generation can end."""
        ...

    @property
    def holds(self) -> bool:
        """Whether some text is held back because it may become a call."""
        ...

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]: ...
    def end(self, reason: StopReason, usage: Usage) -> list[Piece]: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request in one style: the template's input, the constraint and the answer's parser."""

    messages: tuple[TemplateMessage, ...]
    parser: Parser
    tools: tuple[dict[str, Any], ...] = ()
    constraint: Constraint | None = None
    trigger: str | None = None
    """The constraint applies only after this text. None: it applies from the start."""
    trigger_lead: str | None = None
    """The trigger counts only at the answer's start or right after this text. None: anywhere."""
    trigger_thought: tuple[str, str] | None = None
    """The begin and end mark of a thought in which the trigger does not count. The begin mark is
    empty if the prompt has already opened the thought."""
    visible_tokens: tuple[str, ...] = ()
    """Special tokens whose text the parser needs. The worker leaves out all others."""
    stop: tuple[str, ...] = ()
    """Stop texts for the worker, if the model's whole text is the answer; else the parser stops."""
    options: tuple[tuple[str, Any], ...] = ()
    """Additional template options. The request's own options take precedence."""


@dataclass(frozen=True, slots=True)
class Format:
    """A tool-call style. `fits` says whether a model's template belongs to it."""

    name: str
    fits: Callable[[ModelFacts], bool]
    prepare: Callable[[ChatRequest, ModelFacts], Prepared]
    always: bool = False
    """Whether it also reads answers without tools, because its marks appear in every answer."""
    shape: Any = None
    """The `Shape` of a style that is declared as data."""


THOUGHTS = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""Begin and end marks of thoughts. The first pair is the most common."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a chat template can show. The defaults are for a template that was not examined."""

    system: bool = True
    alternates: bool = False
    calls: bool = False
    results: bool = False
    text_arguments: bool = False
    single_call: bool = False
    """Whether it shows at most one call per turn."""
    parts_text: bool = False
    """Whether it shows either the text or the calls of a turn, not both."""
    opens_thought: bool = False
    opens_thought_if_asked: bool = False
    opens_thought_if_unasked: bool = False


def abilities(facts: ModelFacts) -> Abilities:
    found: dict[str, Any] = facts.extra.get("template", {})
    known = {field.name for field in fields(Abilities)}
    return Abilities(**{name: bool(value) for name, value in found.items() if name in known})


def thought_marks(facts: ModelFacts) -> tuple[str, str] | None:
    """Returns the begin and end mark of thoughts, as rendered by the template or found in its
    source.

    If a template opens a thought and no marks are known, the most common pair is assumed.
    """
    if learned := facts.extra.get("template", {}).get("thoughts"):
        begin, end = learned
        return begin, end
    usual = THOUGHTS[0] if abilities(facts).opens_thought else None
    return next((marks for marks in THOUGHTS if marks[1] in facts.template), usual)


def text_marks(facts: ModelFacts) -> tuple[str, ...]:
    """Returns the marks before text, after text and at the end of a turn; empty if unused."""
    return tuple(facts.extra.get("template", {}).get("text_marks", ()))


def starts_in_thought(request: ChatRequest, facts: ModelFacts) -> bool:
    """Whether the prompt ends within a thought, so that the answer begins in it."""
    if request.continues:
        begun, marks = request.messages[-1].content, thought_marks(facts)
        return marks is not None and begun.rfind(marks[0]) > begun.rfind(marks[1])
    able = abilities(facts)
    asked = dict(request.template_options).get("enable_thinking")
    if asked is None:
        return able.opens_thought
    return able.opens_thought_if_asked if asked else able.opens_thought_if_unasked


def is_token(mark: str) -> bool:
    """Whether the mark looks like a special token, which ordinary text does not contain."""
    return "|" in mark or mark.isupper()


def visible(facts: ModelFacts, texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the special tokens that occur in the texts; the texts themselves if none do."""
    wanted = [text for text in texts if text]
    return tuple(
        token for token in special_ids(facts) if any(token in text for text in wanted)
    ) or tuple(wanted)


def special_ids(facts: ModelFacts) -> dict[str, int]:
    found: dict[str, int] = facts.extra.get("special_ids", {})
    return found
