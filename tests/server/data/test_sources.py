"""What is in an index and is found in it, and how files are read into it in the background."""

import asyncio
import os
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server import tasks
from server.data import sources as module
from server.data.sources import SourceIndex, Sources, list_files
from server.errors import BadRequest
from server.face.core import FoundPassage, SourceCard
from tests.kit.office_files import docx, pdf, workbook
from tests.kit.until import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "research"
    (made / "deep").mkdir(parents=True)
    (made / "report.pdf").write_bytes(pdf("An introduction.", "The lease in Rotterdam ends 2031."))
    (made / "deep" / "letter.docx").write_bytes(docx("The dividend is 2.75 crowns."))
    rows = [["name", "role"], ["Okafor", "risk officer"], ["Berg", "treasurer"]]
    (made / "people.xlsx").write_bytes(workbook({"Board": rows}))
    (made / "notes.md").write_text("# Notes\n\nThe hangar holds four airships.")
    (made / "年报.txt").write_text("本公司去年的净利润为三亿五千万元。", encoding="utf-8")
    (made / ".hidden.txt").write_text("airships")
    (made / "photo.bin").write_bytes(b"\0airships")
    return made


def read_all(index: SourceIndex, folder: Path) -> int:
    changed = index.find_changed(folder)
    for path in changed:
        index.add(path)
    return len(changed)


@pytest.fixture
def index(tmp_path: Path, folder: Path) -> SourceIndex:
    made = SourceIndex(tmp_path / "index" / "index.db")
    assert read_all(made, folder) == 5
    return made


@pytest.mark.parametrize(
    ("question", "name", "page", "sheet"),
    [
        ("When does the Rotterdam lease end?", "report.pdf", 2, ""),
        ("How high is the payout?", "letter.docx", 0, ""),
        ("Who is the treasurer?", "people.xlsx", 0, "Board"),
        ("How many airships?", "notes.md", 0, ""),
        ("What is in the notes?", "notes.md", 0, ""),
        ("净利润是多少", "年报.txt", 0, ""),
    ],
)
def test_a_passage_is_found_with_its_place(
    index: SourceIndex, folder: Path, question: str, name: str, page: int, sheet: str
) -> None:
    best = index.search([folder], question, 3)[0]
    assert (best.name, best.page, best.sheet) == (name, page, sheet)
    assert Path(best.path).is_relative_to(folder)


def test_only_the_given_sources_are_searched(index: SourceIndex, folder: Path) -> None:
    assert index.search([folder / "report.pdf"], "airships", 3) == []
    assert index.search([folder / "no"], "airships", 3) == []
    assert index.search([], "airships", 3) == []
    assert index.search([folder], 'the "of" NEAR( ) *', 3) == []
    assert len(index.search([folder / "notes.md"], "airships", 3)) == 1


def test_what_changes_goes_or_comes_is_read_again(index: SourceIndex, folder: Path) -> None:
    assert index.find_changed(folder) == []
    (folder / "notes.md").write_text("The hangar holds nine balloons and much more.")
    (folder / "new.txt").write_text("A zeppelin.")
    (folder / "report.pdf").unlink()
    assert read_all(index, folder) == 2
    assert index.search([folder], "airships", 3) == []
    assert index.search([folder], "Rotterdam", 3) == []
    assert [one.name for one in index.search([folder], "balloons", 3)] == ["notes.md"]
    assert index.describe(folder)[:2] == (5, 5)
    os.utime(folder / "new.txt", ns=(1, 1))
    assert index.find_changed(folder) == [folder / "new.txt"]


def test_a_source_is_forgotten_and_others_stay(index: SourceIndex, folder: Path) -> None:
    index.forget(folder / "deep")
    assert index.describe(folder)[0] == 4
    assert index.search([folder], "dividend", 3) == []
    assert index.search([folder], "airships", 3)


def test_a_file_that_cannot_be_read_is_named_and_not_tried_again(
    index: SourceIndex, folder: Path
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert read_all(index, folder) == 1
    _files, _passages, notes = index.describe(folder)
    assert notes == ["broken.pdf is damaged or not what it claims to be."]
    assert read_all(index, folder) == 0


def test_a_damaged_index_is_begun_anew(tmp_path: Path, index: SourceIndex, folder: Path) -> None:
    for path in (tmp_path / "index").iterdir():
        path.write_bytes(b"no database" * 1000)
    assert len(index.find_changed(folder)) == 5


def test_a_pasted_book_is_a_question_too(index: SourceIndex, folder: Path) -> None:
    question = "How many airships? " + " ".join(f"word{number}" for number in range(50_000))
    assert index.search([folder], question, 1)[0].name == "notes.md"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_a_pipe_is_passed_over(index: SourceIndex, folder: Path) -> None:
    """Whoever reads one waits until something writes to it."""
    os.mkfifo(folder / "pipe.txt")
    assert index.find_changed(folder) == []


def test_links_and_hidden_folders_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder / ".git").mkdir()
    (folder / ".git" / "a.txt").write_text("x")
    names = {path.name for path in list_files(folder)}
    assert names == {"report.pdf", "letter.docx", "people.xlsx", "notes.md", "年报.txt"}


class HeldIndex(SourceIndex):
    """Reads a file only when it may."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.may_read = threading.Semaphore(1)

    def add(self, path: Path) -> None:
        assert self.may_read.acquire(timeout=60)
        super().add(path)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "research"
    made.mkdir()
    for number in range(3):
        (made / f"{number}.txt").write_text(f"Airship number {number}.")
    return made


@pytest.fixture
async def sources(tmp_path: Path) -> AsyncIterator[Sources]:
    made = Sources(tmp_path / "index.db")
    yield made
    await made.close()


def card_of(sources: Sources, notes: Path) -> SourceCard | None:
    return next((card for card in sources.cards.get() if card.path == str(notes)), None)


async def until_phase(sources: Sources, notes: Path, phase: str) -> SourceCard:
    await until(lambda: (card := card_of(sources, notes)) and card.phase == phase)
    card = card_of(sources, notes)
    assert card
    return card


async def test_a_folder_is_read_with_progress(sources: Sources, notes: Path) -> None:
    seen: list[tuple[int, int]] = []
    sources.cards.connect(lambda cards: seen.extend((card.done, card.total) for card in cards))
    await sources.index(str(notes))
    card = await until_phase(sources, notes, "ready")
    assert (card.files, card.passages, card.notes) == (3, 3, ())
    assert [step for step in seen if step[1]] == [(0, 3), (1, 3), (2, 3)]
    found = await sources.find([str(notes)], "airship number 2", 5)
    assert found[0].text == "Airship number 2."


async def test_a_changed_file_is_found_without_asking_for_it(sources: Sources, notes: Path) -> None:
    await sources.index(str(notes))
    await until_phase(sources, notes, "ready")
    (notes / "1.txt").write_text("A submarine, this time.")
    found = await sources.find([str(notes)], "submarine", 5)
    assert [one.name for one in found] == ["1.txt"]


async def test_whoever_sees_that_it_is_read_may_search_at_once(
    sources: Sources, notes: Path
) -> None:
    searches: list[asyncio.Task[list[FoundPassage]]] = []

    def search(cards: tuple[SourceCard, ...]) -> None:
        if [card.phase for card in cards] == ["ready"] and not searches:
            (notes / "1.txt").write_text("A submarine, this time.")
            searches.append(tasks.spawn(sources.find([str(notes)], "submarine", 5), "find"))

    sources.cards.connect(search)
    await sources.index(str(notes))
    await until_phase(sources, notes, "ready")
    assert [one.name for one in await searches[0]] == ["1.txt"]


async def test_many_changes_are_read_in_the_background(
    sources: Sources, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_BEFORE_A_SEARCH", 2)
    assert await sources.find([str(notes)], "airship", 5) == []
    await until_phase(sources, notes, "ready")
    assert len(await sources.find([str(notes)], "airship", 5)) == 3


async def test_reading_is_stopped_and_what_was_read_stays(tmp_path: Path, notes: Path) -> None:
    held: list[HeldIndex] = []

    def make(path: Path) -> HeldIndex:
        held.append(HeldIndex(path))
        return held[0]

    sources = Sources(tmp_path / "index.db", make)
    await sources.index(str(notes))
    await until(lambda: (card := card_of(sources, notes)) and card.done == 1)
    await sources.stop(str(notes))
    card = await until_phase(sources, notes, "stopped")
    assert card.files == 1
    for _ in range(9):
        held[0].may_read.release()
    await sources.index(str(notes))
    assert (await until_phase(sources, notes, "ready")).files == 3
    await sources.close()


async def test_a_source_is_forgotten(sources: Sources, notes: Path) -> None:
    await sources.index(str(notes))
    await until_phase(sources, notes, "ready")
    await sources.forget(str(notes))
    assert sources.cards.get() == ()


async def test_what_is_not_there_is_refused(sources: Sources, tmp_path: Path) -> None:
    for path in (str(tmp_path / "no"), "relative"):
        with pytest.raises(BadRequest, match="There is no file or folder"):
            await sources.index(path)
        with pytest.raises(BadRequest, match="There is no file or folder"):
            await sources.find([path], "x", 1)


async def test_a_folder_named_with_a_slash_is_read_again(tmp_path: Path, folder: Path) -> None:
    sources = Sources(tmp_path / "index.db")
    for text in ("The harbour has nine cranes.", "The harbour has twelve cranes."):
        (folder / "harbour.txt").write_text(text)
        await sources.index(f"{folder}/")
        await until(lambda: not sources._reading)
        assert [card.phase for card in sources.cards.get()] == ["ready"]
    await sources.forget(f"{folder}/")
    assert sources.cards.get() == ()
    await sources.close()


def test_an_index_that_another_program_has_locked_is_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = SourceIndex(tmp_path / "index" / "index.db")
    read_all(index, folder)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **_given: connect(path, timeout=0.1))
    holder = connect(tmp_path / "index" / "index.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        index.add(folder / "notes.md")
    holder.execute("COMMIT")
    holder.close()
    assert index.find_changed(folder) == []
