"""A CopilotKit remote endpoint (its Python SDK serves one): its actions and its agents."""

import json
import logging
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from server.chat import Json, Message, Tool, ToolCall
from server.conversation.agents.base import AgentCard, AgentRequest, ThreadState
from server.conversation.agents.remote import Fresh, Peer, RemoteAgentFailed, named, why
from server.conversation.threads.threads import Said
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
            if isinstance(found, dict):  # as runtimes of today tell of them: by their names
                found = [{**one, "name": name} for name, one in found.items()]
            return tuple(EndpointAgent(self._peer, one) for one in found)

    async def tools(self) -> tuple[Tool, ...]:
        """What cannot be reached offers nothing; the conversation goes on without."""
        try:
            info = await self._info.get()
            with self._peer.understood():
                return tuple(self._tool(one) for one in info.get("actions") or [])
        except AppError as error:
            log.warning("Actions are missing: %s", error)
            return ()

    async def _ask_who(self) -> Json:
        told = await self._peer.ask_who("POST", "/info", {"properties": {}})
        if not isinstance(told, dict):
            raise RemoteAgentFailed(f"{self._peer.place} does not say who is there.")
        return told

    def _tool(self, action: Json) -> Tool:
        name = named(action["name"])

        async def run(arguments: Json) -> str:
            body = {"name": name, "arguments": arguments, "properties": {}}
            done = await self._peer.ask("POST", "/actions/execute", body)
            result = done.get("result") if isinstance(done, dict) else done
            return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

        schema = _schema(action.get("parameters") or [])
        return Tool(name, str(action.get("description") or ""), schema, run)


class EndpointAgent:
    def __init__(self, peer: Peer, told: Json) -> None:
        self._peer = peer
        description = str(told.get("description") or "")
        self.card = AgentCard(named(told["name"]), description, "CopilotKit")

    async def run(self, request: AgentRequest) -> Events:
        body = {
            "name": self.card.name,
            "threadId": request.thread_id,
            "messages": [told for one in request.said for told in _told(one)],
            "state": request.state or {},
            "config": {},
            "properties": {},
            "actions": [_action(tool) for tool in request.tools],
            "metaEvents": _answered(request),
        }
        reading = _Reading({tool.name for tool in request.tools})
        async with aclosing(self._peer.lines("/agents/execute", body)) as lines:
            async for line in lines:
                with self._peer.understood():
                    events = list(reading.read(_parsed(line)))
                for event in events:
                    yield event
        yield Finished("tool_calls" if reading.client_called else "stop")

    async def recall(self, thread_id: str) -> ThreadState | None:
        body = {"properties": {}, "threadId": thread_id, "name": self.card.name}
        found = await self._peer.ask("POST", "/agents/state", body)
        if not isinstance(found, dict) or not found.get("threadExists"):
            return None
        with self._peer.understood():
            said = tuple(_said(one) for one in found.get("messages") or () if "role" in one)
        return ThreadState(found.get("state") or {}, said)


class _Reading:
    """Runtime events of one run, one JSON object a line, into ours."""

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
                yield Interrupted("interrupt", _parsed(value) if isinstance(value, str) else value)
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
            arguments = _parsed(self._arguments.get(call_id, "{}"))
            call = ToolCall(call_id, name, arguments if isinstance(arguments, dict) else {})
            self.client_called |= is_client
            yield ClientToolCall(call) if is_client else ToolCallStarted(call)

    def _state(self, event: Json) -> Iterator[Event]:
        step, active = event.get("nodeName") or "", bool(event.get("active"))
        if step and step != self._step:
            self._step = step
            yield StepChanged(step, active=True)
        state = _parsed(event.get("state") or "{}")
        if isinstance(state, dict):
            yield StateChanged(state)
        if step and not active:
            self._step = ""
            yield StepChanged(step, active=False)


def _asked_in_messages(data: Json) -> Interrupted:
    said = []
    for one in data.get("messages") or ():
        if "name" in one:
            call = ToolCall(str(one.get("id") or ""), one["name"], one.get("arguments") or {})
            said.append(Message("assistant", "", tool_calls=(call,)))
        else:
            said.append(Message("assistant", str(one.get("content") or "")))
    return Interrupted("interrupt", data.get("value"), tuple(said))


def _schema(parameters: list[Json]) -> Json:
    properties = {}
    for one in parameters:
        kind = one.get("type") or "string"
        is_list = kind.endswith("[]")
        inner = kind.removesuffix("[]")
        schema: Json = {"type": inner} if inner in JSON_TYPES else {}
        if is_list:
            schema = {"type": "array", "items": schema}
        properties[one["name"]] = schema | {"description": one.get("description") or ""}
    required = [one["name"] for one in parameters if one.get("required", True)]
    return {"type": "object", "properties": properties, "required": required}


def _action(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _answered(request: AgentRequest) -> list[Json]:
    if request.answer is None:
        return []
    value = request.answer.value
    response = value if isinstance(value, str) else json.dumps(value)
    return [{"name": "LangGraphInterruptEvent", "value": "", "response": response}]


def _told(said: Said) -> list[Json]:
    message = said.message
    base = {"id": said.id, "createdAt": datetime.now(UTC).isoformat()}
    if message.role == "tool":
        result = {"actionExecutionId": message.tool_call_id, "actionName": message.name or ""}
        return [base | {"type": "ResultMessage", "result": message.content} | result]
    told: list[Json] = []
    if message.content or not message.tool_calls:
        text = {"type": "TextMessage", "content": message.content, "role": message.role}
        told.append(base | text)
    for call in message.tool_calls:
        action = {"type": "ActionExecutionMessage", "name": call.name, "arguments": call.arguments}
        told.append(base | action | {"id": call.id, "parentMessageId": said.id})
    return told


def _said(told: Json) -> Said:
    role = "assistant" if told["role"] == "assistant" else "user"
    return Said(
        str(told.get("id", "")),
        Message("assistant" if role == "assistant" else "user", str(told.get("content") or "")),
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
