"""Runs the kit of OpenBB's protocol against Moat, with the starter and a scripted engine."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.core.core import Core
from server.system.paths import find
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.running import Moat

CASES = 59
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
async def scripted() -> AsyncIterator[str]:
    """Yields the address of a Moat whose model always says the same."""
    core = Core(find(), lambda _path, _options: TalkingEngine())
    await core.open()
    await core.start_on(0)
    yield core.server.get().address
    await core.close()


async def conform(address: str) -> str:
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.conformance.openbb", address, "--ai-service"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await running.communicate()
    return told.decode()


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_every_case_passes_with_the_starter(moat: Moat) -> None:
    told = await conform(moat.address)
    assert f"{CASES} passed, 0 failed" in told, told


async def test_every_case_passes_with_a_scripted_engine(scripted: str, starter_model: Path) -> None:
    told = await conform(scripted)
    assert f"{CASES} passed, 0 failed" in told, told
