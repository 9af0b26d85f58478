"""A CSV file as a table of SQLite, made again whenever the file has changed."""

import csv
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from server.flows.base import FlowFailed

MAX_COLUMNS = 500
SNIFFED = 8192


def import_csv(source: Path, folder: Path, table: str) -> Path:
    """The database that holds the file under this table name."""
    try:
        stamp = f"{source.resolve()}|{source.stat().st_mtime_ns}|{source.stat().st_size}|{table}"
    except OSError:
        raise FlowFailed("sql", f"There is no file {source.name}.") from None
    target = folder / f"{table}-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}.sqlite"
    if target.exists():
        return target
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.glob(f"{table}-*.sqlite"):
        old.unlink(missing_ok=True)
    draft = target.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            dialect = _dialect(file.read(SNIFFED))
            file.seek(0)
            _fill(draft, table, csv.reader(file, dialect))
    except (OSError, UnicodeDecodeError, csv.Error, sqlite3.Error) as error:
        draft.unlink(missing_ok=True)
        raise FlowFailed("sql", f"{source.name} cannot be read as a table: {error}.") from None
    draft.replace(target)
    return target


def _dialect(start: str) -> type[csv.Dialect]:
    try:
        return csv.Sniffer().sniff(start, ",;\t|")
    except csv.Error:
        return csv.excel


def _fill(path: Path, table: str, rows: Iterator[list[str]]) -> None:
    names = [name.strip() or f"column_{n}" for n, name in enumerate(next(rows, []), 1)]
    if not names or len(names) > MAX_COLUMNS:
        raise csv.Error("its first line must name the columns")
    connection = sqlite3.connect(path)
    try:
        columns = ", ".join(f"{_quoted(name)} NUMERIC" for name in names)
        connection.execute(f"CREATE TABLE {_quoted(table)} ({columns})")
        marks = ", ".join("?" * len(names))
        fitted = ((row + [""] * len(names))[: len(names)] for row in rows if row)
        connection.executemany(f"INSERT INTO {_quoted(table)} VALUES ({marks})", fitted)
        connection.commit()
    finally:
        connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
