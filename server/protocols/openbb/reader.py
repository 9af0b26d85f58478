"""A lenient reader for three generations of requests."""

import re
from dataclasses import replace
from typing import Any

from server.chat import Json
from server.dashboard.query import Element, OfferedTool, Query, Result, Said, Skill, Source
from server.errors import BadRequest
from server.protocols.fields import parse
from server.protocols.openbb.elements import read_context, read_elements
from server.protocols.openbb.widgets import read_widgets

FUNCTIONS = frozenset({
    "get_widget_data", "get_extra_widget_data", "get_params_options", "add_widget_to_dashboard",
    "update_widget_in_dashboard", "add_generative_widget", "manage_navigation_bar",
    "assign_tasks_to_agents", "execute_agent_tool", "get_skill_content", "save_skill",
})  # fmt: skip
MARKER = re.compile(r"<\|start_(artifact|citation)_id\|>")
SKILL_MENTION = re.compile(r"/skill:[\w-]+\s*")
CURRENT_FIELDS = ("workspace_state", "workspace_options", "timezone", "tools", "model")


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
        one_source_per_call=legacy,
        plain_calls=legacy,
        is_task=is_task,
    )
    brought = [_brought_skill(element) for result in query.results for element in result.elements]
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
    """Whether it is a client of 2024, which knows only text and one kind of call.

    A chat's id in the header X-Trace-Id is no sign: requests of 2024 have it too.
    """
    if not isinstance(body, dict):
        return old_path
    widgets = body.get("widgets")
    if isinstance(widgets, list | dict):
        return isinstance(widgets, list)
    if any(body.get(field) is not None for field in CURRENT_FIELDS):
        return False
    tool = _last_tool(body.get("messages"))
    if tool is not None:
        return not isinstance(tool.get("data"), list)
    return old_path


def _last_tool(messages: Any) -> Json | None:
    if not isinstance(messages, list):
        return None
    tools = [
        message
        for message in messages
        if isinstance(message, dict) and message.get("role") == "tool"
    ]
    return tools[-1] if tools else None


LONGEST_QUESTION = 200_000
"""A question is compared with every widget. A longer text belongs into a file."""


class _History:
    """Reads the messages in order. Each message of the user begins a turn."""

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
            # A last message of another agent is a task that it hands to us.
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
    """Finds the call in an assistant's message, which may be JSON within a JSON string."""
    if '"function"' not in content and '\\"function\\"' not in content:
        return None
    found: Any = content
    for _ in range(2):
        if not isinstance(found, str):
            break
        found = parse(found)
    function = found.get("function") if isinstance(found, dict) else None
    return found if isinstance(function, str) and function in FUNCTIONS else None


def _sources(arguments: Json) -> tuple[Source, ...]:
    if isinstance(arguments.get("widget_uuid"), str):
        return (Source("", "", arguments["widget_uuid"]),)
    sources = arguments.get("data_sources")
    if not isinstance(sources, list):
        return ()
    return tuple(_source(source) for source in sources if isinstance(source, dict))


def _source(source: Json) -> Source:
    arguments, uuid = source.get("input_args"), source.get("widget_uuid")
    return Source(
        str(source.get("origin") or ""),
        str(source.get("id") or ""),
        uuid if isinstance(uuid, str) else None,
        arguments if isinstance(arguments, dict) else {},
    )


def _clean(text: str) -> str:
    """Removes the client's markers, which a model would imitate."""
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
    return "".join([*kept, text[at:]]).replace("\x00", "").strip()


def _timezone(body: Json, state: Json) -> str:
    for found in (body.get("timezone"), state.get("tz")):
        if isinstance(found, str) and found:
            return found
    return "UTC"


def _options(options: Any) -> Json:
    """Reads a map, or the word list of older clients, some words as 'key=value'."""
    if isinstance(options, dict):
        return options
    if not isinstance(options, list):
        return {}
    pairs = [option.partition("=") for option in options if isinstance(option, str)]
    return {key: value if sign else True for key, sign, value in pairs}


def _tools(tools: Any) -> tuple[OfferedTool, ...]:
    if not isinstance(tools, list):
        return ()
    return tuple(
        OfferedTool(
            str(tool.get("server_id") or ""),
            tool["name"],
            str(tool.get("description") or ""),
            tool["input_schema"] if isinstance(tool.get("input_schema"), dict) else {},
        )
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"]
    )


def _brought_skill(element: Element) -> Any:
    data = element.outcome.get("data") if element.outcome else None
    return data.get("skill") if isinstance(data, dict) else None


def _skills(skills: Any) -> tuple[Skill, ...]:
    if not isinstance(skills, list):
        return ()
    return tuple(
        Skill(
            skill["slug"],
            str(skill.get("description") or ""),
            str(skill.get("contentMarkdown") or skill.get("text") or ""),
        )
        for skill in skills
        if isinstance(skill, dict) and isinstance(skill.get("slug"), str)
    )
