"""Does what real clients and networks do: leave early, send too much, send the unexpected."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.core.core import Core
from server.engine.base import Engine
from server.system.paths import find
from tests.contract.openbb.player import parse, text_of
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.engines import EndlessEngine
from tests.kit.until import until

ORIGIN = {"Origin": "https://pro.openbb.co", "X-Trace-Id": "t"}
HELLO: dict[str, Any] = {"messages": [{"role": "human", "content": "Say hello."}], "tools": []}


@asynccontextmanager
async def served(make: Callable[[], Engine]) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    core = Core(find(), lambda _path, _options: make())
    await core.open()
    await core.start_on(0)
    try:
        async with aiohttp.ClientSession(headers=ORIGIN) as session:
            yield f"{core.server.get().address}/v1/agent/query", session
    finally:
        await core.close()


@pytest.fixture(autouse=True)
def model(starter_model: Path) -> None:
    """Puts a model into the library. A scripted engine stands in for it."""


async def test_a_reader_who_leaves_frees_the_model() -> None:
    engine = EndlessEngine()
    async with served(lambda: engine) as (url, session):
        reply = await session.post(url, json=HELLO)
        await reply.content.readline()
        await until(lambda: bool(engine.requests))
        reply.close()
        async with asyncio.timeout(30):
            await engine.stopped.wait()


@pytest.mark.parametrize(
    "more",
    [
        {"widgets": {"primary": [{"uuid": "x::iframe::y", "params": [{"options": 7}]}, None]}},
        {"widgets": "odd", "context": {"a": 1}, "tools": "odd", "workspace_options": 7},
        {"context": [{"data": {"content": 7}}, {"data": {"items": [{"content": None}]}}]},
        {"timezone": "Mars/Olympus", "selected_skills": [{"slug": 3}], "skills_catalog": "x"},
        {"api_keys": {"openai_api_key": "k"}, "urls": ["http://169.254.169.254/"], "model": 5},
        {"some_future_field": {"deep": [[[[None]]]]}, "force_web_search": "yes"},
    ],
)
async def test_odd_fields_are_no_error(more: dict[str, Any]) -> None:
    async with served(TalkingEngine) as (url, session):
        body = {**HELLO, **more}
        for _ in range(3):
            async with session.post(url, json=body) as reply:
                assert reply.status == 200
                told = _told(await reply.read())
            if told[-1][0] != "copilotFunctionCall":
                break
            call = told[-1][1]
            body["messages"] = [*body["messages"], {"role": "tool", **call, "data": [3, None, []]}]
        assert text_of(told)


@pytest.mark.parametrize(
    "result",
    [
        {"data": [{"error_type": "not_found", "content": None}]},
        {"data": [{"items": [{"content": "[" * 5000}]}]},
        {"data": [{"items": [{"content": "x", "data_format": "odd"}, {"url": 7}]}]},
        {"data": "text", "extra_state": "odd", "input_arguments": 3},
        {"data": {"content": {"a": 1}}, "function": None},
    ],
)
async def test_odd_results_are_no_error(result: dict[str, Any]) -> None:
    tool = {"role": "tool", "function": "get_widget_data", **result}
    async with served(TalkingEngine) as (url, session):
        body = {**HELLO, "messages": [*HELLO["messages"], tool]}
        async with session.post(url, json=body) as reply:
            assert reply.status == 200
            assert text_of(_told(await reply.read()))


async def test_a_body_beyond_the_limit_is_a_413_that_the_page_may_read() -> None:
    async with served(TalkingEngine) as (url, session):
        huge = json.dumps({**HELLO, "filler": "x" * (65 * 1024 * 1024)}).encode()
        headers = {"Content-Type": "application/json"}
        async with session.post(url, data=io.BytesIO(huge), headers=headers) as reply:
            assert reply.status == 413
            assert reply.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]
        async with session.post(url, json=HELLO) as reply:
            assert reply.status == 200


def _told(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    blocks = body.split(b"\n\n")
    return [parse(block + b"\n\n") for block in blocks if block.startswith(b"event:")]
