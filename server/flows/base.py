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
from server.face.plugins import Risk as Risk

Reach = Literal["api", "lib", "mcp"]
"""The kind of an action: an endpoint of an API, the plugin's own code, or an MCP tool."""


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
    """A flow to suggest after this one, and the question that starts it."""

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
        """The steps that every run reaches: up to the first choice, the end or a loop."""
        found: list[Step] = []
        step: Step | None = self.first
        while step is not None and step not in found and step.call_type != "choice":
            found.append(step)
            step = self.step(step.next) if step.next and step.name != "end" else None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do exactly, for a person to read. Secrets are masked."""

    title: str
    where: str
    headers: Json = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Output:
    """The outcome of a step: data for the next step, and a line for people."""

    data: Any
    message: str = ""
    is_answer: bool = False
    """Whether the person already sees this as text."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A step's decision to go on at another step; an empty name ends the flow."""

    step: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The arguments that a person must still give: their schema, and those known so far."""

    schema: Json
    known: Json
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """A person's answer to a form: the values, and the paths of picked files by name."""

    values: Json
    paths: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """What an action may do during its call: ask the person, and report its progress."""

    ask: Callable[[Missing], Awaitable[FormAnswer | None]]
    """Asks the person; None if nobody can be asked. The call's time limit pauses meanwhile."""
    tell: Callable[[str], None] = lambda _text: None


beside: ContextVar[Beside | None] = ContextVar("beside", default=None)
"""Set during a call."""


class Action(Protocol):
    """One thing that a plugin can do: call an API, its own code or an MCP server."""

    @property
    def key(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> Json:
        """The JSON schema of the arguments. Its type is always object."""
        ...

    @property
    def risk(self) -> Risk: ...
    @property
    def fingerprint(self) -> str:
        """A text that changes if the call would go elsewhere or mean something else."""
        ...

    def preview(self, arguments: Json) -> Preview: ...
    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output: ...


class Kit(Protocol):
    """What the flows of a plugin can use: actions, a database, permission, forms and a log."""

    @property
    def plugin(self) -> str: ...
    async def action(self, reach: Reach, name: str) -> Action: ...
    async def database(self) -> Database: ...
    async def approve(self, action: Action, arguments: Json, *, confirm: bool) -> Json:
        """Returns the arguments as a person allows them. Raises FlowFailed (denied) if not."""
        ...

    async def ask(self, step: str, missing: Missing) -> FormAnswer | None:
        """Shows a form and returns the answer; None if no form can be shown, only a chat."""
        ...

    def note(self, text: str) -> None:
        """Writes a line into the plugin's log."""
        ...


@dataclass(slots=True)
class Record:
    """A finished step, for the steps after it."""

    step: str
    call_type: str
    output: Output


@dataclass(slots=True)
class Work:
    """One run of a flow: the question, the outcomes so far, the person's answers."""

    flow: Flow
    question: str
    engine: Engine
    kit: Kit
    context: str = ""
    files: tuple[str, ...] = ()
    paths: dict[str, str] = field(default_factory=dict)
    """The paths of files that a person picked for this run. No other file may be sent."""
    records: list[Record] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    """How often each step was run, and under "asked NAME", how often it asked the person."""
    answers: Json = field(default_factory=dict)
    """The arguments that a person gave, for the step that asked."""
    asked: list[str] = field(default_factory=list)
    """Our own questions within `question`. They are not words of the person."""
    answered: str = ""
    """The person's last answer in words."""
    client: str = ""
    error: Json | None = None
    waited_s: float = 0.0
    """Seconds spent waiting for the person. The run's time limit does not count them."""

    @property
    def last(self) -> Record | None:
        return self.records[-1] if self.records else None

    @property
    def data(self) -> Any:
        if self.error is not None:
            return self.error
        return self.last.output.data if self.last else None


Signs = AsyncGenerator[Event | Output | Jump | Missing, None]
"""What a step yields while it runs."""
