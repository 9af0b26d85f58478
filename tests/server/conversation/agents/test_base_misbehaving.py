"""Servers elsewhere that answer strangely, slowly or not at all: nobody else may notice."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.chat import Message
from server.conversation.agents import remote
from server.conversation.agents.base import AgentRequest, Agents
from server.conversation.agents.copilotkit import CopilotKitEndpoint
from server.conversation.agents.langgraph import LangGraphServer
from server.conversation.agents.remote import REASON, Elsewhere, Peer, RemoteAgentFailed
from server.conversation.threads import ThreadMessage
from server.egress import Egress
from server.events import Event, Failed
from server.settings import NetworkSettings
from tests.kit.threads import make_threads

KINDS = {"copilotkit": CopilotKitEndpoint, "langgraph": LangGraphServer}
DEEP = "[" * 100_000
AGENT = {"name": "far", "description": "Far away"}
ASK = AgentRequest("far", "t", "r", (ThreadMessage("u1", Message("user", "hi")),))


class Far:
    """A server that answers each path as it is told, and counts how often it was asked."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.asked = 0
        self.is_silent = False
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.is_silent:
            await asyncio.Event().wait()
        return web.Response(text=self.told.get(request.path, "{}"))


@pytest.fixture
async def far() -> AsyncIterator[Far]:
    far, app = Far(), web.Application()
    app.router.add_route("*", "/{path:.*}", far.answer)
    async with TestServer(app) as server:
        far.url = f"http://127.0.0.1:{server.port}"
        yield far


@pytest.fixture
async def listed(far: Far) -> AsyncIterator[Callable[[str], Elsewhere]]:
    door = Egress(NetworkSettings)
    yield lambda kind: Elsewhere(door, KINDS, lambda: (f"{kind} {far.url}",))
    await door.close()


Listed = Callable[[str], Elsewhere]


@pytest.mark.parametrize(
    ("kind", "path", "told"),
    [
        ("copilotkit", "/info", {"agents": [5]}),
        ("copilotkit", "/info", {"agents": [{}]}),
        ("copilotkit", "/info", {"agents": [{"name": ["x"]}]}),
        ("copilotkit", "/info", {"agents": 5}),
        ("copilotkit", "/info", {"actions": [{"parameters": [{}]}]}),
        ("copilotkit", "/info", {"actions": [{"name": "x", "parameters": [{"type": 5}]}]}),
        ("copilotkit", "/info", {"actions": "x"}),
        ("copilotkit", "/info", {"actions": 5}),
        ("copilotkit", "/info", DEEP),
        ("langgraph", "/assistants/search", [5]),
        ("langgraph", "/assistants/search", [{"assistant_id": "x"}]),
        ("langgraph", "/assistants/search", [{"assistant_id": "x", "name": ["y"]}]),
        ("langgraph", "/assistants/search", DEEP),
    ],
)
async def test_an_answer_of_another_shape_leaves_that_server_out(
    far: Far, listed: Listed, kind: str, path: str, told: Any
):
    far.told[path] = told if isinstance(told, str) else json.dumps(told)
    elsewhere = listed(kind)
    assert await Agents(elsewhere.sources, make_threads()).cards() == ()
    assert await elsewhere.tools() == ()


async def test_agents_by_name_are_understood_too(far: Far, listed: Listed):
    far.told["/info"] = json.dumps({"agents": {"default": {"description": "d"}, "two": {}}})
    cards = await Agents(listed("copilotkit").sources, make_threads()).cards()
    assert [(card.name, card.description) for card in cards] == [("default", "d"), ("two", "")]


async def test_an_action_may_have_no_parameters(far: Far, listed: Listed):
    far.told["/info"] = json.dumps({"actions": [{"name": "now"}]})
    (tool,) = await listed("copilotkit").tools()
    assert (tool.name, tool.parameters["properties"]) == ("now", {})


@pytest.mark.parametrize("kind", ["copilotkit", "langgraph"])
async def test_a_silent_server_is_waited_for_once_and_shortly(
    far: Far, listed: Listed, kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(remote, "PATIENCE_S", 0.3)
    far.is_silent = True
    elsewhere = listed(kind)
    agents = Agents(elsewhere.sources, make_threads())
    async with asyncio.timeout(30):
        for _ in range(3):
            assert await agents.cards() == ()
            assert await elsewhere.tools() == ()
    assert far.asked <= 1


async def test_the_agents_of_the_house_are_found_without_asking_elsewhere(far: Far, listed: Listed):
    far.told["/info"] = json.dumps({"agents": [AGENT]})
    (near,) = await listed("copilotkit").sources()[0].agents()
    far.asked = 0

    class Near:
        async def agents(self) -> tuple[Any, ...]:
            return (near,)

    elsewhere = listed("copilotkit")
    agents = Agents(lambda: (Near(), *elsewhere.sources()), make_threads())
    assert await agents.find("far") is near
    assert far.asked == 0


async def test_no_answer_is_read_without_end(far: Far, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "LONGEST_ANSWER", 1000)
    far.told["/much"] = json.dumps("x" * 2000)
    door = Egress(NetworkSettings)
    door.allow(far.url, REASON)
    with pytest.raises(RemoteAgentFailed, match="too long"):
        await Peer(door, far.url).ask("GET", "/much")
    await door.close()


async def test_offline_a_listed_server_offers_nothing_and_breaks_nothing(far: Far):
    door = Egress(lambda: NetworkSettings(offline=True))
    elsewhere = Elsewhere(door, KINDS, lambda: (f"copilotkit {far.url}", f"langgraph {far.url}"))
    assert await elsewhere.tools() == ()
    await door.close()


async def last(agents: Agents) -> Event:
    return [event async for event in agents.run(await agents.find("far"), ASK)][-1]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ('{"type": "RunError", "error": ""}', "The agent failed"),
        ('{"type": "ActionExecutionStart"}', "does not understand"),
        (
            '{"type": "ActionExecutionArgs", "actionExecutionId": "c", "args": 5}',
            "does not understand",
        ),
        ('{"type": "AgentStateMessage", "state": 5}', "does not understand"),
    ],
)
async def test_an_endpoints_strange_events_end_its_run_alone(
    far: Far, listed: Listed, lines: str, why: str
):
    far.told = {"/info": json.dumps({"agents": [AGENT]}), "/agents/execute": lines}
    failed = await last(Agents(listed("copilotkit").sources, make_threads()))
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, RemoteAgentFailed)
    assert why in str(failed.error)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ('event: error\ndata: {"message": ""}\n\n', "The graph failed"),
        ('event: messages\ndata: [{"type": "ai", "tool_calls": [{}]}]\n\n', "does not understand"),
        ('event: values\ndata: {"__interrupt__": 5}\n\n', "does not understand"),
    ],
)
async def test_a_graphs_strange_events_end_its_run_alone(
    far: Far, listed: Listed, sent: str, why: str
):
    far.told = {"/assistants/search": json.dumps([{"assistant_id": "x", "name": "far"}])}
    thread = "5f3c1a1e-0000-4000-8000-000000000000"
    far.told[f"/threads/{thread}/runs/stream"] = sent
    agents = Agents(listed("langgraph").sources, make_threads())
    asked = AgentRequest("far", thread, "r", ASK.messages)
    *_, failed = [event async for event in agents.run(await agents.find("far"), asked)]
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, RemoteAgentFailed)
    assert why in str(failed.error)


async def test_a_refusal_without_words_is_told():
    async def refuse(_request: web.Request) -> web.Response:
        return web.json_response({"error": ""}, status=500)

    app, door = web.Application(), Egress(NetworkSettings)
    app.router.add_route("*", "/{path:.*}", refuse)
    async with TestServer(app) as server:
        url = f"http://127.0.0.1:{server.port}"
        door.allow(url, REASON)
        with pytest.raises(RemoteAgentFailed, match="refused with 500"):
            await Peer(door, url).ask("GET", "/x")
    await door.close()
