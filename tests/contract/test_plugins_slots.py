"""Lets the starter fill in request bodies of plugins in EulerCopilot's form: always valid."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.flows.base import Flow, Missing, Step, Work
from server.flows.calling import fill_arguments
from server.plugins.api.operations import Operation
from server.plugins.folder import load
from server.schemas import fill as slots
from tests.kit.plugin_kits import PlainKit

REAL = Path(__file__).resolve().parents[1] / "data" / "plugins"
PLUGINS = ("Compatibility-AI-Infra", "fleet-workshop", "euler-copilot-rca", "euler-copilot-tune")
EVERY = int(os.environ.get("MOAT_EVERY_BODY", "8"))
"""One of this many bodies is filled in. With 1, all are tried, which takes minutes."""
QUESTION = "Please do it for host 10.1.2.3 with id 5 and the task named weekly-check."


@pytest.fixture
async def engine(quick_starter: Path) -> AsyncIterator[WorkerProcess]:
    made = WorkerProcess(quick_starter, EngineOptions(context_tokens=16384, slots=4))
    await made.load()
    yield made
    await made.close()


def bodies() -> list[Operation]:
    found = []
    for name in PLUGINS:
        api = load(REAL / name).api
        assert api
        found += [one for one in api.operations.values() if one.parts.body is not None]
    return found


async def filled(engine: WorkerProcess, operation: Operation) -> object:
    """Returns the filled body. As in a chat, what is missing is asked for once."""
    flow = Flow("p", "f", "", (Step("start", "api"),))
    work = Work(flow, QUESTION, engine, PlainKit())
    first = await fill_arguments(work, operation.key, operation.parts.schema, {})
    if not isinstance(first, Missing):
        return first
    work.question += "\nUse 5, weekly-check, 10.1.2.3 and whatever fits."
    return await fill_arguments(
        work, operation.key, operation.parts.schema, first.known, is_answered=True
    )


@pytest.mark.timeout(1500)
async def test_all_bodies_fill_with_valid_json(engine: WorkerProcess) -> None:
    operations = bodies()
    assert len(operations) > 30
    operations = operations[::EVERY]
    results = await asyncio.gather(*(filled(engine, one) for one in operations))
    wrong = {
        one.key: values if isinstance(values, Missing) else slots.problems(values, one.parts.schema)
        for one, values in zip(operations, results, strict=True)
        if isinstance(values, Missing) or slots.problems(values, one.parts.schema)
    }
    assert wrong == {}
