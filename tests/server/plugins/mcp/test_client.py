"""Servers that forget, hang, misspeak or end: the client gets over each of them."""

import asyncio
from collections.abc import AsyncIterator
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
