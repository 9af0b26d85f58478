"""Reads Workspace's questions about a dashboard, and answers them with `server.dashboard`.

The reader accepts the formats of all generations of clients. The writer sends only what the
client's generation understands.
"""

import logging
import re
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from server.asking.ask import Means
from server.chat import Json
from server.dashboard.query import (
    Element,
    Entry,
    Item,
    OfferedTool,
    Param,
    Query,
    Result,
    Said,
    Skill,
    Source,
    Tier,
    Widget,
)
from server.errors import AppError, BadRequest
from server.events import Events
from server.protocols.base import EVENT_STREAM, Facts, Frames, Reply, Run
from server.protocols.fields import parse_json
from server.protocols.openbb.writer import frame, write
from server.system.lazy import Late
from server.system.limits import without_halves

PROBLEM_CHARACTERS = 300
"""The most characters of a problem that a client reports."""
MOST_FAILURE = 20_000
"""The most characters of a result that reports a failure: a longer text is data."""
FAILURE = re.compile(r'^\s*\{.*"(?:isError|error_type)"', re.DOTALL)
WHY = ("content", "message", "error", "error_type")
"""The fields that may hold the reason for a failure, the best first."""
OWN_NAME = re.compile(r"_[0-9a-f]{6}$")
"""The end of an artifact's name that our writer made (see `artifact_name`)."""
ARTIFACTS = frozenset({"chart", "table", "html"})


def read_elements(data: Any, content: Any) -> tuple[Element, ...]:
    """Reads the elements of a tool message, from its `data` or, if that is empty, its `content`."""
    if isinstance(data, list):
        return tuple(read_element(entry) for entry in data)
    if isinstance(data, dict):
        found = read_element(data)
        if found.items or found.problem or found.outcome:
            return (found,)
    if isinstance(data, str) and data:
        return (Element((Item(data),)),)
    if isinstance(content, str) and content:
        return (Element((Item(content),)),)
    return (Element(),)


def read_element(element: Any) -> Element:
    if not isinstance(element, dict):
        return Element((Item(element),)) if isinstance(element, str) else Element()
    if "error_type" in element:
        return Element(problem=_problem(element))
    if isinstance(element.get("items"), list):
        items = [_item(entry) for entry in element["items"] if isinstance(entry, dict)]
        return _element_of(items, _objects(element.get("extra_citations")))
    alone = _item(element)
    if alone.content or alone.url:
        return _element_of([alone])
    return _outcome(element) if "status" in element else Element()


def read_context(context: Any) -> tuple[Entry, ...]:
    """Reads the context: a list of entries, with data in the new or old format, or a plain text."""
    if isinstance(context, str):
        return (Entry("Context", "", Element((Item(context),))),) if context.strip() else ()
    if not isinstance(context, list):
        return ()
    return tuple(_entry(entry) for entry in context if isinstance(entry, dict | str))


def _entry(entry: Json | str) -> Entry:
    if isinstance(entry, str):
        return Entry("Context", "", Element((Item(entry),)))
    element = read_elements(entry.get("data"), entry.get("content"))[0]
    name = _element_text(entry.get("name")) or "Context"
    is_artifact = any(item.read_as in ARTIFACTS for item in element.items)
    is_own = is_artifact and OWN_NAME.search(name) is not None
    return Entry(name, _element_text(entry.get("description")), element, is_own)


def _item(item: Json) -> Item:
    form = item.get("data_format")
    form = form if isinstance(form, dict) else {}
    content = item.get("content")
    return Item(
        content if isinstance(content, str) else "",
        _element_text(form.get("data_type")).lower(),
        _element_text(form.get("parse_as")).lower(),
        _element_text(form.get("filename")),
        _element_text(item.get("url")),
    )


def _element_of(items: list[Item], citations: tuple[Json, ...] = ()) -> Element:
    """Makes an element. An item whose content reports a failure becomes the element's problem."""
    failures = [_failure(item) for item in items]
    kept = tuple(item for item, why in zip(items, failures, strict=True) if not why)
    return Element(kept, "; ".join(filter(None, failures)), citations=citations)


def _failure(item: Item) -> str:
    if len(item.content) > MOST_FAILURE or not FAILURE.search(item.content):
        return ""
    found = parse_json(item.content)
    if not isinstance(found, dict):
        return ""
    has_failed = found.get("isError") is True or isinstance(found.get("error_type"), str)
    return _problem(found) if has_failed else ""


def _outcome(element: Json) -> Element:
    status, message = element.get("status"), _element_text(element.get("message"))
    if status == "error":
        return Element(problem=message[:PROBLEM_CHARACTERS] or "The client reports an error.")
    return Element(outcome={"status": status, "message": message, "data": element.get("data")})


def _problem(element: Json) -> str:
    reason = next(
        filter(None, (_reason_text(element.get(field)) for field in WHY)), "unknown error"
    )
    return " ".join(reason.split())[:PROBLEM_CHARACTERS]


def _reason_text(found: Any) -> str:
    """Reads a string, or the texts of a list of MCP's parts."""
    if isinstance(found, list):
        return " ".join(_element_text(part.get("text")) for part in _objects(found))
    return _element_text(found)


def _objects(found: Any) -> tuple[Json, ...]:
    return (
        tuple(entry for entry in found if isinstance(entry, dict))
        if isinstance(found, list)
        else ()
    )


def _element_text(found: Any) -> str:
    return found if isinstance(found, str) else ""


VALUE_FIELDS = ("executed_value", "current_value", "default_value")
UNDEFINED = "<<UNDEFINED>>"
"""The value with which clients mark a parameter that is not set."""


def read_widgets(widgets: Any) -> tuple[Widget, ...]:
    """Reads the widgets: a flat list from old clients, or three groups from newer ones."""
    groups = widgets if isinstance(widgets, dict) else {"secondary": widgets}
    return tuple(
        _widget(widget, tier) for tier in get_args(Tier) for widget in _objects(groups.get(tier))
    )


def _widget(widget: Json, tier: Tier) -> Widget:
    uuid, metadata = widget.get("uuid"), widget.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    params, updated = _params(widget.get("params")), metadata.get("lastUpdated")
    if not params and "symbol" in metadata:
        # The first clients sent a widget's arguments only here. That is enough to rank it.
        params = (Param("symbol", "ticker", value=metadata["symbol"], has_value=True),)
    columns = widget.get("columns")
    return Widget(
        origin=_text(widget, "origin"),
        id=_text(widget, "widget_id"),
        name=_text(widget, "name") or _text(widget, "widget_id") or "Widget",
        description=_text(widget, "description"),
        tier=tier,
        uuid=str(uuid) if uuid else None,
        params=params,
        category=_text(widget, "category"),
        sub_category=_text(widget, "sub_category"),
        source=_text(widget, "source"),
        columns=tuple(
            column
            for column in (columns if isinstance(columns, list) else ())
            if isinstance(column, str)
        ),
        updated=str(updated)[:40] if isinstance(updated, str | int | float) else "",
    )


def _params(params: Any) -> tuple[Param, ...]:
    named = {param["name"]: _param(param) for param in _objects(params) if _text(param, "name")}
    return tuple(named.values())


def _param(param: Json) -> Param:
    value, has_value = _value(param)
    values, labels = _widget_options(param.get("options"))
    return Param(
        param["name"],
        _text(param, "type") or "string",
        _text(param, "description"),
        value,
        has_value,
        values,
        labels,
        bool(param.get("get_options")),
        _inputs(param.get("options_params")),
        bool(param.get("multi_select")),
    )


def _value(param: Json) -> tuple[Any, bool]:
    for field in VALUE_FIELDS:
        value = param.get(field)
        if value is not None and value != UNDEFINED:
            return value, True
    return None, False


def _widget_options(options: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    if not isinstance(options, list):
        return (), ()
    values = [option.get("value") if isinstance(option, dict) else option for option in options]
    labels = [
        str(option.get("label", option.get("value"))) if isinstance(option, dict) else str(option)
        for option in options
    ]
    return tuple(values), tuple(labels)


def _inputs(inputs: Any) -> tuple[tuple[str, str], ...]:
    return tuple(
        (entry["name"], str(entry.get("inherit_value_from") or entry["name"]))
        for entry in _objects(inputs)
        if isinstance(entry.get("name"), str)
    )


def _text(widget: Json, field: str) -> str:
    return _element_text(widget.get(field))


FUNCTIONS = frozenset({
    "get_widget_data", "get_extra_widget_data", "get_params_options", "add_widget_to_dashboard",
    "update_widget_in_dashboard", "add_generative_widget", "manage_navigation_bar",
    "assign_tasks_to_agents", "execute_agent_tool", "get_skill_content", "save_skill",
})  # fmt: skip
MARKER = re.compile(r"<\|start_(artifact|citation)_id\|>")
SKILL_MENTION = re.compile(r"/skill:[\w-]+\s*")
CURRENT_FIELDS = ("workspace_state", "workspace_options", "timezone", "tools", "model")
"""Fields that only newer clients send."""


class EmptyConversation(BadRequest):
    status = 422

    def __init__(self) -> None:
        super().__init__("messages list cannot be empty", "messages")


def read_query(body: Any, *, legacy: bool) -> Query:
    messages = read_messages(body)
    history = _History()
    for number, message in enumerate(messages):
        history.add(message, is_last=number == len(messages) - 1)
    state = history.results[-1].state if history.results else {}
    task = state.get("task") if messages[-1].get("role") == "tool" else None
    is_task = history.is_task or isinstance(task, str)
    query = Query(
        tuple(history.said),
        task if isinstance(task, str) else history.question,
        history.turn,
        read_widgets(body.get("widgets")),
        tuple(history.results),
        read_context(body.get("context")),
        _tools(body.get("tools")),
        _skills(body.get("selected_skills")),
        _skills(body.get("skills_catalog")),
        _options(body.get("workspace_options")),
        _timezone(body, state),
        state,
        plain_calls=legacy,
        is_task=is_task,
    )
    outcomes = [element.outcome for result in query.results for element in result.elements]
    data = [outcome.get("data") for outcome in outcomes if outcome]
    brought = [entry.get("skill") for entry in _objects(data)]
    skills = query.skills or _skills(state.get("skills"))
    return replace(query, skills=(*skills, *_skills(brought)))


def read_messages(body: Any) -> list[Json]:
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise BadRequest("'messages' must be a list.", "messages")
    if not messages:
        raise EmptyConversation
    if not all(isinstance(message, dict) for message in messages):
        raise BadRequest("Each message must be an object.", "messages")
    return messages


def is_legacy(body: Any, *, old_path: bool) -> bool:
    """Whether the client is from 2024: it understands only text and one kind of call.

    The header X-Trace-Id does not show it: clients of 2024 send it too.
    """
    if not isinstance(body, dict):
        return old_path
    widgets = body.get("widgets")
    if isinstance(widgets, list | dict):
        return isinstance(widgets, list)
    if any(body.get(field) is not None for field in CURRENT_FIELDS):
        return False
    messages = _objects(body.get("messages"))
    results = [message for message in messages if message.get("role") == "tool"]
    return not isinstance(results[-1].get("data"), list) if results else old_path


LONGEST_QUESTION = 200_000
"""The most characters of a question. It is compared with every widget; more belongs in a file."""


class _History:
    """The conversation, read message by message. Each message of the user begins a turn."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.results: list[Result] = []
        self.question = ""
        self.turn = 0
        self.is_task = False
        self._call: Json = {}

    def add(self, message: Json, *, is_last: bool) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            self._add_result(message)
            return
        if role not in ("human", "ai"):
            raise BadRequest(f"A message has the unknown role {role!r}.", "messages")
        if not isinstance(content, str):
            raise BadRequest("A message's 'content' must be a string.", "messages")
        if role == "human" and len(content) > LONGEST_QUESTION:
            raise BadRequest(f"A question has at most {LONGEST_QUESTION} characters.", "messages")
        call = parse_call(content) if role == "ai" else None
        if call is not None:
            self._call = call
        elif role == "human" or is_last:
            # If another agent sent the last message, it is a task for us.
            self.turn += 1
            self.is_task = role == "ai"
            self.question = SKILL_MENTION.sub("", _clean(content)).strip()
            self.said.append(Said("user", self.question, self.turn))
        elif cleaned := _clean(content):
            self.said.append(Said("assistant", cleaned, self.turn))

    def _add_result(self, message: Json) -> None:
        call = self._call
        arguments = message.get("input_arguments")
        if not isinstance(arguments, dict):
            arguments = call.get("input_arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        function = message.get("function") or call.get("function")
        state = message.get("extra_state")
        self.results.append(
            Result(
                function if isinstance(function, str) else "get_widget_data",
                arguments,
                _sources(arguments),
                read_elements(message.get("data"), message.get("content")),
                self.turn,
                state if isinstance(state, dict) else {},
            )
        )


def parse_call(content: str) -> Json | None:
    """Returns the call in an assistant's message, or None. It may be JSON within a JSON string."""
    if '"function"' not in content and '\\"function\\"' not in content:
        return None
    found: Any = content
    for _ in range(2):
        if not isinstance(found, str):
            break
        found = parse_json(found)
    function = found.get("function") if isinstance(found, dict) else None
    return found if isinstance(function, str) and function in FUNCTIONS else None


def _sources(arguments: Json) -> tuple[Source, ...]:
    if isinstance(arguments.get("widget_uuid"), str):
        return (Source("", "", arguments["widget_uuid"]),)
    return tuple(map(_source, _objects(arguments.get("data_sources"))))


def _source(source: Json) -> Source:
    arguments, uuid = source.get("input_args"), source.get("widget_uuid")
    return Source(
        str(source.get("origin") or ""),
        str(source.get("id") or ""),
        uuid if isinstance(uuid, str) else None,
        arguments if isinstance(arguments, dict) else {},
    )


def _clean(text: str) -> str:
    """Removes the client's markers for artifacts and citations, which a model would imitate."""
    kept, at, unfinished = [], 0, set()
    for start in MARKER.finditer(text):
        kind = start[1]
        if start.start() < at or kind in unfinished:
            continue
        end = text.find(mark := f"<|end_{kind}_id|>", start.end())
        if end < 0:
            unfinished.add(kind)
            continue
        kept.append(text[at : start.start()])
        at = end + len(mark)
    return without_halves("".join([*kept, text[at:]]).replace("\x00", "")).strip()


def _timezone(body: Json, state: Json) -> str:
    for found in (body.get("timezone"), state.get("tz")):
        if isinstance(found, str) and found:
            return found
    return "UTC"


def _options(options: Any) -> Json:
    """Reads the options: a map, or the list of words of older clients, some as 'key=value'."""
    if isinstance(options, dict):
        return options
    if not isinstance(options, list):
        return {}
    pairs = [option.partition("=") for option in options if isinstance(option, str)]
    return {key: value if sign else True for key, sign, value in pairs}


def _tools(tools: Any) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(
            str(tool.get("server_id") or ""),
            tool["name"],
            str(tool.get("description") or ""),
            tool["input_schema"] if isinstance(tool.get("input_schema"), dict) else {},
        )
        for tool in _objects(tools)
        if _text(tool, "name")
    )


def _skills(skills: Any) -> tuple[Skill, ...]:
    return tuple(
        Skill(
            skill["slug"],
            str(skill.get("description") or ""),
            str(skill.get("contentMarkdown") or skill.get("text") or ""),
        )
        for skill in _objects(skills)
        if isinstance(skill.get("slug"), str)
    )


dashboard: Any = Late("server.dashboard.run")

CLIENT_FAULTS = (408, 413, 415)
"""Statuses that, like 400, mean that the request cannot be read."""


def accept(body: Any, facts: Facts, *, old_path: bool = False) -> Run:
    """Answers a question about a dashboard, in several steps if it needs data from widgets."""
    query = read_query(body, legacy=is_legacy(body, old_path=old_path))
    wanted = body.get("model")
    known = {card.name for card in facts.models}
    model = wanted if isinstance(wanted, str) and wanted in known else None
    if wanted and model is None:
        query = replace(query, note=f"The model {str(wanted)[:80]!r} is not installed here.")
    return Run(partial(_converse, query), model)


async def _converse(query: Query, means: Means) -> Events:
    """Yields the answer's events, as `server.dashboard.run` makes them; it is loaded first."""
    await dashboard.load()
    async with aclosing(dashboard.converse(query, means)) as events:
        async for event in events:
            yield event


async def render(events: Events, body: Any, _facts: Facts, *, old_path: bool = False) -> Frames:
    async for sent in write(events, legacy=is_legacy(body, old_path=old_path)):
        yield sent


def failed(error: Exception) -> Reply:
    """Formats an error: as text in the chat, or with its status if the request cannot be read.

    For every status except 200, the client shows a generic notice instead of the text.
    """
    if not isinstance(error, AppError):
        return Reply({"detail": "Something went wrong inside Moat."}, 500)
    if isinstance(error, BadRequest) or error.status in CLIENT_FAULTS:
        return Reply({"detail": str(error)}, error.status)
    spoken = frame("copilotMessageChunk", {"delta": str(error)}).decode("ascii")
    return Reply(text=spoken, content_type=EVENT_STREAM)


accept_old = partial(accept, old_path=True)
render_old = partial(render, old_path=True)


log = logging.getLogger(__name__)


def take_vote(body: Any, _facts: Facts) -> Reply:
    """Accepts a vote on an answer and writes it to the log. Nothing else is kept."""
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    log.info("An answer was voted %s.", "up" if body.get("vote") == "thumbs_up" else "down")
    return Reply({"status": "ok"})
