"""Reading a request's JSON within limits of size, time, depth; writing what clients can read."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NoReturn, TypeVar

from aiohttp import web
from pydantic_core import PydanticSerializationError, from_json, to_json

from server.errors import AppError, BadRequest
from server.protocols.frames import dumped

READ_S = 20.0
LARGE_BYTES = 128 * 1024
"""A body of more than this is read on a thread: meanwhile others are served."""
MANY_VALUES = 200_000
"""From so many on, the fast reader of JSON would hold up every other thread for too long."""
LONGEST_NAME, LONGEST_DESCRIPTION = 10_000, 200_000
"""In characters. Names are compared, searched and shown in many places, none of which expects a
name of megabytes."""
LIMITS = {
    **dict.fromkeys(
        (
            "name",
            "id",
            "uuid",
            "widget_id",
            "widget_uuid",
            "origin",
            "function",
            "role",
            "type",
            "model",
            "threadId",
            "thread_id",
            "runId",
            "run_id",
            "parentRunId",
            "agentId",
            "toolCallId",
            "tool_call_id",
            "call_id",
            "tool_use_id",
            "toolName",
            "filename",
            "title",
            "trace_id",
            "previous_response_id",
            "operationName",
            "actionName",
            "actionExecutionId",
            "user",
            "agentName",
            "format",
            "category",
            "sub_category",
            "pattern",
        ),
        LONGEST_NAME,
    ),
    "description": LONGEST_DESCRIPTION,
}
T = TypeVar("T")
_LARGE_WORK = ThreadPoolExecutor(2, "large bodies")


class TooSlow(AppError):
    code = "request_timeout"
    status = 408


async def read_json(request: web.Request, *, required: bool = True) -> Any:
    if request.method in ("GET", "HEAD"):
        return {}
    announced = request.content_length or 0
    if announced > request.client_max_size:
        raise web.HTTPRequestEntityTooLarge(request.client_max_size, announced)
    try:
        async with asyncio.timeout(READ_S):
            data = await request.read()
    except TimeoutError:
        raise TooSlow("The request's body took too long to arrive.") from None
    except web.RequestPayloadError:
        raise BadRequest("The body is broken, or not packed as its headers say.") from None
    if not data and not required:
        return {}
    if not data:
        raise BadRequest("The body is empty; JSON is expected.")
    return await apart(len(data), lambda: _checked(_parsed(data), len(data)))


async def apart(size: int, work: Callable[[], T]) -> T:
    """The result of some work, made on a thread if it is about many bytes.

    Few threads, whatever is sent: each takes its share of what the server can compute. Who leaves
    before it is begun is passed over.
    """
    if size <= LARGE_BYTES:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_LARGE_WORK, work)


def _parsed(data: bytes) -> Any:
    if data.count(b",") > MANY_VALUES:
        return _patiently_parsed(data)
    try:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise BadRequest(f"The body is not valid JSON: {error}.") from None


def _checked(body: Any, size: int) -> Any:
    """Refuses names of a length that no name has; small bodies hold none."""
    waiting = [body] if size > LONGEST_NAME else []
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            _check_names(part)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return body


def _check_names(part: dict[str, Any]) -> None:
    for key, value in part.items():
        most = LIMITS.get(key)
        if most is not None and isinstance(value, str) and len(value) > most:
            raise BadRequest(f"'{key}' is longer than {most} characters.", key)


class _PatientDecoder(json.JSONDecoder):
    """Python's own reader, written in Python: other threads run in between."""

    def __init__(self) -> None:
        super().__init__(parse_constant=_refuse_constant)
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _patiently_parsed(data: bytes) -> Any:
    try:
        return _PatientDecoder().decode(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body is not valid JSON: {error}.") from None


def as_json(body: Any, nan: Literal["null", "constants"] = "null") -> bytes:
    try:
        return to_json(body, inf_nan_mode=nan)
    except PydanticSerializationError:
        # A model can say half a surrogate pair, a file have a name in bytes that are no text.
        return dumped(body).encode("utf-8", "replace")
