"""Turns the events of a run into AG-UI events, opened and closed in the order clients need."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field

from server.chat import Json, ToolCall
from server.conversation.threads.threads import result_id
from server.errors import AppError
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    Citations,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    ReasoningDelta,
    StateChanged,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.protocols.agui.messages import further_call


@dataclass(slots=True)
class Encoder:
    """Encodes one run. Clients before AG-UI 1.0 refuse nulls and empty deltas; neither is sent."""

    thread_id: str
    run_id: str
    speaks_1_0: bool = False
    is_over: bool = False
    """A replay of a finished run. Clients stop reading at a failure, so it finishes even then."""
    knows_reasoning: bool = False
    _message: str = ""
    _text_open: bool = False
    _thought: str = ""
    """The id of the open thought."""
    _thoughts: int = 0
    _calls: dict[int, str] = field(default_factory=dict)
    _calls_begun: int = 0
    """The number of calls in the open message."""
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
                return (_custom(event),)
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
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": arguments}
        yield {"type": "TOOL_CALL_END", "toolCallId": call.id}

    def _call_start(self, call_id: str, name: str) -> Json:
        """CopilotKit 1.50 shows only the first call of a message, so each further call gets a
        message.

        Otherwise a page that must be answered in the card of a call would wait forever.
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
        """Sends the whole state once, then only what has changed."""
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
    """Makes a JSON patch (RFC 6902) of the names at the top."""
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


def _custom(event: StatusNote | Artifact | Citations | Suggestions) -> Json:
    names = {StatusNote: "status", Artifact: "artifact", Citations: "citations"}
    return {"type": "CUSTOM", "name": names.get(type(event), "suggestions"), "value": asdict(event)}
