"""What plugins can do as tools a model may call: each tool of theirs, and each of their flows."""

import asyncio
import logging
import re
import uuid
from collections.abc import Sequence
from contextlib import aclosing
from typing import Protocol

from server.chat import Json, Message, Tool
from server.engine.base import Engine
from server.errors import AppError
from server.events import TextDelta
from server.flows import slots
from server.flows.base import Action, Flow, FlowFailed, Kit, Step, Work
from server.flows.calling import seconds, surroundings
from server.flows.cutting import shorten
from server.flows.steps import STEPS
from server.plugins.talk import PluginTalk, Said

log = logging.getLogger(__name__)

MOST_TOOLS = 16
LONGEST_RESULT = 8000
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
IN_WORDS: Json = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "What is wanted, in words, with all details"}
    },
    "required": ["question"],
}


class House(Protocol):
    """What of the plugins is used here."""

    @property
    def talk(self) -> PluginTalk: ...
    def for_clients(self) -> PluginTalk | None: ...
    async def flows(self) -> Sequence[Flow]: ...
    def kit(self, flow: Flow, chat: str) -> Kit: ...


class PluginTools:
    """Offered beside a page's own actions; without those, flows are chosen by the question."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def offered(self, engine: Engine, said: Said) -> tuple[Tool, ...]:
        if self._house.for_clients() is None:
            return ()
        flows = [flow for flow in await self._house.flows() if flow.is_usable]
        return tuple(
            [tool for flow in flows[:MOST_TOOLS] if (tool := await self._tool(flow, engine, said))]
        )

    async def _tool(self, flow: Flow, engine: Engine, said: Said) -> Tool | None:
        name = NOT_IN_NAMES.sub("_", f"{flow.plugin}_{flow.name}")[:64]
        if not _is_one_call(flow.steps):

            async def ask(arguments: Json) -> str:
                return await self._ask(flow, engine, said, str(arguments.get("question") or ""))

            return Tool(name, flow.description, IN_WORDS, ask)
        work = Work(flow, said.question, engine, self._house.kit(flow, said.chat), said.context)
        try:
            action = await _action(flow, work)
        except AppError as error:
            log.warning("%s is not offered: %s", flow.key, error)
            return None

        async def call(arguments: Json) -> str:
            return await _call(work, action, arguments)

        return Tool(name, flow.description, action.schema, call)

    async def _ask(self, flow: Flow, engine: Engine, said: Said, question: str) -> str:
        asked = Said((*said.messages, Message("user", question)), said.client)
        run = self._house.talk.run(engine, flow, asked, thread=f"tool {uuid.uuid4()}")
        text: list[str] = []
        async with aclosing(run) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text.append(event.text)
        return shorten("".join(text), LONGEST_RESULT)


def _is_one_call(steps: Sequence[Step]) -> bool:
    return len(steps) == 1 and (steps[0].call_type == "mcp" or steps[0].call_type not in STEPS)


async def _action(flow: Flow, work: Work) -> Action:
    step = flow.first
    if step.call_type == "mcp":
        return await work.kit.action("mcp", f"{step.params['server']}/{step.params['tool']}")
    return await work.kit.action("lib", step.call_type.removeprefix(f"{flow.plugin}."))


async def _call(work: Work, action: Action, arguments: Json) -> str:
    """A person allows it as in a flow; what the model wrote is checked before and after."""
    given = slots.with_defaults(arguments, action.schema)
    allowed = await work.kit.approve(action, given, confirm=work.flow.first.confirm)
    if wrong := slots.problems(allowed, action.schema):
        raise FlowFailed("slot_invalid", f"The arguments are not valid: {wrong[0][1]}.")
    timeout_s = seconds(work.flow.first.params.get("timeout"))
    try:
        async with asyncio.timeout(timeout_s):
            output = await action.call(allowed, surroundings(work), timeout_s)
    except TimeoutError:
        raise FlowFailed("timeout", f"{action.key} took longer than {timeout_s:.0f} s.") from None
    return shorten(output.data, LONGEST_RESULT)
