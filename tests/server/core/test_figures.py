"""The figures of a real core, read by Prometheus's own parser."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families as parse

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.core.figures import Figures
from server.engine.base import EngineOptions
from server.errors import EngineCrashed
from server.events import Failed, Finished, OfChoice, TextDelta, Usage
from server.face.core import About
from server.system.paths import find
from tests.kit.engines import EndlessEngine, ScriptedEngine, ready, replay, says
from tests.kit.requests import make_requests

ROOT = Path(__file__).resolve().parents[3]
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
    return ScriptedEngine(*[says("three words here")] * 5)


@pytest.fixture
async def core() -> AsyncIterator[Core]:
    core = Core(find(), make)
    await core.open()
    await core.start_on(0)
    yield core
    await core.close()


def read(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parse(text)
        for sample in family.samples
    }


def find_one(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, tuple(sorted(labels.items()))), 0.0)


async def look(core: Core) -> Samples:
    async with ClientSession() as session:
        reply = await session.get(f"{core.server.get().address}/metrics")
        assert reply.status == 200
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return read(await reply.text())


async def test_an_answer_is_counted_by_model_and_key(core: Core) -> None:
    request = ChatRequest((Message("user", "hi"),))
    about = About("/v1/chat/completions", key="anna")
    assert [event async for event in core.answer_chat(request, about)]
    model = core.model.get().name
    samples = await look(core)
    by = {"model": model, "key": "anna"}
    assert find_one(samples, "moat_requests_total", **by, outcome="stop") == 1
    assert find_one(samples, "moat_time_to_first_token_seconds_count", **by) == 1
    assert find_one(samples, "moat_request_seconds_count", **by) == 1
    assert find_one(samples, "moat_running_requests", **by) == 0
    assert find_one(samples, "moat_waiting_requests", **by) == 0
    assert find_one(samples, "moat_model_loaded", model=model) == 1
    assert any(name == "process_cpu_seconds_total" for name, _ in samples)


async def test_tokens_times_and_what_runs_are_told_apart() -> None:
    figures = Figures(lambda: ("small",))
    requests = make_requests(figures=figures)
    about = About("/x", model="small", key="bob")
    waiting = requests.track(ready(EndlessEngine().generate(ChatRequest())), about)
    await anext(waiting)
    done = replay(TextDelta("a"), TextDelta("b"), TextDelta("c"), Finished("stop", Usage(7, 4, 3)))
    assert [item async for item in requests.track(ready(done), about)]
    samples = read(await figures.show({}, ()))
    by = {"model": "small", "key": "bob"}
    assert find_one(samples, "moat_running_requests", **by) == 1
    assert find_one(samples, "moat_prompt_tokens_total", **by) == 7
    assert find_one(samples, "moat_cached_tokens_total", **by) == 4
    assert find_one(samples, "moat_completion_tokens_total", **by) == 3
    assert find_one(samples, "moat_time_between_tokens_seconds_count", **by) == 2
    await waiting.aclose()
    samples = read(await figures.show({}, ()))
    assert find_one(samples, "moat_running_requests", **by) == 0
    assert find_one(samples, "moat_requests_total", **by, outcome="left") == 1


async def test_several_answers_share_their_prompt_and_a_failure_has_its_code() -> None:
    figures = Figures(lambda: ("small",))
    requests = make_requests(figures=figures)
    about = About("/x", model="small")
    two = [OfChoice(at, Finished("stop", Usage(10, 0, 5))) for at in range(2)]
    assert [item async for item in requests.track(ready(replay(*two)), about)]
    broken = replay(TextDelta("a"), Failed(EngineCrashed("gone")))
    assert [item async for item in requests.track(ready(broken), About("/x", model="any name"))]
    samples = read(await figures.show({}, ()))
    assert find_one(samples, "moat_prompt_tokens_total", model="small", key="") == 10
    assert find_one(samples, "moat_completion_tokens_total", model="small", key="") == 10
    unknown = {"model": "unknown", "key": "", "outcome": "engine_crashed"}
    assert find_one(samples, "moat_requests_total", **unknown) == 1


async def test_a_worker_that_does_not_answer_keeps_nobody_from_the_rest() -> None:
    class Silent(EndlessEngine):
        async def stats(self) -> dict[str, int]:
            raise EngineCrashed("gone")

    figures = Figures(lambda: ())
    assert "moat_model_loaded" in await figures.show({"silent": Silent()}, ())


async def test_the_dashboard_asks_for_nothing_that_is_not_there() -> None:
    dashboard = json.loads((ROOT / "packaging" / "team" / "grafana.json").read_text("utf-8"))
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\b(?:moat|process)_[a-z_]+", target["expr"])
    }
    text = await Figures(lambda: ()).show({}, ())
    shown = {family.name for family in parse(text)}
    shown |= {f"{name}_{part}" for name in shown for part in ("total", "bucket", "count", "sum")}
    assert asked <= shown
    assert len(asked) > 10
