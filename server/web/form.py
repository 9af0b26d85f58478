"""Reading a form with a file within limits of size, time, parts."""

import asyncio

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import BadHttpMessage

from server.errors import AppError, BadRequest
from server.protocols.base import Upload
from server.web.body import READ_S, TooSlow

FORM = "multipart/form-data"
MAX_FORM_BYTES = 25 * 1024 * 1024
MAX_PARTS = 16
CHUNK_BYTES = 64 * 1024
UNREADABLE = (ValueError, RuntimeError, BadHttpMessage, web.RequestPayloadError)


class TooBig(AppError):
    code = "request_too_large"
    status = 413


async def read_form(request: web.Request) -> dict[str, str | Upload]:
    """The fields of the form by name: texts, and files whole."""
    found: dict[str, str | Upload] = {}
    room, count = MAX_FORM_BYTES, 0
    try:
        async with asyncio.timeout(READ_S):
            parts = await request.multipart()
            while (part := await parts.next()) is not None:
                count += 1  # not the names: many parts may have the same
                if not isinstance(part, BodyPartReader) or count > MAX_PARTS:
                    raise BadRequest("The form has too many parts, or forms inside it.")
                data = await _read(part, room)
                room -= len(data)
                found[part.name or f"part {len(found)}"] = _field(part.filename, data)
    except TimeoutError:
        raise TooSlow("The request's body took too long to arrive.") from None
    except UNREADABLE as error:
        raise BadRequest("The body is no form that can be read.") from error
    return found


async def _read(part: BodyPartReader, room: int) -> bytes:
    data = bytearray()
    while chunk := await part.read_chunk(CHUNK_BYTES):
        data += chunk
        if len(data) > room:
            raise TooBig(f"A form may hold {MAX_FORM_BYTES // 1024**2} MB.")
    return bytes(data)


def _field(file: str | None, data: bytes) -> str | Upload:
    return data.decode("utf-8", "replace") if file is None else Upload(file, data)
