"""The shelf end to end against a loopback hub: search, list, fetch, import, judge, delete."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.egress import Egress
from server.errors import BadRequest, HubRefused, ModelDamaged
from server.face.models import Setup
from server.models import library
from server.models.service import ModelShelf
from server.settings import NetworkSettings, Settings
from server.system.keychain import Keychain
from tests.kit.download_desk import ended, until
from tests.kit.fake_hub import FakeHub
from tests.kit.gguf_files import Shape, write_model

REPO = "maker/tiny-GGUF"


class Desk:
    def __init__(self, folder: Path, fake: FakeHub) -> None:
        network = NetworkSettings(hub=fake.address, hub_storage=("localhost",))
        self.settings = Settings(network=network)
        self.models = folder / "models"
        self.models.mkdir()
        self.keychain = Keychain(folder / "secrets.json")
        self.egress = Egress(lambda: self.settings.network)
        self.shelf = ModelShelf(
            self.models, (self.egress, self.keychain), lambda: self.settings, self.change
        )

    async def change(self, field: str, value: Any) -> None:
        self.settings = self.settings.changed(field, value)

    def names(self) -> set[str]:
        return {card.name for card in self.shelf.look()} - {library.NAME}


@pytest.fixture
async def fake(tmp_path: Path) -> AsyncIterator[FakeHub]:
    write_model(tmp_path / "small.gguf")
    write_model(tmp_path / "large.gguf", Shape(tokens=400))
    write_model(tmp_path / "eyes.gguf", Shape(tokens=200), **{"general.type": "mmproj"})
    files = {
        "tiny-Q4_K_M.gguf": (tmp_path / "small.gguf").read_bytes(),
        "tiny-F16.gguf": (tmp_path / "large.gguf").read_bytes(),
        "mmproj-F32.gguf": (tmp_path / "eyes.gguf").read_bytes() + bytes(64),
        "mmproj-F16.gguf": (tmp_path / "eyes.gguf").read_bytes(),
    }
    async with FakeHub({REPO: files}).running() as running:
        yield running


@pytest.fixture
async def desk(tmp_path: Path, fake: FakeHub) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path, fake)
    desk.shelf.open()
    yield desk
    await desk.shelf.close()
    await desk.egress.close()


async def test_a_repository_is_judged_before_anything_is_fetched(desk: Desk, fake: FakeHub):
    (found,) = await desk.shelf.search("tiny")
    listing = await desk.shelf.list_repository(found.repo)
    assert [one.quantisation for one in listing.files] == ["Q4_K_M", "F16"]
    assert [one.recommended for one in listing.files] == [True, False]
    assert {one.fit.verdict for one in listing.files} == {"runs well"}
    assert [one.name for one in listing.projectors] == ["mmproj-F16.gguf", "mmproj-F32.gguf"]
    assert (listing.licence, listing.gated) == ("apache-2.0", False)


async def test_a_repository_whose_files_lie_at_a_forbidden_host_is_listed_all_the_same(
    desk: Desk, fake: FakeHub
):
    fake.redirect = "http://127.0.0.2:80/x"
    listing = await desk.shelf.list_repository(REPO)
    assert [one.quantisation for one in listing.files] == ["Q4_K_M", "F16"]
    assert {one.fit.verdict for one in listing.files} == {"unknown"}
    assert {"127.0.0.2:80, which is not allowed" in one.fit.why for one in listing.files} == {True}


@pytest.mark.parametrize("wanted", ["tiny-Q4_K_M.gguf", "q4_k_m", ""])
async def test_a_model_is_fetched_listed_described_and_deleted(desk: Desk, wanted: str):
    await desk.shelf.download(REPO, wanted)
    assert (await until(desk.shelf, ended)).phase == "done"
    assert desk.names() == {"tiny-Q4_K_M"}
    detail = await desk.shelf.describe("tiny-Q4_K_M")
    assert (detail.title, detail.architecture, detail.licence) == ("Tiny", "llama", "apache-2.0")
    assert (detail.damaged, detail.fit.verdict) == ("", "runs well")
    eyes = Path(detail.projector)
    assert eyes.name == "mmproj-F16.gguf"
    assert detail.fit.setup.projector_bytes == eyes.stat().st_size
    whole = detail.size_bytes + eyes.stat().st_size
    assert await desk.shelf.delete("tiny-Q4_K_M") == whole
    assert desk.names() == set()
    assert not (desk.models / "maker").exists()


async def test_an_unknown_file_is_refused_with_what_there_is(desk: Desk):
    with pytest.raises(BadRequest, match=r"There are: Q4_K_M, F16\."):
        await desk.shelf.download(REPO, "Q2_K")


async def test_a_file_is_imported_where_it_lies_and_only_forgotten(desk: Desk, tmp_path: Path):
    assert await desk.shelf.import_file(str(tmp_path / "small.gguf")) == "small"
    assert desk.settings.model.files == (str(tmp_path / "small.gguf"),)
    assert "small" in desk.names()
    assert await desk.shelf.delete("small") == 0
    assert desk.names() == set()
    assert (tmp_path / "small.gguf").exists()


async def test_a_damaged_file_is_not_imported(desk: Desk, tmp_path: Path):
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelDamaged):
        await desk.shelf.import_file(str(tmp_path / "bad.gguf"))
    with pytest.raises(BadRequest, match="no file"):
        await desk.shelf.import_file(str(tmp_path / "missing.gguf"))
    assert desk.settings.model.files == ()


async def test_the_eyes_of_a_model_are_not_imported(desk: Desk, tmp_path: Path):
    with pytest.raises(BadRequest, match="not a model"):
        await desk.shelf.import_file(str(tmp_path / "eyes.gguf"))
    assert desk.settings.model.files == ()


@pytest.mark.parametrize("path", ["~no-such-person/m.gguf", "loop.gguf", "nul\0.gguf"])
async def test_a_path_that_leads_nowhere_is_refused(desk: Desk, tmp_path: Path, path: str):
    (tmp_path / "loop.gguf").symlink_to(tmp_path / "loop.gguf")
    with pytest.raises(BadRequest, match="no file"):
        await desk.shelf.import_file(path if "~" in path else str(tmp_path / path))


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ({"llama.block_count": 500_000}, "block_count is 500000"),
        ({"llama.attention.head_count": ["a"]}, "head_count is not a whole number"),
    ],
)
async def test_a_header_on_the_hub_that_makes_no_sense_is_not_judged(
    desk: Desk, fake: FakeHub, tmp_path: Path, odd: dict[str, Any], why: str
):
    write_model(tmp_path / "odd.gguf", **odd)
    fake.files[REPO] = {"odd-Q4_K_M.gguf": (tmp_path / "odd.gguf").read_bytes()}
    (one,) = (await desk.shelf.list_repository(REPO)).files
    assert one.fit.verdict == "unknown"
    assert why in one.fit.why


async def test_the_starter_and_models_of_others_are_not_deleted(desk: Desk, tmp_path: Path):
    with pytest.raises(BadRequest, match="part of the program"):
        await desk.shelf.delete(library.NAME)
    write_model(tmp_path / "others" / "theirs.gguf")
    await desk.change("model.folders", (str(tmp_path / "others"),))
    assert desk.names() == {"theirs"}
    with pytest.raises(BadRequest, match="another program"):
        await desk.shelf.delete("theirs")


async def test_a_damaged_model_is_described_as_such(desk: Desk):
    (desk.models / "bad.gguf").write_bytes(b"GGUF\3\0\0\0" + b"\xff" * 16)
    desk.shelf.look()
    assert "tensors" in (await desk.shelf.describe("bad")).damaged


async def test_every_change_of_a_slider_has_its_estimate(desk: Desk):
    desk.shelf.look()
    small = await desk.shelf.estimate(library.NAME, Setup(2048, 1))
    large = await desk.shelf.estimate(library.NAME, Setup(8192, 4))
    half = await desk.shelf.estimate(library.NAME, Setup(8192, 4, "q8_0"))
    never = await desk.shelf.estimate(library.NAME, Setup(1 << 20, 64))
    assert small.needed_bytes < half.needed_bytes < large.needed_bytes
    assert never.verdict == "does not fit"


async def test_the_machine_and_suggestions_are_told(desk: Desk):
    machine = await desk.shelf.survey_machine()
    assert 0 < machine.free_bytes <= machine.memory_bytes
    assert len(await desk.shelf.suggest()) >= 12
    assert isinstance(await desk.shelf.find_folders(), list)


async def test_the_token_is_kept_in_the_keychain_and_hidden(desk: Desk, fake: FakeHub):
    hidden: list[str] = []
    desk.shelf.hide = hidden.append
    fake.gated.add(REPO)
    fake.private.add(REPO)
    fake.token = "hf_abcdef"
    await desk.shelf.set_hub_token(" hf_abcdef ")
    assert (await desk.shelf.list_repository(REPO)).gated
    assert "hf_abcdef" in hidden
    await desk.shelf.set_hub_token("")
    fake.token = "hf_abcdef"
    with pytest.raises(HubRefused):
        await desk.shelf.list_repository(REPO)


async def test_a_token_is_not_sent_to_another_hub_than_it_was_saved_for(
    desk: Desk, fake: FakeHub, monkeypatch: pytest.MonkeyPatch
):
    fake.gated.add(REPO)
    fake.private.add(REPO)
    fake.token = "hf_abcdef"
    await desk.keychain.set("hub-token", "hf_abcdef")
    with pytest.raises(HubRefused, match="needs its token"):
        await desk.shelf.list_repository(REPO)
    assert all("authorization" not in headers for _, headers in fake.requests("hub"))
    # The same token, where this hub is the usual one.
    monkeypatch.setenv("HF_ENDPOINT", fake.address)
    assert (await desk.shelf.list_repository(REPO)).gated


async def test_pause_resume_and_cancel_reach_the_download(desk: Desk, fake: FakeHub):
    fake.delay_s = 0.05
    number = await desk.shelf.download(REPO, "F16")
    await desk.shelf.pause_download(number)
    assert desk.shelf.downloads.get()[0].phase == "paused"
    await desk.shelf.resume_download(number)
    await asyncio.sleep(0)
    await desk.shelf.cancel_download(number)
    assert desk.shelf.downloads.get() == ()


async def test_a_draft_model_counts_in_every_estimate(desk: Desk, tmp_path: Path):
    desk.shelf.look()
    alone = await desk.shelf.estimate(library.NAME, Setup(2048, 1))
    await desk.change("model.draft_model", str(tmp_path / "small.gguf"))
    both = await desk.shelf.estimate(library.NAME, Setup(2048, 1))
    draft_bytes = (tmp_path / "small.gguf").stat().st_size
    assert both.needed_bytes - alone.needed_bytes > draft_bytes
    described = await desk.shelf.describe(library.NAME)
    assert described.fit.setup.draft_bytes == draft_bytes


async def test_a_card_says_whose_the_file_is(desk: Desk, tmp_path: Path):
    write_model(desk.models / "own.gguf")
    write_model(tmp_path / "others" / "theirs.gguf")
    await desk.change("model.folders", (str(tmp_path / "others"),))
    await desk.shelf.import_file(str(tmp_path / "small.gguf"))
    whose = {card.name: card.owned for card in desk.shelf.look()}
    assert (whose["own"], whose["theirs"], whose["small"]) == ("ours", "other", "listed")
