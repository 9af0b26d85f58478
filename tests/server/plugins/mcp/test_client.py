"""Servers that forget, hang, misspeak or end: the client gets over each of them."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.egress import Egress
from server.errors import FlowFailed
from server.plugins.manifest import McpServer
from server.plugins.mcp.client import McpAction, McpClient
from server.plugins.mcp.servers import Hear, McpTool, Remote
from server.settings import NetworkSettings
from tests.kit.fake_mcp import Served, piped, program, served


@pytest.fixture
async def server() -> AsyncIterator[Served]:
    async with served() as made:
        yield made


@pytest.fixture
async def client(server: Served) -> AsyncIterator[McpClient]:
    door = Egress(NetworkSettings)
    door.allow(server.url, "plugin p")

    async def make(hear: Hear) -> Remote:
        return Remote(server.url, {}, door, "plugin p")

    made = McpClient("sums", make, lambda value: value)
    yield made
    await made.close()
    await door.close()


async def test_a_server_that_has_forgotten_us_is_greeted_anew(
    client: McpClient, server: Served
) -> None:
    await client.tools()
    server.sessions.clear()
    both = await asyncio.gather(client.call("add", {}, 5), client.call("add", {}, 5))
    assert [one["content"][0]["text"] for one in both] == ['{"sum": 3}'] * 2
    assert server.heard.count("initialize") == 2
    # The second may be sent before the server has refused the first, or after it greets us anew.
    assert server.heard.count("tools/call") in (3, 4)


async def test_a_server_that_forgets_at_once_is_not_asked_for_ever(
    client: McpClient, server: Served
) -> None:
    await client.tools()
    server.forgets_at_once = True
    with pytest.raises(FlowFailed, match="status 404"):
        await client.call("add", {}, 5)
    assert server.heard.count("tools/call") <= 2


async def test_an_answer_that_comes_in_pieces_is_read_whole(
    client: McpClient, server: Served
) -> None:
    server.in_halves = True
    async with asyncio.timeout(30):
        assert list(await client.tools()) == ["add"]
    assert client.version == "2025-11-25"


async def test_an_answer_counts_though_the_stream_stays_open(
    client: McpClient, server: Served
) -> None:
    server.keeps_streams_open = True
    async with asyncio.timeout(30):
        assert (await client.call("add", {}, 60))["content"]


async def test_a_reply_that_is_no_answer_is_told_at_once(client: McpClient, server: Served) -> None:
    await client.tools()
    server.says_nothing = True
    async with asyncio.timeout(30):
        with pytest.raises(FlowFailed, match="no answer"):
            await client.call("add", {}, 60)


@pytest.mark.parametrize(
    "listed",
    [
        {"result": {"tools": None}},
        {"result": {}},
        {"result": {"tools": [{"description": "who am I?"}]}},
        {"result": {"tools": [{"name": ["add"]}]}},
        {"result": {"tools": ["add"]}},
        {"result": {"tools": {"name": "add"}}},
        {"result": [{"name": "add"}]},
        {"result": None},
        {"error": "all wrong"},
        {"error": ["all", "wrong"]},
        {"error": {"message": {"all": "wrong"}}},
        {},
    ],
)
async def test_a_malformed_list_is_an_error_of_the_server(listed: Any) -> None:
    client = piped(program(tools_list=listed))
    async with asyncio.timeout(30):
        with pytest.raises(FlowFailed, match="sums: ") as caught:
            await client.tools()
        assert caught.value.fault == "mcp_error"
        # It is still heard: the reply has not ended the reading.
        assert (await client.call("add", {}, 5))["content"]
    await client.close()


async def test_odd_details_of_a_tool_are_passed_over() -> None:
    odd = {"name": "add", "inputSchema": ["x"], "annotations": "none", "description": 3}
    client = piped(program(tools_list={"result": {"tools": [odd]}}))
    tool = (await client.tools())["add"]
    assert (tool.schema, tool.hints, tool.description) == ({"type": "object"}, {}, "3")
    await client.close()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": {"a": 1}},
        {"type": [["string"]]},
        {"type": "object", "properties": {"a": {}}, "required": [["a"], {}]},
    ],
)
def test_an_odd_schema_of_a_tool_is_made_plain(schema: Any) -> None:
    action = McpAction(McpServer("sums"), McpTool("add", "", schema), piped(()))
    assert action.schema["required"] == []


async def test_a_server_that_ends_is_started_again() -> None:
    client = piped(program(tools_call={"id": "stop"}))
    assert list(await client.tools()) == ["add"]
    with pytest.raises(FlowFailed, match="has ended"):
        async with asyncio.timeout(30):
            await client.call("add", {}, 60)
    assert list(client.known) == ["add"]
    assert list(await client.tools()) == ["add"]
    await client.close()


async def test_two_who_ask_at_once_share_a_list(client: McpClient, server: Served) -> None:
    first, second = await asyncio.gather(client.tools(), client.tools())
    assert list(first) == list(second) == ["add"]
    assert server.heard.count("tools/list") == 1


async def test_a_list_of_a_session_that_was_replaced_meanwhile_is_asked_for_again(
    client: McpClient, server: Served
) -> None:
    await client.call("add", {}, 60)
    server.may_answer = asyncio.Event()
    server.asked.clear()
    listing = asyncio.get_running_loop().create_task(client.tools())
    await server.asked.wait()
    server.sessions.clear()
    await client.call("add", {}, 60)
    server.results["tools/list"] = {"tools": [{"name": "new", "inputSchema": {"type": "object"}}]}
    server.may_answer.set()
    assert list(await listing) == ["add"]
    assert list(await client.tools()) == ["new"]


CHANGING = """
import json, pathlib, sys
count = pathlib.Path(sys.argv[1])
count.write_text(count.read_text() + "x" if count.exists() else "x")
lists = 0
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "server/discover":
        say(id=number, error={"code": -32601, "message": "no"})
    elif method == "initialize":
        say(id=number, result={"protocolVersion": "2025-11-25", "capabilities": {}})
    elif method == "tools/list":
        lists += 1
        name = f"start{len(count.read_text())}list{lists}"
        if lists == 1:
            say(method="notifications/tools/list_changed")
        say(id=number, result={"tools": [{"name": name, "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        if asked["params"]["name"] == "end":
            break
        say(id=number, result={"content": [{"type": "text", "text": "done"}]})
"""


async def test_a_change_while_the_list_is_on_its_way_is_not_missed(tmp_path: Path) -> None:
    client = piped((sys.executable, "-I", "-c", CHANGING, str(tmp_path / "count")))
    async with asyncio.timeout(60):
        assert list(await client.tools()) == ["start1list1"]
        while "start1list2" not in await client.tools():
            await asyncio.sleep(0.01)
    await client.close()


async def test_a_program_that_a_call_started_again_is_asked_for_its_tools(tmp_path: Path) -> None:
    client = piped((sys.executable, "-I", "-c", CHANGING, str(tmp_path / "count")))
    async with asyncio.timeout(60):
        while "start1list2" not in await client.tools():
            await asyncio.sleep(0.01)
        with pytest.raises(FlowFailed, match="has ended"):
            await client.call("end", {}, 60)
        assert (await client.call("add", {}, 60))["content"]
        assert list(await client.tools()) == ["start2list1"]
    await client.close()
