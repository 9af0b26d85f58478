"""Support for CUDA is offered, fetched, checked and put in place; what is wrong is said."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from server.core.graphics import NOTHING, Graphics, unpack
from server.core.updates import UpdateFailed
from server.egress import Egress
from server.errors import BadRequest, DiskFull
from server.face.models import Download, Machine
from server.models.downloads import journal
from server.models.downloads.download import TransferLimits
from server.observe import Value
from server.settings import Settings
from server.system import backends
from server.web.certificates import Certificates, Pair
from tests.kit.release_server import CARD, NAME, ReleaseServer, archive, put_card
from tests.kit.until import until

FAST = TransferLimits(
    connections=2, piece_bytes=64 * 1024, tries=3, first_wait_s=0.01, longest_wait_s=0.02
)
MACHINE = Machine(1, 1)
LIBRARY = f"libggml-cuda-{backends.engine_version()}.so"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """It takes a second to make."""
    return Certificates(tmp_path_factory.mktemp("certificates")).ready()


@pytest.fixture
async def server(pair: Pair) -> AsyncIterator[ReleaseServer]:
    async with ReleaseServer().running(pair) as running:
        yield running


@pytest.fixture(autouse=True)
def computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a card of NVIDIA's, its driver, and no support for it."""
    monkeypatch.setenv("PATH", put_card(tmp_path / "bin"))
    monkeypatch.setenv(backends.VARIABLE, str(tmp_path / "backends"))


class Desk:
    def __init__(self, data: Path, settings: Settings) -> None:
        self.ready: list[str] = []
        self.settings = Value(settings)
        self.door = Egress(lambda: self.settings.get().network)
        self.support = Graphics(self.door, self.settings.get, data, self._take, FAST)

    async def _take(self, kind: str) -> None:
        self.ready.append(kind)
        await self.support.follow(MACHINE)

    @property
    def download(self) -> Download | None:
        return self.support.offer.get().download

    async def end_as(self, *phases: str) -> Download:
        await until(lambda: self.download is not None and self.download.phase in phases)
        assert self.download is not None
        return self.download


@asynccontextmanager
async def desk(tmp_path: Path, server: ReleaseServer, **updates: Any) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "data", server.settings(**updates))
    made.support.open()
    await made.support.follow(MACHINE)
    try:
        yield made
    finally:
        await made.support.close()
        await made.door.close()


async def test_it_is_offered_without_asking_anybody(tmp_path: Path, server: ReleaseServer) -> None:
    async with desk(tmp_path, server) as here:
        offer = here.support.offer.get()
        assert (offer.kind, offer.card, offer.size_bytes) == ("cuda", CARD, 0)
        assert not here.door.uses.get()
    async with desk(tmp_path, server, look=True) as here:
        offer = here.support.offer.get()
        assert (offer.size_bytes, offer.times_vulkan) == (len(server.body), 1.6)


async def test_it_is_fetched_verified_and_used(tmp_path: Path, server: ReleaseServer) -> None:
    old = tmp_path / "backends" / "cuda-0.0.1"
    old.mkdir(parents=True)
    (old / "libggml-cuda-0.0.1.so").touch()
    server.broken = 2
    async with desk(tmp_path, server) as here:
        await here.support.fetch()
        await here.end_as("done")
        await until(lambda: here.ready == ["cuda"])
        assert backends.found(tmp_path / "backends")["cuda"].name == LIBRARY
        assert backends.is_present("cuda")
        assert tmp_path / "backends" / f"cuda-{backends.engine_version()}" / "libcudart.so.12"
        assert not old.exists()
        assert not list((tmp_path / "data").rglob("*.tar.xz"))
        await until(lambda: not here.support.offer.get().kind)
        with pytest.raises(BadRequest, match=NOTHING):
            await here.support.check()


async def test_without_a_card_or_with_support_nothing_is_offered(
    tmp_path: Path, server: ReleaseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "backends").mkdir()
    (tmp_path / "backends" / LIBRARY).touch()
    async with desk(tmp_path, server) as here:
        assert not here.support.offer.get().kind
    (tmp_path / "backends" / LIBRARY).unlink()
    (tmp_path / "bin" / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    async with desk(tmp_path, server) as here:
        assert not here.support.offer.get().kind


async def test_a_list_that_is_not_signed_by_the_key_is_refused(
    tmp_path: Path, server: ReleaseServer
) -> None:
    server.secret = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
    async with desk(tmp_path, server) as here:
        with pytest.raises(UpdateFailed, match="no valid signature"):
            await here.support.fetch()
        assert NAME not in server.asked


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"machine": "vax"}, "No support for cuda is published"), ({"sha256": "x"}, "cannot be read")],
)
async def test_a_list_without_a_fitting_file_says_so(
    tmp_path: Path, server: ReleaseServer, changes: dict[str, str], reason: str
) -> None:
    server.changes = changes
    async with desk(tmp_path, server) as here:
        with pytest.raises(UpdateFailed, match=reason):
            await here.support.fetch()


@pytest.mark.parametrize("files", ["http://localhost/moat", "nonsense"])
async def test_files_come_by_https_only(tmp_path: Path, server: ReleaseServer, files: str) -> None:
    async with desk(tmp_path, server, files=files) as here:
        with pytest.raises(UpdateFailed, match="https"):
            await here.support.fetch()


async def test_a_file_with_another_hash_is_deleted(tmp_path: Path, server: ReleaseServer) -> None:
    server.changes = {"sha256": "0" * 64}
    async with desk(tmp_path, server) as here:
        await here.support.fetch()
        assert "checksum was wrong" in (await here.end_as("failed")).reason
        assert not (tmp_path / "backends").exists()


async def test_a_file_that_is_not_there_is_said(tmp_path: Path, server: ReleaseServer) -> None:
    server.changes = {"name": "gone.tar.xz"}
    async with desk(tmp_path, server) as here:
        await here.support.fetch()
        assert "refuses the file: 404" in (await here.end_as("failed")).reason


async def test_a_verified_archive_without_the_library_is_refused(
    tmp_path: Path, server: ReleaseServer
) -> None:
    server.body = archive("libggml-cuda-0.0.1.so")
    async with desk(tmp_path, server) as here:
        number = await here.support.fetch()
        assert "holds no library for cuda" in (await here.end_as("failed")).reason
        server.body = archive()
        await here.support.resume_download(number)
        await here.end_as("done")


async def test_it_goes_on_after_a_restart_and_can_be_cancelled(
    tmp_path: Path, server: ReleaseServer
) -> None:
    server.held = asyncio.Event()
    async with desk(tmp_path, server) as here:
        number = await here.support.fetch()
        await until(lambda: here.download is not None and here.download.done_bytes)
        await here.support.pause_download(number)
    assert here.download is not None
    kept = here.download.done_bytes
    assert kept
    async with desk(tmp_path, server) as here:
        assert here.download is not None
        assert (here.download.phase, here.download.done_bytes) == ("paused", kept)
        await here.support.resume_download(number)
        await here.support.cancel_download(number)
        assert here.download is None
    assert not list((tmp_path / "data" / "releases").rglob("*.part"))


async def test_what_was_fetched_and_not_unpacked_is_unpacked_at_the_next_start(
    tmp_path: Path, server: ReleaseServer
) -> None:
    place = tmp_path / "data" / "releases" / "moat" / f"cuda-{backends.engine_version()}"
    place.mkdir(parents=True)
    (place / NAME).write_bytes(server.body)
    async with desk(tmp_path, server) as here:
        await until(lambda: here.ready == ["cuda"])
    assert backends.is_present("cuda")


async def test_a_full_disk_waits_for_room(
    tmp_path: Path, server: ReleaseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    full = usage._replace(free=0)
    monkeypatch.setattr(journal.shutil, "disk_usage", lambda _path: full)
    async with desk(tmp_path, server) as here:
        number = await here.support.fetch()
        await until(lambda: here.download is not None and "disk is full" in here.download.reason)
        await here.support.cancel_download(number)


def test_a_full_disk_while_unpacking_leaves_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / f"cuda-{backends.engine_version()}" / NAME
    place.parent.mkdir()
    place.write_bytes(archive(size=10))

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with pytest.raises(DiskFull, match="No space left"):
        unpack(place, tmp_path / "backends")
    assert place.exists()
    assert not list((tmp_path / "backends").iterdir())


def test_an_archive_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "cuda-1.2.3" / NAME
    place.parent.mkdir()
    place.write_bytes(b"no archive")
    with pytest.raises(BadRequest, match="is damaged and was deleted"):
        unpack(place, tmp_path / "backends")


async def test_a_card_that_vulkan_uses_is_still_offered_cuda(
    tmp_path: Path, server: ReleaseServer
) -> None:
    async with desk(tmp_path, server) as here:
        await here.support.follow(replace(MACHINE, engine_uses_gpu=True))
        assert here.support.offer.get().uses_vulkan
