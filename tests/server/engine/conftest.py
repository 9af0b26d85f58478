"""Engines whose worker is scripted, closed and counted after each test."""

import gc
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from server.engine.process import WorkerProcess
from server.engine.watch import WatchLimits
from tests.kit.scripted import QUICK, scripted

Make = Callable[..., WorkerProcess]


@pytest.fixture
async def make(new_children: Callable[[], list[psutil.Process]]) -> AsyncIterator[Make]:
    made: list[WorkerProcess] = []

    def make(name: str | Path = "model.gguf", limits: WatchLimits = QUICK) -> WorkerProcess:
        made.append(scripted(name, limits))
        return made[-1]

    yield make
    for engine in made:
        await engine.close()
    assert new_children() == []
    # Transports that were not closed would warn now, and warnings are errors.
    gc.collect()
