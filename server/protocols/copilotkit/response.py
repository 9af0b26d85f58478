"""The objects that GraphQL resolves while the events of a run come in, and CopilotKit's errors.

Errors have the codes that CopilotKit's pages know how to show.
"""

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graphql import FieldNode, GraphQLError, get_location

from server.chat import Json, Message, ToolCall
from server.conversation.agents.base import AgentNotFound, AgentRequest, TopicRefused
from server.conversation.threads import result_id
from server.errors import AppError
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    StateChanged,
    StepChanged,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.protocols.frames import utc_time

log = logging.getLogger(__name__)

INTERNAL = "Something went wrong inside Moat; the log says what."


@dataclass(frozen=True, slots=True)
class Kind:
    """How CopilotKit's pages show an error."""

    code: str
    status: int
    visibility: str = "banner"
    severity: str = "critical"


NETWORK = Kind("NETWORK_ERROR", 503)
AGENT_NOT_FOUND = Kind("AGENT_NOT_FOUND", 500)
AUTHENTICATION = Kind("AUTHENTICATION_ERROR", 401)
CONFIGURATION = Kind("CONFIGURATION_ERROR", 400, severity="warning")
UNKNOWN = Kind("UNKNOWN", 500, visibility="toast")


def kind_of(error: AppError) -> Kind:
    if isinstance(error, AgentNotFound):
        return AGENT_NOT_FOUND
    if error.status == 401:
        return AUTHENTICATION
    if error.status < 500:
        return CONFIGURATION
    return UNKNOWN if error.code == AppError.code else NETWORK


def extensions(error: AppError) -> Json:
    kind = kind_of(error)
    return {
        "name": "CopilotError",
        "statusCode": kind.status,
        "code": kind.code,
        "visibility": kind.visibility,
        "severity": kind.severity,
        "troubleshootingUrl": None,
        "originalError": {"message": str(error)},
    }


def failed_status(error: AppError) -> Json:
    """Returns the status of a response whose run failed after it had begun."""
    status: Json = {"__typename": "FailedResponseStatus", "code": "Failed"}
    if isinstance(error, TopicRefused):
        details: Json = {"guardrailsReason": str(error)}
        return status | {"reason": "GUARDRAILS_VALIDATION_FAILED", "details": details}
    kind = kind_of(error)
    original = {
        "code": kind.code,
        "statusCode": error.status,
        "severity": kind.severity,
        "visibility": kind.visibility,
        "originalErrorType": type(error).__name__,
        "extensions": extensions(error),
    }
    details = {"description": str(error), "originalError": original}
    return status | {"reason": "UNKNOWN_ERROR", "details": details}


def early(error: AppError, field: FieldNode) -> Json:
    """Returns the response to an error that occurred before the run began."""
    place = field.loc and get_location(field.loc.source, field.loc.start)
    failure: Json = {"message": str(error)}
    if place:
        failure["locations"] = [{"line": place.line, "column": place.column}]
    failure |= {"path": [field.name.value], "extensions": extensions(error)}
    return {"errors": [failure], "data": None}


def format_errors(errors: Iterable[GraphQLError]) -> list[Json]:
    """Formats GraphQL's errors. Hides the message of an unexpected exception."""
    listed = []
    for error in errors:
        cause = error.original_error
        entry = dict(error.formatted)
        if isinstance(cause, AppError):
            entry["extensions"] = extensions(cause)
        elif cause is not None and not isinstance(cause, GraphQLError):
            entry["message"] = INTERNAL
            log.error("An operation of CopilotKit broke", exc_info=cause)
        listed.append(entry)
    return listed


def bad_body(message: str) -> Json:
    """Returns an error that clients of both generations can read, while the dialect is unknown."""
    error = {"message": message, "extensions": {"code": "BAD_REQUEST"}}
    return {"errors": [error], "error": "invalid_request", "message": message}


PLAIN = "LangGraphInterruptEvent"
IN_MESSAGES = "CopilotKitLangGraphInterruptEvent"
Begin = Callable[[str, str], Json]
"""Takes the type and the id of a finished message. Returns the fields that all messages have."""


def meta_event(event: Interrupted, begin: Begin) -> Json:
    value = event.value if isinstance(event.value, str) else _dump(event.value)
    if not event.said:
        return _event(PLAIN) | {"value": value}
    asked = [
        written
        for number, message in enumerate(event.said)
        for written in _write(message, f"{event.id}-{number}", begin)
    ]
    return _event(IN_MESSAGES) | {"data": {"value": value, "messages": asked}}


def _event(name: str) -> Json:
    return {"__typename": name, "type": "MetaEvent", "name": name, "response": None}


def _write(message: Message, message_id: str, begin: Begin) -> Iterator[Json]:
    if message.content:
        text = {"role": "assistant", "content": [message.content], "parentMessageId": None}
        yield begin("TextMessageOutput", message_id) | text
    for call in message.tool_calls:
        yield begin("ActionExecutionMessageOutput", call.id) | {
            "name": call.name,
            "arguments": [_dump(call.arguments)],
            "scope": None,
            "parentMessageId": message_id,
        }


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


T = TypeVar("T")
JOIN_S = 0.03
"""The least time between two pieces of text that are sent, in seconds."""
PENDING = {"__typename": "PendingMessageStatus", "code": "Pending"}
DONE = {"__typename": "SuccessMessageStatus", "code": "Success"}
SUCCESS = {"__typename": "SuccessResponseStatus", "code": "Success"}


class Growing(Generic[T]):
    """A list that one task writes while GraphQL reads it. `close` ends it."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[T | None] = asyncio.Queue()

    def put(self, item: T) -> None:
        self._queue.put_nowait(item)

    def close(self) -> None:
        self._queue.put_nowait(None)

    async def read(self, _info: Any = None) -> AsyncIterator[T]:
        while (item := await self._queue.get()) is not None:
            yield item


class Words(Growing[str]):
    """Text that grows. Joins pieces that come close together: a page takes long to add each."""

    async def read(self, _info: Any = None) -> AsyncIterator[str]:
        now = asyncio.get_running_loop().time
        told_at = now() - JOIN_S
        is_open = True
        while is_open and (word := await self._queue.get()) is not None:
            await asyncio.sleep(max(0.0, told_at + JOIN_S - now()))
            words = [word]
            while is_open and not self._queue.empty():
                more = self._queue.get_nowait()
                is_open = more is not None
                words.append(more or "")
            told_at = now()
            yield "".join(words)


class Later:
    """A value that becomes known later. Only the first `set` counts."""

    def __init__(self) -> None:
        self._future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    def set(self, value: Json) -> None:
        if not self._future.done():
            self._future.set_result(value)

    async def get(self, _info: Any = None) -> Json:
        return await asyncio.shield(self._future)


@dataclass(slots=True)
class _Open:
    """A message that is being written: its status and its words."""

    status: Later
    words: Words

    def close(self, status: Json) -> None:
        self.words.close()
        self.status.set(status)


class Response:
    """The answer of one run. `see` takes its events; `root` is what GraphQL resolves meanwhile."""

    def __init__(self, request: AgentRequest, *, tells_state: bool, run_id: str | None) -> None:
        self._request = request
        self._tells_state = tells_state
        self._messages: Growing[Json] = Growing()
        self._meta: Growing[Json] = Growing()
        self._status = Later()
        self._parent: str | None = None
        self._text: _Open | None = None
        self._calls: dict[str, _Open] = {}
        self._ids: dict[int, str] = {}
        self._names: dict[str, str] = {}
        self._step = ""
        self._state: Json = request.state or {}
        self.root: Json = {
            "threadId": request.thread_id,
            "runId": run_id,
            "extensions": None,
            "status": self._status.get,
            "messages": self._messages.read,
            "metaEvents": self._meta.read,
        }

    def see(self, event: Event) -> None:  # noqa: C901
        match event:
            case TextDelta(text) if text:
                self._say(text)
            case MessageOpened(message_id):
                self._end_text(DONE)
                self._parent = message_id
            case CallOpened(index, call_id, name):
                self._ids[index] = call_id
                self._begin_call(call_id, name)
            case CallArguments(index, text) if text:
                self._calls[self._ids[index]].words.put(text)
            case ClientToolCall(call) | ToolCallStarted(call):
                self._whole_call(call)
            case ToolCallFinished(call_id, result, failed):
                self._result(call_id, _failure(result) if failed else result)
            case StepChanged(name, active):
                self._step = name
                self._tell_state(active=active)
            case StateChanged(state):
                self._state = state
                self._tell_state(active=True)
            case Interrupted():
                self._meta.put(meta_event(event, self._finished_message))
            case Finished():
                self._tell_end()
                self._end(DONE, SUCCESS)
            case Failed(error):
                self.fail(error)
            case _:
                pass

    def fail(self, error: AppError) -> None:
        reason = f"The answer was interrupted: {error}"
        broken = {"__typename": "FailedMessageStatus", "code": "Failed", "reason": reason}
        self._end(broken, failed_status(error), calls=broken)

    def _say(self, text: str) -> None:
        if self._text is None:
            self._text = _Open(Later(), Words())
            message = self._message("TextMessageOutput", self._parent, self._text.status)
            message |= {"role": "assistant", "content": self._text.words.read}
            self._messages.put(message | {"parentMessageId": None})
        self._text.words.put(text)

    def _begin_call(self, call_id: str, name: str) -> _Open:
        self._end_text(DONE)
        call = self._calls[call_id] = _Open(Later(), Words())
        self._names[call_id] = name
        message = self._message("ActionExecutionMessageOutput", call_id, call.status)
        message |= {"name": name, "arguments": call.words.read, "scope": None}
        self._messages.put(message | {"parentMessageId": self._parent})
        return call

    def _whole_call(self, call: ToolCall) -> None:
        if call.id not in self._calls:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            self._begin_call(call.id, call.name).words.put(arguments)
        self._calls.pop(call.id).close(DONE)

    def _result(self, call_id: str, result: str) -> None:
        message = self._finished_message("ResultMessageOutput", result_id(call_id))
        name = self._names.get(call_id, "")
        self._messages.put(
            message | {"actionExecutionId": call_id, "actionName": name, "result": result}
        )

    def _tell_state(self, *, active: bool) -> None:
        if not self._tells_state:
            return
        message = self._finished_message("AgentStateMessageOutput", f"ck-{uuid.uuid4()}")
        message |= {
            "threadId": self._request.thread_id,
            "agentName": self._request.agent,
            "nodeName": self._step,
            "runId": self._request.run_id,
            "active": active,
            "role": "assistant",
            "state": json.dumps(self._state, ensure_ascii=False),
            "running": True,
        }
        self._messages.put(message)

    def _tell_end(self) -> None:
        """Sends the state a last time with `active` false, if the agent has sent steps."""
        if self._step:
            self._tell_state(active=False)

    def _finished_message(self, kind: str, message_id: str) -> Json:
        status = Later()
        status.set(DONE)
        return self._message(kind, message_id, status)

    def _message(self, kind: str, message_id: str | None, status: Later) -> Json:
        return {
            "__typename": kind,
            "id": message_id or str(uuid.uuid4()),
            "createdAt": utc_time(time.time()),
            "status": status.get,
        }

    def _end_text(self, status: Json) -> None:
        if self._text is not None:
            self._text.close(status)
            self._text = None

    def _end(self, message: Json, response: Json, calls: Json = PENDING) -> None:
        """Ends the answer. A call that was cut off stays pending, so the page does not run it."""
        self._end_text(message)
        for call in self._calls.values():
            call.close(calls)
        self._calls.clear()
        self._status.set(response)
        self._messages.close()
        self._meta.close()


def _failure(message: str) -> str:
    error = {"code": "HANDLER_ERROR", "message": message}
    return json.dumps({"error": error, "result": ""}, ensure_ascii=False)
