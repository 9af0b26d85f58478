"""Makes files and folders searchable: puts their passages into an index on this machine.

SQLite's full-text index ranks the passages. It holds the stems of words, so that it finds what
`ranking` finds. Each passage keeps the file and the page that it comes from.
"""

import asyncio
import json
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from server import tasks
from server.chat import DOCUMENTS, TEXTS
from server.data import documents
from server.data.documents import Document, Unreadable
from server.data.passages import split_text
from server.data.tables import Table
from server.errors import BadRequest
from server.face.core import FoundPassage, SourceCard, SourcePhase
from server.language.ranking import KIN_WEIGHT, related_words, stems
from server.observe import Value
from server.sentences import Sentence, from_wire, in_a_row, to_wire

KINDS = frozenset({*DOCUMENTS, *TEXTS})
MOST_FILES = 50_000
MOST_WORDS = 100
"""The most words of a question that count. Of a long pasted text, only the beginning is used."""
CANDIDATES = 200
"""The most passages that each query of a search finds, before all are ranked together."""
LEAST_TOGETHER, MOST_TOGETHER, SPAN = 3, 8, 12
"""A query looks for 3 to 8 words near each other, with at most 12 other words between them."""
SENTENCE = re.compile(r"[.!?]\s|\n")
NAME_WEIGHT = 3.0
"""A word in a file's name counts as much as this many in a passage."""
ROWS_AT_ONCE = 12
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, mtime INTEGER, size INTEGER, first INTEGER, last INTEGER, note TEXT
);
CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5(
    name, stems, body UNINDEXED, path UNINDEXED, page UNINDEXED, sheet UNINDEXED,
    tokenize = 'unicode61 remove_diacritics 0'
);
"""


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece of a file, before it is put into the index. `page` is 0 if there are no pages."""

    text: str
    page: int = 0
    sheet: str = ""


def list_files(source: Path) -> list[Path]:
    """Returns the source if it is a file, else its readable files. Skips links, hidden files and
    folders, pipes and devices."""
    if source.is_file():
        return [source]
    found: list[Path] = []
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            is_known = path.suffix.lower() in KINDS and not name.startswith((".", "~$"))
            if is_known and not path.is_symlink() and path.is_file():
                found.append(path)
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]


def cut(document: Document) -> list[Cut]:
    """Cuts a document into passages. Each passage of a table repeats the column names."""
    cuts = [
        Cut(part, number if document.is_paged else 0)
        for number, page in enumerate(document.pages, 1)
        for part in split_text(page)
    ]
    for table in document.tables:
        cuts += _cut_table(table, document.name)
    return cuts


def _cut_table(table: Table, name: str) -> Iterator[Cut]:
    sheet = table.name.removeprefix(f"{name}: ") if table.name != name else ""
    head = " | ".join(column.name for column in table.columns)
    for first in range(0, len(table.rows), ROWS_AT_ONCE):
        rows = table.rows[first : first + ROWS_AT_ONCE]
        lines = [" | ".join("" if cell is None else str(cell) for cell in row) for row in rows]
        yield Cut("\n".join([head, *lines]), sheet=sheet)


class SourceIndex:
    """The full-text index in an SQLite file. Each call opens it anew, so any thread may call."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def find_changed(self, source: Path) -> list[Path]:
        """Returns the new and changed files of a source. Forgets those that are gone."""
        present = {str(path): path for path in list_files(source)}
        with self._open() as store:
            known = {
                path: (mtime, size)
                for path, mtime, size in store.execute("SELECT path, mtime, size FROM files")
                if _is_under(path, source)
            }
            for path in known.keys() - present.keys():
                _drop(store, path)
        return [path for name, path in present.items() if known.get(name) != _mark(path)]

    def add(self, path: Path) -> None:
        """Puts a file into the index again. If it cannot be read, the index keeps the reason."""
        mark = _mark(path)
        cuts, note = _read(path, mark[1])
        name = " ".join(stems(path.stem))
        rows = [(name, " ".join(stems(x.text)), x.text, str(path), x.page, x.sheet) for x in cuts]
        with self._open() as store:
            _drop(store, str(path))
            first = store.execute("SELECT coalesce(max(rowid), 0) + 1 FROM passages").fetchone()[0]
            store.executemany(
                "INSERT INTO passages(name, stems, body, path, page, sheet) VALUES (?,?,?,?,?,?)",
                rows,
            )
            last = first + len(rows) - 1
            store.execute(
                "INSERT INTO files VALUES (?,?,?,?,?,?)",
                (str(path), *mark, first, last, json.dumps(to_wire(note))),
            )

    def forget(self, source: Path) -> None:
        with self._open() as store:
            for (path,) in store.execute("SELECT path FROM files").fetchall():
                if _is_under(path, source):
                    _drop(store, path)

    def describe(self, source: Path) -> tuple[int, int, list[str]]:
        """Returns the numbers of files and passages, and notes on what could not be read."""
        with self._open(writes=False) as store:
            rows = store.execute("SELECT path, first, last, note FROM files").fetchall()
        own = [row for row in rows if _is_under(row[0], source)]
        passages = sum(last - first + 1 for _path, first, last, _note in own)
        return len(own), passages, [note for *_, kept in own if (note := _restore(kept))]

    def search(self, sources: Sequence[Path], question: str, most: int) -> list[FoundPassage]:
        """Returns at most `most` passages of these sources, those nearest to the question first."""
        own = list(dict.fromkeys(stems(question)))[:MOST_WORDS]
        kin = related_words(own)
        scores: dict[int, float] = {}
        found: dict[int, FoundPassage] = {}
        with self._open(writes=False) as store:
            asked = ((_any(own), 1.0), (_together(own), 1.0), (_any(kin), KIN_WEIGHT))
            for query, weight in asked:
                for row, score, passage in _match(store, query, sources):
                    scores[row] = scores.get(row, 0.0) + weight * score
                    found[row] = passage
        for row, passage in found.items():
            scores[row] *= 0.25 + _nearness(passage.text, own) ** 2
        best = sorted(scores, key=lambda row: (-scores[row], row))
        return [found[row] for row in best[:most]]

    @contextmanager
    def _open(self, *, writes: bool = True) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            store = self._connect()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL):
                raise
            # The index can be made again from the files.
            for path in self._path.parent.glob(f"{self._path.name}*"):
                path.unlink(missing_ok=True)
            store = self._connect()
        with closing(store), store:
            if writes:
                # Locks the database now, so that what is read stays true until the write.
                store.execute("BEGIN IMMEDIATE")
            yield store

    def _connect(self) -> sqlite3.Connection:
        store = sqlite3.connect(self._path, timeout=60)
        try:
            # A crash may lose the files added last. They are then read again.
            store.execute("PRAGMA journal_mode = WAL")
            store.execute("PRAGMA synchronous = NORMAL")
            store.executescript(_SCHEMA)
        except sqlite3.DatabaseError:
            store.close()
            raise
        return store


def _any(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(words))


def _together(words: Sequence[str]) -> str:
    """Returns a full-text query for all the words, or all but one, near each other. Returns "" if
    there are too few words."""
    known = list(dict.fromkeys(words))[:MOST_TOGETHER]
    if len(known) < LEAST_TOGETHER:
        return ""
    sets = [known, *(known[:place] + known[place + 1 :] for place in range(len(known)))]
    quoted = (" ".join(f'"{word}"' for word in each) for each in sets)
    return " OR ".join(f"stems : NEAR({each}, {SPAN})" for each in quoted)


def _match(
    store: sqlite3.Connection, query: str, sources: Sequence[Path]
) -> Iterator[tuple[int, float, FoundPassage]]:
    """Yields row id, score and passage of the best matches, restricted to these sources."""
    if not query:
        return
    parts: list[str] = []
    values: list[Any] = [NAME_WEIGHT, query]
    for source in sources:
        parts.append("path = ? OR substr(path, 1, ?) = ?")
        folder = str(source) + os.sep
        values += [str(source), len(folder), folder]
    rows = store.execute(
        "SELECT rowid, bm25(passages, ?, 1.0) AS score, body, path, page, sheet FROM passages "
        f"WHERE passages MATCH ? AND ({' OR '.join(parts) or 'FALSE'}) "
        f"ORDER BY score LIMIT {CANDIDATES}",
        values,
    )
    for row, score, text, path, page, sheet in rows:
        yield row, -score, FoundPassage(Path(path).name, path, page, sheet, text)


def _nearness(text: str, words: Sequence[str]) -> float:
    """Returns the largest share of the words that a single sentence contains. Words that stand
    together mean more than the same words far apart."""
    wanted = set(words)
    best = max(len(wanted.intersection(stems(part))) for part in SENTENCE.split(text))
    return best / max(len(wanted), 1)


def _read(path: Path, size: int) -> tuple[list[Cut], str]:
    """Returns a file's passages, and a note on what could not be read."""
    if size > documents.MAX_BYTES:
        return [], Sentence("{0} is too big to read.", path.name)
    try:
        document = documents.read(path.read_bytes(), path.name)
    except OSError as error:
        return [], Sentence("{0} could not be read: {1}.", path.name, error.strerror)
    except Unreadable as error:
        return [], str(error)
    return cut(document), in_a_row(document.notes)


def _restore(kept: str) -> str:
    """Returns a note. Older versions of Moat kept plain text."""
    try:
        return from_wire(json.loads(kept))
    except ValueError:
        return kept


def _mark(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _drop(store: sqlite3.Connection, path: str) -> None:
    for first, last in store.execute("SELECT first, last FROM files WHERE path = ?", (path,)):
        store.execute("DELETE FROM passages WHERE rowid BETWEEN ? AND ?", (first, last))
    store.execute("DELETE FROM files WHERE path = ?", (path,))


def _is_under(path: str, source: Path) -> bool:
    return path == str(source) or path.startswith(str(source) + os.sep)


log = logging.getLogger(__name__)

READ_BEFORE_A_SEARCH = 20
"""A search waits while up to this many changed files are read, and not for more of them."""
MOST_NOTES = 5


class Sources:
    """The files and folders that chats search, read in the background one after the other."""

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
        if str(source) not in self._reading:
            self._reading[str(source)] = tasks.spawn(self._read(source), f"index {source.name}")

    async def stop(self, path: str) -> None:
        if task := self._reading.get(str(Path(path))):
            await tasks.stop(task)

    async def forget(self, path: str) -> None:
        await self.stop(path)
        await asyncio.to_thread(self._index.forget, Path(path))
        self.cards.set(tuple(card for card in self.cards.get() if card.path != str(Path(path))))

    async def find(self, paths: list[str], question: str, most: int) -> list[FoundPassage]:
        """Searches the sources, after changed files have been read again."""
        sources = [_checked(path) for path in paths]
        for source in sources:
            if str(source) not in self._reading:
                await self._catch_up(source)
        return await asyncio.to_thread(self._index.search, sources, question, most)

    async def _catch_up(self, source: Path) -> None:
        """Reads the changed files of a source now if they are few, else in the background."""
        changed = await asyncio.to_thread(self._index.find_changed, source)
        if len(changed) > READ_BEFORE_A_SEARCH:
            await self.index(str(source))
            return
        for path in changed:
            await asyncio.to_thread(self._index.add, path)
        if changed:
            self._put(await self._described(source, "ready"))

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
        except (OSError, sqlite3.Error) as error:
            phase = "failed"
            log.warning("The index of a source failed: %s", error)
        finally:
            await asyncio.shield(self._end_reading(source, phase))

    async def _end_reading(self, source: Path, phase: SourcePhase) -> None:
        """Shows how a reading ended. Whoever sees that may have the source read again at once."""
        try:
            card = await self._described(source, phase)
        finally:
            del self._reading[str(source)]
        self._put(card)

    async def _described(self, source: Path, phase: SourcePhase) -> SourceCard:
        files, passages, notes = await asyncio.to_thread(self._index.describe, source)
        shown = tuple(notes[:MOST_NOTES])
        if len(notes) > len(shown):
            shown = (
                *shown,
                Sentence("{0} more files were not read whole.", len(notes) - len(shown)),
            )
        return replace(SourceCard(str(source), phase), files=files, passages=passages, notes=shown)

    def _put(self, card: SourceCard) -> None:
        others = tuple(known for known in self.cards.get() if known.path != card.path)
        self.cards.set((*others, card))


def _checked(path: str) -> Path:
    source = Path(path)
    if not source.is_absolute() or not source.exists():
        raise BadRequest(Sentence("There is no file or folder {0}.", path), "path")
    return source
