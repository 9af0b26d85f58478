"""After sleep the loaded model is asked for one token, and loaded anew when it does not give it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from server.chat import ChatRequest
from server.core.default_model import CurrentModel
from server.engine.base import EngineOptions
from server.engine.pool import FoundModel, Pool
from server.errors import AppError, EngineCrashed, NotSupported
from server.events import Finished, Piece, Pieces
from tests.kit.engines import ScriptedEngine

FINE: Sequence[Piece | AppError] = (Finished("length"),)


class HungEngine(ScriptedEngine):
    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        await asyncio.Event().wait()
        yield Finished("stop")


class Room:
    def __init__(self, *engines: ScriptedEngine) -> None:
        self.engines = list(engines)
        self.made: list[ScriptedEngine] = []
        self.said: list[str] = []
        self.pool = Pool(self._look_up, self._make)
        self.current = CurrentModel(self.pool, lambda: "m", self.said.append)

    async def check(self) -> None:
        await self.current.check(patience_s=0.2)

    def _look_up(self, _name: str) -> FoundModel:
        return FoundModel(Path("m.gguf"), EngineOptions(), 1)

    def _make(self, _path: Path, _options: EngineOptions) -> ScriptedEngine:
        self.made.append(self.engines.pop(0))
        return self.made[-1]


async def test_a_model_that_answers_is_left_alone():
    room = Room(ScriptedEngine(FINE))
    await room.current.load()
    await room.check()
    assert (len(room.made), room.said) == (1, [])
    assert room.made[0].requests[0].max_tokens == 1


@pytest.mark.parametrize(
    "broken", [HungEngine(), ScriptedEngine([EngineCrashed("The device is lost.")])]
)
async def test_a_model_that_does_not_is_loaded_anew_and_that_is_said(broken: ScriptedEngine):
    room = Room(broken, ScriptedEngine(FINE))
    await room.current.load()
    await room.check()
    assert len(room.made) == 2
    assert room.current.status.get().phase == "ready"
    assert room.said == ["m did not answer after the computer slept and was loaded again."]


async def test_one_that_only_embeds_has_answered_by_refusing():
    room = Room(ScriptedEngine([NotSupported("It only embeds.")]))
    await room.current.load()
    await room.check()
    assert (len(room.made), room.said) == (1, [])


async def test_nothing_is_loaded_for_the_check():
    room = Room()
    await room.check()
    assert room.made == []
