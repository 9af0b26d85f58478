"""The types that flows, their steps and plugins share."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from server.chat import Json
from server.data.sqlite import Database
from server.data.yaml_with_places import At
from server.engine.base import Engine
from server.events import Event

Risk = Literal["read", "change", "danger"]
Reach = Literal["api", "lib", "mcp"]


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    call_type: str
    params: Json = field(default_factory=dict)
    next: str = ""
    confirm: bool = False
    at: At = (1, 1)


@dataclass(frozen=True, slots=True)
class Follow:
    """A flow that may be asked for next, with the question to suggest."""

    flow: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    plugin: str
    name: str
    description: str
    steps: tuple[Step, ...]
    on_error: Step | None = None
    follows: tuple[Follow, ...] = ()
    file: str = ""
    is_usable: bool = True

    @property
    def key(self) -> str:
        return f"{self.plugin}/{self.name}"

    def step(self, name: str) -> Step | None:
        return next((step for step in self.steps if step.name == name), None)

    @property
    def first(self) -> Step:
        return self.step("start") or self.steps[0]

    @property
    def certain(self) -> tuple[Step, ...]:
        """Returns the steps that every run comes to: up to the first choice, the end or a loop."""
        found: list[Step] = []
        step: Step | None = self.first
        while step is not None and step not in found and step.call_type != "choice":
            found.append(step)
            step = self.step(step.next) if step.next and step.name != "end" else None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Preview:
    """Exactly what a call would do, for a person to read. Secrets are masked."""

    title: str
    where: str
    headers: Json = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Output:
    """The outcome of a step: data for the next one, and a line for people."""

    data: Any
    message: str = ""
    is_answer: bool = False
    """The user already sees this text."""


@dataclass(frozen=True, slots=True)
class Jump:
    step: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Arguments that a person must still give: their schema, and the arguments known so far."""

    schema: Json
    known: Json
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """What a person filled in, and the paths of the files they picked, by name."""

    values: Json
    paths: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """What a call may do while it goes on: ask the person, and say how far it is."""

    ask: Callable[[Missing], Awaitable[FormAnswer | None]]
    """Time does not count while the person is asked. None: nobody can be asked."""
    tell: Callable[[str], None] = lambda _text: None


beside: ContextVar[Beside | None] = ContextVar("beside", default=None)
"""Set for the time of a call."""


class Action(Protocol):
    """One thing that a plugin can do: a call of an API, of its own code or of an MCP server."""

    @property
    def key(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> Json:
        """The schema of the arguments: always an object."""
        ...

    @property
    def risk(self) -> Risk: ...
    @property
    def fingerprint(self) -> str:
        """It changes when the call would go elsewhere or mean something else."""
        ...

    def preview(self, arguments: Json) -> Preview: ...
    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output: ...


class Kit(Protocol):
    """What a plugin gives its flows to work with."""

    @property
    def plugin(self) -> str: ...
    async def action(self, reach: Reach, name: str) -> Action: ...
    async def database(self) -> Database: ...
    async def approve(self, action: Action, arguments: Json, *, confirm: bool) -> Json:
        """Returns the arguments as a person allows them; else raises FlowFailed 'denied'."""
        ...

    async def ask(self, step: str, missing: Missing) -> FormAnswer | None:
        """Returns a person's answer to a form; None if no form can be shown and words must do."""
        ...

    def note(self, text: str) -> None:
        """Writes a line into the plugin's log."""
        ...


@dataclass(slots=True)
class Record:
    """A finished step, as later steps see it."""

    step: str
    call_type: str
    output: Output


@dataclass(slots=True)
class Work:
    """One run of a flow: the question, the outcomes so far, the user's answers."""

    flow: Flow
    question: str
    engine: Engine
    kit: Kit
    context: str = ""
    files: tuple[str, ...] = ()
    paths: dict[str, str] = field(default_factory=dict)
    """Paths of the files that a person picked for this run. Only these may be sent."""
    records: list[Record] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    answers: Json = field(default_factory=dict)
    """Arguments that a person gave to the step that asked for them."""
    asked: list[str] = field(default_factory=list)
    """Our own questions within `question`. Nothing in them comes from the person."""
    answered: str = ""
    """The person's last answer in words."""
    client: str = ""
    error: Json | None = None
    waited_s: float = 0.0

    @property
    def last(self) -> Record | None:
        return self.records[-1] if self.records else None

    @property
    def data(self) -> Any:
        if self.error is not None:
            return self.error
        return self.last.output.data if self.last else None


Signs = AsyncGenerator[Event | Output | Jump | Missing, None]
