"""Each style's grammar bends a model that never saw it: every call it makes is valid.

MOAT_CALLS_PER_STYLE asks for more of them.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import jsonschema
import pytest
import pytest_asyncio

from server.chat import ChatRequest, Message, Sampling, Tool, ToolChoice
from server.engine.base import EngineOptions, ModelFacts
from server.engine.formats import FORMATS
from server.engine.formats.base import Format, Prepared
from server.engine.process import WorkerProcess
from server.events import ToolCallRequested

CALLS = int(os.environ.get("MOAT_CALLS_PER_STYLE", "2"))
AT_ONCE = 4
STYLES = {style.name: style for style in FORMATS}
TOOLS = (
    Tool(
        "switch_lamp",
        "Switch a lamp.",
        {
            "type": "object",
            "properties": {
                "lamp": {"type": "integer", "minimum": 1, "maximum": 40},
                "mode": {"type": "string", "enum": ["low", "high"]},
                "on": {"type": "boolean"},
            },
            "required": ["lamp", "on"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "say_name",
        "Say a name.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "maxLength": 8},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
            },
            "required": ["name", "tags"],
            "additionalProperties": False,
        },
    ),
)
SCHEMAS = {tool.name: tool.parameters for tool in TOOLS}


def by_client(request: ChatRequest, facts: ModelFacts) -> Prepared:
    return STYLES[request.client].prepare(request, facts)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(starter_model: Path) -> AsyncIterator[WorkerProcess]:
    style = Format("each its own", lambda _facts: True, by_client)
    worker = WorkerProcess(starter_model, EngineOptions(slots=AT_ONCE), choose=lambda _facts: style)
    yield worker
    await worker.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", STYLES)
async def test_every_call_is_valid(engine: WorkerProcess, name: str) -> None:
    free = asyncio.Semaphore(AT_ONCE)

    async def ask(seed: int) -> list[str]:
        request = ChatRequest(
            (Message("user", "Switch lamp 7 on and say a name."),),
            tools=TOOLS,
            tool_choice=ToolChoice("required"),
            parallel_calls=seed % 8 == 0,
            sampling=Sampling(temperature=1.0, seed=seed),
            max_tokens=1500,
            client=name,
        )
        async with free, aclosing(engine.generate(request)) as pieces:
            calls = [piece async for piece in pieces if isinstance(piece, ToolCallRequested)]
        return [problem for call in calls for problem in _problems(call)] if calls else ["no call"]

    found = await asyncio.gather(*(ask(seed) for seed in range(CALLS)))
    assert [problems for problems in found if problems] == []


def _problems(made: ToolCallRequested) -> list[str]:
    if not made.valid or made.call.name not in SCHEMAS:
        return [f"{made}"]
    checker = jsonschema.Draft202012Validator(SCHEMAS[made.call.name])
    return [f"{made.call}: {error.message}" for error in checker.iter_errors(made.call.arguments)]
