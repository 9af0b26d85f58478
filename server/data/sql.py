"""Runs SQL in a sandbox that only reads, within limits. Also queries tables in memory."""

import math
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from server.data.bytecode import columns_computed
from server.data.tables import Cell, Table, unique_names
from server.sentences import Sentence

TIME_S = 2.0
MAX_RESULT_ROWS = 500
MAX_RESULT_CHARACTERS = 5_000_000
"""The most characters of all rows of an answer together."""
MOST_COUNTED = 1_000_000
LONGEST_VALUE = 1_000_000
"""The most bytes of a text or a blob in SQLite."""
LONGEST_STATEMENT = 100_000
STEPS_BETWEEN_LOOKS = 10_000
"""Instructions of SQLite's virtual machine between two looks at the deadline."""
ROWS_BETWEEN_LOOKS = 1000
ALLOWED = frozenset({
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
})  # fmt: skip
FORBIDDEN_FUNCTIONS = frozenset({
    "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "randomblob", "zeroblob",
})  # fmt: skip
WORD = re.compile(r"\w+")
QUOTED = re.compile(r"\'[^\']*\'|\"([^\"]*)\"(?!\")")
AMOUNT = re.compile(r"[-+]?\d+(\.\d+)? ?[%$€£¥]?")
"""A number, or one before its sign. SQLite reads it as people do."""
TYPES = {"number": "NUMERIC", "date": "TEXT", "text": "TEXT", "empty": "TEXT"}


class Refused(Exception):
    """The query is not allowed, has failed, or has taken too long. The message says which."""


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    is_cut: bool = False
    total: int | None = None
    """The number of all rows, or None if they could not be counted."""

    def records(self) -> list[dict[str, Cell]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class _Collected:
    """An aggregate function that needs all values at once."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: Any) -> None:
        if isinstance(value, int | float):
            self.values.append(value)


class _Median(_Collected):
    def finalize(self) -> float:
        return statistics.median(self.values) if self.values else math.nan


class _Deviation(_Collected):
    def finalize(self) -> float:
        return statistics.stdev(self.values) if len(self.values) > 1 else math.nan


class Deadline:
    def __init__(self, time_s: float) -> None:
        self.time_s = time_s
        self._end = time.monotonic() + time_s

    def is_over(self) -> bool:
        return time.monotonic() > self._end


@contextmanager
def sandbox(
    connection: sqlite3.Connection,
    deadline: Deadline,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Restricts the connection to reading, within limits. Errors of SQLite become `Refused`. The
    connection stays restricted. `is_stopped` is called often and ends the query when true."""
    connection.create_aggregate("median", 1, _Median)  # type: ignore[arg-type]
    connection.create_aggregate("stdev", 1, _Deviation)  # type: ignore[arg-type]
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_authorizer(_authorize)
    connection.set_progress_handler(lambda: is_stopped() or deadline.is_over(), STEPS_BETWEEN_LOOKS)
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError) as error:
        is_late = isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error)
        late = f"it was interrupted, because it took longer than {deadline.time_s:g} s"
        raise Refused(Sentence("The query failed: {0}.", late if is_late else error)) from None


def _authorize(action: int, _first: str | None, second: str | None, *_rest: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def select(
    connection: sqlite3.Connection, sql: str, parameters: Sequence[Cell], most_rows: int
) -> tuple[Answer, sqlite3.Cursor]:
    """Runs a SELECT within `sandbox`. Returns its first rows and the cursor behind them. If the
    answer is cut, the cursor has already passed one row more."""
    if not re.match(r"\s*(select|with)\b", sql, re.IGNORECASE):
        raise Refused(Sentence("Only SELECT is allowed."))
    cursor = connection.execute(sql, parameters)
    columns = tuple(unique_names(column[0] for column in cursor.description))
    rows: list[tuple[Cell, ...]] = []
    room = MAX_RESULT_CHARACTERS
    for row in cursor:
        room -= sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if len(rows) == most_rows or (room < 0 and rows):
            return Answer(columns, rows, is_cut=True), cursor
        rows.append(row)
    return Answer(columns, rows, total=len(rows)), cursor


def quoted(name: str) -> str:
    """Returns the name as an SQL identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def query(
    tables: dict[str, Table], sql: str, parameters: Sequence[Cell] = (), time_s: float = TIME_S
) -> Answer:
    """Runs one SELECT over those of the tables that it names. Raises Refused.

    A query is refused if a text counts in it as a number: SQLite takes the digits at its beginning,
    12 for '12:30', and else 0. Then the answer is another one without these texts.
    """
    deadline = Deadline(time_s)
    answer, texts = _answer(tables, sql, parameters, deadline)
    if texts:
        rest = {name: _without(texts.get(name, ()), table) for name, table in tables.items()}
        if _answer(rest, sql, parameters, deadline)[0].rows != answer.rows:
            columns = (
                tables[name].columns[at].name for name in texts for at in sorted(texts[name])
            )
            what = f"{', '.join(columns)}: holds text, nothing can be computed with it"
            raise Refused(Sentence("The query failed: {0}.", what))
    return answer


Texts = dict[str, set[int]]
"""The numbers of columns that hold text, by the name of their table."""


def _answer(
    tables: dict[str, Table], sql: str, parameters: Sequence[Cell], deadline: Deadline
) -> tuple[Answer, Texts]:
    """Returns the answer, and the columns that it computes with though they hold text."""
    words = set(WORD.findall(sql.lower()))
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            for name, table in tables.items():
                if words.issuperset(WORD.findall(name.lower())):
                    _fill(connection, name, table, deadline)
        except (sqlite3.Error, OverflowError) as error:
            raise Refused(Sentence("The query failed: {0}.", error)) from None
        with sandbox(connection, deadline):
            names = with_strict_names(sql)
            answer, cursor = select(connection, names, parameters, MAX_RESULT_ROWS)
            if answer.is_cut:
                answer = replace(answer, total=_count_rest(cursor, len(answer.rows) + 1))
            program = connection.execute(f"EXPLAIN {names}", parameters).fetchall()
            roots = dict(connection.execute("SELECT rootpage, name FROM sqlite_master"))
        texts: Texts = {}
        for root, place in columns_computed(row[1:6] for row in program):
            name = roots.get(root, "")
            if name in tables and _holds_text(tables[name], place):
                texts.setdefault(name, set()).add(place)
        return answer, texts


def _holds_text(table: Table, place: int) -> bool:
    """Whether a cell of the column is no amount."""
    if not 0 <= place < len(table.columns) or table.columns[place].kind not in ("text", "date"):
        return False
    return any(_is_odd(row[place]) for row in table.rows)


def _is_odd(cell: Cell) -> bool:
    return isinstance(cell, str) and not AMOUNT.fullmatch(cell.strip())


def _without(places: Container[int], table: Table) -> Table:
    """Returns the table without what is no amount in some of its columns."""
    rows = [
        tuple(None if at in places and _is_odd(cell) else cell for at, cell in enumerate(row))
        for row in table.rows
    ]
    return replace(table, rows=rows)


def with_strict_names(sql: str) -> str:
    """Writes quoted names in brackets instead of double quotes. SQLite takes an unknown name in
    double quotes for a text, and would answer with that text."""
    return QUOTED.sub(
        lambda found: f"[{found[1]}]" if found[1] and "]" not in found[1] else found[0], sql
    )


def _fill(connection: sqlite3.Connection, name: str, table: Table, deadline: Deadline) -> None:
    if not table.columns:
        raise Refused(Sentence("The table {0} has no columns.", name))
    columns = ", ".join(f"{quoted(column.name)} {TYPES[column.kind]}" for column in table.columns)
    connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
    marks = ", ".join("?" * len(table.columns))
    rows = _in_time(table, deadline)
    connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)


def _in_time(table: Table, deadline: Deadline) -> Iterator[tuple[Cell, ...]]:
    for number, row in enumerate(table.rows):
        if number % ROWS_BETWEEN_LOOKS == 0 and deadline.is_over():
            raise Refused(Sentence("The tables take too long to fill."))
        yield row


def _count_rest(cursor: sqlite3.Cursor, already: int) -> int | None:
    try:
        rest = sum(1 for _ in islice(cursor, MOST_COUNTED))
    except sqlite3.Error:
        return None
    return already + rest if rest < MOST_COUNTED else None
