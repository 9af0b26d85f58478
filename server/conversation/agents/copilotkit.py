"""A CopilotKit remote endpoint, as CopilotKit's Python SDK serves it: its actions and agents."""

import json
import logging
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from server.chat import Json, Message, Role, Tool, ToolCall
from server.conversation.agents.base import AgentCard, AgentRequest, ThreadState
from server.conversation.agents.remote import Fresh, Peer, RemoteAgentFailed, require_name, why
from server.conversation.threads import ThreadMessage
from server.errors import AppError
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Events,
    Finished,
    Interrupted,
    MessageOpened,
    StateChanged,
    StepChanged,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.system.limits import try_json

log = logging.getLogger(__name__)

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array"})


class CopilotKitEndpoint:
    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._info = Fresh(self._ask_who)

    async def agents(self) -> tuple["EndpointAgent", ...]:
        info = await self._info.get()
        with self._peer.understood():
            found = info.get("agents") or []
            if isinstance(found, dict):  # newer runtimes use the names as keys
                found = [{**agent, "name": name} for name, agent in found.items()]
            return tuple(EndpointAgent(self._peer, agent) for agent in found)

    async def tools(self) -> tuple[Tool, ...]:
        """Returns the endpoint's actions as tools. A failure is only logged and gives none."""
        try:
            info = await self._info.get()
            with self._peer.understood():
                return tuple(self._tool(action) for action in info.get("actions") or [])
        except AppError as error:
            log.warning("Actions are missing: %s", error)
            return ()

    async def _ask_who(self) -> Json:
        info = await self._peer.ask_who("/info", {"properties": {}})
        if not isinstance(info, dict):
            raise RemoteAgentFailed(f"{self._peer.place} does not list its agents.")
        return info

    def _tool(self, action: Json) -> Tool:
        name = require_name(action["name"])

        async def run(arguments: Json) -> str:
            body = {"name": name, "arguments": arguments, "properties": {}}
            done = await self._peer.ask("POST", "/actions/execute", body)
            result = done.get("result") if isinstance(done, dict) else done
            return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

        schema = _schema(action.get("parameters") or [])
        return Tool(name, str(action.get("description") or ""), schema, run)


class EndpointAgent:
    def __init__(self, peer: Peer, info: Json) -> None:
        self._peer = peer
        description = str(info.get("description") or "")
        self.card = AgentCard(require_name(info["name"]), description, "CopilotKit")

    async def run(self, request: AgentRequest) -> Events:
        body = {
            "name": self.card.name,
            "threadId": request.thread_id,
            "messages": [sent for message in request.messages for sent in _write_message(message)],
            "state": request.state or {},
            "config": {},
            "properties": {},
            "actions": [_action(tool) for tool in request.tools],
            "metaEvents": _resume_events(request),
        }
        reading = _Reading({tool.name for tool in request.tools})
        async with aclosing(self._peer.lines("/agents/execute", body)) as lines:
            async for line in lines:
                with self._peer.understood():
                    events = list(reading.read(try_json(line, line)))
                for event in events:
                    yield event
        yield Finished("tool_calls" if reading.client_called else "stop")

    async def recall(self, thread_id: str) -> ThreadState | None:
        body = {"properties": {}, "threadId": thread_id, "name": self.card.name}
        found = await self._peer.ask("POST", "/agents/state", body)
        if not isinstance(found, dict) or not found.get("threadExists"):
            return None
        with self._peer.understood():
            messages = tuple(
                _read_message(sent) for sent in found.get("messages") or () if "role" in sent
            )
        return ThreadState(found.get("state") or {}, messages)


class _Reading:
    """Converts the runtime events of one run to ours. Each is a line of JSON."""

    def __init__(self, client_tools: set[str]) -> None:
        self._client_tools = client_tools
        self._message = ""
        self._names: dict[str, str] = {}
        self._arguments: dict[str, str] = {}
        self._step = ""
        self.client_called = False

    def read(self, event: Any) -> Iterator[Event]:
        match event:
            case {"type": "TextMessageStart", "messageId": str(message_id)}:
                yield from self._open(message_id)
            case {"type": "TextMessageContent", "messageId": str(message_id), "content": str(text)}:
                yield from self._open(message_id)
                yield TextDelta(text)
            case {"type": "ActionExecutionStart" | "ActionExecutionArgs" | "ActionExecutionEnd"}:
                yield from self._call(event)
            case {"type": "ActionExecutionResult", "actionExecutionId": call_id, "result": result}:
                yield ToolCallFinished(call_id, str(result))
            case {"type": "AgentStateMessage"}:
                yield from self._state(event)
            case {"type": "MetaEvent", "name": "LangGraphInterruptEvent", "value": value}:
                yield Interrupted(
                    "interrupt", try_json(value, value) if isinstance(value, str) else value
                )
            case {"type": "MetaEvent", "name": "CopilotKitLangGraphInterruptEvent", "data": data}:
                yield _asked_in_messages(data)
            case {"type": "RunError", "error": error}:
                raise RemoteAgentFailed(f"The agent failed{why(error)}")
            case _:
                pass

    def _open(self, message_id: str) -> Iterator[Event]:
        if message_id != self._message:
            self._message = message_id
            yield MessageOpened(message_id)

    def _call(self, event: Json) -> Iterator[Event]:
        call_id = event["actionExecutionId"]
        name = self._names.setdefault(call_id, event.get("actionName") or "")
        index = list(self._names).index(call_id)
        is_client = name in self._client_tools
        if event["type"] == "ActionExecutionStart":
            if parent := event.get("parentMessageId"):
                yield from self._open(parent)
            if is_client:
                yield CallOpened(index, call_id, name)
        elif event["type"] == "ActionExecutionArgs":
            self._arguments[call_id] = self._arguments.get(call_id, "") + event["args"]
            if is_client:
                yield CallArguments(index, event["args"])
        else:
            arguments = try_json(self._arguments.get(call_id, "{}"))
            call = ToolCall(call_id, name, arguments if isinstance(arguments, dict) else {})
            self.client_called |= is_client
            yield ClientToolCall(call) if is_client else ToolCallStarted(call)

    def _state(self, event: Json) -> Iterator[Event]:
        step, active = event.get("nodeName") or "", bool(event.get("active"))
        if step and step != self._step:
            self._step = step
            yield StepChanged(step, active=True)
        state = try_json(event.get("state") or "{}")
        if isinstance(state, dict):
            yield StateChanged(state)
        if step and not active:
            self._step = ""
            yield StepChanged(step, active=False)


def _asked_in_messages(data: Json) -> Interrupted:
    messages = []
    for sent in data.get("messages") or ():
        if "name" in sent:
            call = ToolCall(str(sent.get("id") or ""), sent["name"], sent.get("arguments") or {})
            messages.append(Message("assistant", "", tool_calls=(call,)))
        else:
            messages.append(Message("assistant", str(sent.get("content") or "")))
    return Interrupted("interrupt", data.get("value"), tuple(messages))


def _schema(parameters: list[Json]) -> Json:
    properties = {}
    for parameter in parameters:
        kind = parameter.get("type") or "string"
        is_list = kind.endswith("[]")
        inner = kind.removesuffix("[]")
        schema: Json = {"type": inner} if inner in JSON_TYPES else {}
        if is_list:
            schema = {"type": "array", "items": schema}
        properties[parameter["name"]] = schema | {"description": parameter.get("description") or ""}
    required = [parameter["name"] for parameter in parameters if parameter.get("required", True)]
    return {"type": "object", "properties": properties, "required": required}


def _action(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _resume_events(request: AgentRequest) -> list[Json]:
    if request.answer is None:
        return []
    value = request.answer.value
    response = value if isinstance(value, str) else json.dumps(value)
    return [{"name": "LangGraphInterruptEvent", "value": "", "response": response}]


def _write_message(kept: ThreadMessage) -> list[Json]:
    message = kept.message
    base = {"id": kept.id, "createdAt": datetime.now(UTC).isoformat()}
    if message.role == "tool":
        result = {"actionExecutionId": message.tool_call_id, "actionName": message.name or ""}
        return [base | {"type": "ResultMessage", "result": message.content} | result]
    sent: list[Json] = []
    if message.content or not message.tool_calls:
        text = {"type": "TextMessage", "content": message.content, "role": message.role}
        sent.append(base | text)
    for call in message.tool_calls:
        action = {"type": "ActionExecutionMessage", "name": call.name, "arguments": call.arguments}
        sent.append(base | action | {"id": call.id, "parentMessageId": kept.id})
    return sent


def _read_message(sent: Json) -> ThreadMessage:
    role: Role = "assistant" if sent["role"] == "assistant" else "user"
    return ThreadMessage(str(sent.get("id", "")), Message(role, str(sent.get("content") or "")))
