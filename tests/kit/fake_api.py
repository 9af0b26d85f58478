"""A scripted /v1/chat/completions server on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer

from server.chat import Json

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
USAGE = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


def chunk(delta: Json, reason: str | None = None) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


@asynccontextmanager
async def api(handler: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    async with TestServer(app, host="127.0.0.1") as server:
        yield str(server.make_url("")).rstrip("/")


def streaming(
    *chunks: Json, seen: list[web.Request] | None = None, hold: asyncio.Event | None = None
) -> Handler:
    """Makes a handler that streams these chunks. With `hold` it waits after the last one."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if seen is not None:
            await request.read()
            seen.append(request)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": warming up\n\n")
        for one in chunks:
            await response.write(f"data: {json.dumps(one)}\n\n".encode())
        if hold:
            await hold.wait()
        await response.write(b"data: [DONE]\n\n")
        return response

    return handle


def answering(*words: str) -> Handler:
    return streaming(*(chunk({"content": word}) for word in words), chunk({}, "stop"), USAGE)
