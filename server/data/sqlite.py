"""Reads SQLite files and CSV files as tables, within limits. Never writes to them."""

import asyncio
import csv
import glob
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar

from server.chat import Json
from server.data.cells import (
    as_number,
    decimal_sign,
    delimiter,
    is_missing,
    is_one_unit,
    reads_as_number,
    unit,
)
from server.data.sql import Deadline, Refused, quoted, sandbox, select
from server.errors import FlowFailed
from server.sentences import Sentence

DIGITS = 16
"""Digits of the hash in the name of an imported file."""
RULES = 3
"""The version of the import rules below. Raise it when they change: CSV files that were imported by
older rules are then imported again."""
MAX_COLUMNS = 500
SNIFFED = 8192


def import_csv(source: Path, folder: Path, table: str) -> Path:
    """Imports a CSV file into an SQLite file in the folder, unless it is there already. Returns the
    SQLite file. Raises FlowFailed if the CSV file is missing or not a table."""
    try:
        stat = source.stat()
        stamp = f"{RULES}|{source.resolve()}|{stat.st_mtime_ns}|{stat.st_size}|{table}"
    except OSError:
        raise FlowFailed("sql", Sentence("There is no file {0}.", source.name)) from None
    target = folder / f"{table}-{hashlib.sha256(stamp.encode()).hexdigest()[:DIGITS]}.sqlite"
    if target.exists():
        return target
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.glob(f"{glob.escape(table)}-{'?' * DIGITS}.sqlite"):
        old.unlink(missing_ok=True)
    draft = target.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            _import(file, draft, table)
    except (OSError, UnicodeDecodeError, csv.Error, sqlite3.Error) as error:
        draft.unlink(missing_ok=True)
        raise FlowFailed(
            "sql", Sentence("{0} cannot be read as a table: {1}.", source.name, error)
        ) from None
    draft.replace(target)
    return target


def _import(file: TextIO, path: Path, table: str) -> None:
    """Reads the file several times, because a column's type is known only at its end."""
    sign = delimiter(file.read(SNIFFED))
    file.seek(0)
    decimal = decimal_sign(file, sign)
    file.seek(0)
    rows = csv.reader(file, delimiter=sign, skipinitialspace=True)
    names = [name.strip() or f"column_{n}" for n, name in enumerate(next(rows, []), 1)]
    if not names or len(names) > MAX_COLUMNS:
        raise csv.Error("its first line must name the columns")
    numeric = _numeric(_check_width(rows, len(names)), len(names), decimal)
    file.seek(0)
    rows = csv.reader(file, delimiter=sign, skipinitialspace=True)
    next(rows)
    _fill(path, table, list(zip(names, numeric, strict=True)), rows, decimal)


def _check_width(rows: Iterable[list[str]], width: int) -> Iterator[list[str]]:
    """Yields the rows. Raises csv.Error for a row with more cells than columns."""
    for number, row in enumerate(rows, 2):
        if any(cell.strip() for cell in row[width:]):
            raise csv.Error(f"row {number} has {len(row)} cells for {width} columns")
        yield row


def _numeric(rows: Iterable[list[str]], width: int, decimal: str) -> list[bool]:
    """Returns for each column whether all its cells are amounts of one unit."""
    units: list[set[str]] = [set() for _ in range(width)]
    texts = set[int]()
    for row in rows:
        for place, cell in enumerate(row[:width]):
            if place not in texts and not is_missing(cell):
                units[place].add(unit(cell))
                if not reads_as_number(cell, decimal):
                    texts.add(place)
    return [
        bool(found) and place not in texts and is_one_unit(found)
        for place, found in enumerate(units)
    ]


def _fill(
    path: Path,
    table: str,
    columns: list[tuple[str, bool]],
    rows: Iterable[list[str]],
    decimal: str,
) -> None:
    connection = sqlite3.connect(path)
    try:
        made = ", ".join(
            f"{quoted(name)} {'NUMERIC' if is_numeric else 'TEXT'}" for name, is_numeric in columns
        )
        connection.execute(f"CREATE TABLE {quoted(table)} ({made})")
        marks = ", ".join("?" * len(columns))
        fitted = (
            [
                _cell(cell, decimal, is_numeric=is_numeric)
                for cell, (_, is_numeric) in zip(_pad(row, len(columns)), columns, strict=True)
            ]
            for row in rows
            if row
        )
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", fitted)
        connection.commit()
    finally:
        connection.close()


def _pad(row: list[str], width: int) -> list[str]:
    return (row + [""] * (width - len(row)))[:width]


def _cell(text: str, decimal: str, *, is_numeric: bool) -> str | float | None:
    if is_numeric:
        return None if is_missing(text) else as_number(text, decimal)
    return text if text.strip() else None


TIME_S = 10.0
"""Seconds for a query, more than in memory: a file may be bigger, and a flow can wait longer."""
MAX_ROWS = 1000
SAMPLE_ROWS = 3
LONGEST_SAMPLE = 60
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Database:
    path: Path
    tables: tuple[str, ...] = ()


async def query(database: Database, sql: str) -> Json:
    """Returns columns and rows of one SELECT as JSON. Raises FlowFailed. Runs in a thread.
    Cancelling the call interrupts SQLite."""
    return await _in_thread(database, lambda connection: _rows(connection, sql))


async def describe(database: Database) -> str:
    """Returns the CREATE statement and a few rows of each table, for a prompt."""
    return await _in_thread(
        database, lambda connection: _describe_tables(connection, database.tables)
    )


async def _in_thread(database: Database, work: Callable[[sqlite3.Connection], T]) -> T:
    stopped = threading.Event()
    running = asyncio.get_running_loop().run_in_executor(
        None, _run_guarded, database, work, stopped
    )
    try:
        return await asyncio.shield(running)
    finally:
        stopped.set()


def _run_guarded(
    database: Database, work: Callable[[sqlite3.Connection], T], stopped: threading.Event
) -> T:
    try:
        with (
            closing(_open(database.path)) as connection,
            sandbox(connection, Deadline(TIME_S), stopped.is_set),
        ):
            return work(connection)
    except Refused as error:
        raise FlowFailed("sql", str(error)) from None


def _open(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise FlowFailed("sql", Sentence("There is no database {0}.", path.name))
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _rows(connection: sqlite3.Connection, sql: str) -> Json:
    found, _ = select(connection, sql, (), MAX_ROWS)
    rows = [{name: _plain(cell) for name, cell in row.items()} for row in found.records()]
    columns = list(found.columns)
    return {"columns": columns, "rows": rows, "sql": sql, "truncated": found.is_cut}


def _describe_tables(connection: sqlite3.Connection, wanted: tuple[str, ...]) -> str:
    found = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    parts = []
    for name, sql in found:
        if wanted and name not in wanted:
            continue
        rows = connection.execute(f"SELECT * FROM {quoted(name)} LIMIT {SAMPLE_ROWS}").fetchall()
        samples = "\n".join("-- " + ", ".join(str(c)[:LONGEST_SAMPLE] for c in row) for row in rows)
        parts.append(f"{sql};\n{samples}")
    return "\n\n".join(parts)


def _plain(cell: Any) -> Any:
    return f"{len(cell)} bytes" if isinstance(cell, bytes) else cell
