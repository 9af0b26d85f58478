"""moat models from the outside, as a person types it."""

import asyncio
import io
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.models import starter
from server.models_cli import Progress, line
from server.stock import Download
from tests.fakes_hub import FakeHub
from tests.gguf_files import write_model

REPO = "maker/tiny-GGUF"
HALF = Download("d", "m.gguf", REPO, "running", 400_000_000, 1_000_000_000, 9e6, 66.6)


@pytest.fixture
async def fake(tmp_path: Path) -> AsyncIterator[FakeHub]:
    write_model(tmp_path / "small.gguf")
    files = {"tiny-Q4_K_M.gguf": (tmp_path / "small.gguf").read_bytes()}
    async with FakeHub({REPO: files}).running() as running:
        yield running


async def moat(fake: FakeHub, *arguments: str) -> tuple[int, str]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "app", "models", *arguments),
        env={**os.environ, "HF_ENDPOINT": fake.address.replace("127.0.0.1", "localhost")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(child.communicate(), 60)
    assert child.returncode is not None
    return child.returncode, out.decode()


async def test_a_model_is_found_pulled_listed_and_removed(fake: FakeHub):
    assert REPO in (await moat(fake, "search", "tiny"))[1]
    code, said = await moat(fake, "pull", REPO, "Q4_K_M")
    assert code == 0
    assert "tiny-Q4_K_M.gguf is here and verified." in said
    assert "tiny-Q4_K_M" in (await moat(fake, "list"))[1]
    assert "are free again" in (await moat(fake, "rm", "tiny-Q4_K_M"))[1]


async def test_what_fails_is_one_sentence_and_a_code(fake: FakeHub):
    assert await moat(fake, "pull", "no/such") == (
        1,
        "The hub has no such repository or file.\n",
    )
    code, said = await moat(fake, "fit", starter.NAME, "--context", "1000000", "--slots", "64")
    assert code == 1
    assert said.startswith("does not fit: It needs ")


def test_a_line_shows_share_speed_and_time():
    assert line(HALF, 0.4) == "[#########               ]  40% of 1.00 GB     9.0 MB/s  1:07 left"


async def test_progress_without_a_terminal_is_a_line_now_and_then():
    out = io.StringIO()
    progress = Progress("d", out)
    progress.show((HALF,))
    progress.show((HALF,))
    assert out.getvalue().count("\n") == 1
