"""Hugging Face's cache layout, read by its own library; nothing of others is ever deleted."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import scan_cache_dir, try_to_load_from_cache

from server.errors import BadRequest
from server.models import hub_cache
from server.models.hub_cache import HubCache
from tests.kit.download_desk import ended, until
from tests.kit.fake_hub import COMMIT, FakeHub
from tests.kit.gguf_files import Shape, write_model
from tests.kit.until import until as until_so
from tests.server.models.test_service import Desk

REPO, FILE, EYES = "maker/tiny-GGUF", "q4/tiny-Q4_K_M.gguf", "q4/mmproj-F16.gguf"
FOLDER = "models--maker--tiny-GGUF"
OTHER = "f" * 40
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def model(tmp_path: Path) -> bytes:
    write_model(tmp_path / "m.gguf")
    return (tmp_path / "m.gguf").read_bytes()


@pytest.fixture
async def fake(model: bytes, tmp_path: Path) -> AsyncIterator[FakeHub]:
    write_model(tmp_path / "e.gguf", Shape(tokens=200), **{"general.type": "mmproj"})
    eyes = (tmp_path / "e.gguf").read_bytes()
    async with FakeHub({REPO: {FILE: model, EYES: eyes}}).running() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
async def desk(tmp_path: Path, fake: FakeHub, cache: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path, fake)
    await made.change("model.in_hub_cache", True)
    made.shelf.open()
    yield made
    await made.shelf.close()
    await made.egress.close()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def scan(cache: Path) -> Any:
    """The repository as the hub's library sees it; it warns of nothing."""
    found = scan_cache_dir(cache)
    assert found.warnings == []
    return next(iter(found.repos), None)


async def fetched(desk: Desk) -> None:
    await desk.shelf.download(REPO, FILE)
    assert (await until(desk.shelf, ended)).phase == "done"
    desk.shelf.look()


async def test_a_download_is_found_by_the_hubs_own_library_and_deleted_whole(
    desk: Desk, cache: Path, model: bytes
) -> None:
    await fetched(desk)
    repo = scan(cache)
    (revision,) = repo.revisions
    assert (repo.repo_id, revision.commit_hash, set(revision.refs)) == (REPO, COMMIT, {"main"})
    assert {file.file_name for file in revision.files} == {Path(FILE).name, Path(EYES).name}
    assert {file.blob_path.parent for file in revision.files} == {cache / FOLDER / "blobs"}
    found = try_to_load_from_cache(REPO, FILE, cache_dir=cache)
    assert Path(str(found)).read_bytes() == model
    assert (cache / FOLDER / "blobs" / digest(model)).is_file()
    assert not (desk.models / REPO).exists()
    assert desk.names() == {"tiny-Q4_K_M"}
    card = next(card for card in desk.shelf.look() if card.name == "tiny-Q4_K_M")
    assert (card.owned, Path(card.projector).name) == ("ours", Path(EYES).name)
    assert (await desk.shelf.find_newer(card.name)).state == "same"
    with pytest.raises(BadRequest, match="already installed"):
        await desk.shelf.download(REPO, FILE)
    await desk.change("model.in_hub_cache", False)
    assert desk.names() == {"tiny-Q4_K_M"}
    assert await desk.shelf.delete("tiny-Q4_K_M") > len(model)
    assert scan(cache) is None
    assert {path.name for path in cache.iterdir()} <= {".locks"}
    assert HubCache(desk.models).paths() == {}


async def test_what_another_program_fetched_is_used_and_left_when_we_delete(
    desk: Desk, cache: Path, model: bytes, fake: FakeHub
) -> None:
    blob = cache / FOLDER / "blobs" / digest(model)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(model)
    own = cache / FOLDER / "snapshots" / OTHER / "own.gguf"
    own.parent.mkdir(parents=True)
    own.symlink_to(os.path.relpath(blob, own.parent))
    (cache / FOLDER / "refs").mkdir()
    (cache / FOLDER / "refs" / "main").write_text(OTHER)
    await fetched(desk)
    assert not any(FILE in path for path, _ in fake.requests("storage"))
    assert (cache / FOLDER / "refs" / "main").read_text() == COMMIT
    owned = {card.name: card.owned for card in desk.shelf.look()}
    assert (owned["tiny-Q4_K_M"], owned["own"]) == ("ours", "other")
    with pytest.raises(BadRequest, match="another program"):
        await desk.shelf.delete("own")
    await desk.shelf.delete("tiny-Q4_K_M")
    assert own.read_bytes() == model
    (revision,) = scan(cache).revisions
    assert revision.commit_hash == OTHER


async def test_bytes_that_another_name_leads_to_stay(desk: Desk, cache: Path, model: bytes) -> None:
    await fetched(desk)
    other = cache / FOLDER / "snapshots" / OTHER / "theirs.gguf"
    other.parent.mkdir()
    other.symlink_to(f"../../blobs/{digest(model)}")
    await desk.shelf.delete("tiny-Q4_K_M")
    assert other.read_bytes() == model
    assert scan(cache).nb_files == 1


async def test_the_newer_version_replaces_ours(
    desk: Desk, cache: Path, fake: FakeHub, model: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fetched(desk)
    monkeypatch.setattr("tests.kit.fake_hub.COMMIT", OTHER)
    write_model(cache / "new", Shape(tokens=400))
    fake.files[REPO][FILE] = newer = (cache / "new").read_bytes()
    (cache / "new").unlink()
    asked = len(fake.requests("storage"))
    await desk.shelf.download_newer("tiny-Q4_K_M")
    await until_so(lambda: all(ended(one) for one in desk.shelf.downloads.get()))
    assert not any(EYES in path for path, _ in fake.requests("storage")[asked:])
    assert not (cache / FOLDER / "blobs" / digest(model)).exists()
    assert Path(str(try_to_load_from_cache(REPO, FILE, cache_dir=cache))).read_bytes() == newer
    (card,) = (card for card in desk.shelf.look() if card.name == "tiny-Q4_K_M")
    assert OTHER in card.projector
    (revision,) = scan(cache).revisions
    assert (revision.commit_hash, len(revision.files)) == (OTHER, 2)
    await desk.shelf.delete("tiny-Q4_K_M")
    assert {path.name for path in cache.iterdir()} <= {".locks"}


async def test_where_no_links_are_made_the_file_has_the_name(
    desk: Desk, cache: Path, model: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object, **_more: object) -> None:
        raise OSError(1314, "no right to make links")

    monkeypatch.setattr(os, "symlink", refuse)
    await fetched(desk)
    path = cache / FOLDER / "snapshots" / COMMIT / FILE
    assert (path.is_symlink(), path.read_bytes()) == (False, model)
    assert scan(cache).nb_files == 2
    assert await desk.shelf.delete("tiny-Q4_K_M") > len(model)
    assert scan(cache) is None


async def test_where_no_links_are_made_the_bytes_of_others_stay_theirs(
    desk: Desk, cache: Path, model: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object, **_more: object) -> None:
        raise OSError(1314, "no right to make links")

    blob = cache / FOLDER / "blobs" / digest(model)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(model)
    monkeypatch.setattr(os, "symlink", refuse)
    await fetched(desk)
    path = cache / FOLDER / "snapshots" / COMMIT / FILE
    assert path.read_bytes() == blob.read_bytes() == model
    await desk.shelf.delete("tiny-Q4_K_M")
    assert (path.exists(), blob.read_bytes()) == (False, model)


def test_a_cache_on_another_disk_gets_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename across disks fails as the system says it does."""
    rename = Path.replace

    def fail_across(self: Path, target: Path) -> Path:
        if self.parent != Path(target).parent:
            raise OSError(18, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", fail_across)
    part = tmp_path / "0.part"
    part.write_bytes(b"model")
    target = hub_cache.target_of(tmp_path / "hub", REPO, COMMIT, FILE)
    HubCache(tmp_path).put(part, target, "a" * 64)
    assert target.read_bytes() == b"model"
    assert [path.name for path in (tmp_path / "hub" / FOLDER / "blobs").iterdir()] == ["a" * 64]
    assert not part.exists()


@pytest.mark.parametrize("content", ["", "[]", '{"a": true}', '{"/x/snapshots": 1}', "[" * 9999])
def test_a_damaged_record_owns_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / hub_cache.RECORD).write_text(content)
    assert HubCache(tmp_path).paths() == {}
    assert HubCache(tmp_path).remove(tmp_path / "x") == 0


def test_names_cannot_lead_out_of_the_cache(tmp_path: Path) -> None:
    for repo, revision, path in (
        ("a/../b", COMMIT, "m"),
        (REPO, "..", "m"),
        (REPO, COMMIT, "../m"),
    ):
        with pytest.raises(BadRequest):
            hub_cache.target_of(tmp_path, repo, revision, path)
    assert json.dumps(HubCache(tmp_path).paths()) == "{}"


SECOND = """
import sys
from pathlib import Path
from server.models.hub_cache import HubCache, target_of
folder, number, commit = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
cache = HubCache(folder / "models")
for count in range(30):
    part = folder / f"{number}-{count}.part"
    part.write_bytes(b"bytes")
    name = f"{number}-{count}.gguf"
    cache.put(part, target_of(folder / "hub", "maker/tiny", commit, name), f"{number}-{count}")
"""


def test_two_programs_lose_nothing_of_the_record(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    command = [sys.executable, "-c", SECOND, str(tmp_path)]
    programs = [subprocess.Popen([*command, str(number), COMMIT], cwd=ROOT) for number in range(3)]
    assert [program.wait(120) for program in programs] == [0, 0, 0]
    kept = HubCache(tmp_path / "models").paths()
    assert len(kept) == 90
    assert all(Path(path).read_bytes() == b"bytes" for path in kept)


HOLDS = """
import sys
from huggingface_hub.utils import WeakFileLock
with WeakFileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_by_another(cache: Path, name: str) -> Iterator[None]:
    """The hub's own library holds the lock of these bytes in another process."""
    lock = cache / ".locks" / FOLDER / f"{name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", HOLDS, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()


async def test_while_the_hubs_own_library_holds_the_bytes_they_are_not_touched(
    desk: Desk, cache: Path, model: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fetched(desk)
    blob = cache / FOLDER / "blobs" / digest(model)
    monkeypatch.setattr(hub_cache, "PATIENCE_S", 0.5, raising=False)
    with held_by_another(cache, blob.name):
        await desk.shelf.delete("tiny-Q4_K_M")
    assert blob.read_bytes() == model
    assert HubCache(desk.models).paths() == {}


def test_bytes_wait_for_the_hubs_own_library(tmp_path: Path) -> None:
    part, cache = tmp_path / "0.part", tmp_path / "hub"
    part.write_bytes(b"bytes")
    target = hub_cache.target_of(cache, REPO, COMMIT, FILE)
    putting = threading.Thread(target=HubCache(tmp_path).put, args=(part, target, "a" * 64))
    with held_by_another(cache, "a" * 64):
        putting.start()
        putting.join(1.0)
        assert putting.is_alive()
        assert not target.exists()
    putting.join(60)
    assert target.read_bytes() == b"bytes"
