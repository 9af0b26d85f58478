"""A LangGraph server at a URL. Each of its graphs is an agent."""

import json
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from server.chat import Json, Message, Tool, ToolCall
from server.conversation.agents.base import AgentCard, AgentRequest, InterruptAnswer, ThreadState
from server.conversation.agents.remote import Fresh, Peer, RemoteAgentFailed, require_name, why
from server.conversation.threads import ThreadMessage
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

ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
KIT_VALUE = "__copilotkit_interrupt_value__"
KIT_MESSAGES = "__copilotkit_messages__"


def read_message(sent: Json) -> ThreadMessage:
    role = ROLES.get(str(sent.get("type")), "assistant")
    message_id, content = str(sent.get("id") or ""), message_text(sent)
    if role == "tool":
        call_id = str(sent.get("tool_call_id"))
        name = sent.get("name")
        return ThreadMessage(message_id, Message("tool", content, tool_call_id=call_id, name=name))
    calls = tuple(
        ToolCall(call["id"], call["name"], call["args"]) for call in sent.get("tool_calls") or ()
    )
    if role == "assistant":
        return ThreadMessage(message_id, Message("assistant", content, tool_calls=calls))
    return ThreadMessage(message_id, Message("user" if role == "user" else "system", content))


def write_message(kept: ThreadMessage) -> Json:
    message = kept.message
    if message.role == "tool":
        call = {"tool_call_id": message.tool_call_id, "name": message.name}
        return {"id": kept.id, "role": "tool", "content": message.content} | call
    return {"id": kept.id, "role": "user", "content": message.content}


def message_text(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or () if isinstance(part, dict))


def read_interrupt(sent: Json, number: int = 1) -> Interrupted:
    """Reads an interrupt. CopilotKit's SDK wraps the question in messages of the conversation.

    Older servers send no id. Then `number` makes the name unique.
    """
    usual = "interrupt" if number == 1 else f"interrupt-{number}"
    name, value = str(sent.get("id") or usual), sent.get("value")
    if not isinstance(value, dict) or KIT_VALUE not in value:
        return Interrupted(name, value)
    messages = tuple(read_message(message).message for message in value.get(KIT_MESSAGES) or ())
    return Interrupted(name, value[KIT_VALUE], messages)


def waiting_interrupts(state: Any) -> tuple[Interrupted, ...]:
    """Returns the interrupts that a thread still waits for, from the server's state."""
    tasks = state.get("tasks") if isinstance(state, dict) else None
    listed = [sent for task in tasks or () for sent in task.get("interrupts") or ()]
    return tuple(read_interrupt(sent, number) for number, sent in enumerate(listed, 1))


def spoken_answer(request: AgentRequest) -> str | None:
    """Returns the last message if the user or the page sent it: it can answer an interrupt."""
    last = request.messages[-1].message if request.messages else None
    return last.content if last is not None and last.role in ("user", "tool") else None


MODES = ["values", "messages-tuple", "tasks"]
NOT_STATE = frozenset({"messages", "copilotkit", "tools", "__interrupt__"})
"""Values of a graph that are not part of the state that a page sees."""


class LangGraphServer:
    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._found = Fresh(self._ask_who)

    async def agents(self) -> tuple["GraphAgent", ...]:
        return await self._found.get()

    async def _ask_who(self) -> tuple["GraphAgent", ...]:
        found = await self._peer.ask_who("/assistants/search", {"limit": 100})
        if not isinstance(found, list):
            raise RemoteAgentFailed(f"{self._peer.place} does not list its graphs.")
        with self._peer.understood():
            return tuple(GraphAgent(self._peer, graph) for graph in found)

    async def tools(self) -> tuple[Tool, ...]:
        return ()


class GraphAgent:
    def __init__(self, peer: Peer, graph: Json) -> None:
        self._peer = peer
        self._assistant = graph["assistant_id"]
        description = graph.get("description") or f"A graph at {peer.place}."
        name = require_name(graph.get("name") or graph["graph_id"])
        self.card = AgentCard(name, str(description), "LangGraph")

    async def run(self, request: AgentRequest) -> Events:
        thread = _thread(request.thread_id)
        await self._peer.ask("POST", "/threads", {"thread_id": thread, "if_exists": "do_nothing"})
        state = await self._state(thread)
        with self._peer.understood():
            values = _values(state)
            known = {message.get("id") for message in values.get("messages") or ()}
            waiting = waiting_interrupts(state)
            answer = request.answer or _answer_in_words(request, waiting)
        if waiting and answer is None:
            for interrupt in waiting:
                yield interrupt
            yield Finished("stop")
            return
        body: Json = {"assistant_id": self._assistant, "stream_mode": MODES}
        if answer is not None:
            body["command"] = {"resume": answer.value}
        else:
            body["input"] = _input(request, known)
        body["on_disconnect"] = "cancel"
        reading = _Reading({tool.name for tool in request.tools}, known)
        path = f"/threads/{thread}/runs/stream"
        async with aclosing(_server_sent(self._peer, path, body)) as sent:
            async for kind, data in sent:
                with self._peer.understood():
                    events = list(reading.read(kind, data))
                for event in events:
                    yield event
        yield Finished("tool_calls" if reading.client_called else "stop")

    async def recall(self, thread_id: str) -> ThreadState | None:
        try:
            values = _values(await self._state(_thread(thread_id)))
            with self._peer.understood():
                messages = tuple(read_message(sent) for sent in values.get("messages") or ())
        except RemoteAgentFailed:
            return None
        return ThreadState(_state(values), messages) if values else None

    async def _state(self, thread: str) -> Any:
        return await self._peer.ask("GET", f"/threads/{thread}/state")


class _Reading:
    """Converts the values, messages and tasks of one run to our events."""

    def __init__(self, client_tools: set[str], known: set[Any]) -> None:
        self._client_tools = client_tools
        self._known = known
        self._message = ""
        self._calls: dict[int, ToolCall] = {}
        self._drafts: dict[int, str] = {}
        self._opened = 0
        self._interrupts: set[str] = set()
        self.client_called = False

    def read(self, kind: str, data: Any) -> Iterator[Event]:
        match kind, data:
            case "tasks", {"name": str(name), "input": _}:
                yield StepChanged(name, active=True)
            case "tasks", {"name": str(name)}:
                yield from self._close_calls()
                yield StepChanged(name, active=False)
            case "values", dict():
                yield StateChanged(_state(data))
                yield from self._read_interrupts(data.get("__interrupt__") or ())
            case "messages", [dict() as message, *_]:
                yield from self._read_message(message)
            case "error", _:
                detail = data.get("message") if isinstance(data, dict) else data
                raise RemoteAgentFailed(f"The graph failed{why(detail)}")
            case _:
                pass

    def _read_message(self, message: Json) -> Iterator[Event]:
        if message.get("id") in self._known:
            return
        if message.get("type") == "tool":
            yield from self._close_calls()
            yield ToolCallFinished(str(message.get("tool_call_id")), message_text(message))
            return
        if message.get("type") not in ("ai", "AIMessageChunk"):
            return
        if message.get("id") and message["id"] != self._message:
            yield from self._close_calls()
            self._message = message["id"]
            yield MessageOpened(self._message)
        if text := message_text(message):
            yield TextDelta(text)
        if message["type"] == "AIMessageChunk":
            for chunk in message.get("tool_call_chunks") or ():
                yield from self._call_chunk(chunk)
        else:
            for call in message.get("tool_calls") or ():
                yield from self._whole(ToolCall(call["id"], call["name"], call["args"]))

    def _call_chunk(self, chunk: Json) -> Iterator[Event]:
        at = chunk.get("index") or 0
        if chunk.get("id") and (at not in self._calls or self._calls[at].id != chunk["id"]):
            self._calls[at] = ToolCall(chunk["id"], chunk.get("name") or "", {})
            self._drafts[at] = ""
            if self._calls[at].name in self._client_tools:
                yield CallOpened(self._opened + at, chunk["id"], self._calls[at].name)
        piece = chunk.get("args") or ""
        if at in self._calls and piece:
            self._drafts[at] += piece
            if self._calls[at].name in self._client_tools:
                yield CallArguments(self._opened + at, piece)

    def _close_calls(self) -> Iterator[Event]:
        for at, call in self._calls.items():
            arguments = try_json(self._drafts[at])
            yield from self._whole(
                ToolCall(call.id, call.name, arguments if isinstance(arguments, dict) else {})
            )
        self._opened += len(self._calls)
        self._calls.clear()

    def _whole(self, call: ToolCall) -> Iterator[Event]:
        is_client = call.name in self._client_tools
        self.client_called |= is_client
        yield ClientToolCall(call) if is_client else ToolCallStarted(call)

    def _read_interrupts(self, interrupts: Any) -> Iterator[Event]:
        for sent in interrupts:
            # The server repeats interrupts. One without an id is known by its contents.
            key = str(sent.get("id") or json.dumps(sent, sort_keys=True))
            if key not in self._interrupts:
                self._interrupts.add(key)
                yield read_interrupt(sent, len(self._interrupts))


async def _server_sent(peer: Peer, path: str, body: Json) -> AsyncGenerator[tuple[str, Any], None]:
    async with aclosing(peer.events(path, body)) as events:
        async for sent in events:
            if sent.data:
                yield sent.event.strip().partition("|")[0], try_json(sent.data, sent.data)


def _answer_in_words(
    request: AgentRequest, waiting: tuple[Interrupted, ...]
) -> InterruptAnswer | None:
    """Returns the last message as the answer, if an interrupt asked in messages; else None."""
    answer = spoken_answer(request)
    return (
        InterruptAnswer(answer)
        if answer is not None and any(asked.said for asked in waiting)
        else None
    )


def _values(state: Any) -> Json:
    values = state.get("values") if isinstance(state, dict) else None
    return values if isinstance(values, dict) else {}


def _input(request: AgentRequest, known: set[Any]) -> Json:
    """Returns the graph's input: new messages, the page's state, its actions and its context."""
    fresh = [
        write_message(kept)
        for kept in request.messages
        if kept.message.role in ("user", "tool") and kept.id not in known
    ]
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in request.tools
    ]
    context = [{"description": what, "value": value} for what, value in request.context]
    state = {key: value for key, value in (request.state or {}).items() if key not in NOT_STATE}
    return state | {"messages": fresh, "copilotkit": {"actions": tools, "context": context}}


def _state(values: Json) -> Json:
    return {key: value for key, value in values.items() if key not in NOT_STATE}


def _thread(thread_id: str) -> str:
    """Returns the thread's id as a UUID, which LangGraph requires. A page can use any text."""
    try:
        return str(uuid.UUID(thread_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, thread_id))
