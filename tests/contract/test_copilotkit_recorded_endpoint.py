"""Replays a recorded CopilotKit endpoint in Python. Moat must ask as the recorded runtime did."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.chat import Message, Tool
from server.conversation.agents.base import AgentRequest
from server.conversation.agents.copilotkit import CopilotKitEndpoint, EndpointAgent
from server.conversation.agents.remote import REASON, Peer, RemoteAgentFailed
from server.conversation.threads import ThreadMessage
from server.egress import Egress
from server.events import Event, Finished, MessageOpened, StateChanged, StepChanged, TextDelta
from server.settings import NetworkSettings
from tests.contract.copilotkit import recordings
from tests.contract.copilotkit.recordings import Exchange

RECORDED = Path(__file__).resolve().parents[1] / "data/copilotkit/remote-endpoint-py-sdk-0.1.96"
EXCHANGES = [recordings.read(RECORDED, name) for name in recordings.names(RECORDED)]
BASE = "/copilotkit_remote"
SAID = ThreadMessage("u1", Message("user", "hello"))
ADD = Tool(
    "add",
    "adds",
    {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
)


class Endpoint:
    """An endpoint that replays the recorded answers line by line and keeps the requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append((request.path, body))
        exchange = find(request.path, body.get("name"))
        reply = web.StreamResponse(status=exchange.status, headers={"Content-Type": exchange.kind})
        await reply.prepare(request)
        for line in exchange.answer.splitlines(keepends=True):
            await reply.write(line)
        await reply.write_eof()
        return reply


def find(path: str, name: str | None) -> Exchange:
    """Returns the recorded exchange at this path about the action or agent of this name."""
    at_place = [exchange for exchange in EXCHANGES if exchange.path == path]
    return next(one for one in at_place if json.loads(one.body).get("name") == name)


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
async def source(endpoint: Endpoint) -> AsyncIterator[CopilotKitEndpoint]:
    app = web.Application()
    app.router.add_post("/{path:.*}", endpoint.answer)
    door = Egress(NetworkSettings)
    async with TestServer(app) as server:
        place = f"http://127.0.0.1:{server.port}{BASE}"
        door.allow(place, REASON)
        yield CopilotKitEndpoint(Peer(door, place))
    await door.close()


def outline(body: Any) -> Any:
    """Returns names and types. Free text and properties of the recorded page do not count."""
    return recordings.outline({**body, "properties": {}, "frontendUrl": ""})


def check_asked(endpoint: Endpoint, path: str) -> None:
    """Asserts that the last request went to this path and has the recorded shape."""
    place, body = endpoint.asked[-1]
    assert place == BASE + path
    assert outline(body) == outline(json.loads(find(place, body.get("name")).body))


async def agent_of(source: CopilotKitEndpoint) -> EndpointAgent:
    (agent,) = await source.agents()
    return agent


async def test_it_says_who_is_there_and_what_can_be_done(
    endpoint: Endpoint, source: CopilotKitEndpoint
) -> None:
    agent = await agent_of(source)
    assert (agent.card.name, agent.card.description) == ("py_agent", "A python agent")
    check_asked(endpoint, "/info")
    add, boom = await source.tools()
    assert (add.name, add.description, boom.name) == ("add", "adds", "boom")
    assert add.parameters["required"] == ["a", "b"]
    assert add.parameters["properties"]["a"] == {"type": "number", "description": "a"}
    assert boom.parameters == {"type": "object", "properties": {}, "required": []}


async def test_an_action_is_run_and_a_failing_one_says_why(
    endpoint: Endpoint, source: CopilotKitEndpoint
) -> None:
    add, boom = await source.tools()
    assert add.run
    assert boom.run
    assert json.loads(await add.run({"a": 2, "b": 3})) == {"sum": 5}
    check_asked(endpoint, "/actions/execute")
    with pytest.raises(RemoteAgentFailed, match="refused with 500: python action broke"):
        await boom.run({})
    check_asked(endpoint, "/actions/execute")


async def test_an_agent_runs_step_by_step(endpoint: Endpoint, source: CopilotKitEndpoint) -> None:
    agent = await agent_of(source)
    request = AgentRequest("py_agent", "thread-r", "r1", (SAID,), (ADD,))
    events: list[Event] = [event async for event in agent.run(request)]
    assert events == [
        StepChanged("n1", active=True),
        StateChanged({"seen": 1}),
        MessageOpened("pm1"),
        TextDelta("Hello "),
        TextDelta("from "),
        TextDelta("Python."),
        StateChanged({"seen": 1}),
        StepChanged("n1", active=False),
        Finished("stop"),
    ]
    place, body = endpoint.asked[-1]
    assert place == f"{BASE}/agents/execute"
    recorded = json.loads(find(place, "py_agent").body)
    assert body.keys() - recorded.keys() == {"metaEvents"}
    assert outline(body["messages"][0]) == outline(recorded["messages"][0])
    assert body["actions"][0].keys() == recorded["actions"][0].keys()


async def test_the_state_of_an_agent_is_recalled(
    endpoint: Endpoint, source: CopilotKitEndpoint
) -> None:
    agent = await agent_of(source)
    recalled = await agent.recall("thread-r")
    check_asked(endpoint, "/agents/state")
    assert recalled
    assert recalled.state == {"seen": 3}
    assert [(said.id, said.message.content) for said in recalled.messages] == [("1", "hi")]


def test_every_recorded_exchange_is_used() -> None:
    used = {(exchange.path, json.loads(exchange.body).get("name")) for exchange in EXCHANGES}
    places = {"/info": [None], "/actions/execute": ["add", "boom"]}
    places |= {"/agents/execute": ["py_agent"], "/agents/state": ["py_agent"]}
    assert used == {(BASE + path, name) for path, names in places.items() for name in names}
    assert len(EXCHANGES) == 10
