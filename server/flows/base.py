"""What flows, their steps and their surroundings say to each other."""

from collections.abc import AsyncGenerator
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
        """The steps that every run comes to: up to the first choice, the end or a circle."""
        found: list[Step] = []
        step: Step | None = self.first
        while step is not None and step not in found and step.call_type != "choice":
            found.append(step)
            step = self.step(step.next) if step.next and step.name != "end" else None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Preview:
    """Exactly what a call would do, for a person to read; secrets are masked."""

    title: str
    where: str
    headers: Json = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a step gives: data for the next one, and a line for people."""

    data: Any
    message: str = ""
    is_answer: bool = False
    """It is text the user already sees."""


@dataclass(frozen=True, slots=True)
class Jump:
    step: str


@dataclass(frozen=True, slots=True)
class Missing:
    """What a person must still tell: a schema of the missing arguments, and those known."""

    schema: Json
    known: Json
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TheyTold:
    """What a person filled in, and where the files lie that they picked, by name."""

    values: Json
    paths: dict[str, str] = field(default_factory=dict)


class Action(Protocol):
    """One thing a plugin can do, whatever reaches it: an API, its own code, an MCP server."""

    @property
    def key(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> Json:
        """Of the arguments: always an object."""
        ...

    @property
    def risk(self) -> Risk: ...
    @property
    def fingerprint(self) -> str:
        """Changes when the call would go elsewhere or mean something else."""
        ...

    def preview(self, arguments: Json) -> Preview: ...
    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output: ...


class Kit(Protocol):
    """What a plugin lends its flows."""

    @property
    def plugin(self) -> str: ...
    async def action(self, reach: Reach, name: str) -> Action: ...
    async def database(self) -> Database: ...
    async def approve(self, action: Action, arguments: Json, *, confirm: bool) -> Json:
        """The arguments as the person lets them through; FlowFailed 'denied' otherwise."""
        ...

    async def ask(self, step: str, missing: Missing) -> TheyTold | None:
        """A person's answer to a form; None: no form can be shown, ask in words instead."""
        ...

    def note(self, text: str) -> None:
        """A line for the plugin's log."""
        ...


@dataclass(slots=True)
class Record:
    """A finished step, as the next ones see it."""

    step: str
    call_type: str
    output: Output


@dataclass(slots=True)
class Work:
    """One run of one flow: the question, what the steps gave so far, what the user answered."""

    flow: Flow
    question: str
    engine: Engine
    kit: Kit
    context: str = ""
    files: tuple[str, ...] = ()
    paths: dict[str, str] = field(default_factory=dict)
    """Where the files lie that a person picked for this run; only they may be sent."""
    records: list[Record] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    answers: Json = field(default_factory=dict)
    """Arguments a person gave for the step that asked for them."""
    asked: list[str] = field(default_factory=list)
    """Our own questions that stand in `question`: nothing in them was said by the person."""
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
