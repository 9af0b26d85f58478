"""A server made with the protocol's own library, over pipes and over HTTP.

It supports both revisions. `python sdk_mcp.py` uses its pipes. With the argument `old` it does not
answer the new revision's first request.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.stdio import stdio_server
from pydantic import BaseModel


class Answer(BaseModel):
    name: str
    age: int = 0


QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(
        message="Who are you?", requested_schema=Answer.model_json_schema()
    )
)


def add(a: int, b: int) -> int:
    return a + b


async def count(steps: int, context: Context[Any, Any]) -> str:
    for step in range(steps):
        await context.report_progress(step + 1, steps, "counting")
    return "counted"


async def wait(context: Context[Any, Any]) -> str:
    """Reports that it has begun, and then nothing more."""
    await context.report_progress(1, 2, "waiting")
    await anyio.sleep_forever()
    return "never"


async def greet(context: Context[Any, Any]) -> Any:
    """Asks for a name: during the call or before it, depending on the revision."""
    if context.protocol_version != "2026-07-28":
        asked = await context.elicit("Who are you?", Answer)
        return f"Hello {asked.data.name}" if asked.action == "accept" else asked.action
    answers = context.input_responses
    if answers is None:
        return types.InputRequiredResult(input_requests={"who": QUESTION})
    given: Any = answers["who"]
    return f"Hello {given.content['name']}" if given.action == "accept" else given.action


def large(size: int) -> str:
    return "x" * size


def made(**options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("sums", log_level="ERROR", **options)

    async def grow(context: Context[Any, Any]) -> None:
        """Adds a tool and reports it as its revision does."""
        server.add_tool(large, name="grown")
        if context.protocol_version == "2026-07-28":
            await context.notify_tools_changed()
        else:
            await context.session.send_tool_list_changed()

    for tool in (add, count, wait, greet, large, grow):
        server.add_tool(tool, structured_output=tool is add)
    server.resource("notes://today", name="today")(lambda: "sunny")
    server.resource("notes://{day}", name="day")(lambda day: day)
    server.prompt("summarise")(lambda text: f"Summarise: {text}")
    return server


@asynccontextmanager
async def serving(make: Callable[[str], Any]) -> AsyncIterator[str]:
    """Serves an ASGI application on a free port. `make` gets its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(make(url), log_level="error", lifespan="on", ws="none")
        server = uvicorn.Server(config)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(server._serve(sockets=[listener]))
            try:
                async with asyncio.timeout(60):
                    while not server.started and not task.done():
                        await asyncio.sleep(0.01)
                yield url
            finally:
                server.should_exit = True


def _is_new(text: str | bytes) -> bool:
    return json.loads(text).get("method") == "server/discover"


class OldPipe:
    """Standard input without the new revision's first request, as if it was not understood."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._pipe:
            if not _is_new(line):
                yield line


class OldSite:
    """An application that refuses the new revision's first request."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body, is_whole = b"", False
        while not is_whole:
            part = await receive()
            body, is_whole = body + part.get("body", b""), not part.get("more_body")
        if _is_new(body):
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Any:
            return parts.pop() if parts else await receive()

        await self._app(scope, again, send)


async def run_old(server: MCPServer[Any]) -> None:
    inner = server._lowlevel_server
    pipe: Any = OldPipe(anyio.wrap_file(sys.stdin))
    async with stdio_server(stdin=pipe) as (read, write):
        await inner.run(read, write, inner.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1:] == ["old"]:
        anyio.run(run_old, made())
    else:
        made().run("stdio")
