"""What each event must be: openbb-ai's models, and the stricter rules of the web client."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openbb_ai import models
from pydantic import ValidationError

from tests.conformance.openbb.client import Event, Json
from tests.conformance.verdicts import Failed, need, shorten

Warn = Callable[[str], None]
MODELS = {
    "copilotMessageChunk": models.MessageChunkSSE,
    "copilotPromptSuggestions": models.PromptSuggestionsSSE,
    "copilotMessageArtifact": models.MessageArtifactSSE,
    "copilotFunctionCall": models.FunctionCallSSE,
    "copilotStatusUpdate": models.StatusUpdateSSE,
    "copilotCitationCollection": models.CitationCollectionSSE,
}
LEGACY = {"copilotMessageChunk", "copilotFunctionCall"}
"""All that a client of 2024 knows."""


@dataclass
class Rules:
    """Looks at the events of one answer in their order."""

    warn: Warn
    legacy: bool = False
    offered: Any = None
    """Widgets that may be asked for, in legacy their ids; None: any."""
    artifact_names: set[str] = field(default_factory=set)
    """Of all answers of a talk: they must not repeat."""
    _calls: int = 0
    _has_text: bool = False
    _has_bubble: bool = False

    def check(self, events: list[Event]) -> None:
        for place, event in enumerate(events):
            self._check_model(event)
            look = {
                "copilotFunctionCall": self._see_call,
                "copilotMessageArtifact": self._see_artifact,
                "copilotMessageChunk": self._see_chunk,
                "copilotStatusUpdate": self._see_status,
                "copilotCitationCollection": self._see_citations,
                "copilotPromptSuggestions": self._see_suggestions,
            }[event.name]
            look(event.data, events[place + 1 :])

    def _check_model(self, event: Event) -> None:
        need(event.name in MODELS, f"the event {event.name!r} is unknown")
        is_known = not self.legacy or event.name in LEGACY
        need(is_known, f"a client of 2024 does not know the event {event.name!r}")
        model = MODELS[event.name]
        try:
            model.model_validate({"event": event.name, "data": copy.deepcopy(event.data)})
        except ValidationError as error:
            problem = shorten(str(error), 220)
            raise Failed(f"{event.name} does not fit openbb-ai's model: {problem}") from None
        fields = set(model.model_fields["data"].annotation.model_fields)
        surplus = set(event.data) - fields - {"copilot_function_call_arguments"}
        if surplus:
            self.warn(f"{event.name} has keys openbb-ai does not know: {sorted(surplus)}")

    def _see_call(self, data: Json, after: list[Event]) -> None:
        self._calls += 1
        need(self._calls == 1, "there is more than one copilotFunctionCall in one answer")
        need(not after, "events come after copilotFunctionCall: the connection must close there")
        arguments = data.get("input_arguments")
        if not isinstance(arguments, dict):
            raise Failed("input_arguments is no object")
        if self.legacy:
            self._check_legacy_call(data.get("function"), arguments)
        elif check := CALLS.get(str(data.get("function"))):
            check(self, data, arguments)

    def _check_legacy_call(self, name: Any, arguments: Json) -> None:
        need(name == "get_widget_data", f"legacy clients know get_widget_data only, not {name!r}")
        wanted = arguments.get("widget_uuid")
        need(isinstance(wanted, str), "input_arguments.widget_uuid is no string")
        need("data_sources" not in arguments, "a legacy call has the shape of today")
        is_offered = self.offered is None or wanted in self.offered
        need(is_offered, f"widget_uuid {wanted!r} was not offered")

    def check_widget_data(self, data: Json, arguments: Json) -> None:
        sources = arguments.get("data_sources")
        if not isinstance(sources, list) or not sources:
            raise Failed("data_sources must be a list with something in it")
        for source in sources:
            self._check_source(source)
        state = data.get("extra_state")
        is_kept = isinstance(state, dict) and state
        need(is_kept, "extra_state is empty: the web client then drops the result of the call")

    def _check_source(self, source: Any) -> None:
        need(isinstance(source, dict), "a data source is no object")
        need_texts(source, "origin", "id", what="a data source")
        arguments, wanted = source.get("input_args"), source.get("widget_uuid")
        need(isinstance(arguments, dict), "a data source has no object 'input_args'")
        is_id = wanted is None or isinstance(wanted, str)
        need(is_id, "widget_uuid is neither null nor a string")
        marked = "<<UNDEFINED>>" in json.dumps(arguments)
        need(not marked, "the SDK's mark <<UNDEFINED>> is in input_args")
        if self.offered is None:
            return
        match = [widget for widget in self.offered if is_source(widget, source)]
        need(match, f"the data source was not offered: {shorten(source)}")
        unknown = set(arguments) - {parameter["name"] for parameter in match[0]["params"]}
        if unknown:
            self.warn(f"input_args has what the widget does not declare: {sorted(unknown)}")

    def _see_artifact(self, data: Json, _after: list[Event]) -> None:
        self._check_artifact(data)
        self._has_bubble = True

    def _check_artifact(self, data: Json) -> None:
        name, kind, content = data.get("name") or "", data["type"], data.get("content")
        need(name, "an artifact has no name")
        is_plain = not re.search(r'["<>\n\r]', name)
        need(is_plain, f"the name {name!r} breaks the mark the client writes into the message")
        is_new = name not in self.artifact_names
        need(is_new, f"the artifact name {name!r} repeats: the client shows the first one again")
        self.artifact_names.add(name)
        if kind not in ("table", "chart"):
            need(isinstance(content, str), f"the content of a {kind} artifact is no string")
        else:
            is_rows = isinstance(content, list) and content
            is_rows = is_rows and all(isinstance(row, dict) for row in content)
            need(is_rows, f"a {kind} artifact needs rows that are objects")
        if kind == "chart":
            check_chart(data["chart_params"], content)
        if kind == "html" and re.search(r"<script|\son\w+=", content, re.IGNORECASE):
            self.warn("an html artifact has a script in it: the client strips it")

    def _see_chunk(self, data: Json, _after: list[Event]) -> None:
        self._has_bubble = self._has_bubble or bool(data["delta"])
        if not self._has_bubble:
            self.warn("a bubble begins with an empty delta: the client adds an empty message")
        self._has_text = self._has_text or bool(data["delta"].strip())

    def _see_status(self, data: Json, after: list[Event]) -> None:
        self._has_bubble = False
        if self._has_text and any(event.name == "copilotMessageChunk" for event in after):
            self.warn("a status stands between chunks of text: the client starts a new bubble")
        for artifact in data.get("artifacts") or []:
            self._check_artifact(artifact)

    def _see_citations(self, data: Json, _after: list[Event]) -> None:
        self._has_bubble = self._has_bubble or bool(data["citations"])
        for citation in data["citations"]:
            found = citation.get("id")
            need(isinstance(found, str) and found, "a citation has no id: the client needs it")
            if not citation["source_info"].get("name"):
                self.warn("a citation has no source_info.name: its label may be a bare number")

    def _see_suggestions(self, _data: Json, _after: list[Event]) -> None:
        if not self._has_text:
            self.warn("suggestions come before any text: the client attaches them to nothing")


def is_source(widget: Json, source: Json) -> bool:
    is_named = widget["origin"] == source["origin"] and widget["widget_id"] == source["id"]
    return is_named and (not widget.get("uuid") or widget["uuid"] == source.get("widget_uuid"))


def need_texts(value: Json, *keys: str, what: str) -> None:
    for key in keys:
        need(isinstance(value.get(key), str), f"{what} has no string {key!r}")


def check_chart(parameters: Json, rows: list[Json]) -> None:
    keys = [parameters.get("xKey"), *(parameters.get("yKey") or [])]
    keys += [parameters.get("angleKey"), parameters.get("calloutLabelKey")]
    columns = set().union(*rows)
    for key in filter(None, keys):
        need(key in columns, f"the chart's key {key!r} is no column of the data")


def _check_options(_rules: Rules, _data: Json, arguments: Json) -> None:
    queries = arguments.get("param_options_queries")
    if not isinstance(queries, list):
        raise Failed("param_options_queries must be a list")
    for query in queries:
        need_texts(query, "origin", "id", "param", what="a query for options")
        given = query.get("options_endpoint_input_args")
        need(isinstance(given, dict), "a query for options has no options_endpoint_input_args")


def _check_tool(_rules: Rules, _data: Json, arguments: Json) -> None:
    need_texts(arguments, "server_id", "tool_name", what="execute_agent_tool")
    need("parameters" in arguments, "execute_agent_tool has no parameters")


def _check_skill(_rules: Rules, _data: Json, arguments: Json) -> None:
    need_texts(arguments, "slug", what="get_skill_content")


def _check_tasks(_rules: Rules, _data: Json, arguments: Json) -> None:
    tasks = arguments.get("task_requests")
    if not isinstance(tasks, list):
        raise Failed("task_requests must be a list")
    for task in tasks:
        keys = ("id", "description", "assigned_holder_url", "assigned_agent_id")
        need_texts(task, *keys, what="a task")


def _check_widget(_rules: Rules, _data: Json, arguments: Json) -> None:
    kind = arguments.get("widget_type")
    need(kind in ("chart", "table", "note", "html"), f"widget_type {kind!r}")
    wanted = str if kind in ("note", "html") else list
    is_kind = isinstance(arguments.get("data"), wanted)
    need(is_kind, f"the data of a {kind} widget must be a {wanted.__name__}")
    need_texts(arguments, "name", what="a generative widget")
    if kind == "chart":  # the client wants both axes, even for pie and donut
        parameters = arguments.get("chart_params")
        if not isinstance(parameters, dict):
            raise Failed("a chart widget has no chart_params")
        need_texts(parameters, "chartType", "xKey", what="chart_params")
        heights = parameters.get("yKey")
        need(isinstance(heights, list) and heights, "chart_params has no list 'yKey'")


def _check_tabs(_rules: Rules, _data: Json, arguments: Json) -> None:
    operation, tabs = arguments.get("operation"), arguments.get("tabs")
    is_known = operation in ("create", "add_tabs", "remove_tabs", "rename_tabs")
    need(is_known, f"operation {operation!r}")
    if operation == "rename_tabs":
        need(isinstance(arguments.get("rename_map"), dict), "rename_tabs has no rename_map")
        return
    if not isinstance(tabs, list):
        raise Failed("tabs must be a list")
    for tab in tabs:
        need(isinstance(tab, dict) and isinstance(tab.get("name"), str), "a tab has no name")


CALLS: dict[str, Callable[[Rules, Json, Json], None]] = {
    "get_widget_data": Rules.check_widget_data,
    "get_extra_widget_data": Rules.check_widget_data,
    "get_params_options": _check_options,
    "execute_agent_tool": _check_tool,
    "get_skill_content": _check_skill,
    "assign_tasks_to_agents": _check_tasks,
    "add_generative_widget": _check_widget,
    "manage_navigation_bar": _check_tabs,
}
"""Functions the web client runs, and what it wants of their arguments."""
