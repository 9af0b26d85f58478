"""Puts Moat's agents behind its routes, with the agents and tools of the recordings."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from server.chat import Json, Tool
from server.conversation.agents.base import AgentCard, AgentRequest, Agents, Source, ThreadState
from server.conversation.agents.local import Copilot
from server.conversation.agents.remote import Elsewhere
from server.engine.base import Engine
from server.errors import AppError, EngineCrashed
from server.events import (
    Events,
    Finished,
    Interrupted,
    MessageOpened,
    StateChanged,
    StatusNote,
    StepChanged,
    TextDelta,
)
from server.face.core import About
from server.protocols import copilotkit
from server.protocols.base import AgentRun, Ask, Facts, Look, LookResult
from server.web.app import create_app
from server.web.guard import Gate, Guard
from tests.contract.copilotkit.obedient import ObedientEngine
from tests.kit.sites import make_site
from tests.kit.threads import make_threads

PAGES = frozenset({"https://one.example", "https://other.example"})


class DemoAgent:
    """An agent that counts, and obeys the last message: INTERRUPT, AGENTERR, STATE."""

    def __init__(self, name: str = "demo") -> None:
        self.card = AgentCard(name, "A demo agent", "DemoAgent")

    async def run(self, request: AgentRequest) -> Events:
        count = (request.state or {}).get("count", 0) + 1
        yield StepChanged("thinking", active=True)
        yield StateChanged({"count": count})
        if "AGENTERR" in request.question:
            raise AppError("agent exploded")
        if "INTERRUPT" in request.question and request.answer is None:
            yield Interrupted("i1", {"ask": "may I?"})
        if "STATE" in request.question:
            yield StateChanged({"count": count, "done": True})
            yield StatusNote("counted")
            yield StepChanged("thinking", active=False)
        yield MessageOpened("am1")
        for word in ("I ", "am ", "an ", "agent."):
            yield TextDelta(word)
        if request.answer is not None:
            yield TextDelta(f" You said {request.answer.value}.")
        if "STATE" not in request.question:
            yield StateChanged({"count": count, "done": True})
            yield StepChanged("thinking", active=False)
        yield Finished("stop")

    async def recall(self, _thread_id: str) -> ThreadState | None:
        return None


class Demos:
    async def agents(self) -> tuple[DemoAgent, ...]:
        return (DemoAgent(), DemoAgent("second"))


async def server_time(arguments: Json) -> str:
    return f'{{"zone": "{arguments.get("zone")}", "time": "12:34"}}'


async def fail(_arguments: Json) -> str:
    raise EngineCrashed("handler broke")


async def tools() -> tuple[Tool, ...]:
    return (
        Tool("getServerTime", "The time", {"type": "object"}, server_time),
        Tool("failingAction", "Fails", {"type": "object"}, fail),
    )


def agents(engine: Engine | None = None, elsewhere: Elsewhere | None = None) -> Agents:
    found = engine or ObedientEngine()

    async def find(_name: str | None) -> Engine:
        return found

    if elsewhere is None:
        sources: tuple[Source, ...] = (Copilot(find, tools, lambda: 256), Demos())
        return Agents(lambda: sources, make_threads())
    copilot = Copilot(find, elsewhere.tools, lambda: 256)
    return Agents(lambda: (copilot, *elsewhere.sources()), make_threads())


def app(here: Agents, hosts: set[str]) -> web.Application:
    """Returns the application. `hosts` is filled once the test's server has its port."""

    async def converse(run: object, _about: About) -> Events:
        assert isinstance(run, AgentRun)
        async with aclosing(run.converse()) as events:
            async for event in events:
                yield event

    async def look(asked: Look) -> LookResult:
        return await asked.find(here)

    async def no_answer(_ask: Ask) -> None:
        raise NotImplementedError

    site = make_site(
        converse,
        no_answer,
        lambda host: Facts(f"http://{host}"),
        lambda: 100,
        look=look,
        is_own=lambda sent: sent == "own",
    )
    guard = Guard(lambda: Gate(frozenset(hosts), PAGES), lambda _origin, _method: None)
    return create_app(copilotkit.ENDPOINTS, site, guard, 10_000_000)


@asynccontextmanager
async def visit(here: Agents) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    hosts: set[str] = set()
    async with TestClient(TestServer(app(here, hosts))) as client:
        hosts.add(f"{client.host}:{client.port}")
        yield client
