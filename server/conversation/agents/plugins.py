"""Plugins as agents and as tools: a page can run a flow by name, and a model can call it."""

import asyncio
import hashlib
import logging
import re
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Protocol, cast

from server.chat import Json, Message, Tool
from server.conversation.agents.base import Agent, AgentCard, AgentRequest, ThreadState
from server.data.markdown import shorten
from server.engine.base import Engine
from server.errors import AppError, FlowFailed
from server.events import (
    Artifact,
    Event,
    Events,
    Interrupted,
    StateChanged,
    StatusNote,
    StepChanged,
    TextDelta,
)
from server.flows.base import Action, Flow, Kit, Step, Work
from server.flows.calling import seconds, surroundings
from server.flows.steps import STEPS
from server.plugins.answering import PluginTalk, UserQuestion, best_of
from server.plugins.kit import lent_to
from server.plugins.service import PluginHouse
from server.schemas import fill
from server.sentences import Sentence

FindEngine = Callable[[str | None], Awaitable[Engine]]


class FlowAgent:
    """A flow of a plugin as an agent."""

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
    """The state of a flow that the page sees: its steps with their status, and its artifacts."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow.key
        self._steps: list[Json] = []
        self._artifacts: list[Json] = []

    def with_state(self, event: Event) -> tuple[Event, ...]:
        """Returns the event and the state after it. The state comes before the end of a step."""
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
    """The flows of enabled plugins as agents, if connected programs may use plugins."""

    def __init__(self, house: PluginHouse, engine: FindEngine) -> None:
        self._house = house
        self._engine = engine

    async def agents(self) -> tuple[Agent, ...]:
        if self._house.for_clients() is None:
            return ()
        flows = await self._house.flows()
        return tuple(FlowAgent(flow, self._house, self._engine) for flow in flows if flow.is_usable)


def _name(flow: Flow) -> str:
    """Returns the agent's name. It has no slash, because it is part of a URL."""
    return f"{flow.plugin}.{flow.name}".replace("/", ".")


log = logging.getLogger(__name__)

MOST_TOOLS = 16
"""How many flows are offered to a model as tools."""
LONGEST_RESULT = 8000
"""The most characters of a tool's result."""
LONGEST_NAME = 64
"""The most characters of a tool's name."""
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
IN_WORDS: Json = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "What is wanted, in words, with all details"}
    },
    "required": ["question"],
}


class House(Protocol):
    """The part of `PluginHouse` that is used here."""

    @property
    def talk(self) -> PluginTalk: ...
    def for_clients(self) -> PluginTalk | None: ...
    async def flows(self) -> Sequence[Flow]: ...
    def kit(self, flow: Flow, chat: str) -> Kit: ...


class PluginTools:
    """Flows as tools: beside a page's own actions (`offer`), or for a program (`list_all`)."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def offer(self, engine: Engine, asked: UserQuestion) -> tuple[Tool, ...]:
        if self._house.for_clients() is None:
            return ()
        named = _by_name([flow for flow in await self._house.flows() if flow.is_usable])
        chosen = _fitting(asked.question, named)
        tools = [await self._tool(name, flow, engine, asked) for name, flow in chosen.items()]
        return tuple(tool for tool in tools if tool is not None)

    async def list_all(
        self, engine: Callable[[], Awaitable[Engine]], asked: UserQuestion
    ) -> tuple[Tool, ...]:
        """Returns every tool, for a program that calls them itself. Loads no model."""
        if self._house.for_clients() is None:
            return ()
        found: list[Tool | None] = []
        for name, flow in _by_name(list(await self._house.flows())).items():
            if flow.is_usable and _is_one_call(flow.steps):
                # The program gives the arguments, so no model is needed.
                found.append(await self._tool(name, flow, cast(Engine, None), asked))
            elif flow.is_usable:
                found.append(
                    Tool(name, flow.description, IN_WORDS, self._asker(flow, engine, asked))
                )
        return tuple(tool for tool in found if tool is not None)

    def _asker(
        self, flow: Flow, engine: Callable[[], Awaitable[Engine]], asked: UserQuestion
    ) -> Callable[[Json], Awaitable[str]]:
        async def ask(arguments: Json) -> str:
            return await self._ask(
                flow, await engine(), asked, str(arguments.get("question") or "")
            )

        return ask

    async def _tool(
        self, name: str, flow: Flow, engine: Engine, asked: UserQuestion
    ) -> Tool | None:
        if not _is_one_call(flow.steps):

            async def ask(arguments: Json) -> str:
                return await self._ask(flow, engine, asked, str(arguments.get("question") or ""))

            return Tool(name, flow.description, IN_WORDS, ask)
        kit = lent_to(asked.client, self._house.kit(flow, asked.chat))
        work = Work(flow, asked.question, engine, kit, asked.context)
        try:
            action = await _action(flow, work)
        except AppError as error:
            log.warning("%s is not offered: %s", flow.key, error)
            return None

        fixed = _fixed_arguments(flow.first)

        async def call(arguments: Json) -> str:
            return await _call(work, action, {**arguments, **fixed})

        return Tool(name, flow.description, _without(action.schema, fixed), call)

    async def _ask(self, flow: Flow, engine: Engine, asked: UserQuestion, question: str) -> str:
        messages = (*asked.messages, Message("user", question))
        by_model = replace(asked, messages=messages, is_by_model=True)
        run = self._house.talk.run(engine, flow, by_model, thread=f"tool {uuid.uuid4()}")
        text: list[str] = []
        async with aclosing(run) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text.append(event.text)
        return shorten("".join(text), LONGEST_RESULT)


def _fitting(question: str, named: dict[str, Flow]) -> dict[str, Flow]:
    """Returns the flows that fit the question best, at most as many as a model can handle."""
    if len(named) <= MOST_TOOLS:
        return named
    names = {flow.key: name for name, flow in named.items()}
    best = best_of(question, list(named.values()), MOST_TOOLS)
    order = dict.fromkeys([*(names[flow.key] for flow in best), *named])
    return {name: named[name] for name in list(order)[:MOST_TOOLS]}


def _by_name(flows: Sequence[Flow]) -> dict[str, Flow]:
    """Gives each flow a unique name that a model can write. Equal keys: the first counts."""
    plain = {flow.key: NOT_IN_NAMES.sub("_", f"{flow.plugin}_{flow.name}") for flow in flows}
    shared = Counter(plain.values())
    named: dict[str, Flow] = {}
    for flow in flows:
        name = plain[flow.key]
        if shared[name] > 1 or len(name) > LONGEST_NAME or not flow.name.isascii():
            # The part that was cut off is what made the name unique.
            mark = hashlib.sha256(flow.key.encode()).hexdigest()[:8]
            name = f"{name[: LONGEST_NAME - 9].rstrip('_')}_{mark}"
        named.setdefault(name, flow)
    return named


def _fixed_arguments(step: Step) -> Json:
    """Returns the arguments that the flow's author has set, so that no model chooses them."""
    if step.call_type != "mcp":
        return {name: value for name, value in step.params.items() if name != "timeout"}
    given = step.params.get("arguments")
    return dict(given) if isinstance(given, dict) else {}


def _without(schema: Json, fixed: Json) -> Json:
    parts = {name: part for name, part in schema["properties"].items() if name not in fixed}
    required = [name for name in schema.get("required", ()) if name not in fixed]
    return {**schema, "properties": parts, "required": required}


def _is_one_call(steps: Sequence[Step]) -> bool:
    return len(steps) == 1 and (steps[0].call_type == "mcp" or steps[0].call_type not in STEPS)


async def _action(flow: Flow, work: Work) -> Action:
    step = flow.first
    if step.call_type == "mcp":
        return await work.kit.action("mcp", f"{step.params['server']}/{step.params['tool']}")
    return await work.kit.action("lib", step.call_type.removeprefix(f"{flow.plugin}."))


async def _call(work: Work, action: Action, arguments: Json) -> str:
    """Calls the action once a person allows it. Raises FlowFailed if arguments are not valid."""
    given = fill.with_defaults(arguments, action.schema)
    allowed = await work.kit.approve(action, given, confirm=work.flow.first.confirm)
    if wrong := fill.problems(allowed, action.schema):
        raise FlowFailed("slot_invalid", Sentence("The arguments are not valid: {0}.", wrong[0][1]))
    timeout_s = seconds(work.flow.first.params.get("timeout"))
    try:
        async with asyncio.timeout(timeout_s):
            output = await action.call(allowed, surroundings(work), timeout_s)
    except TimeoutError:
        raise FlowFailed(
            "timeout", Sentence("{0} took longer than {1:.0f} s.", action.key, timeout_s)
        ) from None
    return shorten(output.data, LONGEST_RESULT)
