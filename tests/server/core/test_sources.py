"""Sources are read in the background, with progress, and a search reads what has changed."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.core import sources as module
from server.core.sources import Sources
from server.data.sources import SourceIndex
from server.errors import BadRequest
from server.face.core import SourceCard
from tests.kit.until import until


class HeldIndex(SourceIndex):
    """Reads a file only when it may."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.may_read = threading.Semaphore(1)

    def add(self, path: Path) -> None:
        assert self.may_read.acquire(timeout=60)
        super().add(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
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


def card_of(sources: Sources, folder: Path) -> SourceCard | None:
    return next((card for card in sources.cards.get() if card.path == str(folder)), None)


async def until_phase(sources: Sources, folder: Path, phase: str) -> SourceCard:
    await until(lambda: (card := card_of(sources, folder)) and card.phase == phase)
    card = card_of(sources, folder)
    assert card
    return card


async def test_a_folder_is_read_with_progress(sources: Sources, folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    sources.cards.connect(lambda cards: seen.extend((card.done, card.total) for card in cards))
    await sources.index(str(folder))
    card = await until_phase(sources, folder, "ready")
    assert (card.files, card.passages, card.notes) == (3, 3, ())
    assert [step for step in seen if step[1]] == [(0, 3), (1, 3), (2, 3)]
    found = await sources.find([str(folder)], "airship number 2", 5)
    assert found[0].text == "Airship number 2."


async def test_a_changed_file_is_found_without_asking_for_it(
    sources: Sources, folder: Path
) -> None:
    await sources.index(str(folder))
    await until_phase(sources, folder, "ready")
    (folder / "1.txt").write_text("A submarine, this time.")
    found = await sources.find([str(folder)], "submarine", 5)
    assert [one.name for one in found] == ["1.txt"]


async def test_many_changes_are_read_in_the_background(
    sources: Sources, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_BEFORE_A_SEARCH", 2)
    assert await sources.find([str(folder)], "airship", 5) == []
    await until_phase(sources, folder, "ready")
    assert len(await sources.find([str(folder)], "airship", 5)) == 3


async def test_reading_is_stopped_and_what_was_read_stays(tmp_path: Path, folder: Path) -> None:
    held: list[HeldIndex] = []

    def make(path: Path) -> HeldIndex:
        held.append(HeldIndex(path))
        return held[0]

    sources = Sources(tmp_path / "index.db", make)
    await sources.index(str(folder))
    await until(lambda: (card := card_of(sources, folder)) and card.done == 1)
    await sources.stop(str(folder))
    card = await until_phase(sources, folder, "stopped")
    assert card.files == 1
    for _ in range(9):
        held[0].may_read.release()
    await sources.index(str(folder))
    assert (await until_phase(sources, folder, "ready")).files == 3
    await sources.close()


async def test_a_source_is_forgotten(sources: Sources, folder: Path) -> None:
    await sources.index(str(folder))
    await until_phase(sources, folder, "ready")
    await sources.forget(str(folder))
    assert sources.cards.get() == ()


async def test_what_is_not_there_is_refused(sources: Sources, tmp_path: Path) -> None:
    for path in (str(tmp_path / "no"), "relative"):
        with pytest.raises(BadRequest, match="There is no file or folder"):
            await sources.index(path)
        with pytest.raises(BadRequest, match="There is no file or folder"):
            await sources.find([path], "x", 1)
