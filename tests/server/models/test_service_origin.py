"""A newer file is noticed by its bytes, and replaces the old one only when it is whole."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.errors import BadRequest
from server.models.service import ModelShelf, Origin, trace
from tests.kit.download_desk import ended, until
from tests.kit.fake_hub import FakeHub, Fault
from tests.kit.gguf_files import Shape, write_model
from tests.server.models.test_service import REPO, Desk

FILE = "tiny-Q4_K_M.gguf"
NAME = "tiny-Q4_K_M"


@pytest.fixture
def bytes_of(tmp_path: Path) -> dict[str, bytes]:
    write_model(tmp_path / "old.gguf")
    write_model(tmp_path / "new.gguf", Shape(tokens=400))
    old = (tmp_path / "old.gguf").read_bytes()
    return {"old": old, "new": (tmp_path / "new.gguf").read_bytes(), "as long": old[:-1] + b"\7"}


@pytest.fixture
async def fake(bytes_of: dict[str, bytes]) -> AsyncIterator[FakeHub]:
    async with FakeHub({REPO: {FILE: bytes_of["old"]}}).running() as running:
        yield running


@pytest.fixture
async def desk(tmp_path: Path, fake: FakeHub) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path, fake)
    desk.shelf.open()
    await desk.shelf.download(REPO, FILE)
    assert (await until(desk.shelf, ended)).phase == "done"
    desk.shelf.look()
    yield desk
    await desk.shelf.close()
    await desk.egress.close()


@pytest.mark.parametrize(
    ("there", "state"), [("old", "same"), ("new", "newer"), ("as long", "newer"), ("", "gone")]
)
async def test_what_the_hub_has_now_is_compared(
    desk: Desk, fake: FakeHub, bytes_of: dict[str, bytes], there: str, state: str
):
    fake.files[REPO] = {FILE: bytes_of[there]} if there else {}
    found = await desk.shelf.find_newer(NAME)
    assert (found.state, found.repo, found.updated) == (state, REPO, "2026-01-02")
    if state != "newer":
        with pytest.raises(BadRequest, match="no newer file"):
            await desk.shelf.download_newer(NAME)


async def test_a_repository_that_is_gone_is_said_to_be(desk: Desk, fake: FakeHub):
    fake.files.clear()
    assert (await desk.shelf.find_newer(NAME)).state == "gone"


@pytest.mark.parametrize("kind", ["new", "as long"])
async def test_the_newer_file_takes_the_old_ones_place(
    desk: Desk, fake: FakeHub, bytes_of: dict[str, bytes], kind: str
):
    fake.files[REPO] = {FILE: bytes_of[kind]}
    await desk.shelf.download_newer(NAME)
    assert (await until(desk.shelf, ended)).phase == "done"
    assert (desk.models / REPO / FILE).read_bytes() == bytes_of[kind]
    assert (await desk.shelf.find_newer(NAME)).state == "same"


async def test_the_old_file_stays_until_the_new_one_is_whole(
    desk: Desk, fake: FakeHub, bytes_of: dict[str, bytes], tmp_path: Path
):
    """Paused half way and taken up by another program, it goes on and replaces it then."""
    fake.files[REPO] = {FILE: bytes_of["new"]}
    fake.faults.append(Fault("stall", after=1000))
    number = await desk.shelf.download_newer(NAME)
    await until(desk.shelf, lambda one: one.phase == "running")
    await desk.shelf.pause_download(number)
    assert (desk.models / REPO / FILE).read_bytes() == bytes_of["old"]
    await desk.shelf.close()
    again = ModelShelf(
        desk.models, (desk.egress, desk.keychain), lambda: desk.settings, desk.change
    )
    again.open()
    await again.resume_download(number)
    assert (await until(again, ended)).phase == "done"
    await again.close()
    assert (desk.models / REPO / FILE).read_bytes() == bytes_of["new"]


def test_a_place_names_the_repository(tmp_path: Path) -> None:
    models = tmp_path / "models"
    assert trace(models / "a" / "b" / "c" / "d.gguf", models) == Origin("a/b", ("c/d.gguf",))
    cached = tmp_path / "hub/models--a--b-GGUF/snapshots/0123/q4/d-00001-of-00002.gguf"
    cached.parent.mkdir(parents=True)
    for number in (1, 2):
        cached.with_name(f"d-0000{number}-of-00002.gguf").write_bytes(b"")
    parts = ("q4/d-00001-of-00002.gguf", "q4/d-00002-of-00002.gguf")
    assert trace(cached, models) == Origin("a/b-GGUF", parts)
    for elsewhere in (tmp_path / "x.gguf", models / "x.gguf", models / "a" / "x.gguf"):
        with pytest.raises(BadRequest, match="from which repository"):
            trace(elsewhere, models)


async def test_a_file_of_the_shared_cache_is_known_by_its_name(
    desk: Desk, fake: FakeHub, bytes_of: dict[str, bytes], tmp_path: Path
):
    """Hugging Face's cache names a file by its digest: nothing has to be read."""
    folder = tmp_path / "hub" / f"models--{REPO.replace('/', '--')}"
    blob = folder / "blobs" / hashlib.sha256(bytes_of["new"]).hexdigest()
    link = folder / "snapshots" / "0123" / "tiny-F16.gguf"
    blob.parent.mkdir(parents=True)
    link.parent.mkdir(parents=True)
    blob.write_bytes(bytes_of["new"])
    link.symlink_to(blob)
    fake.files[REPO]["tiny-F16.gguf"] = bytes_of["new"]
    await desk.change("model.folders", (str(tmp_path / "hub"),))
    assert "tiny-F16" in desk.names()
    assert (await desk.shelf.find_newer("tiny-F16")).state == "same"


async def test_a_login_is_offered_only_while_there_is_no_token(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, fake: FakeHub
):
    monkeypatch.setenv("HF_TOKEN", "hf_elsewhere")
    monkeypatch.setenv("HF_ENDPOINT", fake.address)
    assert await desk.shelf.find_hub_login() == "HF_TOKEN"
    await desk.shelf.use_hub_login()
    assert await desk.shelf.find_hub_login() == ""
    fake.gated.add(REPO)
    fake.private.add(REPO)
    fake.token = "hf_elsewhere"
    assert (await desk.shelf.list_repository(REPO)).gated
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("HF_HOME", "/nowhere")
    await desk.shelf.set_hub_token("")
    with pytest.raises(BadRequest, match="signed in"):
        await desk.shelf.use_hub_login()
