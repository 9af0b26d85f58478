"""Runs real MCP servers of others, over pipes and over HTTP."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.egress import Egress
from server.errors import FlowFailed
from server.plugins.manifest import McpServer
from server.plugins.mcp.client import McpAction, McpClient
from server.plugins.mcp.servers import Hear, Program, Remote
from server.settings import NetworkSettings
from tests.contract.copilotkit.programs import may_install, packaged
from tests.kit.programs import need

pytestmark = may_install


def as_said(value: Any) -> Any:
    return value


@pytest.fixture
async def client() -> AsyncIterator[McpClient]:
    async def make(hear: Hear) -> Program:
        return Program((sys.executable, "-m", "mcp_server_time"), {}, hear, lambda _line: None)

    made = McpClient("time", make, as_said)
    yield made
    await made.close()


async def test_mcp_server_time_tells_and_runs_its_tools(client: McpClient) -> None:
    tools = await client.tools()
    assert set(tools) == {"get_current_time", "convert_time"}
    server = McpServer("time", (sys.executable, "-m", "mcp_server_time"))
    action = McpAction(server, tools["get_current_time"], client)
    assert action.schema["required"] == ["timezone"]
    assert action.risk == "change"
    output = await action.call({"timezone": "Europe/Berlin"}, {}, 30)
    assert output.data["timezone"] == "Europe/Berlin"
    with pytest.raises(FlowFailed, match="Invalid timezone"):
        await action.call({"timezone": "No/Where"}, {}, 30)


async def test_a_server_that_ends_is_told_and_started_again(client: McpClient) -> None:
    before = set(psutil.Process().children())
    await client.tools()
    (started,) = set(psutil.Process().children()) - before
    session = client._session
    assert session
    started.kill()
    async with asyncio.timeout(60):
        while not session.has_ended:
            await asyncio.sleep(0.01)
        assert await client.tools()


async def test_a_program_that_is_not_there_is_said() -> None:
    async def make(hear: Hear) -> Program:
        return Program(("/no/such/program",), {}, hear, lambda _line: None)

    with pytest.raises(FlowFailed, match="cannot be started"):
        await McpClient("x", make, as_said).tools()


@pytest.fixture(scope="module")
def everything() -> tuple[str, ...]:
    """Returns the command of the reference server of the protocol's makers, installed by npm."""
    home = packaged(Path(__file__).parent / "mcp")
    module = home / "node_modules" / "@modelcontextprotocol" / "server-everything"
    return need("node"), str(module / "dist" / "index.js"), "stdio"


async def test_server_everything_and_giving_up_a_call(everything: tuple[str, ...]) -> None:
    async def make(hear: Hear) -> Program:
        return Program(everything, {}, hear, lambda _line: None)

    client = McpClient("everything", make, as_said)
    tools = await client.tools()
    assert len(tools) >= 8
    action = McpAction(McpServer("everything", everything), tools["echo"], client)
    assert action.schema["required"] == ["message"]
    total = McpAction(McpServer("everything", everything), tools["get-sum"], client)
    assert "5" in str((await total.call({"a": 2, "b": 3}, {}, 10)).data)
    with pytest.raises(FlowFailed):
        await total.call({"a": "two"}, {}, 10)
    assert (await action.call({"message": "hi"}, {}, 10)).data == "Echo: hi"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            slow = {"duration": 20, "steps": 20}
            await client.call("trigger-long-running-operation", slow, 30)
    assert (await action.call({"message": "again"}, {}, 10)).data == "Echo: again"
    await client.close()


class HttpServer:
    """A server of streamable HTTP. Answers calls with events, and all else with JSON."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.sessions: list[str | None] = []

    async def end(self, _request: web.Request) -> web.Response:
        return web.Response()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        if message["method"] == "server/discover":
            return web.Response(status=400)
        self.heard.append(message)
        self.sessions.append(request.headers.get("Mcp-Session-Id"))
        if "id" not in message:
            return web.Response(status=202)
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {}},
            "tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": '{"sum": 3}'}]},
        }
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        if message["method"] != "tools/call":
            return web.json_response(reply, headers={"Mcp-Session-Id": "s1"})
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(b'event: message\r\ndata: {"jsonrpc":"2.0","method":"x"}\r\n\r\n')
        await stream.write(f"data: {web.json_response(reply).text}\n\n".encode())
        return stream


async def test_a_server_over_http_goes_through_the_door(tmp_path: Path) -> None:
    told = HttpServer()
    app = web.Application()
    app.router.add_post("/mcp", told.answer)
    app.router.add_delete("/mcp", told.end)
    door = Egress(NetworkSettings)
    async with TestServer(app) as server:
        url = str(server.make_url("/mcp"))

        async def make(hear: Hear) -> Remote:
            return Remote(url, {"X-Key": "k"}, door, "plugin p")

        client = McpClient("sums", make, as_said)
        with pytest.raises(FlowFailed, match="not allowed"):
            await client.tools()
        assert told.heard == []
        door.allow(url, "plugin p")
        tools = await client.tools()
        action = McpAction(McpServer("sums", url=url), tools["add"], client)
        assert (await action.call({}, {}, 5)).data == {"sum": 3}
        assert told.sessions == [None, "s1", "s1", "s1"]
        await client.close()
    await door.close()
