"""The events of a run: an engine yields pieces, a run yields events.

A run ends with exactly one Finished or Failed (per choice).
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Literal

from server.chat import Json, Message, ToolCall
from server.errors import AppError

StopReason = Literal["stop", "length", "tool_calls"]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token's text, bytes and log-probability, and the likeliest tokens at its position."""

    text: str
    bytes: bytes
    logprob: float
    top: tuple["TokenLogprob", ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    prompt_s: float = 0.0
    decode_s: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.prompt_s + other.prompt_s,
            self.decode_s + other.decode_s,
        )

    @property
    def tokens_per_s(self) -> float:
        return self.completion_tokens / self.decode_s if self.decode_s else 0.0


@dataclass(frozen=True, slots=True)
class PromptProgress:
    """How many tokens of the prompt the model has read so far."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class CallOpened:
    """The model has begun a tool call. Its name is known, its arguments follow as text."""

    index: int
    id: str
    name: str
    is_whole: bool = field(default=False, compare=False)
    """Whether the whole call follows at once, because it was read before it was recognised."""


@dataclass(frozen=True, slots=True)
class CallArguments:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallRequested:
    """A complete call, after its last argument. Not `valid` if the answer was cut off within it."""

    call: ToolCall
    valid: bool = True


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """Moat runs one of its own tools."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    call_id: str
    result: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ClientToolCall:
    """A call that the client must run. It sends the result with the next request."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class StatusNote:
    message: str
    level: Literal["info", "success", "warning", "error"] = "info"
    details: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A table, chart, text or page made by code, shown beside the answer."""

    kind: Literal["table", "chart", "text", "html"]
    name: str
    description: str
    content: Json


@dataclass(frozen=True, slots=True)
class Citations:
    sources: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Suggestions:
    prompts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MessageOpened:
    """The text and calls that follow belong to a new message with this id."""

    id: str


@dataclass(frozen=True, slots=True)
class StepChanged:
    """An agent has entered or left one of its steps."""

    name: str
    active: bool


@dataclass(frozen=True, slots=True)
class StateChanged:
    """An agent's complete current state."""

    state: Json


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An agent waits for a person's answer, which comes with the next request of its thread.

    `said` is the question as messages of the conversation, if the agent asks in that form.
    """

    id: str
    value: Any
    said: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    reason: StopReason
    usage: Usage = Usage()
    stop_text: str | None = None
    """The request's stop text that ended it, if any."""


@dataclass(frozen=True, slots=True)
class Failed:
    error: AppError


Piece = (
    PromptProgress
    | TextDelta
    | ReasoningDelta
    | CallOpened
    | CallArguments
    | ToolCallRequested
    | Finished
)
Event = (
    PromptProgress
    | TextDelta
    | ReasoningDelta
    | CallOpened
    | CallArguments
    | ToolCallStarted
    | ToolCallFinished
    | ClientToolCall
    | StatusNote
    | Artifact
    | Citations
    | Suggestions
    | MessageOpened
    | StepChanged
    | StateChanged
    | Interrupted
    | Finished
    | Failed
)


@dataclass(frozen=True, slots=True)
class OfChoice:
    """An event of one of several answers to a request."""

    index: int
    event: Event


Pieces = AsyncGenerator[Piece, None]
Events = AsyncGenerator[Event | OfChoice, None]
