"""Gives tests a real worker with the starter model, and a way to print figures."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess

COMMAND = (sys.executable, str(Path(__file__).with_name("faulty_worker.py")))
OPTIONS = EngineOptions(context_tokens=4096, slots=4, prompt_cache_mb=0)
Say = Callable[[str], None]


@pytest.fixture
async def engine(
    quick_starter: Path, new_children: Callable[[], list[psutil.Process]]
) -> AsyncIterator[WorkerProcess]:
    """Yields a worker. Asserts afterwards that no process, task or descriptor of it is left."""
    tasks, descriptors = len(asyncio.all_tasks()), _open_descriptors()
    engine = WorkerProcess(quick_starter, OPTIONS, command=COMMAND)
    yield engine
    await engine.close()
    gc.collect()
    assert new_children() == []
    assert len(asyncio.all_tasks()) == tasks
    assert _open_descriptors() <= descriptors


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Returns a function that prints a line in the output of the test run."""

    def say(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n  {line}\n")

    return say


def _open_descriptors() -> int:
    return psutil.Process().num_fds()
