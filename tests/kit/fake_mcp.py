"""MCP servers with answers that a test chooses, over pipes and over HTTP."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from server.plugins.mcp.client import McpClient
from server.plugins.mcp.servers import Hear, Program
from tests.kit.slow_network import in_halves

TOOLS = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
    "tools/list": TOOLS,
    "tools/call": {"content": [{"type": "text", "text": '{"sum": 3}'}]},
}
CODE = """
import json, sys
replies = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "server/discover":
        no = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": no}), flush=True)
    elif asked.get("method") in replies:
        said = {"jsonrpc": "2.0", "id": asked["id"], **replies[asked["method"]]}
        if said["id"] == "stop":
            break
        print(json.dumps(said), flush=True)
"""


def program(**replies: Any) -> tuple[str, ...]:
    """Returns the command of a server with these replies, and good results for other methods."""
    said = {method: {"result": result} for method, result in RESULTS.items()}
    said |= {method.replace("_", "/"): reply for method, reply in replies.items()}
    return sys.executable, "-I", "-c", CODE, json.dumps(said)


def piped(
    command: tuple[str, ...],
    note: Callable[[str], None] = lambda _line: None,
    env: dict[str, str] | None = None,
    clean: Callable[[Any], Any] = lambda value: value,
) -> McpClient:
    async def make(hear: Hear) -> Program:
        return Program(command, env or {}, hear, note)

    return McpClient("sums", make, clean)


@dataclass
class Served:
    """A server over HTTP. It forgets every session when `sessions` is cleared."""

    url: str = ""
    results: dict[str, Any] = field(default_factory=lambda: dict(RESULTS))
    heard: list[str] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event | None = None
    """Must be set before the tools are listed."""
    in_halves: bool = False
    keeps_streams_open: bool = False
    forgets_at_once: bool = False
    says_nothing: bool = False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        method = str(message["method"])
        if method == "server/discover":
            return web.Response(status=400)
        self.heard.append(method)
        session = request.headers.get("Mcp-Session-Id")
        if method == "initialize":
            session = f"s{len(self.heard)}"
            self.sessions.add(session)
        elif session not in self.sessions or (self.forgets_at_once and method == "tools/call"):
            return web.Response(status=404)
        if "id" not in message or self.says_nothing:
            return web.Response(status=202)
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": self.results[method]}
        body = json.dumps(reply).encode()
        if method == "tools/list":
            self.asked.set()
            if self.may_answer is not None:
                await self.may_answer.wait()
        if self.keeps_streams_open and method == "tools/call":
            return await _left_open(request, body)
        stream = web.StreamResponse(
            headers={"Content-Type": "application/json", "Mcp-Session-Id": session or ""}
        )
        await stream.prepare(request)
        if self.in_halves:
            await in_halves(stream, body)
        else:
            await stream.write(body)
        return stream


async def _left_open(request: web.Request, body: bytes) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    await stream.write(b"data: " + body + b"\n\n")
    await asyncio.sleep(60)
    return stream


@asynccontextmanager
async def served() -> AsyncIterator[Served]:
    made = Served()

    async def end(_request: web.Request) -> web.Response:
        return web.Response()

    app = web.Application(handler_args={"handler_cancellation": True})
    app.router.add_post("/mcp", made.answer)
    app.router.add_delete("/mcp", end)
    async with TestServer(app, host="127.0.0.1", handler_cancellation=True) as server:
        made.url = str(server.make_url("/mcp"))
        yield made
