"""A model is measured once, when nobody asks anything; the next start loads it by the result."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.chat import ChatRequest
from server.core import calibration
from server.core.calibration import Calibrator
from server.engine.base import Engine, EngineOptions
from server.engine.pool import FoundModel, Pool, PoolLimits
from server.errors import BadRequest
from server.events import Usage
from tests.kit.fake_engine import NamedEngine
from tests.kit.until import until

FOUND: dict[str, Any] = {
    "flash_attention": True,
    "batch_tokens": 256,
    "threads": 3,
    "depth": 128,
    "took_s": 4.0,
    "others": 0.0,
    "trials": [
        {"flash_attention": True, "batch_tokens": 256, "threads": 3, "read": 90.0, "write": 9.0}
    ],
}


class MeasuredEngine(NamedEngine):
    """`go` lets a measurement end."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.found = dict(FOUND)
        self.facts = replace(self.facts, size_bytes=5)
        self.begun = 0
        self.go = asyncio.Event()

    async def calibrate(self) -> dict[str, Any]:
        self.begun += 1
        await self.go.wait()
        return self.found


class Desk:
    def __init__(self, folder: Path, *, allowed: bool = True) -> None:
        self.engines: list[MeasuredEngine] = []
        self.file = folder / "model.gguf"
        self.file.write_bytes(b"model")
        self.pool = Pool(self._look_up, self._make, PoolLimits())
        self.calibrator = Calibrator(
            folder / "speeds.json",
            self.pool,
            lambda name: self.file if name == "small" else None,
            lambda: allowed,
            self._can_plan,
        )
        self.calibrator.open()
        self.tried: list[str] = []
        self.may_end_trial = asyncio.Event()
        self.may_end_trial.set()

    async def _can_plan(self, engine: Engine, _client: str) -> bool:
        self.tried.append(engine.facts.name)
        await self.may_end_trial.wait()
        return True

    def _make(self, path: Path, _options: EngineOptions) -> MeasuredEngine:
        self.engines.append(MeasuredEngine(path.name))
        return self.engines[-1]

    @staticmethod
    def _look_up(name: str) -> FoundModel:
        return FoundModel(Path(name), EngineOptions(), 1)

    async def close(self) -> None:
        await self.calibrator.close()
        await self.pool.close()


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr(calibration, "TRIAL_S", 0.0)
    monkeypatch.setattr(calibration, "IDLE_S", 0.0)
    made = Desk(tmp_path)
    yield made
    await made.close()


async def test_it_is_measured_when_all_is_quiet_and_kept(desk: Desk, tmp_path: Path) -> None:
    await desk.pool.engine("small")
    await until(lambda: desk.engines[0].begun)
    desk.engines[0].go.set()
    await until(desk.calibrator.results.get)
    (found,) = desk.calibrator.results.get()
    assert (found.model, found.threads, found.is_used) == ("small", 3, False)
    assert desk.calibrator.apply(desk.file, EngineOptions()) == EngineOptions()
    again = Desk(tmp_path)
    try:
        (kept,) = again.calibrator.results.get()
        assert kept == replace(found, is_used=True)
        options = again.calibrator.apply(desk.file, EngineOptions())
        assert options == EngineOptions(flash_attention=True, threads=3, batch_tokens=256)
        chosen = EngineOptions(flash_attention=False, threads=1, batch_tokens=1024)
        assert again.calibrator.apply(desk.file, chosen) == chosen
        desk.file.write_bytes(b"another model")
        assert again.calibrator.apply(desk.file, EngineOptions()) == EngineOptions()
    finally:
        await again.close()


async def test_a_question_ends_it_and_it_begins_anew_afterwards(desk: Desk) -> None:
    engine = await desk.pool.engine("small")
    await until(lambda: desk.engines[0].begun == 1)
    async with aclosing(engine.generate(ChatRequest(prompt="go on"))) as pieces:
        await anext(aiter(pieces))
        assert not desk.calibrator.results.get()
    await until(lambda: desk.engines[0].begun == 2)


async def test_a_model_is_tried_out_once_it_is_loaded_and_before_it_is_measured(
    desk: Desk,
) -> None:
    desk.may_end_trial.clear()
    engine = await desk.pool.engine("small")
    await until(lambda: desk.tried == ["small"])
    async with aclosing(engine.generate(ChatRequest(prompt="go on"))) as pieces:
        await anext(aiter(pieces))  # a question ends the trial
    await until(lambda: desk.tried == ["small", "small"])
    assert not desk.engines[0].begun
    desk.may_end_trial.set()
    await until(lambda: desk.engines[0].begun)
    async with aclosing(engine.generate(ChatRequest(prompt="go on"))) as pieces:
        await anext(aiter(pieces))
    await until(lambda: desk.engines[0].begun == 2)
    assert desk.tried == ["small", "small"]


async def test_moat_is_quiet_only_while_nothing_computes(desk: Desk) -> None:
    desk.may_end_trial.clear()
    assert desk.calibrator.is_quiet
    engine = await desk.pool.engine("small")
    await until(lambda: desk.tried)
    assert not desk.calibrator.is_quiet  # a trial
    desk.may_end_trial.set()
    await until(lambda: desk.engines[0].begun)
    assert not desk.calibrator.is_quiet  # a measurement
    desk.engines[0].go.set()
    await until(lambda: desk.calibrator.is_quiet)
    async with aclosing(engine.generate(ChatRequest(prompt="go on"))) as pieces:
        await anext(aiter(pieces))
        assert not desk.calibrator.is_quiet  # an answer
    await until(lambda: desk.calibrator.is_quiet)


async def test_a_measurement_that_others_disturbed_is_not_kept(desk: Desk) -> None:
    await desk.pool.engine("small")
    desk.engines[0].found["others"] = 1.5
    desk.engines[0].go.set()
    await until(lambda: desk.engines[0].begun)
    await asyncio.sleep(0)
    assert not desk.calibrator.results.get()


async def test_a_person_measures_at_any_time(desk: Desk) -> None:
    engine = await desk.pool.engine("small")
    assert engine
    desk.engines[0].found["others"] = 1.5
    desk.engines[0].go.set()
    await desk.calibrator.measure("small")
    assert desk.calibrator.results.get()[0].others == 1.5
    with pytest.raises(BadRequest, match="Only a model that runs on this computer"):
        await desk.calibrator.measure("elsewhere")


async def test_an_answer_tells_the_speed_and_it_is_kept(desk: Desk, tmp_path: Path) -> None:
    speed_of, note = desk.calibrator.speed_of, desk.calibrator.note_use
    assert speed_of(desk.file) == (0.0, 0.0)
    note("small", Usage(200, 0, 8, 0, 2.0, 1.0))
    assert speed_of(desk.file) == (0.0, 0.0), "too few tokens say nothing"
    note("small", Usage(200, 190, 20, 0, 2.0, 1.0))
    assert speed_of(desk.file) == (0.0, 20.0), "what the cache held was not read"
    note("small", Usage(200, 0, 20, 0, 2.0, 1.0))
    note("elsewhere", Usage(200, 0, 20, 0, 2.0, 1.0))
    again = Desk(tmp_path)
    try:
        assert again.calibrator.speed_of(desk.file) == (100.0, 20.0)
        again.calibrator.note_use("small", Usage(200, 0, 40, 0, 2.0, 1.0))
        assert again.calibrator.speed_of(desk.file) == (100.0, 26.0)
    finally:
        await again.close()


async def test_it_is_not_measured_where_the_setting_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "IDLE_S", 0.0)
    here = Desk(tmp_path, allowed=False)
    try:
        await here.pool.engine("small")
        assert here.calibrator._task is None
    finally:
        await here.close()
