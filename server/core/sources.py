"""The index of files and folders for chats: read in the background, one after the other."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from server import tasks
from server.data.sources import SourceIndex
from server.errors import BadRequest
from server.face.core import FoundPassage, SourceCard, SourcePhase
from server.observe import Value

log = logging.getLogger(__name__)

READ_BEFORE_A_SEARCH = 20
"""A search waits until so many changed files are read; more are read in the background."""
MOST_NOTES = 5


class Sources:
    def __init__(self, path: Path, make: Callable[[Path], SourceIndex] = SourceIndex) -> None:
        self.cards: Value[tuple[SourceCard, ...]] = Value(())
        self._index = make(path)
        self._reading: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        """Two at once would only wait for each other's disk and processor."""

    async def close(self) -> None:
        for task in list(self._reading.values()):
            await tasks.stop(task)

    async def index(self, path: str) -> None:
        source = _checked(path)
        if path not in self._reading:
            self._reading[path] = tasks.spawn(self._read(source), f"index {source.name}")

    async def stop(self, path: str) -> None:
        if task := self._reading.get(path):
            await tasks.stop(task)

    async def forget(self, path: str) -> None:
        await self.stop(path)
        await asyncio.to_thread(self._index.forget, Path(path))
        self.cards.set(tuple(card for card in self.cards.get() if card.path != path))

    async def find(self, paths: list[str], question: str, most: int) -> list[FoundPassage]:
        sources = [_checked(path) for path in paths]
        for source in sources:
            if str(source) not in self._reading:
                await self._catch_up(source)
        return await asyncio.to_thread(self._index.search, sources, question, most)

    async def _catch_up(self, source: Path) -> None:
        """Reads the few files that have changed. Many of them are read in the background."""
        changed = await asyncio.to_thread(self._index.find_changed, source)
        if len(changed) > READ_BEFORE_A_SEARCH:
            await self.index(str(source))
            return
        for path in changed:
            await asyncio.to_thread(self._index.add, path)
        if changed:
            await self._show(source, "ready")

    async def _read(self, source: Path) -> None:
        phase: SourcePhase = "stopped"
        try:
            async with self._turn:
                self._put(SourceCard(str(source)))
                changed = await asyncio.to_thread(self._index.find_changed, source)
                for done, path in enumerate(changed):
                    self._put(SourceCard(str(source), "reading", done, len(changed)))
                    await asyncio.to_thread(self._index.add, path)
            phase = "ready"
        except OSError as error:
            phase = "failed"
            log.warning("The index of a source failed: %s", error)
        finally:
            self._reading.pop(str(source), None)
            await asyncio.shield(self._show(source, phase))

    async def _show(self, source: Path, phase: SourcePhase) -> None:
        files, passages, notes = await asyncio.to_thread(self._index.describe, source)
        shown = tuple(notes[:MOST_NOTES])
        if len(notes) > len(shown):
            shown = (*shown, f"{len(notes) - len(shown)} more files were not read whole.")
        self._put(
            replace(SourceCard(str(source), phase), files=files, passages=passages, notes=shown)
        )

    def _put(self, card: SourceCard) -> None:
        others = tuple(known for known in self.cards.get() if known.path != card.path)
        self.cards.set((*others, card))


def _checked(path: str) -> Path:
    source = Path(path)
    if not source.is_absolute() or not source.exists():
        raise BadRequest(f"There is no file or folder {path}.", "path")
    return source
