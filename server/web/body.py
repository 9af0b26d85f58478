"""Reading a request's JSON within limits of size, time, depth; writing what clients can read."""

import asyncio
from typing import Any, Literal

from aiohttp import web
from pydantic_core import PydanticSerializationError, from_json, to_json

from server.errors import AppError, BadRequest
from server.protocols.frames import dumped

READ_S = 20.0


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
    try:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise BadRequest(f"The body is not valid JSON: {error}.") from None


def as_json(body: Any, nan: Literal["null", "constants"] = "null") -> bytes:
    try:
        return to_json(body, inf_nan_mode=nan)
    except PydanticSerializationError:
        # A model can say half a surrogate pair, a file have a name in bytes that are no text.
        return dumped(body).encode("utf-8", "replace")
