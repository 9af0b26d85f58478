"""Flows of plugins as agents: a page can talk to one by its name."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from server.conversation.agents import Agent, AgentCard, AgentRequest, ThreadState
from server.engine.base import Engine
from server.events import Events
from server.flows.base import Flow
from server.plugins.house import PluginHouse
from server.plugins.talk import Said

FindEngine = Callable[[str | None], Awaitable[Engine]]


class FlowAgent:
    def __init__(self, flow: Flow, house: PluginHouse, engine: FindEngine) -> None:
        self.card = AgentCard(_name(flow), flow.description, "Moat flow")
        self._flow = flow
        self._house = house
        self._engine = engine

    async def run(self, request: AgentRequest) -> Events:
        said = Said(tuple(one.message for one in request.said), request.client)
        answer = request.answer.value if request.answer is not None else None
        engine = await self._engine(request.model)
        run = self._house.talk.run(
            engine, self._flow, said, thread=request.thread_id, answer=answer
        )
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def recall(self, _thread_id: str) -> ThreadState | None:
        return None


class FlowAgents:
    """The agents that the enabled plugins bring, while connected programs may use plugins."""

    def __init__(self, house: PluginHouse, engine: FindEngine) -> None:
        self._house = house
        self._engine = engine

    async def agents(self) -> tuple[Agent, ...]:
        if self._house.for_clients() is None:
            return ()
        flows = await self._house.flows()
        return tuple(FlowAgent(flow, self._house, self._engine) for flow in flows)


def _name(flow: Flow) -> str:
    """A slash would end the name in an address."""
    return f"{flow.plugin}.{flow.name}".replace("/", ".")
