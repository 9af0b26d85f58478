"""Reading a request's JSON within limits of size, time, depth."""

import asyncio
from typing import Any

from aiohttp import web
from pydantic_core import from_json

from server.errors import AppError, BadRequest

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
    if not data and not required:
        return {}
    if not data:
        raise BadRequest("The body is empty; JSON is expected.")
    try:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise BadRequest(f"The body is not valid JSON: {error}.") from None
