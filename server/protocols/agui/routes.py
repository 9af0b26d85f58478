"""AG-UI: lists, runs, replays and stops agents, and shows the threads that are kept.

`Encoder` turns events into AG-UI's. `read_messages` and `write_message` convert messages.
"""

import base64
import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from server.chat import File, Image, Json, Message, Tool, ToolCall, ToolChoice
from server.conversation.agents.base import (
    AgentCard,
    AgentNotFound,
    AgentRequest,
    Agents,
    InterruptAnswer,
)
from server.conversation.threads import (
    KeptRun,
    Thread,
    ThreadMessage,
    messages_of,
    result_id,
)
from server.errors import AppError, BadRequest
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    Citations,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    OfChoice,
    ReasoningDelta,
    StateChanged,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.protocols.base import AgentRun, Facts, Frames, Look, LookResult, Reply
from server.protocols.fields import BIGGEST, Fields, parse_json, sendable
from server.protocols.frames import dump, sse, utc_time

CUSTOM: dict[type[Event], str] = {
    StatusNote: "status", Artifact: "artifact", Citations: "citations", Suggestions: "suggestions",
}  # fmt: skip
"""The names of CUSTOM events, for events that AG-UI has no type for."""


@dataclass(slots=True)
class Encoder:
    """Encodes the events of one run.

    It never sends nulls or empty deltas, because clients before AG-UI 1.0 refuse them.
    """

    thread_id: str
    run_id: str
    speaks_1_0: bool = False
    is_over: bool = False
    """Whether this replays a finished run. It sends no RUN_ERROR, because clients stop there."""
    knows_reasoning: bool = False
    _message: str = ""
    _text_open: bool = False
    _thought: str = ""
    """The id of the open reasoning message; empty if none is open."""
    _thoughts: int = 0
    _calls: dict[int, str] = field(default_factory=dict)
    _calls_begun: int = 0
    """How many calls the open message has so far."""
    _steps: list[str] = field(default_factory=list)
    _interrupts: list[Json] = field(default_factory=list)
    _state: Json | None = None

    def start(self, run_input: Json | None = None) -> Json:
        started: Json = {"type": "RUN_STARTED", "threadId": self.thread_id, "runId": self.run_id}
        return started | ({"input": run_input} if run_input is not None else {})

    def encode(self, event: Event) -> Iterable[Json]:  # noqa: C901, PLR0911
        match event:
            case TextDelta(text):
                return self._text(text)
            case MessageOpened(message_id):
                return self._open_message(message_id)
            case CallOpened() | CallArguments() | ClientToolCall() | ToolCallStarted():
                return self._call(event)
            case ToolCallFinished(call_id, result):
                return self._result(call_id, result)
            case StepChanged(name, active):
                return self._step(name, active=active)
            case StateChanged(state):
                return self._state_events(state)
            case Interrupted():
                return self._interrupt_events(event)
            case StatusNote() | Artifact() | Citations() | Suggestions():
                name = CUSTOM[type(event)]
                return ({"type": "CUSTOM", "name": name, "value": asdict(event)},)
            case ReasoningDelta(text):
                return self._reasoning(text)
            case Finished():
                return self._finish()
            case Failed(error):
                return self._fail(error)
            case _:
                return ()

    def _text(self, text: str) -> Iterator[Json]:
        if not text:
            return
        yield from self._end_thinking()
        if not self._text_open:
            self._text_open = True
            yield {
                "type": "TEXT_MESSAGE_START",
                "messageId": self._message,
                "role": "assistant",
            }
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message, "delta": text}

    def _open_message(self, message_id: str) -> Iterator[Json]:
        yield from self._close()
        self._message = message_id
        self._calls_begun = 0

    def _call(
        self, event: CallOpened | CallArguments | ClientToolCall | ToolCallStarted
    ) -> Iterator[Json]:
        match event:
            case CallOpened(index, call_id, name):
                yield from self._close(calls=False)
                self._calls[index] = call_id
                yield self._call_start(call_id, name)
            case CallArguments(index, text) if text:
                yield {"type": "TOOL_CALL_ARGS", "toolCallId": self._calls[index], "delta": text}
            case ClientToolCall(call) if call.id in self._calls.values():
                self._calls = {
                    index: call_id for index, call_id in self._calls.items() if call_id != call.id
                }
                yield {"type": "TOOL_CALL_END", "toolCallId": call.id}
            case ClientToolCall(call) | ToolCallStarted(call):
                yield from self._whole_call(call)
            case _:
                pass

    def _whole_call(self, call: ToolCall) -> Iterator[Json]:
        yield from self._close(calls=False)
        yield self._call_start(call.id, call.name)
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": dump(call.arguments)}
        yield {"type": "TOOL_CALL_END", "toolCallId": call.id}

    def _call_start(self, call_id: str, name: str) -> Json:
        """Starts a call. Each call after the first gets a parent message of its own.

        CopilotKit 1.50 shows only the first call of a message. A page where
        a person must answer in the card of a later call would wait forever.
        """
        self._calls_begun += 1
        return {
            "type": "TOOL_CALL_START",
            "toolCallId": call_id,
            "toolCallName": name,
            "parentMessageId": further_call(self._message, self._calls_begun),
        }

    def _result(self, call_id: str, result: str) -> Iterator[Json]:
        yield from self._close()
        yield {
            "type": "TOOL_CALL_RESULT",
            "messageId": result_id(call_id),
            "toolCallId": call_id,
            "content": result,
            "role": "tool",
        }

    def _step(self, name: str, *, active: bool) -> Iterator[Json]:
        if active and name not in self._steps:
            self._steps.append(name)
            yield {"type": "STEP_STARTED", "stepName": name}
        elif not active and name in self._steps:
            self._steps.remove(name)
            yield {"type": "STEP_FINISHED", "stepName": name}

    def _state_events(self, state: Json) -> Iterator[Json]:
        """Yields the whole state the first time, then only the changes."""
        before, self._state = self._state, state
        if before is None:
            yield {"type": "STATE_SNAPSHOT", "snapshot": state}
        elif before != state:
            yield {"type": "STATE_DELTA", "delta": _patch(before, state)}

    def _interrupt_events(self, event: Interrupted) -> Iterator[Json]:
        for number, asked in enumerate(event.said):
            yield from self._open_message(f"{event.id}-{number}")
            yield from self._text(asked.content)
        value = event.value if isinstance(event.value, str) else json.dumps(event.value)
        if self.speaks_1_0:
            self._interrupts.append(
                {
                    "id": event.id,
                    "reason": "interrupt",
                    "message": value,
                    "metadata": {"value": event.value},
                }
            )
            return
        yield {"type": "CUSTOM", "name": "on_interrupt", "value": value}

    def _reasoning(self, text: str) -> Iterator[Json]:
        if not (self.speaks_1_0 or self.knows_reasoning) or not text:
            return
        if not self._thought:
            self._thoughts += 1
            self._thought = f"{self.run_id}-reasoning-{self._thoughts}"
            yield {"type": "REASONING_START", "messageId": self._thought}
            yield {
                "type": "REASONING_MESSAGE_START",
                "messageId": self._thought,
                "role": "reasoning",
            }
        yield {"type": "REASONING_MESSAGE_CONTENT", "messageId": self._thought, "delta": text}

    def _end_thinking(self) -> Iterator[Json]:
        if self._thought:
            yield {"type": "REASONING_MESSAGE_END", "messageId": self._thought}
            yield {"type": "REASONING_END", "messageId": self._thought}
            self._thought = ""

    def _close(self, *, calls: bool = True) -> Iterator[Json]:
        yield from self._end_thinking()
        if self._text_open:
            self._text_open = False
            yield {"type": "TEXT_MESSAGE_END", "messageId": self._message}
        if calls:
            for call_id in self._calls.values():
                yield {"type": "TOOL_CALL_END", "toolCallId": call_id}
            self._calls.clear()

    def _finish(self) -> Iterator[Json]:
        yield from self._close()
        for name in reversed(self._steps):
            yield {"type": "STEP_FINISHED", "stepName": name}
        self._steps.clear()
        finished: Json = {"type": "RUN_FINISHED", "threadId": self.thread_id, "runId": self.run_id}
        if self._interrupts:
            finished["outcome"] = {"type": "interrupt", "interrupts": self._interrupts}
        yield finished

    def _fail(self, error: AppError) -> Iterator[Json]:
        failure = {"message": str(error), "code": error.code}
        if not self.is_over:
            yield {"type": "RUN_ERROR", **failure}
            return
        yield {"type": "CUSTOM", "name": "run_error", "value": failure}
        yield from self._finish()


def _patch(before: Json, after: Json) -> list[Json]:
    """Makes a JSON patch (RFC 6902) that replaces changed fields of the top level as a whole."""
    gone = [{"op": "remove", "path": _pointer(name)} for name in before if name not in after]
    changed = [
        {
            "op": "replace" if name in before else "add",
            "path": _pointer(name),
            "value": value,
        }
        for name, value in after.items()
        if name not in before or before[name] != value
    ]
    return gone + changed


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class RunInput:
    """A request for a run, and the body it came in, from which the encoder learns the dialect."""

    request: AgentRequest
    body: Json
    has_own_route: bool = False
    """Whether the request came to the agent's own route, not to the shared address."""

    @property
    def speaks_1_0(self) -> bool:
        return "protocolVersion" in self.body

    @property
    def knows_reasoning(self) -> bool:
        """Whether the client can read REASONING_* events. CopilotKit 1.50 and 1.51 break at them.

        No field of the body distinguishes 1.51 from 1.52. Pages up to 1.68 use the shared address
        by default, and none of them shows reasoning. Later pages, and those of the v2 provider, use
        the agent's own route. A client that sends reasoning back has read it.
        """
        roles = [
            message.get("role") for message in self.body["messages"] if isinstance(message, dict)
        ]
        return self.speaks_1_0 or self.has_own_route or "reasoning" in roles


def read(body: Any, agent: str, facts: Facts, *, is_kept: bool = True) -> RunInput:
    fields = Fields(body)
    thread_id, run_id = fields.some_text("threadId"), fields.some_text("runId")
    if fields.value("messages") is None:
        raise fields.wrong("messages", "is missing")
    messages = [_with_id(message) for message in fields.list("messages")]
    kept = read_messages(messages)
    forwarded = fields.value("forwardedProps")
    props = Fields(forwarded if isinstance(forwarded, dict) else {}, "forwardedProps")
    state, model = fields.value("state"), props.value("model")
    temperature, limit = props.value("temperature"), props.value("maxOutputTokens")
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    is_temperature = is_number and 0 <= temperature <= 2
    request = AgentRequest(
        agent,
        thread_id,
        run_id,
        kept,
        tools=tuple(_tool(Fields(entry, "tools")) for entry in fields.list("tools")),
        tool_choice=_tool_choice(props.value("toolChoice")),
        context=tuple(
            (entry.text("description") or "", entry.text("value") or "")
            for entry in (Fields(given, "context") for given in fields.list("context"))
        ),
        state=state if isinstance(state, dict) else None,
        answer=_answer(fields, props),
        # The page's own properties are here too, so only the name of one of our models counts.
        model=model if model in [card.name for card in facts.models] else None,
        temperature=float(temperature) if is_temperature else None,
        max_tokens=limit if type(limit) is int and 0 < limit <= BIGGEST else None,
        is_kept=is_kept,
        client=facts.origin or facts.headers.get("user-agent", ""),
        origin=facts.place,
        is_own=facts.is_own,
    )
    sent = fields.body | {"messages": messages}
    return RunInput(request, sent, has_own_route="agent" in facts.path)


def _with_id(message: Any) -> Any:
    """Returns the message with an id, so that the run's echo names it as the thread does."""
    is_without = isinstance(message, dict) and message.get("id") in (None, "")
    return {**message, "id": str(uuid.uuid4())} if is_without else message


def _tool(fields: Fields) -> Tool:
    parameters = fields.value("parameters")
    if not isinstance(parameters, dict):
        parameters = {"type": "object", "properties": {}}
    return Tool(fields.some_text("name"), fields.text("description") or "", sendable(parameters))


def _tool_choice(choice: Any) -> ToolChoice:
    if choice in ("none", "required"):
        return ToolChoice(choice)
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("toolName")
        if isinstance(name, str):
            return ToolChoice("required", (name,))
    return ToolChoice()


def _answer(fields: Fields, props: Fields) -> InterruptAnswer | None:
    """Reads the answer to an interrupt: `resume`, or `command.resume` from older clients."""
    for entry in fields.list("resume"):
        answer = Fields(entry, "resume")
        if answer.text("status") != "cancelled":
            return InterruptAnswer(answer.value("payload"))
        return InterruptAnswer(None)
    command = props.value("command")
    if isinstance(command, dict) and "resume" in command:
        return InterruptAnswer(command["resume"])
    return None


KEPT_THREADS = {"list": True, "inspect": True, "mutations": False, "realtimeMetadata": False}
ABILITIES: Json = {
    "audioFileTranscriptionEnabled": False,
    "mode": "sse",
    "threadEndpoints": KEPT_THREADS,
    "singleRoute": {"resourceOperations": True, "threadEndpoints": KEPT_THREADS},
    "suggestions": True,
    "a2uiEnabled": False,
    "openGenerativeUIEnabled": False,
    "telemetryDisabled": True,
}
NO_MORE: Json = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
"""The required fields of a run's input besides its messages, for clients that leave them out."""
STOPPED = {"type": "RUN_ERROR", "message": "Run stopped by user", "code": "STOPPED"}


def info(facts: Facts) -> Look:
    async def find(agents: Agents) -> LookResult:
        cards = {card.name: _card(card) for card in await agents.cards()}
        return Reply({"version": facts.version, "agents": cards, **ABILITIES})

    return Look(find)


def run(body: Any, agent: str, facts: Facts, *, is_kept: bool = True) -> Look:
    asked = read(body, agent, facts, is_kept=is_kept)

    async def find(agents: Agents) -> LookResult:
        found = await agents.find(agent)
        echo = _echo(asked, agents) if is_kept else None
        write = partial(frames, _encoder(asked, asked.request.run_id), echo)
        return AgentRun(partial(agents.run, found, asked.request), write, model=asked.request.model)

    return Look(find)


def connect(body: Any, agent: str, facts: Facts) -> Look:
    asked = read(body, agent, facts)

    async def find(agents: Agents) -> LookResult:
        await agents.find(agent)
        return _replay(agents, asked, facts.sees)

    return Look(find)


def stop(agent: str, thread_id: str, facts: Facts) -> Look:
    async def find(agents: Agents) -> LookResult:
        await agents.find(agent)
        if agents.threads.stop(thread_id, facts.sees):
            return Reply({"stopped": True, "interrupt": STOPPED})
        message = f"No active run for thread '{thread_id}'."
        return Reply({"stopped": False, "message": message})

    return Look(find)


def threads(agent: str, facts: Facts) -> Look:
    async def find(agents: Agents) -> LookResult:
        kept = agents.threads.of_agent(agent, facts.sees)
        return Reply({"threads": [_describe(thread) for thread in kept], "nextCursor": None})

    return Look(find)


def thread(thread_id: str, what: str, facts: Facts) -> Look:
    async def find(agents: Agents) -> LookResult:
        kept = agents.threads.find(thread_id, facts.sees)
        if what == "state":
            return Reply({"state": kept.state if kept else None})
        if what == "messages":
            return Reply(
                {"messages": [write_message(kept_message) for kept_message in messages_of(kept)]}
            )
        if what == "events":
            return Reply({"events": [event for run in _runs(kept) for event in run]})
        return Reply({"error": "Not found"}, 404)

    return Look(find)


def clear(facts: Facts) -> Look:
    async def find(agents: Agents) -> LookResult:
        agents.threads.clear(facts.sees)
        return Reply({"cleared": True})

    return Look(find)


def transcribe() -> Reply:
    message = "Transcription service is not configured"
    return Reply({"error": "service_not_configured", "message": message, "retryable": False}, 503)


def failed(error: Exception) -> Reply:
    if isinstance(error, AgentNotFound):
        return Reply({"error": "Agent not found", "message": str(error)}, error.status)
    if isinstance(error, BadRequest):
        body = {"error": "Invalid request body", "message": str(error), "details": str(error)}
        return Reply(body, error.status)
    status = error.status if isinstance(error, AppError) else 500
    code = error.code if isinstance(error, AppError) else "internal_error"
    return Reply({"error": code, "message": str(error)}, status)


async def frames(encoder: Encoder, echo: Json | None, events: Events) -> Frames:
    yield sse(encoder.start(echo))
    async for event in events:
        for encoded in encoder.encode(event.event if isinstance(event, OfChoice) else event):
            yield sse(encoded)


def _card(card: AgentCard) -> Json:
    return {
        "name": card.name,
        "description": card.description,
        "className": card.kind,
        "capabilities": {
            "tools": {"supported": True, "clientProvided": True},
            "transport": {"streaming": True},
            "humanInTheLoop": {"interrupts": True},
        },
    }


def _echo(asked: RunInput, agents: Agents) -> Json:
    """Returns the run's input with only the messages that are new to the thread.

    So the events of all runs together have each message once.
    """
    request = asked.request
    unknown = agents.threads.unknown(request.thread_id, request.messages, request.origin)
    fresh = {message.id for message in unknown}
    sent = NO_MORE | {name: value for name, value in asked.body.items() if value is not None}
    new = [message for message in sent["messages"] if message.get("id") in fresh]
    return sent | {"messages": new}


async def _replay(agents: Agents, asked: RunInput, sees: str | None) -> Frames:
    thread_id = asked.request.thread_id
    encoder = _encoder(asked, "")
    begun: KeptRun | None = None
    async with aclosing(agents.threads.follow(thread_id, sees)) as kept:
        async for run, event in kept:
            if run is not begun:
                begun = run
                encoder = _encoder(asked, run.id, is_over=run.is_complete)
                yield sse(encoder.start(_past_input(thread_id, run)))
            for encoded in encoder.encode(event):
                yield sse(encoded)
            if isinstance(event, Failed) and not encoder.is_over:
                return


def _encoder(asked: RunInput, run_id: str, *, is_over: bool = False) -> Encoder:
    thread_id = asked.request.thread_id
    return Encoder(thread_id, run_id, asked.speaks_1_0, is_over, asked.knows_reasoning)


def _past_input(thread_id: str, run: KeptRun) -> Json:
    sent = [write_message(message) for message in run.messages]
    return {"threadId": thread_id, "runId": run.id, "messages": sent} | NO_MORE


def _runs(kept: Thread | None) -> list[list[Json]]:
    runs = []
    for run in kept.runs if kept else []:
        encoder = Encoder(kept.id if kept else "", run.id, is_over=run.is_complete)
        events = [encoder.start(_past_input(encoder.thread_id, run))]
        for event in run.events:
            events.extend(encoder.encode(event))
        runs.append(events)
    return runs


def _describe(kept: Thread) -> Json:
    return {
        "id": kept.id,
        "name": None,
        "agentId": kept.agent,
        "organizationId": "",
        "createdById": "",
        "archived": False,
        "createdAt": utc_time(kept.created_at),
        "updatedAt": utc_time(kept.used_at),
    }


SKIPPED = ("activity", "reasoning")
"""Roles of messages that the model does not read."""
ROLES = ("developer", "system", "user", "assistant", "tool", *SKIPPED)
FILES = ("document", "file", "binary")
"""Types of parts that carry a document. A `binary` part can carry anything."""
UNHEARD = ("audio/", "video/")
LONGEST_NAME = 200
FILE_ELSEWHERE = "It came as a link, and Moat does not open links. Attach the file itself."
FILE_DAMAGED = "It is damaged: its contents could not be decoded."
FURTHER = "-call-"
"""Stands before the number in the id of a message for a further call (see `further_call`)."""


def read_messages(sent: list[Any]) -> tuple[ThreadMessage, ...]:
    names: dict[str, str] = {}
    kept: list[ThreadMessage] = []
    for number, item in enumerate(sent):
        fields = Fields(item, f"messages.{number}")
        message = _read_message(fields, names)
        if message is not None:
            names |= {call.id: call.name for call in message.tool_calls}
            message_id = fields.text("id") or ""
            if not _join_call(kept, message_id, message):
                kept.append(ThreadMessage(message_id, message))
    return tuple(kept)


def further_call(message_id: str, number: int) -> str:
    """Returns the id of the message for the call with this number, counted from 1."""
    return message_id if number == 1 else f"{message_id}{FURTHER}{number}"


def _join_call(kept: list[ThreadMessage], message_id: str, message: Message) -> bool:
    """Adds a further call to the message that it belongs to. Returns whether it was such a call."""
    base, mark, number = message_id.rpartition(FURTHER)
    if not mark or not number.isdecimal() or not message.tool_calls:
        return False
    for at, earlier in enumerate(kept):
        if earlier.id == base and earlier.message.tool_calls:
            calls = (*earlier.message.tool_calls, *message.tool_calls)
            kept[at] = ThreadMessage(base, replace(earlier.message, tool_calls=calls))
            return True
    return False


def write_message(kept: ThreadMessage) -> Json:
    message = kept.message
    written: Json = {"id": kept.id, "role": message.role}
    if message.images or message.files:
        parts = [_without_marks(part, message.files) for part in message.parts()]
        written["content"] = [_write_part(part) for part in parts if part]
        written["content"] += [_write_file(file) for file in message.files if file.data]
    elif message.content or not message.tool_calls:
        written["content"] = message.content
    if message.tool_calls:
        written["toolCalls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": dump(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        written["toolCallId"] = message.tool_call_id
    return written


def _read_message(fields: Fields, names: dict[str, str]) -> Message | None:
    role = fields.some_word("role", ROLES)
    if role in SKIPPED:
        return None
    if role == "tool":
        call_id = fields.some_text("toolCallId")
        content = _content(fields)[0]
        return Message("tool", content, tool_call_id=call_id, name=names.get(call_id))
    if role == "assistant":
        calls = tuple(
            _read_call(Fields(call, fields.path("toolCalls"))) for call in fields.list("toolCalls")
        )
        return Message("assistant", _content(fields)[0], tool_calls=calls)
    content, images, files = _content(fields)
    return Message("user" if role == "user" else "system", content, images, files=files)


def _content(fields: Fields) -> tuple[str, tuple[Image, ...], tuple[File, ...]]:
    content = fields.value("content")
    if content is None or isinstance(content, str):
        return content or "", (), ()
    text = ""
    images: list[Image] = []
    files: list[File] = []
    for part in fields.list("content"):
        fields_of_part = Fields(part, fields.path("content"))
        if image := _image(fields_of_part):
            images.append(replace(image, at=len(text)))
            continue
        file = _file(fields_of_part)
        files += [file] if file else []
        mark = file.mark if file else f"[{fields_of_part.text('type') or 'something'} attached]"
        part_text = fields_of_part.text("text") or mark
        text = f"{text}\n{part_text}" if text else part_text
    return text, tuple(images), tuple(files)


def _file(part: Fields) -> File | None:
    """Reads a document in the message; None if the part is not a document. Follows no links."""
    kind = part.text("type") or ""
    if kind not in FILES:
        return None
    source, metadata = part.object("source"), part.object("metadata")
    place = source or part
    name = part.text("filename") or (metadata.text("filename") if metadata else None) or ""
    mime, data = inline(place, "value" if source else "data")
    if mime.startswith(UNHEARD):
        return None
    file = File(name[:LONGEST_NAME], mime, part=kind)
    if data is None:
        return replace(file, problem=FILE_ELSEWHERE)
    try:
        return replace(file, data=base64.b64decode(data, validate=True))
    except ValueError:
        return replace(file, problem=FILE_DAMAGED)


def inline(source: Fields, name: str) -> tuple[str, str | None]:
    """Returns the media type, and the data as base64; None as data if the part is a link."""
    mime, data = source.text("mimeType") or "", source.text(name) or ""
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        return head.removeprefix("data:").partition(";")[0] or mime, data
    return mime, None if source.text("type") in ("url", "file") or not data else data


def _image(part: Fields) -> Image | None:
    """Reads an image in the message; None if the part is not an image. Follows no links."""
    kind = part.text("type")
    source = part.object("source") if kind == "image" else part if kind == "binary" else None
    if source is None:
        return None
    mime, data = inline(source, "value" if kind == "image" else "data")
    mime = mime or "image/png"
    if not mime.startswith("image/") or not data:
        return None
    return Image(mime, part.decode(data, "source", "must be base64"))


def _read_call(fields: Fields) -> ToolCall:
    function = fields.some_object("function")
    arguments = read_arguments(function.text("arguments"))
    return ToolCall(fields.some_text("id"), function.some_text("name"), arguments)


def read_arguments(text: str | None) -> Json:
    """Reads the arguments of an earlier call; empty if they are not a valid JSON object."""
    arguments = sendable(parse_json(text or "{}"))
    return arguments if isinstance(arguments, dict) else {}


def _write_part(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    value = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "data", "value": value, "mimeType": part.mime}}


def _without_marks(part: str | Image, files: tuple[File, ...]) -> str | Image:
    """Removes the marks of documents from a text: each is written as its own part."""
    if isinstance(part, str):
        for file in files:
            part = part.replace(file.mark, "", 1).strip("\n") if file.data else part
    return part


def _write_file(file: File) -> Json:
    value = base64.b64encode(file.data).decode()
    if file.part == "binary":
        return {"type": "binary", "mimeType": file.mime, "data": value, "filename": file.name}
    source = {"type": "data", "value": value, "mimeType": file.mime}
    return {"type": file.part, "source": source, "metadata": {"filename": file.name}}
