"""Chooses the next call for the client by rules: a skill, widget data, options or a tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar
from uuid import uuid4

from server.asking.ask import Means, ask_json
from server.chat import Json, ToolCall
from server.dashboard.arguments import Filled, fill, told_options
from server.dashboard.query import (
    MAX_HOPS,
    OfferedTool,
    Param,
    Query,
    Result,
    Skill,
    Source,
    Widget,
)
from server.dashboard.widget_choice import CHOSEN, choose, named
from server.events import ClientToolCall, Event, Finished, StatusNote
from server.language.ranking import rank, stems
from server.schemas.bounded import closed
from server.sentences import Sentence

WIDGET_FUNCTIONS = ("get_widget_data", "get_extra_widget_data")
SKILL_CHARACTERS = 4000
TASK_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Step:
    """A call for the client to make, and the notes that the user sees with it."""

    call: ToolCall
    notes: tuple[StatusNote, ...]

    def events(self) -> tuple[Event, ...]:
        return (*self.notes, ClientToolCall(self.call), Finished("tool_calls"))


async def next_step(query: Query, means: Means, today: date) -> Step | None:
    """Returns the next call, or None if it is time to answer."""
    if query.hop >= MAX_HOPS:
        return None
    if not query.plain_calls and (skill := choose_skill(query)):
        arguments = {"slug": skill.slug, "reason": "The question asks for it."}
        return _step(query, "get_skill_content", arguments, StatusNote(f"Skill: {skill.slug}"))
    widgets = await _wanted(query, means)
    step = await _fetch(query, means, widgets, today)
    if step is not None or query.plain_calls:
        return step
    return await _use_tool(query, means)


async def _wanted(query: Query, means: Means) -> list[Widget]:
    """Returns the widgets that the user pointed at, else those chosen before, else chooses some."""
    primary = [widget for widget in query.widgets if widget.tier == "primary"]
    if primary:
        others = [widget for widget in query.widgets if widget.tier != "primary"]
        return [*primary, *named(query.question, others)[:CHOSEN]]
    chosen = query.state.get("chosen") if query.hop else None
    if isinstance(chosen, list):
        places = {tuple(map(str, place)) for place in chosen if isinstance(place, list)}
        return [widget for widget in query.widgets if _source(widget, {}).place in places]
    if _widget_results(query):
        return []
    choice = await choose(query, means, query.widgets)
    return list(choice.widgets)


async def _fetch(query: Query, means: Means, widgets: Sequence[Widget], today: date) -> Step | None:
    options = told_options(
        tuple(
            element
            for result in query.new_results
            if result.function == "get_params_options"
            for element in result.elements
        )
    )
    pending: list[tuple[Widget, Filled]] = []
    for widget in widgets:
        filled = await _pending(query, means, widget, today, options)
        if filled is None:
            continue
        if filled.unknown and not options and not query.plain_calls:
            return _ask_options(query, widgets, widget, filled.unknown)
        pending.append((widget, filled))
    return _read(query, widgets, pending) if pending else None


async def _pending(
    query: Query, means: Means, widget: Widget, today: date, options: Json
) -> Filled | None:
    """Returns the arguments to read a widget with, or None if its data is here or has failed."""
    place = _source(widget, {}).place
    tried = [
        (source, result.elements[number] if number < len(result.elements) else None)
        for result in _widget_results(query)
        for number, source in enumerate(result.sources)
        if _is_same(source, widget)
    ]
    if len(tried) == 1 and tried[0][1] is not None and tried[0][1].problem:
        # The arguments of the question failed. Try once more with those that the dashboard shows.
        source = tried[0][0]
        changed = source.uuid == widget.uuid and source.arguments != widget.arguments
        return _as_shown(widget, source) if changed and not query.plain_calls else None
    if tried:
        return None
    filled = await fill(query, means, widget, today, options)
    key = Source(place[1], place[2], widget.uuid, filled.arguments).key
    known = {
        source.key
        for number, result in enumerate(query.results)
        for place, source in enumerate(result.sources)
        if query.is_current(number, place)
    }
    return None if key in known else filled


def _as_shown(widget: Widget, failed: Source) -> Filled:
    shown = widget.arguments
    asked = [str(value) for name, value in failed.arguments.items() if value != shown.get(name)]
    what = ", ".join(asked) or "what was asked"
    return Filled(shown, (), notes=(f"no data for {what}, read as the dashboard shows it",))


def _is_same(source: Source, widget: Widget) -> bool:
    if source.uuid and widget.uuid:
        return source.uuid == widget.uuid
    return (source.origin, source.id) == (widget.origin, widget.id)


def _widget_results(query: Query) -> list[Result]:
    return [result for result in query.new_results if result.function in WIDGET_FUNCTIONS]


def _read(
    query: Query, wanted: Sequence[Widget], pending: list[tuple[Widget, Filled]]
) -> Step | None:
    """Returns a call that reads widgets. Those that are not on the dashboard need another call."""
    if query.plain_calls:
        pending = [one for one in pending if one[0].uuid][:1]
        if not pending or _widget_results(query):
            return None
    now = in_one_call(pending)
    notes = [note for widget, filled in now for note in _reading(widget, filled)]
    updated = [widget.updated for widget, _ in now]
    function, arguments = read_call([(widget, filled.arguments) for widget, filled in now])
    return _step(query, function, arguments, *notes, chosen=wanted, updated=updated)


def _reading(widget: Widget, filled: Filled) -> list[StatusNote]:
    left_out = [StatusNote(f"{widget.name}: {note}", "warning") for note in filled.notes]
    return [note_of_read(widget, filled.arguments), *left_out]


def _ask_options(query: Query, wanted: Sequence[Widget], widget: Widget, param: Param) -> Step:
    function, arguments, note = options_call(widget, param)
    return _step(query, function, arguments, note, chosen=wanted)


Found = TypeVar("Found")


def in_one_call(reads: Sequence[tuple[Widget, Found]]) -> Sequence[tuple[Widget, Found]]:
    """Returns the reads of widgets on the dashboard, or of the others: these need another call."""
    return [one for one in reads if one[0].tier != "extra"] or reads


def read_call(reads: Sequence[tuple[Widget, Json]]) -> tuple[str, Json]:
    """Returns the function and the arguments of a call that reads widgets. See `in_one_call`."""
    are_extra = all(widget.tier == "extra" for widget, _ in reads)
    sources = [
        {
            "widget_uuid": widget.uuid,
            "origin": widget.origin,
            "id": widget.id,
            "input_args": arguments,
        }
        for widget, arguments in reads
    ]
    function = "get_extra_widget_data" if are_extra else "get_widget_data"
    return function, {"data_sources": sources}


def note_of_read(widget: Widget, arguments: Json) -> StatusNote:
    details: Json = {"Widget": widget.name}
    for name, value in arguments.items():
        details[name.replace("_", " ").title()] = str(value)
    return StatusNote(f"Reading {widget.name}", details=details)


def options_call(widget: Widget, param: Param) -> tuple[str, Json, StatusNote]:
    """Returns the call that looks up a parameter's options, and the note that the user sees."""
    shown = widget.arguments
    inputs = {name: shown.get(origin) for name, origin in param.options_inputs}
    asked = {
        "origin": widget.origin,
        "id": widget.id,
        "param": param.name,
        "options_endpoint_input_args": {
            name: value for name, value in inputs.items() if value is not None
        },
    }
    note = StatusNote(f"Looking up the choices for {param.name} of {widget.name}")
    return "get_params_options", {"param_options_queries": [asked]}, note


async def _use_tool(query: Query, means: Means) -> Step | None:
    use = await choose_tool(query, means)
    if use is None:
        return None
    arguments = {
        "server_id": use.tool.server_id,
        "tool_name": use.tool.name,
        "parameters": use.arguments,
    }
    note = StatusNote(Sentence("Using {0}", use.tool.name), details=dict(use.arguments))
    return _step(query, "execute_agent_tool", arguments, note)


LEAST_SCORE = 0.4
SHOWN_TOOLS = 6
NO_TOOL = "none"
CHOOSE_TOOL = "You decide whether one of the tools is needed to answer. If none is, answer 'none'."
FILL_TOOL = "You fill in the arguments of a tool so that its result answers the question."


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: OfferedTool
    arguments: Json


async def choose_tool(query: Query, means: Means) -> ToolUse | None:
    """Chooses a tool and its arguments. Returns None if a tool was already used in this turn."""
    used = {
        result.arguments.get("tool_name")
        for result in query.new_results
        if result.function == "execute_agent_tool"
    }
    tools = [tool for tool in query.tools if tool.name not in used]
    if not tools or used:
        return None
    documents = [{tool.name: 2.0, tool.description: 1.0} for tool in tools]
    order = [one for one in rank(query.question, documents) if one.score >= LEAST_SCORE]
    shown = [tools[one.index] for one in order[:SHOWN_TOOLS]]
    if not shown:
        return None
    tool = shown[0] if _is_asked_for(query, shown[0]) else await _ask_for_tool(query, means, shown)
    if tool is None:
        return None
    return ToolUse(tool, await _tool_arguments(query, means, tool))


def choose_skill(query: Query) -> Skill | None:
    """Returns a skill that the question names together with the word skill, unless it is here."""
    brought = {
        result.arguments.get("slug")
        for result in query.results
        if result.function == "get_skill_content"
    }
    known = {skill.slug for skill in query.skills} | brought
    asked = set(stems(query.question))
    for skill in query.catalogue:
        words = set(stems(skill.slug.replace("-", " ")))
        if skill.slug not in known and words and words <= asked and "skill" in asked:
            return skill
    return None


def _is_asked_for(query: Query, tool: OfferedTool) -> bool:
    """Whether the question has the word tool and a word of the tool's name."""
    asked = set(stems(query.question))
    return "tool" in asked and bool(asked & set(stems(tool.name)))


async def _ask_for_tool(query: Query, means: Means, tools: list[OfferedTool]) -> OfferedTool | None:
    aliases = {f"T{number}": tool for number, tool in enumerate(tools, 1)}
    lines = [f"{alias}: {one.name} - {one.description[:120]}" for alias, one in aliases.items()]
    schema: Json = closed({"tool": {"enum": [NO_TOOL, *aliases]}})
    text = "Tools:\n" + "\n".join(lines) + f"\n\nQuestion: {query.question}"
    answer = await ask_json(means, (CHOOSE_TOOL, text), schema, max_tokens=16) or {}
    return aliases.get(str(answer.get("tool")))


async def _tool_arguments(query: Query, means: Means, tool: OfferedTool) -> Json:
    """Asks the model for a tool's arguments. Required texts are the question if it gives none."""
    properties = tool.schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return {}
    text = f"Tool: {tool.name} - {tool.description[:300]}\n\nQuestion: {query.question}"
    answer = await ask_json(means, (FILL_TOOL, text), tool.schema, max_tokens=256)
    if answer is not None:
        return {name: value for name, value in answer.items() if name in properties}
    required = tool.schema.get("required") or []
    texts = [name for name in required if properties.get(name, {}).get("type") == "string"]
    return dict.fromkeys(texts, query.question)


def _step(
    query: Query,
    function: str,
    arguments: Json,
    *notes: StatusNote,
    chosen: Sequence[Widget] | None = None,
    updated: Sequence[str] = (),
) -> Step:
    state = state_of(query)
    if any(updated):
        state["updated"] = list(updated)
    if chosen is not None:
        state["chosen"] = [list(_source(widget, {}).place) for widget in chosen]
    call = ToolCall(uuid4().hex, function, {**arguments, "state": state})
    return Step(call, notes)


def state_of(query: Query) -> Json:
    """Returns what the next request needs to know: the client sends less with it than at first."""
    state: Json = {"v": 1, "hop": query.hop + 1, "tz": query.timezone}
    if query.is_task:
        state["task"] = query.question[:TASK_CHARACTERS]
    if query.skills:
        state["skills"] = [
            {"slug": one.slug, "description": one.description, "text": one.text[:SKILL_CHARACTERS]}
            for one in query.skills
        ]
    if isinstance(query.state.get("chosen"), list) and query.hop:
        state["chosen"] = query.state["chosen"]
    return state


def _source(widget: Widget, arguments: Json) -> Source:
    return Source(widget.origin, widget.id, widget.uuid, arguments)
