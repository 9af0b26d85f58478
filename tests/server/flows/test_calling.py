"""A call that goes on may tell how far it is, ask the person, and be given up."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from server.chat import Json
from server.errors import FlowFailed
from server.events import StatusNote
from server.flows.base import Flow, FormAnswer, Missing, Output, Step, Work, beside
from server.flows.calling import call
from tests.kit.engines import ScriptedEngine
from tests.kit.plugin_kits import PlainKit, ScriptedAction

STEP = Step("start", "mcp", {})
FLOW = Flow("p", "f", "d", (STEP,))


@dataclass(slots=True)
class Talking(ScriptedAction):
    """Tells how far it is, asks, and waits if it is to be given up."""

    waits: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:
        person = beside.get()
        assert person is not None
        person.tell("half of it")
        if self.waits:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.ended.set()
        answer = await person.ask(Missing({"properties": {}}, {}, "Who?"))
        return Output(answer and answer.values)


async def signs_of(action: Any, kit: PlainKit, **params: Any) -> list[Any]:
    work = Work(FLOW, "what?", ScriptedEngine(), kit)
    async with aclosing(call(Step("start", "mcp", params), work, action, {})) as signs:
        return [sign async for sign in signs]


async def test_what_a_call_tells_is_passed_on_and_what_it_asks_is_a_form() -> None:
    kit = PlainKit(told=[FormAnswer({"name": "Ann"})])
    *notes, output = await signs_of(Talking(key="sums/greet"), kit)
    assert StatusNote("sums/greet: half of it") in notes
    assert output == Output({"name": "Ann"})
    assert [form.reason for form in kit.forms] == ["Who?"]
    assert beside.get() is None


async def test_without_anybody_to_ask_there_is_no_answer() -> None:
    assert (await signs_of(Talking(), PlainKit()))[-1] == Output(None)


async def test_a_call_that_takes_too_long_is_ended() -> None:
    action = Talking(waits=True, key="sums/wait")
    with pytest.raises(FlowFailed, match="sums/wait took longer than") as caught:
        await signs_of(action, PlainKit(), timeout=0.01)
    assert caught.value.fault == "timeout"
    assert action.ended.is_set()


async def test_a_call_is_ended_when_nobody_wants_its_answer() -> None:
    action = Talking(waits=True)
    work = Work(FLOW, "what?", ScriptedEngine(), PlainKit())
    async with aclosing(call(STEP, work, action, {})) as signs:
        async for sign in signs:
            if sign == StatusNote("GET /things: half of it"):
                break
    assert action.ended.is_set()


async def test_an_error_of_a_call_is_raised() -> None:
    action = ScriptedAction(answer=lambda _: FlowFailed("mcp_error", "no"))
    with pytest.raises(FlowFailed, match="no"):
        await signs_of(action, PlainKit())
