"""Plays the client against the protocol without HTTP: takes a body, returns named events."""

import json
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Any

from server.asking.ask import Means
from server.engine.base import Engine
from server.face.models import ModelCard
from server.protocols.base import Facts
from server.protocols.openbb import query
from tests.contract.openbb.dashboards import follow_up

Json = dict[str, Any]
Told = tuple[str, Json]
FACTS = Facts("http://127.0.0.1:7777", (ModelCard("talking", "talking.gguf", 1),), "talking")


async def ask(engine: Engine, body: Json, *, old_path: bool = False) -> list[Told]:
    """Returns all events of an answer, each with its name and data."""
    run = query.accept(body, FACTS, old_path=old_path)
    render = partial(query.render, old_path=old_path)
    async with (
        aclosing(run.converse(Means(engine))) as events,
        aclosing(render(events, body, FACTS)) as frames,
    ):
        return [parse(frame) for frame in [frame async for frame in frames]]


def parse(frame: bytes) -> Told:
    name, data, *rest = frame.decode("ascii").split("\n")
    assert rest == ["", ""]
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def drive(
    engine: Engine, body: Json, provide: Callable[[Json], list[Json]]
) -> tuple[list[Json], list[Told]]:
    """Makes calls until the answer comes. Returns the calls, and the events of the answer."""
    calls: list[Json] = []
    for _ in range(6):
        told = await ask(engine, body)
        if told[-1][0] != "copilotFunctionCall":
            return calls, told
        call = told[-1][1]
        calls.append(call)
        body = follow_up(body, call, provide(call))
    raise AssertionError(f"no answer after {len(calls)} calls")


def names(told: list[Told]) -> list[str]:
    """Returns the events' names in order, without hidden steps and without repetitions."""
    shown = [name for name, data in told if not data.get("hidden")]
    return [name for place, name in enumerate(shown) if place == 0 or shown[place - 1] != name]


def text_of(told: list[Told]) -> str:
    return "".join(data["delta"] for name, data in told if name == "copilotMessageChunk")


def data_of(told: list[Told], wanted: str) -> list[Json]:
    return [data for name, data in told if name == wanted]
