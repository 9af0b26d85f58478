"""Moat as an MCP server, asked by the protocol's own client in both revisions."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

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
from server.face.plugins import Risk
from server.plugins.approvals import Approvals
from server.protocols.base import Ask, Facts
from server.settings import NetworkSettings
from server.tasks import spawn, stop
from server.web import app
from server.web.app import Site, create_app
from server.web.guard import Gate, Guard
from server.web.mcp_server import MOST_BODY, McpSite
from tests.kit.engines import ScriptedEngine, says
from tests.kit.plugin_kits import ScriptedAction
from tests.kit.sites import make_site

KEY = "a key"
SUMS: Json = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


async def double(arguments: Json) -> str:
    if arguments["a"] < 0:
        raise FlowFailed("denied", "sums/double was not allowed.")
    return str(arguments["a"] * 2)


class House:
    def __init__(self, permissions: Path) -> None:
        self.asked_by: list[About] = []
        self.requests: list[ChatRequest] = []
        self.permissions = permissions
        self.approvals = Approvals(permissions)
        self.erased: list[Json] = []
        self.ended = asyncio.Event()
        self.client = "editor"
        self.risk: Risk = "change"

    async def erase(self, arguments: Json) -> str:
        action = ScriptedAction("DELETE /things", risk=self.risk)
        ask = partial(self.approvals.ask, "things", action, client=self.client)
        try:
            self.erased.append(await ask(arguments, confirm=False, chat="c"))
        finally:
            self.ended.set()
        return "erased"

    async def let_in(self) -> None:
        """A person lets the program use the plugin, once and for all."""
        stop = self.approvals.pending.connect(
            lambda waiting: [self.approvals.answer(one.id, "always", "") for one in waiting]
        )
        action = ScriptedAction("GET /things")
        await self.approvals.ask("things", action, {}, confirm=False, chat="c", client=self.client)
        stop()

    def converse(self, request: ChatRequest, about: About) -> Events:
        self.requests.append(request)
        return converse(Means(ScriptedEngine(says("four", "ty-two"))), request)

    async def embed(self, ask: Ask) -> Embeddings:
        return Embeddings([[1.0, float(len(text))] for text in ask.arguments["texts"]], 3)

    async def tools(self, about: About) -> tuple[Tool, ...]:
        self.asked_by.append(about)
        tools = (Tool("double", "doubles", SUMS, double), Tool("ask", "not ours", SUMS, double))
        return (*tools, Tool("erase", "erases", SUMS, self.erase))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "permissions.json")


@pytest.fixture
async def url(house: House) -> AsyncIterator[str]:
    hosts: set[str] = set()
    gate = lambda: Gate(frozenset(hosts), key=KEY)  # noqa: E731
    guard = Guard(gate, lambda _origin, _method: None)
    facts = lambda host: Facts(f"http://{host}")  # noqa: E731
    site = make_site(house.converse, house.embed, facts, lambda: 10, tools=house.tools)  # type: ignore[arg-type]
    async with TestServer(create_app((), site, guard, 2**23), host="127.0.0.1") as server:
        hosts.add(f"127.0.0.1:{server.port}")
        yield str(server.make_url("/mcp"))


async def say(client: Client, tool: str, arguments: Any) -> tuple[str, bool]:
    answer: Any = await client.call_tool(tool, arguments)
    return answer.content[0].text, bool(answer.is_error)


async def test_two_who_come_first_at_once_meet_one_server(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[McpSite] = []

    class Library:
        @staticmethod
        async def load() -> None:
            await asyncio.sleep(0.2)

        @staticmethod
        def McpSite(site: Site) -> McpSite:  # noqa: N802
            made.append(McpSite(site))
            return made[-1]

    monkeypatch.setattr(app, "mcp_server", Library)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with ClientSession(headers=headers) as session:
        posts = (session.post(url, json={}) for _ in range(2))
        for answer in await asyncio.gather(*posts):
            answer.close()
    assert len(made) == 1


MODES = [("auto", "2026-07-28"), ("legacy", "2025-11-25")]


@pytest.mark.parametrize(("mode", "revision"), MODES)
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
        assert set(tools) == {"ask", "embed", "double", "erase"}
        assert tools["double"].input_schema == SUMS
        assert await say(client, "double", {"a": 4}) == ("8", False)
        assert await say(client, "ask", {"prompt": "How many?"}) == ("fourty-two", False)
        short = {"prompt": "How many?", "max_tokens": 7}
        assert await say(client, "ask", short) == ("fourty-two", False)
        assert [one.max_tokens for one in house.requests] == [None, 7]
        text, is_error = await say(client, "embed", {"texts": ["a", "bc"]})
        assert (json.loads(text), is_error) == ([[1.0, 1.0], [1.0, 2.0]], False)
        denied = ("sums/double was not allowed.", True)
        assert await say(client, "double", {"a": -1}) == denied
        for tool, arguments, why in (
            ("double", {"a": "x"}, "not valid"),
            ("ask", {}, "not valid"),
            ("ask", {"prompt": [{}] * 10_000}, "not valid"),
            ("ask", {"prompt": "x", "model": "none"}, "none"),
            ("ask", {"prompt": "x", "max_tokens": 0}, "not valid"),
            ("ask", {"prompt": "x", "temperature": 0}, "temperature"),
            ("embed", {"texts": ["x"], "dimensions": 4}, "dimensions"),
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


@asynccontextmanager
async def connected(url: str, mode: Any, **more: Any) -> AsyncIterator[Client]:
    out = Egress(NetworkSettings)
    out.allow(url, "a test")
    headers = {"Authorization": f"Bearer {KEY}"}
    try:
        async with (
            asyncio.timeout(60),
            door.async_client(Pass(out, "a test"), headers=headers, timeout=None) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, **more) as client,
        ):
            yield client
    finally:
        await out.close()


class User:
    """A person at the client, who answers each question the same way."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.read: list[str] = []

    async def answer(self, _context: Any, params: Any) -> ElicitResult:
        self.read.append(params.message)
        return ElicitResult(action=self.action, content={} if self.action == "accept" else None)  # type: ignore[arg-type]


DENIED = ("DELETE /things was not allowed.", True)


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
@pytest.mark.parametrize(
    ("action", "said"), [("accept", ("erased", False)), ("decline", DENIED), ("cancel", DENIED)]
)
async def test_a_client_that_can_asks_its_own_user(
    url: str, house: House, mode: Any, action: str, said: tuple[str, bool]
) -> None:
    await house.let_in()
    user = User(action)
    async with connected(url, mode, elicitation_callback=user.answer) as client:
        for number in (1, 2):
            assert await say(client, "erase", {"a": number}) == said
    assert house.erased == ([{"a": 1}, {"a": 2}] if action == "accept" else [])
    assert len(user.read) == (1 if action == "accept" else 2)  # a yes holds for the conversation
    assert user.read[0].startswith("Allow things: DELETE /things?")
    assert '"a": 1' in user.read[0]
    assert house.approvals.pending.get() == ()


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
@pytest.mark.parametrize("is_known", [True, False])
async def test_the_window_asks_for_clients_that_cannot_and_about_new_ones(
    url: str, house: House, mode: Any, *, is_known: bool
) -> None:
    """A program cannot vouch for itself."""
    if is_known:
        await house.let_in()
    user = User("accept")
    house.approvals.pending.connect(
        lambda waiting: [house.approvals.answer(one.id, "deny", "") for one in waiting]
    )
    more = {} if is_known else {"elicitation_callback": user.answer}
    async with connected(url, mode, **more) as client:
        assert await say(client, "erase", {"a": 1}) == DENIED
    assert (user.read, house.erased) == ([], [])


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
async def test_what_cannot_be_undone_is_asked_in_the_window(
    url: str, house: House, mode: Any
) -> None:
    await house.let_in()
    house.risk = "danger"
    user = User("accept")
    house.approvals.pending.connect(
        lambda waiting: [house.approvals.answer(one.id, "deny", "") for one in waiting]
    )
    async with connected(url, mode, elicitation_callback=user.answer) as client:
        assert await say(client, "erase", {"a": 1}) == DENIED
    assert (user.read, house.erased) == ([], [])


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
async def test_a_client_that_leaves_while_its_user_thinks_has_allowed_nothing(
    url: str, house: House, mode: Any
) -> None:
    await house.let_in()
    asked = asyncio.Event()

    async def think(_context: Any, _params: Any) -> ElicitResult:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def call() -> None:
        async with connected(url, mode, elicitation_callback=think) as client:
            await client.call_tool("erase", {"a": 1})

    if mode == "auto":  # nothing tells that it does not come back
        house.approvals = Approvals(house.permissions, patience_s=1.0)
    calling = spawn(call(), "call")
    async with asyncio.timeout(60):
        await asked.wait()
        await stop(calling)
        await house.ended.wait()
    assert house.erased == []
    async with connected(url, mode, elicitation_callback=User("accept").answer) as client:
        assert await say(client, "erase", {"a": 2}) == ("erased", False)


async def test_an_answer_counts_once_for_the_call_it_was_asked_about(
    url: str, house: House
) -> None:
    await house.let_in()
    user = User("accept")
    async with connected(url, "auto", elicitation_callback=user.answer) as client:

        async def send(arguments: Json, **more: Any) -> Any:
            return await client.session.call_tool(
                "erase", arguments, allow_input_required=True, **more
            )

        asked = await send({"a": 1})
        assert asked.result_type == "input_required"
        yes = {name: ElicitResult(action="accept", content={}) for name in asked.input_requests}
        late = "This question is no longer open."
        for arguments, state in (({"a": 2}, asked.request_state), ({"a": 1}, "guessed")):
            answer = await send(arguments, input_responses=yes, request_state=state)
            assert (answer.content[0].text, answer.is_error) == (late, True)
        assert house.erased == []
        for said in ("erased", late):
            answer = await send({"a": 1}, input_responses=yes, request_state=asked.request_state)
            assert answer.content[0].text == said
    assert house.erased == [{"a": 1}]


async def test_a_session_is_for_those_only_who_opened_it(url: str) -> None:
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "x", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with ClientSession() as session:
        async with session.post(url, json=hello, headers=headers) as answer:
            number = answer.headers["Mcp-Session-Id"]
            await answer.read()
        for key, expected in (({"Authorization": f"Bearer {KEY}"}, 200), ({"X-API-Key": KEY}, 404)):
            sent = {**headers, "Mcp-Session-Id": number}
            del sent["Authorization"]
            async with session.post(url, json=listing, headers={**sent, **key}) as answer:
                assert answer.status == expected
