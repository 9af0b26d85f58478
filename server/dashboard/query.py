"""Holds the parts of a request about a dashboard, independent of any protocol."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from server.chat import Json
from server.dashboard.wishes import Wishes, read_wishes
from server.system.limits import ends

Tier = Literal["primary", "secondary", "extra"]
MAX_HOPS = 4
"""The most calls that the client is asked to make for one question."""
MOST_OF_A_QUESTION = 10_000
ADD_WIDGET = "add_generative_widget"
GENERATIVE = "generative-ui"
"""The option with which the user allows Moat to put something on the dashboard."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a widget. `value` is what last ran, what is shown, or the default."""

    name: str
    kind: str = "string"
    description: str = ""
    value: Any = None
    has_value: bool = False
    options: tuple[Any, ...] = ()
    labels: tuple[str, ...] = ()
    asks_options: bool = False
    options_inputs: tuple[tuple[str, str], ...] = ()
    """Inputs for looking up the options, each with the parameter that gives its value."""
    several: bool = False


@dataclass(frozen=True, slots=True)
class Widget:
    origin: str
    id: str
    name: str
    description: str = ""
    tier: Tier = "secondary"
    uuid: str | None = None
    params: tuple[Param, ...] = ()
    category: str = ""
    sub_category: str = ""
    source: str = ""
    columns: tuple[str, ...] = ()
    updated: str = ""
    """When the client last refreshed it, if it says so. Only compared, never parsed."""

    @property
    def arguments(self) -> Json:
        """The values of parameters that the dashboard shows now."""
        return {param.name: param.value for param in self.params if param.has_value}

    @property
    def is_file(self) -> bool:
        return self.id.startswith("file-")


@dataclass(frozen=True, slots=True)
class Source:
    """A widget with the arguments for which its data is read."""

    origin: str
    id: str
    uuid: str | None = None
    arguments: Json = field(default_factory=dict)

    @property
    def place(self) -> tuple[str, str, str]:
        return (self.uuid or "", self.origin, self.id)

    @property
    def key(self) -> str:
        return json.dumps([self.place, self.arguments], sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of data from the client: text, JSON, base64, or a link."""

    content: str = ""
    kind: str = ""
    read_as: str = ""
    filename: str = ""
    url: str = ""
    fetched: bytes | None = None
    """The file that the link led to."""
    problem: str = ""
    """Why the link was not opened, or what went wrong."""


@dataclass(frozen=True, slots=True)
class Element:
    """What came for one source: items, or a problem, or the outcome of a command."""

    items: tuple[Item, ...] = ()
    problem: str = ""
    outcome: Json | None = None
    citations: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What the client sent back for a call, and the turn of the conversation it belongs to."""

    function: str
    arguments: Json
    sources: tuple[Source, ...]
    elements: tuple[Element, ...]
    turn: int
    state: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    role: Literal["user", "assistant"]
    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Data that the user attached to the conversation, or an artifact that Moat made."""

    name: str
    description: str
    element: Element
    is_own: bool = False
    """Whether Moat made it: a chart or a table that came back. It seldom has all rows."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the client can run for Moat."""

    server_id: str
    name: str
    description: str
    schema: Json


@dataclass(frozen=True, slots=True)
class Skill:
    slug: str
    description: str
    text: str = ""


@dataclass(frozen=True)
class Query:
    """A whole request: the conversation, the dashboard, and the data that came so far.

    What its question asks for is read once: it has no slots, so that this can be kept.
    """

    said: tuple[Said, ...]
    asked: str
    turn: int
    widgets: tuple[Widget, ...] = ()
    results: tuple[Result, ...] = ()
    context: tuple[Entry, ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    skills: tuple[Skill, ...] = ()
    catalogue: tuple[Skill, ...] = ()
    options: Json = field(default_factory=dict)
    timezone: str = "UTC"
    state: Json = field(default_factory=dict)
    plain_calls: bool = False
    """Whether the client knows only widget data, a widget at a time: no tools, skills, options or
    artifacts."""
    is_task: bool = False
    """Whether another agent asks. After a call, the client sends its words back as Moat's own."""
    note: str = ""
    """A message for the user before the answer."""
    missing_files: tuple[str, ...] = ()
    """Why files of this turn could not be fetched. The answer begins with these reasons."""

    @cached_property
    def question(self) -> str:
        """The question for code that looks for words in it. Of a very long text, both ends."""
        return ends(self.asked, MOST_OF_A_QUESTION)

    @cached_property
    def wishes(self) -> Wishes:
        return read_wishes(self.question)

    @cached_property
    def new_results(self) -> tuple[Result, ...]:
        """The results of this turn, that is, since the user's last message."""
        return tuple(result for result in self.results if result.turn == self.turn)

    @property
    def hop(self) -> int:
        return len(self.new_results)

    @property
    def additions(self) -> list[Result]:
        """What became of the charts, tables and notes that were put on the dashboard this turn."""
        return [result for result in self.new_results if result.function == ADD_WIDGET]

    @property
    def wants_addition(self) -> bool:
        """Whether something is to be put on the dashboard, and the client and the user allow it."""
        allowed = self.options.get(GENERATIVE) and not self.plain_calls and self.hop < MAX_HOPS
        return bool(allowed) and self.wishes.adding and not self.additions

    @property
    def wants_widget(self) -> bool:
        return self.wants_addition and not self.wishes.note

    @property
    def wants_note(self) -> bool:
        """Whether the user wants the answer itself on the dashboard, as a note."""
        return self.wants_addition and self.wishes.note

    @property
    def links(self) -> list[Item]:
        """The items that are only links, the newest first."""
        elements = [element for result in reversed(self.results) for element in result.elements]
        elements += [entry.element for entry in self.context]
        return [one for element in elements for one in element.items if one.url and not one.content]

    @property
    def lacks_all_files(self) -> bool:
        """Whether this turn brought files only, and none of them could be fetched."""
        elements = [element for result in self.new_results for element in result.elements]
        items = [item for element in elements for item in element.items]
        return bool(items) and all(item.problem for item in items) and not self.context

    def is_current(self, number: int, place: int) -> bool:
        """Whether the data that a call brought for one of its sources is still good.

        Data of an earlier turn is, unless it failed, the user asks for new data, or the client has
        refreshed the widget since.
        """
        result = self.results[number]
        if result.turn == self.turn:
            return True
        if place >= len(result.elements) or self.wishes.anew:
            return False
        if result.elements[place].problem and not result.elements[place].items:
            return False
        widget = self.widget_of(result.sources[place]) if place < len(result.sources) else None
        told = result.state.get("updated")
        before = told[place] if isinstance(told, list) and place < len(told) else ""
        return widget is None or not before or before == widget.updated

    def widget_of(self, source: Source) -> Widget | None:
        for widget in self.widgets:
            if source.uuid and widget.uuid == source.uuid:
                return widget
        for widget in self.widgets:
            if (widget.origin, widget.id) == (source.origin, source.id):
                return widget
        return None
