"""Read-only SQL over tables in memory: checked, limited in time, rows and size."""

import math
import re
import sqlite3
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from server.conversation.tables import Cell, Table

TIME_S = 2.0
MAX_RESULT_ROWS = 500
LONGEST_VALUE = 1_000_000
STEPS_BETWEEN_LOOKS = 10_000
ALLOWED = frozenset({
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
})  # fmt: skip
TYPES = {"number": "NUMERIC", "date": "TEXT", "text": "TEXT", "empty": "TEXT"}


class Refused(Exception):
    """The query may not run, does not run, or runs too long; the message says which."""


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    is_cut: bool = False

    def records(self) -> list[dict[str, Cell]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class _Collected:
    """An aggregate that sees all values at the end."""

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


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def query(
    tables: dict[str, Table], sql: str, parameters: Sequence[Cell] = (), time_s: float = TIME_S
) -> Answer:
    """The rows of one SELECT over the tables, each under its name."""
    if not re.match(r"\s*(select|with)\b", sql, re.IGNORECASE):
        raise Refused("Only SELECT is allowed.")
    connection = sqlite3.connect(":memory:")
    try:
        for name, table in tables.items():
            _fill(connection, name, table)
        _lock(connection, time_s)
        return _run(connection, sql, parameters)
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise Refused(f"The query failed: {error}.") from None
    finally:
        connection.close()


def _fill(connection: sqlite3.Connection, name: str, table: Table) -> None:
    if not table.columns:
        raise Refused(f"The table {name} has no columns.")
    columns = ", ".join(f"{quoted(one.name)} {TYPES[one.kind]}" for one in table.columns)
    connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
    marks = ", ".join("?" * len(table.columns))
    connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", table.rows)


def _lock(connection: sqlite3.Connection, time_s: float) -> None:
    connection.create_aggregate("median", 1, _Median)  # type: ignore[arg-type]
    connection.create_aggregate("stdev", 1, _Deviation)  # type: ignore[arg-type]
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_authorizer(_authorize)
    end = time.monotonic() + time_s
    connection.set_progress_handler(lambda: time.monotonic() > end, STEPS_BETWEEN_LOOKS)


def _authorize(action: int, _first: str | None, second: str | None, *_rest: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and second == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def _run(connection: sqlite3.Connection, sql: str, parameters: Sequence[Cell]) -> Answer:
    cursor = connection.execute(sql, parameters)
    rows = cursor.fetchmany(MAX_RESULT_ROWS + 1)
    columns = tuple(one[0] for one in cursor.description)
    return Answer(columns, rows[:MAX_RESULT_ROWS], len(rows) > MAX_RESULT_ROWS)
