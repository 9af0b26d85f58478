"""Moat as an MCP server, asked by the protocol's own client in both revisions."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from server import door
from server.asking.ask import Means
from server.chat import ChatRequest, Json, Tool
from server.conversation.run import converse
from server.door import Pass
from server.egress import Egress
from server.engine.base import Embeddings
from server.errors import FlowFailed
from server.events import Events
from server.face.core import About
from server.protocols.base import Ask, Facts
from server.settings import NetworkSettings
from server.web.app import Site, create_app
from server.web.guard import Gate, Guard
from server.web.mcp_server import MOST_BODY
from tests.kit.engines import ScriptedEngine, says

KEY = "a key"
SUMS: Json = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


async def double(arguments: Json) -> str:
    if arguments["a"] < 0:
        raise FlowFailed("denied", "sums/double was not allowed.")
    return str(arguments["a"] * 2)


class House:
    def __init__(self) -> None:
        self.asked_by: list[About] = []

    def converse(self, request: ChatRequest, about: About) -> Events:
        return converse(Means(ScriptedEngine(says("four", "ty-two"))), request)

    async def embed(self, ask: Ask) -> Embeddings:
        return Embeddings([[1.0, float(len(text))] for text in ask.arguments["texts"]], 3)

    async def tools(self, about: About) -> tuple[Tool, ...]:
        self.asked_by.append(about)
        return (Tool("double", "doubles", SUMS, double), Tool("ask", "not ours", SUMS, double))


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
async def url(house: House) -> AsyncIterator[str]:
    hosts: set[str] = set()
    gate = lambda: Gate(frozenset(hosts), key=KEY)  # noqa: E731
    guard = Guard(gate, lambda _origin, _method: None)
    facts = lambda host: Facts(f"http://{host}")  # noqa: E731
    site = Site(house.converse, house.embed, facts, lambda: 10, tools=house.tools)  # type: ignore[arg-type]
    async with TestServer(create_app((), site, guard, 2**23), host="127.0.0.1") as server:
        hosts.add(f"127.0.0.1:{server.port}")
        yield str(server.make_url("/mcp"))


async def say(client: Client, tool: str, arguments: Any) -> tuple[str, bool]:
    answer: Any = await client.call_tool(tool, arguments)
    return answer.content[0].text, bool(answer.is_error)


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_plugins_and_models_are_offered_to_a_client(
    url: str, house: House, mode: Any, revision: str
) -> None:
    out = Egress(NetworkSettings)
    out.allow(url, "a test")
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        asyncio.timeout(60),
        door.async_client(Pass(out, "a test"), headers=headers, timeout=None) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        assert client.protocol_version == revision
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"ask", "embed", "double"}
        assert tools["double"].input_schema == SUMS
        assert await say(client, "double", {"a": 4}) == ("8", False)
        assert await say(client, "ask", {"prompt": "How many?"}) == ("fourty-two", False)
        text, is_error = await say(client, "embed", {"texts": ["a", "bc"]})
        assert (json.loads(text), is_error) == ([[1.0, 1.0], [1.0, 2.0]], False)
        denied = ("sums/double was not allowed.", True)
        assert await say(client, "double", {"a": -1}) == denied
        for tool, arguments, why in (
            ("double", {"a": "x"}, "not valid"),
            ("ask", {}, "not valid"),
            ("ask", {"prompt": [{}] * 10_000}, "not valid"),
            ("ask", {"prompt": "x", "model": "none"}, "none"),
            ("nothing", {}, "There is no tool"),
        ):
            text, is_error = await say(client, tool, arguments)
            assert is_error
            assert why in text
            assert len(text) < 1000
    assert {about.route for about in house.asked_by} == {"/mcp"}
    await out.close()


async def test_without_the_key_nothing_is_told(url: str, house: House) -> None:
    out = Egress(NetworkSettings)
    out.allow(url, "a test")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    async with out.request("POST", url, "a test", data=body, headers=headers) as answer:
        assert answer.status == 401
    assert house.asked_by == []
    await out.close()


@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_large_body_is_refused(url: str, house: House, *, is_announced: bool) -> None:
    parts = [b'{"jsonrpc": "2.0", "id": 1, "method": "', b"a" * MOST_BODY, b'"}']

    async def in_pieces() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    body: Any = b"".join(parts) if is_announced else in_pieces()
    async with ClientSession() as session, session.post(url, data=body, headers=headers) as answer:
        assert answer.status == 413
    assert house.asked_by == []
