"""moat models from the outside, as a person types it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from server import cli
from server.face import client
from server.models import library
from server.system import paths
from tests.kit.fake_hub import FakeHub
from tests.kit.gguf_files import write_model
from tests.kit.running import SERVES, serving

REPO = "maker/tiny-GGUF"


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
    out, _ = await asyncio.wait_for(child.communicate(), 180)
    assert child.returncode is not None
    return child.returncode, out.decode()


async def test_a_model_is_found_pulled_listed_and_removed(fake: FakeHub):
    assert REPO in (await moat(fake, "search", "tiny"))[1]
    code, said = await moat(fake, "pull", REPO, "Q4_K_M")
    assert code == 0
    assert "tiny-Q4_K_M.gguf is downloaded and verified." in said
    assert "tiny-Q4_K_M" in (await moat(fake, "list"))[1]
    assert "GB freed" in (await moat(fake, "rm", "tiny-Q4_K_M"))[1]


async def test_a_file_used_where_it_lies_is_only_taken_off_the_list(fake: FakeHub, tmp_path: Path):
    own = tmp_path / "own.gguf"
    write_model(own)
    settings = paths.find().settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"model": {"files": [str(own)]}}))
    said = "own was removed from the list; its file was not deleted.\n"
    assert await moat(fake, "rm", "own") == (0, said)
    assert own.is_file()
    assert "own" not in (await moat(fake, "list"))[1].split()


async def test_what_fails_is_one_sentence_and_a_code(fake: FakeHub):
    assert await moat(fake, "pull", "no/such") == (
        1,
        "The hub shows no such repository. Check its name; a private one needs its token.\n",
    )
    code, said = await moat(fake, "fit", library.NAME, "--context", "1000000", "--slots", "64")
    assert code == 1
    assert said.startswith("does not fit: It needs ")


async def test_a_running_server_does_the_download_and_the_deletion(fake: FakeHub):
    """So that its window shows them; the list of the server has the model at once."""
    where = fake.address.replace("127.0.0.1", "localhost")
    with serving(wait_for=SERVES, environment={"HF_ENDPOINT": where}):
        code, said = await moat(fake, "pull", REPO, "Q4_K_M")
        assert (code, said.rsplit("\n", 2)[-2]) == (
            0,
            "tiny-Q4_K_M.gguf is downloaded and verified.",
        )
        running = await client.find(paths.find().control)
        assert running
        async with aclosing(running.values("models.downloads")) as values:
            (download,) = await anext(values)
        assert (download.name, download.phase) == ("tiny-Q4_K_M.gguf", "done")
        assert "GB freed" in (await moat(fake, "rm", "tiny-Q4_K_M"))[1]


async def test_a_file_anywhere_is_described_by_its_path(fake: FakeHub, tmp_path: Path):
    """Also by a path of two parts, which looks like a repository."""
    own = tmp_path / "apart" / "own.gguf"
    own.parent.mkdir()
    write_model(own)
    for named in (str(own), os.path.relpath(own)):
        code, said = await moat(fake, "info", named, "--json")
        assert (code, json.loads(said)["path"]) == (0, str(own))
        assert (await moat(fake, "fit", named))[0] == 0
    assert await moat(fake, "info", str(own) + ".gguf") == (
        1,
        f"There is no file {own}.gguf.\n",
    )
    own.write_bytes(own.read_bytes()[:100])
    code, said = await moat(fake, "info", str(own))
    assert (code, said.startswith("own is damaged")) == (1, True)
    assert "own" not in (await moat(fake, "list"))[1].split()


async def test_without_a_name_it_is_the_model_in_use(fake: FakeHub, tmp_path: Path):
    code, said = await moat(fake, "info", "--json")
    assert (code, json.loads(said)["name"]) == (0, library.NAME)
    own = tmp_path / "own.gguf"
    write_model(own)
    with serving("--model", str(own), wait_for=SERVES):
        for named in ((), ("own",)):
            code, said = await moat(fake, "info", *named, "--json")
            assert (code, json.loads(said)["path"]) == (0, str(own))
        code, said = await moat(fake, "fit", "own")
        assert (code, "GB free" in said) == (0, True), said


@pytest.mark.parametrize("wrong", [("--slots", "-400"), ("--context", "-1"), ("--layers", "-2")])
def test_impossible_numbers_are_refused(wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["models", "fit", library.NAME, *wrong])
    assert ended.value.code == 2
    assert f"argument {wrong[0]}: a number from" in capsys.readouterr().err
