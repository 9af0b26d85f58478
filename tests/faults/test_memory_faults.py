"""Tries settings that cannot fit on a real worker: nothing dies, and a smaller setting works.

MOAT_MEMORY_FAULTS is the number of settings that are tried in each way.
"""

import os
import random
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from server.chat import ChatRequest, Message
from server.egress import Egress
from server.engine.base import EngineOptions
from server.engine.fitted import FittedEngine, Loader
from server.engine.process import WorkerProcess
from server.face.models import Machine
from server.models.fit import RememberedSetups
from server.models.machine import Surveyor
from server.models.service import ModelShelf
from server.settings import NetworkSettings, Settings
from server.system.keychain import Keychain

COUNT = int(os.environ.get("MOAT_MEMORY_FAULTS", "2"))
MB = 1 << 20
CRAMPED_MB = 2600
"""Megabytes of address space. Libraries and threads take most of it before a model is loaded."""
COMMAND = (sys.executable, str(Path(__file__).with_name("cramped_worker.py")))
SHORT = ChatRequest((Message("user", "hi"),), max_tokens=2)


class Told(Surveyor):
    """A survey of this machine with another amount of free memory."""

    def __init__(self, free: int) -> None:
        super().__init__()
        self._free = free

    def machine(self) -> Machine:
        found = super().machine()
        return Machine(found.memory_bytes, self._free, found.cores, features=found.features)


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[ModelShelf]:
    async def change(_field: str, _value: object) -> None:
        raise AssertionError

    egress = Egress(NetworkSettings)
    yield ModelShelf(tmp_path, (egress, Keychain(tmp_path / "secrets")), Settings, change)
    await egress.close()


def impossible(number: int) -> EngineOptions:
    source = random.Random(number)
    return EngineOptions(
        context_tokens=source.choice([262_144, 524_288, 1_000_000]),
        slots=source.choice([4, 8, 16, 64]),
        kv_type=source.choice(["f16", "q8_0", "q4_0"]),
        batch_tokens=source.choice([256, 512, 1024]),
        prompt_cache_mb=0,
    )


async def answers(engine: FittedEngine) -> None:
    pieces = [piece async for piece in engine.generate(SHORT)]
    assert pieces


@pytest.mark.parametrize("number", range(COUNT))
async def test_what_the_estimate_rules_out_is_stepped_down(
    shelf: ModelShelf,
    starter_model: Path,
    tmp_path: Path,
    number: int,
    new_children: Callable[[], list[psutil.Process]],
):
    said: list[str] = []
    shelf.surveyor = Told(random.Random(number).randrange(700, 1500) * MB)
    loader = Loader(WorkerProcess, shelf, RememberedSetups(tmp_path / "loads.json"), said.append)
    engine = loader(starter_model, impossible(number))
    assert isinstance(engine, FittedEngine)
    try:
        await engine.load()
        await answers(engine)
    finally:
        await engine.close()
    assert len(said) == 1
    assert new_children() == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("number", range(COUNT))
async def test_what_the_system_refuses_is_stepped_down(
    shelf: ModelShelf,
    starter_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    new_children: Callable[[], list[psutil.Process]],
):
    monkeypatch.setenv("MOAT_CRAMPED_MB", str(CRAMPED_MB))
    said: list[str] = []
    tried: list[EngineOptions] = []

    def make(path: Path, options: EngineOptions) -> WorkerProcess:
        tried.append(options)
        return WorkerProcess(path, options, command=COMMAND)

    shelf.surveyor = Told(random.Random(number).randrange(8, 15) * 1024 * MB)
    loader = Loader(make, shelf, RememberedSetups(tmp_path / "loads.json"), said.append)
    engine = loader(starter_model, impossible(number))
    assert isinstance(engine, FittedEngine)
    try:
        await engine.load()
        await answers(engine)
    finally:
        await engine.close()
    assert len(tried) > 1
    assert len(said) == 1
    assert new_children() == []
