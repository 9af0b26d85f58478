"""Flows of plugins as agents: a page can talk to a flow by its name."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict

from server.chat import Json
from server.conversation.agents.base import Agent, AgentCard, AgentRequest, ThreadState
from server.engine.base import Engine
from server.events import (
    Artifact,
    Event,
    Events,
    Interrupted,
    StateChanged,
    StatusNote,
    StepChanged,
)
from server.flows.base import Flow
from server.plugins.answering import UserQuestion
from server.plugins.service import PluginHouse

FindEngine = Callable[[str | None], Awaitable[Engine]]


class FlowAgent:
    def __init__(self, flow: Flow, house: PluginHouse, engine: FindEngine) -> None:
        self.card = AgentCard(_name(flow), flow.description, "Moat flow")
        self._flow = flow
        self._house = house
        self._engine = engine

    async def run(self, request: AgentRequest) -> Events:
        question = UserQuestion(
            tuple(kept.message for kept in request.messages), request.client, request.chat
        )
        answer = request.answer.value if request.answer is not None else None
        engine = await self._engine(request.model)
        thread = f"{request.origin} {request.thread_id}".strip()
        run = self._house.talk.run(engine, self._flow, question, thread=thread, answer=answer)
        progress = Progress(self._flow)
        async with aclosing(run) as events:
            async for event in events:
                for shown in progress.with_state(event):
                    yield shown

    async def recall(self, _thread_id: str) -> ThreadState | None:
        return None


class Progress:
    """A flow's state for the page: the steps it has finished, and its artifacts."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow.key
        self._steps: list[Json] = []
        self._artifacts: list[Json] = []

    def with_state(self, event: Event) -> tuple[Event, ...]:
        """Returns the event and the state it leads to. A step's outcome comes before its end."""
        match event:
            case StepChanged(name, True):
                self._steps.append({"name": name, "status": "running"})
                return event, self._state()
            case StepChanged():
                self._mark("done", only="running")
                return self._state(), event
            case StatusNote(level="error"):
                self._mark("failed")
            case Interrupted():
                self._mark("waiting")
                return self._state(), event
            case Artifact():
                self._artifacts.append(asdict(event))
                return event, self._state()
        return (event,)

    def _mark(self, status: str, only: str = "") -> None:
        if self._steps and only in ("", self._steps[-1]["status"]):
            self._steps[-1] = {**self._steps[-1], "status": status}

    def _state(self) -> StateChanged:
        made = {"artifacts": list(self._artifacts)} if self._artifacts else {}
        return StateChanged({"flow": self._flow, "steps": list(self._steps), **made})


class FlowAgents:
    """The agents of enabled plugins, if connected programs may use plugins."""

    def __init__(self, house: PluginHouse, engine: FindEngine) -> None:
        self._house = house
        self._engine = engine

    async def agents(self) -> tuple[Agent, ...]:
        if self._house.for_clients() is None:
            return ()
        flows = await self._house.flows()
        return tuple(FlowAgent(flow, self._house, self._engine) for flow in flows if flow.is_usable)


def _name(flow: Flow) -> str:
    """Replaces the slash, which would end the name in an address."""
    return f"{flow.plugin}.{flow.name}".replace("/", ".")
