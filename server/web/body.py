"""Reads JSON and forms from requests, within limits of size, time and depth. Writes JSON."""

import asyncio
import json
import re
import zlib
from codecs import iterdecode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Literal, NoReturn, TypeVar

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import BadHttpMessage
from pydantic_core import PydanticSerializationError, from_json, to_json

from server.errors import AppError, BadRequest
from server.protocols.base import Upload
from server.protocols.frames import dump
from server.sentences import Sentence
from server.system.limits import without_halves

READ_S = 20.0
"""How many seconds a body may take to arrive."""
LARGE_BYTES = 128 * 1024
"""A larger body is processed in a thread, so that other requests are served meanwhile."""
MOST_UNKNOWN = LARGE_BYTES + 1
"""The assumed size of a body whose size is not known beforehand, in bytes: it may be large."""
BROKEN = Sentence("The body is broken, or not packed as its headers say.")
MANY_VALUES = 200_000
"""A body with more commas than this is read patiently, like a body of PATIENT_BYTES."""
PATIENT_BYTES = 4_000_000
"""A larger body is read patiently: the fast JSON parser would block other threads for too long."""
PART_CHARS = 1_000_000
"""A longer string is parsed in parts of this length, so that other threads run in between."""
SHORT_CHARS = 256
"""The length of a string's first part. Most strings are shorter."""
LONGEST_ESCAPE = len(r"\ud83d\ude00")
SECOND_HALF = re.compile(r"\\u[dD][c-fC-F]")
"""The escape of a low surrogate, which must not be separated from the one before it."""
SPACE = re.compile(r"[ \t\n\r]*")
LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_ARGUMENTS = 10_000, 200_000, 4_000_000
"""In characters. Names are compared, searched and shown in many places, none of which expects a
name of several megabytes."""
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
    "arguments": LONGEST_ARGUMENTS,
}
SIZE = web.RequestKey("size", int)
"""How many bytes a body has that was read, unpacked."""
BY_ITS_HEADER, WITHOUT_HEADER = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS
"""How zlib is to read: gzip or deflate as the first bytes say, or deflate without any."""
T = TypeVar("T")
_LARGE_WORK = ThreadPoolExecutor(2, "large bodies")
"""Few threads, however many requests come, because each slows the server down."""


class TooSlow(AppError):
    code = "request_timeout"
    status = 408


class TooBig(AppError):
    code = "request_too_large"
    status = 413


class PackingUnknown(AppError):
    code = "unsupported_media_type"
    status = 415


async def read_json(request: web.Request, *, required: bool = True) -> Any:
    if request.method in ("GET", "HEAD"):
        return {}
    data = await read_bytes(request)
    if not data and not required:
        return {}
    if not data:
        raise BadRequest(Sentence("The body is empty; JSON is expected."))
    return await apart(len(data), lambda: _check(_parse(data), len(data)))


async def read_bytes(request: web.Request, most: int | None = None) -> bytes:
    """Reads a body of at most `most` bytes, and never more than the server's own limit."""
    if most is not None and most < request.client_max_size:
        request = request.clone(client_max_size=most)
    announced = request.content_length or 0
    if announced > request.client_max_size:
        raise web.HTTPRequestEntityTooLarge(request.client_max_size, announced)
    try:
        async with asyncio.timeout(READ_S):
            data = await request.read()
    except TimeoutError:
        raise TooSlow(Sentence("The request's body took too long to arrive.")) from None
    except web.RequestPayloadError:
        raise BadRequest(BROKEN) from None
    packing = _packing(request)
    if packing and data:
        most = request.client_max_size
        data = await apart(MOST_UNKNOWN, lambda: _unpack(data, packing, most))
    request[SIZE] = len(data)
    return data


def _packing(request: web.Request) -> str:
    """Returns the content encoding; empty if the body is not packed."""
    given = request.headers.get("Content-Encoding", "").strip().lower()
    return "" if given == "identity" else given


def _unpack(data: bytes, packing: str, most: int) -> bytes:
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise PackingUnknown(
            Sentence("The body is packed in a way that is not known: use gzip or deflate.")
        )
    has_header = packing != "deflate" or data[0] & 0x0F == zlib.DEFLATED
    unpacker = zlib.decompressobj(BY_ITS_HEADER if has_header else WITHOUT_HEADER)
    try:
        found = unpacker.decompress(data, most + 1)
    except zlib.error:
        raise BadRequest(BROKEN) from None
    if len(found) > most:
        raise TooBig(Sentence("The body has more than {0} bytes when it is unpacked.", most))
    if not unpacker.eof or unpacker.unused_data:
        raise BadRequest(BROKEN)
    return found


async def apart(size: int, work: Callable[[], T]) -> T:
    """Returns the result of `work`, which runs in a thread if `size` is more than LARGE_BYTES.

    If the client leaves before a thread is free, the work is not done.
    """
    if size <= LARGE_BYTES:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_LARGE_WORK, work)


def _parse(data: bytes) -> Any:
    if len(data) > PATIENT_BYTES or data.count(b",") > MANY_VALUES:
        return _parse_patiently(data)
    try:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise BadRequest(Sentence("The body is not valid JSON: {0}.", error)) from None


def _check(body: Any, size: int) -> Any:
    """Refuses names that are far too long. A small body cannot have one, so it is not searched."""
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
            raise BadRequest(Sentence("'{0}' is longer than {1} characters.", key, most), key)


class _PatientDecoder(json.JSONDecoder):
    """The JSON decoder of the standard library, as pure Python, so that other threads can run."""

    def __init__(self) -> None:
        super().__init__(parse_constant=_refuse_constant)
        self.parse_string = _scan_text
        self.parse_object = _scan_object
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def _scan_text(text: str, begin: int, strict: bool = True) -> tuple[str, int]:
    """Returns the string that begins at `begin`, and its end, like `json.decoder.scanstring`.

    Replaces lone surrogates by U+FFFD.
    """
    parts: list[str] = []
    at, size = begin, SHORT_CHARS
    while True:
        part, at, is_last = _scan_part(text, at, size, strict=strict)
        parts.append(part if part.isascii() else without_halves(part, "\ufffd"))
        size = PART_CHARS
        if is_last:
            return "".join(parts), at


def _scan_part(text: str, at: int, size: int, *, strict: bool) -> tuple[str, int, bool]:
    """Returns a part of a string, its end, and whether it is the last. Cuts through no escape."""
    if len(text) - at <= size:
        return *scanstring(text, at, strict), True
    wrong: json.JSONDecodeError | None = None
    for more in range(LONGEST_ESCAPE + 1):
        piece = text[at : at + size + more]
        try:
            part, length = scanstring(piece + '"', 0, strict)
        except json.JSONDecodeError as error:
            wrong = error
            continue
        if length <= len(piece):
            return part, at + length, True
        if not ("\ud800" <= part[-1] <= "\udbff" and SECOND_HALF.match(text, at + len(piece))):
            return part, at + len(piece), False
    assert wrong
    raise json.JSONDecodeError(wrong.msg, text, at + wrong.pos)


def _scan_object(
    place: tuple[str, int], strict: bool, scan_once: Callable[[str, int], Any], *_hooks: Any
) -> tuple[dict[str, Any], int]:
    """Reads an object like the library, but in parts also for its keys, which can be long."""
    text, at = place
    found: dict[str, Any] = {}
    at = _behind_space(text, at)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        name, at = _scan_text(text, _behind(text, at, '"'), strict)
        at = _behind_space(text, _behind(text, _behind_space(text, at), ":"))
        try:
            found[name], at = scan_once(text, at)
        except StopIteration as stop:
            raise json.JSONDecodeError("Expecting value", text, stop.value) from None
        at = _behind_space(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        at = _behind_space(text, _behind(text, at, ","))


def _behind_space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    assert found
    return found.end()


def _behind(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"Expecting {mark!r}", text, at)
    return at + 1


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _parse_patiently(data: bytes) -> Any:
    try:
        return _PatientDecoder().decode("".join(iterdecode(_parts(data), "utf-8")))
    except (ValueError, RecursionError) as error:
        raise BadRequest(Sentence("The body is not valid JSON: {0}.", error)) from None


def _parts(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), PART_CHARS):
        yield data[at : at + PART_CHARS]


def as_json(body: Any, nan: Literal["null", "constants"] = "null") -> bytes:
    try:
        return to_json(body, inf_nan_mode=nan)
    except PydanticSerializationError:
        # A model can write a lone surrogate, and a file's name can have bytes that are not text.
        return dump(body).encode("utf-8", "replace")


FORM = "multipart/form-data"
MAX_FORM_BYTES = 25 * 1024 * 1024
MAX_PARTS = 16
CHUNK_BYTES = 64 * 1024
UNREADABLE = (ValueError, RuntimeError, BadHttpMessage, web.RequestPayloadError)


async def read_form(request: web.Request) -> dict[str, str | Upload]:
    """Reads a form. Returns its fields by name: texts, and files with all their bytes."""
    found: dict[str, str | Upload] = {}
    room, count = MAX_FORM_BYTES, 0
    if _packing(request):
        raise BadRequest(Sentence("A form may not be packed."))
    try:
        async with asyncio.timeout(READ_S):
            parts = await request.multipart()
            while (part := await parts.next()) is not None:
                count += 1  # counts parts, not names: many parts can share a name
                if not isinstance(part, BodyPartReader) or count > MAX_PARTS:
                    raise BadRequest(Sentence("The form has too many parts, or forms inside it."))
                data = await _read(part, room)
                room -= len(data)
                found[part.name or f"part {len(found)}"] = _field(part.filename, data)
    except TimeoutError:
        raise TooSlow(Sentence("The request's body took too long to arrive.")) from None
    except UNREADABLE as error:
        raise BadRequest(Sentence("The body is no form that can be read.")) from error
    return found


async def _read(part: BodyPartReader, room: int) -> bytes:
    data = bytearray()
    while chunk := await part.read_chunk(CHUNK_BYTES):
        data += chunk
        if len(data) > room:
            raise TooBig(Sentence("A form may hold {0} MB.", MAX_FORM_BYTES // 1024**2))
    return bytes(data)


def _field(file: str | None, data: bytes) -> str | Upload:
    return data.decode("utf-8", "replace") if file is None else Upload(file, data)
