"""A real server that lies, behind a real core: each client gets an error in its own protocol."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from server.core.core import Core
from server.engine.base import EngineOptions
from server.settings import EngineElsewhere
from server.system.paths import find
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine, says
from tests.kit.gguf_files import write_model
from tests.kit.hostile_engine import FAULTS, ODD, HostileEngine, started
from tests.kit.until import until

HI = [{"role": "user", "content": "hi"}]
RUN = {"messages": [{"id": "1", "role": "user", "content": "hi"}], "tools": [], "context": []}
AGUI = {"threadId": "t", "runId": "r", "state": {}, "forwardedProps": {}, **RUN}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"messages": HI}),
    "openai stream": ("/v1/chat/completions", {"messages": HI, "stream": True}),
    "responses": ("/v1/responses", {"input": "hi", "stream": True}),
    "anthropic": ("/v1/messages", {"messages": HI, "max_tokens": 5}),
    "anthropic stream": ("/v1/messages", {"messages": HI, "max_tokens": 5, "stream": True}),
    "ollama": ("/api/chat", {"messages": HI, "stream": False}),
    "ollama stream": ("/api/chat", {"messages": HI}),
    "openbb": ("/v1/query", {"messages": [{"role": "human", "content": "hi"}]}),
    "agui": ("/api/copilotkit/agent/default/run", AGUI),
}
OWN_FORM = {
    "openai": '{"error":{"message":"The engine at ',
    "responses": '"message":"The engine at ',
    "anthropic": '"type":"error","error":{"type":"api_error","message":"The engine at ',
    "ollama": '"error":"The engine at ',
    "openbb": '{"delta":"',
    "agui": '"type":"RUN_ERROR","message":"The engine at ',
}
BEFORE, AFTER = "data without JSON", "half a line"
"""What fails before the first word, and after it."""


@dataclass
class Stage:
    core: Core
    far: HostileEngine
    session: ClientSession

    async def ask(self, way: str, **more: Any) -> tuple[int, str]:
        path, body = WAYS[way]
        url = f"{self.core.server.get().address}{path}"
        async with self.session.post(url, json={**body, **more}) as reply:
            return reply.status, await reply.text()


@pytest.fixture(scope="module")
def far() -> Iterator[HostileEngine]:
    with started() as server:
        yield server


@pytest.fixture
async def stage(far: HostileEngine) -> AsyncIterator[Stage]:
    places = find()
    places.make()
    write_model(places.models / "here.gguf")
    core = Core(places, _make)
    await core.open()
    await core.start_on(0)
    await core.engines.add(EngineElsewhere(name="large", urls=(far.address,)), "")
    await core.load_model("large")
    async with ClientSession() as session:
        yield Stage(core, far, session)
    await core.close()


def _make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
    return ScriptedEngine(*[says("from here")] * 100)


async def test_every_fault_is_a_clear_error(stage: Stage) -> None:
    for fault in FAULTS:
        stage.far.lie(fault)
        status, text = await stage.ask("openai")
        assert (status, OWN_FORM["openai"] in text) == (502, True), (fault, text)
    stage.far.lie("good")
    assert "Hello" in (await stage.ask("openai"))[1]


@pytest.mark.parametrize("fault", [BEFORE, AFTER])
async def test_an_error_has_the_form_of_the_clients_own_protocol(stage: Stage, fault: str) -> None:
    stage.far.lie(fault)
    for way in WAYS:
        status, text = await stage.ask(way)
        tight = text.replace('": ', '":').replace(', "', ',"')
        assert "The engine at " in tight, (way, text)
        assert OWN_FORM[way.split()[0]] in tight, (way, text)
        assert status in (200, 502), text


async def test_what_is_odd_is_answered_all_the_same(stage: Stage) -> None:
    for oddity in ODD:
        stage.far.lie(oddity)
        for way in ("openai", "openbb", "agui"):
            status, text = await stage.ask(way)
            assert (status, "Hello" in text) == (200, True), (oddity, way, text)
    stage.far.lie("usage without end")
    _, text = await stage.ask("openai")
    assert json.loads(text)["usage"]["total_tokens"] < 1 << 33


@pytest.mark.parametrize("lie", ["hangs", "endless"])
async def test_others_are_served_meanwhile_and_whoever_leaves_ends_it(
    stage: Stage, lie: str
) -> None:
    stage.far.lie(lie)
    waiting = spawn(stage.ask("openai"), "wait")
    await until(lambda: bool(stage.core.requests.get()))
    assert "from here" in (await stage.ask("openai", model="here"))[1]
    assert not waiting.done()
    waiting.cancel()
    await until(lambda: not stage.core.requests.get())
