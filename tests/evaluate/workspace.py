"""Plays OpenBB Workspace over HTTP: asks, reads the stream, makes the calls, and posts again."""

import base64
import copy
import http.client
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.evaluate import dashboards, wire
from tests.evaluate.dashboards import Dashboard, Widget
from tests.evaluate.judge import Played
from tests.evaluate.questions import EUR_TO_USD

Json = dict[str, Any]
QUERY = "/v1/agent/query"
MOST_HOPS = 14
TIMEOUT_S = 900.0
READERS = ("get_widget_data", "get_extra_widget_data")
LOST = ("timezone", "urls", "selected_skills")
"""The web client does not send these again, and `workspace_state` only with generative
widgets on."""


@dataclass
class Spoiled:
    """What an attacker put into the data. Empty for an honest client."""

    rows: dict[str, list[Json]] = field(default_factory=dict)
    """Additional rows of a widget's data."""
    tools: dict[str, str] = field(default_factory=dict)
    """The answers of tools."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The contents of attached files."""
    errors: dict[str, str] = field(default_factory=dict)
    """The errors with which a widget's backend fails."""


class Workspace:
    """A chat with a dashboard."""

    def __init__(self, address: str, board: Dashboard, spoiled: Spoiled | None = None) -> None:
        self._place = urlsplit(address).netloc
        self._board = board
        self._spoiled = spoiled or Spoiled()
        self._messages: list[Json] = []
        self._trace = str(uuid.uuid4())
        self.context: list[Json] = []
        """What the user selected, and what was drawn in this chat."""
        self.attached: list[Json] = []
        """Widgets that the user added to the chat."""

    def ask(self, text: str) -> Played:
        """Plays one turn: makes calls until the answer comes, or until there are too many."""
        played = Played()
        self._messages.append({"role": "human", "content": text})
        body = dashboards.request(self._board, self._messages)
        body["context"] = list(self.context)
        body["widgets"]["primary"] = [dict(one) for one in self.attached]
        began = time.monotonic()
        for _ in range(MOST_HOPS):
            call = self._hop(body, played, began)
            if call is None or played.problem:
                break
            body = self._follow(body, call, played)
        else:
            played.problem = f"there is no answer after {MOST_HOPS} calls"
        played.seconds = time.monotonic() - began
        self._remember(body, played)
        return played

    def _hop(self, body: Json, played: Played, began: float) -> Json | None:
        played.hops += 1
        call, spoken = None, ""
        for name, data in self._stream(body, played):
            now = time.monotonic() - began
            match name:
                case "copilotMessageChunk":
                    spoken += data["delta"]
                    played.first_word_s = played.first_word_s or now
                case "copilotStatusUpdate" if not data.get("hidden"):
                    played.steps.append(_step_text(data))
                    played.first_step_s = played.first_step_s or now
                case "copilotMessageArtifact":
                    played.artifacts.append(data)
                case "copilotPromptSuggestions":
                    played.suggestions += data["suggestions"]
                case "copilotFunctionCall":
                    call = data
                    played.first_step_s = played.first_step_s or now
        played.text += spoken
        return call

    def _stream(self, body: Json, played: Played) -> Iterator[tuple[str, Json]]:
        link = http.client.HTTPConnection(self._place, timeout=TIMEOUT_S)
        headers = {"Content-Type": "application/json", "X-Trace-Id": self._trace}
        try:
            link.request("POST", QUERY, json.dumps(body).encode(), headers)
            reply = link.getresponse()
            if reply.status != 200:
                played.problem = f"HTTP {reply.status}: {reply.read()[:300]!r}"
                return
            name = ""
            for raw in reply:
                line = raw.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))
        except OSError as error:
            played.problem = f"the connection failed: {error}"
        finally:
            link.close()

    def _follow(self, body: Json, call: Json, played: Played) -> Json:
        """Returns the next request, as the web client makes it."""
        following = copy.deepcopy(body)
        for key in LOST:
            following.pop(key, None)
        asked = {"function": call["function"], "input_arguments": call["input_arguments"]}
        played.calls.append(asked)
        result = self._run(call, played)
        if call["function"] in READERS and not call.get("extra_state"):
            return following  # The real client drops such a result.
        following["messages"].append({"role": "ai", "content": json.dumps(asked)})
        tool = {"role": "tool", **asked, "data": result, "extra_state": call.get("extra_state")}
        following["messages"].append(tool)
        return following

    def _remember(self, body: Json, played: Played) -> None:
        """Keeps the messages for the next turn, and what was drawn as context."""
        marks = [
            f"<|start_artifact_id|>{one['name']}<|end_artifact_id|>" for one in played.artifacts
        ]
        self._messages = body["messages"]
        if spoken := "\n".join(filter(None, [played.text, *marks])):
            self._messages.append({"role": "ai", "content": spoken, "agent_id": "moat"})
        self.context += [_as_context(one) for one in played.artifacts]

    def _run(self, call: Json, played: Played) -> list[Json]:
        given = call["input_arguments"]
        match call["function"]:
            case "get_widget_data" | "get_extra_widget_data":
                return [self._read(one, played) for one in given.get("data_sources", [])]
            case "get_params_options":
                return [self._options(one) for one in given.get("param_options_queries", [])]
            case "execute_agent_tool":
                return [self._use_tool(given)]
            case "get_skill_content":
                return [{"status": "error", "message": "There is no such skill."}]
        return [{"status": "success", "message": "Done."}]

    def _read(self, source: Json, played: Played) -> Json:
        name = str(source.get("id"))
        if name in self._spoiled.files:
            content = base64.b64encode(self._spoiled.files[name]).decode()
            form = {"data_type": "pdf", "filename": f"{name}.pdf"}
            return {"items": [{"content": content, "data_format": form}]}
        widget = self._find(source)
        if widget is None:
            return {"error_type": "not_found", "content": "There is no such widget."}
        if widget.key in self._spoiled.errors:
            return {"error_type": "gateway_error", "content": self._spoiled.errors[widget.key]}
        arguments = {**widget.shown, **(source.get("input_args") or {})}
        played.reads.append((widget.key, arguments))
        try:
            data = wire.read(widget.source, arguments)
        except wire.NoData as error:
            return {"error_type": "not_found", "content": f"404: {error}"}
        if isinstance(data, list):
            data = [*data, *self._spoiled.rows.get(widget.key, [])]
        return {"items": [{"content": json.dumps(data, ensure_ascii=False)}]}

    def _find(self, source: Json) -> Widget | None:
        wanted = str(source.get("widget_uuid"))
        by_id = (one for one in self._board.widgets if one.key == source.get("id"))
        return self._board.by_uuid(wanted) or next(by_id, None)

    def _options(self, asked: Json) -> Json:
        widget = self._find(asked)
        inputs = asked.get("options_endpoint_input_args") or {}
        found = wire.options(widget.source, asked["param"], inputs) if widget else []
        told = {"param_options": [{"param": asked["param"], "options": found}]}
        return {"items": [{"content": json.dumps(told)}]}

    def _use_tool(self, given: Json) -> Json:
        name, arguments = given.get("tool_name"), given.get("parameters") or {}
        if name in self._spoiled.tools:
            return {"items": [{"content": self._spoiled.tools[name]}], "extra_citations": []}
        if name == "lab_convert_currency":
            amount = round(float(arguments.get("amount") or 0) * EUR_TO_USD, 2)
            told: Json = {"amount": amount, "currency": arguments.get("to"), "rate": EUR_TO_USD}
        elif name == "lab_find_filing":
            told = {"filing": f"LAB-10K-{arguments.get('ticker')}", "form": "10-K"}
        else:
            told = {"isError": True, "error_type": "not_found", "content": "No such tool."}
        return {"items": [{"content": json.dumps(told)}], "extra_citations": []}


def _step_text(data: Json) -> str:
    details = " ".join(json.dumps(one, ensure_ascii=False) for one in data.get("details") or [])
    return f"{data['eventType']}: {data['message']} {details}".strip()


def _as_context(artifact: Json) -> Json:
    form = {"data_type": "object", "parse_as": artifact["type"]}
    if artifact.get("chart_params"):
        form["chart_params"] = artifact["chart_params"]
    content = json.dumps(artifact["content"], ensure_ascii=False)
    return {
        "uuid": artifact["uuid"],
        "name": artifact["name"],
        "description": artifact.get("description", ""),
        "metadata": {},
        "data": {"items": [{"content": content, "data_format": form}]},
    }
