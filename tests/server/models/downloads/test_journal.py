"""A journal read back is what was written, whatever happened in between."""

from pathlib import Path

from server.models.downloads.journal import NAME, DownloadJournal, DownloadPlan
from server.models.hub import RemoteFile

PLAN = DownloadPlan("id", "a.gguf", "o/r", "main", (RemoteFile("a.gguf", 25, "f" * 64),), 10)


def test_pieces_have_their_sizes():
    assert PLAN.pieces(0) == 3
    assert [PLAN.piece_size(0, n) for n in range(3)] == [10, 10, 5]


def test_it_is_read_back(tmp_path: Path):
    journal = DownloadJournal.create(tmp_path / "id", PLAN)
    journal.add_piece(0, 1, "aa")
    journal.add_piece(0, 2, "bb")
    journal.set_tag(0, "tag")
    journal.drop_piece(0, 1)
    journal.set_paused(paused=True)
    again = DownloadJournal.read(tmp_path / "id")
    assert again is not None
    assert (again.plan, again.pieces, again.tags) == (PLAN, {(0, 2): "bb"}, {0: "tag"})
    assert again.paused
    assert again.done_bytes == 5


def test_any_cut_loses_at_most_the_last_line(tmp_path: Path):
    journal = DownloadJournal.create(tmp_path / "id", PLAN)
    start = (tmp_path / "id" / NAME).stat().st_size
    for number in range(3):
        journal.add_piece(0, number, "aa")
    whole = (tmp_path / "id" / NAME).read_bytes()
    for cut in range(start, len(whole) + 1):
        (tmp_path / "id" / NAME).write_bytes(whole[:cut])
        again = DownloadJournal.read(tmp_path / "id")
        assert again is not None
        assert set(again.pieces) <= {(0, n) for n in range(3)}
        again.add_piece(0, 2, "cc")
        third = DownloadJournal.read(tmp_path / "id")
        assert third is not None
        assert third.pieces[0, 2] == "cc"


def test_without_a_readable_plan_there_is_none(tmp_path: Path):
    assert DownloadJournal.read(tmp_path) is None
    (tmp_path / NAME).write_text('{"plan": {"id": 3}}\n')
    assert DownloadJournal.read(tmp_path) is None


def test_another_version_begins_that_file_anew(tmp_path: Path):
    journal = DownloadJournal.create(tmp_path / "id", PLAN)
    journal.add_piece(0, 0, "aa")
    journal.change_file(0, RemoteFile("a.gguf", 9, "e" * 64))
    again = DownloadJournal.read(tmp_path / "id")
    assert again is not None
    assert (again.pieces, again.plan.total_bytes) == ({}, 9)


def test_removed_is_removed(tmp_path: Path):
    journal = DownloadJournal.create(tmp_path / "id", PLAN)
    journal.remove()
    assert not (tmp_path / "id").exists()
