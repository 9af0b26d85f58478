"""Binds a model to each style's grammar, which it has never seen: all its calls are valid.

MOAT_CALLS_PER_STYLE sets the number of calls.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import jsonschema
import pytest
import pytest_asyncio

from server.chat import ChatRequest, Json, Message, Sampling, Tool, ToolChoice
from server.engine.base import EngineOptions, ModelFacts
from server.engine.process import WorkerProcess
from server.engine.styles import FORMATS
from server.engine.styles.base import Format, Prepared
from server.events import ToolCallRequested

CALLS = int(os.environ.get("MOAT_CALLS_PER_STYLE", "2"))
AT_ONCE = 16
ENOUGH_TOKENS = 1000
STYLES = {style.name: style for style in FORMATS}
LAMP = {"n": {"type": "integer", "minimum": 1, "maximum": 40}, "on": {"type": "boolean"}}
SAY = {"s": {"type": "string", "minLength": 2, "maxLength": 6}}
PICK = {"m": {"type": "string", "enum": ["low", "high"]}, "w": {"type": ["integer", "null"]}}
TAGS = {"t": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}}
MOVE = {
    "at": {
        "type": "object",
        "properties": {"x": {"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.5}},
        "required": ["x"],
        "additionalProperties": False,
    }
}


def _tool(name: str, properties: Json, *required: str) -> Tool:
    return Tool(
        name,
        f"To {name}.",
        {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
    )


TOOLS = (
    _tool("lamp", LAMP, "n"),
    _tool("say", SAY, "s"),
    _tool("pick", PICK, "m", "w"),
    _tool("tag", TAGS, "t"),
    _tool("move", MOVE, "at"),
)
"""They are short, since a whole run makes thousands of calls. Each has a constraint of its own."""
SCHEMAS = {tool.name: tool.parameters for tool in TOOLS}


def by_client(request: ChatRequest, facts: ModelFacts) -> Prepared:
    return STYLES[request.client].prepare(request, facts)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(quick_starter: Path) -> AsyncIterator[WorkerProcess]:
    options = EngineOptions(slots=AT_ONCE, context_tokens=1536, threads=1, prompt_cache_mb=0)
    style = Format("each its own", lambda _facts: True, by_client)
    worker = WorkerProcess(quick_starter, options, choose=lambda _facts: style)
    yield worker
    await worker.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def problems(engine: WorkerProcess) -> dict[str, list[str]]:
    """Returns what is wrong with the calls of each style. All styles run concurrently."""
    free = asyncio.Semaphore(AT_ONCE)
    asked = [(name, seed) for name in STYLES for seed in range(CALLS)]
    found = await asyncio.gather(*(_ask(engine, free, name, seed) for name, seed in asked))
    wrong: dict[str, list[str]] = {name: [] for name in STYLES}
    for (name, _seed), several in zip(asked, found, strict=True):
        wrong[name] += several
    return wrong


async def _ask(engine: WorkerProcess, free: asyncio.Semaphore, name: str, seed: int) -> list[str]:
    first = seed % len(TOOLS)
    request = ChatRequest(
        (Message("user", "Do something."),),
        tools=(TOOLS[first], TOOLS[first - 2]),
        tool_choice=ToolChoice("required"),
        parallel_calls=seed % 16 == 0,
        sampling=Sampling(temperature=1.0, seed=seed),
        max_tokens=ENOUGH_TOKENS,
        template_options=(("enable_thinking", False),),
        client=name,
    )
    async with free, aclosing(engine.generate(request)) as pieces:
        calls = [piece async for piece in pieces if isinstance(piece, ToolCallRequested)]
    return [problem for call in calls for problem in _problems(call)] if calls else ["no call"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", STYLES)
async def test_every_call_is_valid(problems: dict[str, list[str]], name: str) -> None:
    assert problems[name] == []


def _problems(made: ToolCallRequested) -> list[str]:
    if not made.valid or made.call.name not in SCHEMAS:
        return [f"{made}"]
    checker = jsonschema.Draft202012Validator(SCHEMAS[made.call.name])
    return [f"{made.call}: {error.message}" for error in checker.iter_errors(made.call.arguments)]
