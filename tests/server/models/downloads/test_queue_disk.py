"""Downloads and the disk: full is waited for, any other refusal is said, one program at a time."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.errors import BadRequest
from server.models.downloads.queue import FOLDER
from tests.kit.download_desk import CONTENT, PIECE, REPO, begin, desk, ended, installed, until
from tests.kit.fake_hub import FakeHub


@pytest.fixture
async def hub() -> AsyncIterator[FakeHub]:
    fake = FakeHub({REPO: {"tiny-Q4_K_M.gguf": CONTENT}})
    async with fake.running() as running:
        yield running


async def test_too_little_disk_waits_for_room_and_then_goes_on(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = shutil.disk_usage(tmp_path)
    free = 1000

    def usage(_path: object) -> object:
        return type(real)(real.total, real.used, free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    monkeypatch.setattr("server.models.downloads.queue.DISK_LOOK_S", 0.02)
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        state = await until(downloads, lambda one: bool(one.reason))
        assert state.phase == "waiting"
        assert "MB more are needed" in state.reason
        assert hub.served == 0
        free = real.free
        assert (await until(downloads, ended)).phase == "done"


async def test_a_file_too_large_for_the_disk_fails_with_its_reason(hub: FakeHub, tmp_path: Path):
    resource = pytest.importorskip("resource", reason="needs a POSIX system")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with desk(hub, tmp_path / "m") as downloads:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 * PIECE, hard))
        try:
            await begin(hub, downloads)
            final = await until(downloads, lambda one: bool(one.reason))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (final.phase, final.reason) == (
            "failed",
            "The disk could not be written: File too large.",
        )


async def test_a_download_whose_folder_was_deleted_fails_and_can_be_begun_anew(
    hub: FakeHub, tmp_path: Path
):
    hub.delay_s = 0.02
    async with desk(hub, tmp_path / "m") as downloads:
        number = await begin(hub, downloads)
        await until(downloads, lambda one: one.done_bytes > PIECE)
        shutil.rmtree(tmp_path / "m" / FOLDER / number)
        final = await until(downloads, lambda one: bool(one.reason))
        assert (final.phase, final.reason) == (
            "failed",
            "The disk could not be written: No such file or directory.",
        )
        hub.delay_s = 0
        assert await begin(hub, downloads) == number
        assert (await until(downloads, ended)).phase == "done"
    assert installed(tmp_path / "m")[0].read_bytes() == CONTENT


async def test_a_folder_deleted_while_it_waits_for_room_ends_the_wait(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = shutil.disk_usage(tmp_path)

    def usage(path: Path) -> object:
        path.stat()
        return type(real)(real.total, real.used, 1000)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    monkeypatch.setattr("server.models.downloads.queue.DISK_LOOK_S", 0.02)
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        await until(downloads, lambda one: one.phase == "waiting" and bool(one.reason))
        shutil.rmtree(tmp_path / "m" / FOLDER)
        assert "No such file" in (await until(downloads, ended)).reason


async def test_two_programs_do_not_work_on_one_download(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.02
    async with desk(hub, tmp_path / "m") as early, desk(hub, tmp_path / "m") as first:
        number = await begin(hub, first)
        with pytest.raises(BadRequest, match="Another program is downloading this file"):
            await begin(hub, early)
        async with desk(hub, tmp_path / "m") as late:
            assert "Another program" in late.all.get()[0].reason
            with pytest.raises(BadRequest, match="Another program is downloading this file"):
                await begin(hub, late)
        await first.pause(number)
        hub.delay_s = 0
        await begin(hub, early)
        assert (await until(early, ended)).phase == "done"
    assert installed(tmp_path / "m")[0].read_bytes() == CONTENT
    assert list((tmp_path / "m" / FOLDER).iterdir()) == []
