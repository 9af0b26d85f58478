"""A model that takes another's place, or its own, counts on the memory that becomes free."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from server.chat import ChatRequest
from server.core.core import Core
from server.engine import fitted
from server.engine.base import EngineOptions
from server.events import Finished, Pieces, TextDelta
from server.face.models import Device, Machine
from server.models import machine
from server.models.machine import Surveyor
from server.system.paths import find
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine
from tests.kit.gguf_files import Shape, write_model

GB = 1 << 30
BIG = Shape(width=1024, layers=16, heads=16, key_heads=8, forward=2048, context=131072)
ASK = ChatRequest(prompt="go on")
EXIT_S = 0.1
"""What a process takes to end."""


class Room(Surveyor):
    """A machine whose free memory drops by what its engines hold, on the card and beside it."""

    def __init__(self, total: int, each: int) -> None:
        super().__init__()
        self.total, self.each = total, each
        self.looks = 0
        self.card: Device | None = None
        self.engines: list[HoldingEngine] = []

    @property
    def held(self) -> int:
        return self.each * sum(engine.holds for engine in self.engines)

    async def look(self, *, anew: bool = False) -> Machine:
        self.looks += 1
        await super().look(anew=anew)
        if self.card is None:
            self._devices = ()  # The machine that runs the tests may have a card.
        return self.machine()

    def machine(self) -> Machine:
        free = self.total - (0 if self.card else self.held)
        return replace(super().machine(), memory_bytes=self.total, free_bytes=free)

    def make(self, _path: Path, options: EngineOptions) -> "HoldingEngine":
        self.engines.append(HoldingEngine(options, "gpu" if self.card else "cpu"))
        return self.engines[-1]

    async def describe(self) -> bytes:
        if self.card is None:
            return b"{}"
        card = replace(self.card, free_bytes=self.card.free_bytes - self.held)
        return json.dumps({"gpu": True, "devices": [asdict(card)]}).encode()


class HoldingEngine(ScriptedEngine):
    """Holds its memory until it is gone, which is a while after it was asked to go."""

    def __init__(self, options: EngineOptions, device: str) -> None:
        super().__init__()
        self.options = options
        self.facts = replace(self.facts, device=device)
        self.holds = False
        self.may_end = asyncio.Event()

    async def load(self) -> None:
        self.holds = True
        await super().load()

    async def close(self) -> None:
        await asyncio.sleep(EXIT_S)
        self.holds = False
        await super().close()

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        yield TextDelta("so ")
        await self.may_end.wait()
        yield Finished("stop")


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Room:
    room = Room(6 * GB, 4 * GB)
    monkeypatch.setattr(machine, "_engine", room.describe)
    monkeypatch.setattr(machine, "_may_use_gpu", lambda: room.card is not None)
    return room


@pytest.fixture
async def core(room: Room, tmp_path: Path) -> AsyncIterator[Core]:
    core = Core(find(), room.make)
    core.models.surveyor = room
    for name in ("first", "second"):
        write_model(tmp_path / f"{name}.gguf", BIG)
        core.library.add(tmp_path / f"{name}.gguf")
    await core.open()
    await core.change_settings({"model.context_tokens": 32768, "model.slots": 1})
    yield core
    await core.close()


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not reached():
            await asyncio.sleep(0.005)


async def test_a_model_loaded_anew_counts_on_what_its_old_worker_holds(core: Core, room: Room):
    await core.load_model("first")
    await core.change_setting("model.threads", 2)
    assert [one.options.context_tokens for one in room.engines] == [32768, 32768]
    assert room.engines[1].options.threads == 2
    assert room.held == room.each
    assert core.notices.get() == ()
    assert not (find().data / "loads.json").exists()


async def test_another_model_counts_on_what_the_one_before_it_holds(core: Core, room: Room):
    await core.load_model("first")
    await core.load_model("second")
    assert [one.options.context_tokens for one in room.engines] == [32768, 32768]
    assert room.held == room.each
    assert core.notices.get() == ()


async def test_what_an_answer_still_holds_is_waited_for(core: Core, room: Room):
    await core.load_model("first")
    engine = await core._engine("first")
    async with aclosing(engine.generate(ASK)) as pieces:
        await anext(pieces)
        looks = room.looks
        changing = spawn(core.change_setting("model.threads", 2), "change")
        await until(lambda: room.looks > looks)
        assert core.model.get().phase == "loading"
        assert len(room.engines) == 1
        room.engines[0].may_end.set()
        assert [piece async for piece in pieces] == [Finished("stop")]
    await changing
    assert room.engines[1].options.context_tokens == 32768
    assert core.model.get().phase == "ready"
    assert core.notices.get() == ()


async def test_an_answer_that_does_not_end_is_not_waited_for_for_ever(
    core: Core, room: Room, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fitted, "PATIENCE_S", 0.05)
    await core.load_model("first")
    engine = await core._engine("first")
    async with aclosing(engine.generate(ASK)) as pieces:
        await anext(pieces)
        await core.change_setting("model.threads", 2)
        assert core.model.get().phase == "ready"
        (sentence,) = core.notices.get()
        assert "not enough memory" in sentence


async def test_where_there_is_room_for_both_nobody_waits(core: Core, room: Room):
    room.total = 64 * GB
    await core.load_model("first")
    engine = await core._engine("first")
    async with aclosing(engine.generate(ASK)) as pieces:
        await anext(pieces)
        await core.change_setting("model.threads", 2)
        assert core.model.get().phase == "ready"
        assert room.held == 2 * room.each


async def test_a_card_is_judged_by_what_it_has_free_at_that_moment(core: Core, room: Room):
    room.total = 64 * GB
    room.card = Device("A card", "CUDA", 5 * GB, 5 * GB)
    await core.load_model("first")
    layers = room.engines[0].options.gpu_layers
    assert layers > BIG.layers
    seen = await core.models.survey_machine()
    assert seen.devices[0].free_bytes == 1 * GB
    await core.change_setting("model.threads", 2)
    await core.unload_model()
    await core.models.survey_machine()
    room.card = replace(room.card, free_bytes=2 * GB)
    await core.load_model("first")
    assert [one.options.gpu_layers for one in room.engines][:2] == [layers, layers]
    assert room.engines[2].options.gpu_layers < layers
