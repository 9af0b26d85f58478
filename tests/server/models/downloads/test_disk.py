"""Space is really taken, pieces really checked, files put in place as one."""

import errno
import hashlib
import os
import shutil
from pathlib import Path

import pytest

from server.errors import DiskFailed, DiskFull
from server.models.downloads import download
from server.models.downloads.journal import DownloadJournal, DownloadPlan, disk_trouble
from server.models.hub import RemoteFile

SIZE = 3 << 20
PLAN = DownloadPlan(
    "id", "a", "o/r", "m", (RemoteFile("a", SIZE, ""), RemoteFile("b", 10, "")), 1 << 20
)


@pytest.fixture
def journal(tmp_path: Path) -> DownloadJournal:
    return DownloadJournal.create(tmp_path / "id", PLAN)


def test_the_space_is_taken_at_once(journal: DownloadJournal, tmp_path: Path):
    download.reserve(journal, [tmp_path / "a", tmp_path / "b"])
    found = journal.part(0).stat()
    assert found.st_size == SIZE
    assert found.st_blocks * 512 >= SIZE
    download.reserve(journal, [tmp_path / "a", tmp_path / "b"])


def test_pieces_are_told_good_from_bent(journal: DownloadJournal, tmp_path: Path):
    download.reserve(journal, [tmp_path / "a", tmp_path / "b"])
    for number in (0, 1):
        data = bytes([number + 1]) * (1 << 20)
        download.write(journal.part(0), number << 20, data)
        journal.add_piece(0, number, download.digest(data).hexdigest())
    download.write(journal.part(0), 5, b"bent")
    download.drop_bad_pieces(journal)
    assert set(journal.pieces) == {(0, 1)}


def test_files_are_placed_and_hashed(journal: DownloadJournal, tmp_path: Path):
    targets = [tmp_path / "x" / "a", tmp_path / "x" / "b"]
    download.reserve(journal, targets)
    download.write(journal.part(1), 0, b"0123456789")
    assert (
        download.sha256(journal.part(1), lambda: False) == hashlib.sha256(b"0123456789").hexdigest()
    )
    download.place(journal, targets)
    assert targets[1].read_bytes() == b"0123456789"
    assert not journal.part(1).exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_one_that_may_have_room_again(number: int):
    with pytest.raises(DiskFull, match="The disk cannot be written: "), disk_trouble():
        raise OSError(number, os.strerror(number))


def test_any_other_refusal_is_not_taken_for_a_full_disk(journal: DownloadJournal):
    with pytest.raises(DiskFailed, match="The disk could not be written: No such file") as refused:
        download.write(journal.part(0), 0, b"x")
    assert not isinstance(refused.value, DiskFull)


def test_files_in_place_need_no_room(
    journal: DownloadJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    targets = [tmp_path / "a", tmp_path / "b"]
    real = shutil.disk_usage(tmp_path)
    free = download.margin(tmp_path) + 10
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: type(real)(real.total, 0, free))
    assert download.lacking(journal, targets) == SIZE
    targets[0].write_bytes(b"")
    assert download.lacking(journal, targets) == 0
    download.reserve(journal, targets)
