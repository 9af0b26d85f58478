"""A SQLite file read and never written: by its mode, an authorizer, and limits on everything."""

import asyncio
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from server.chat import Json
from server.errors import FlowFailed

TIME_S = 10.0
MAX_ROWS = 1000
MAX_CHARACTERS = 20_000_000
"""Of all rows of an answer together."""
LONGEST_VALUE = 10 * 1024 * 1024
SAMPLE_ROWS = 3
LONGEST_SAMPLE = 60
ALLOWED = frozenset({
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
})  # fmt: skip
FORBIDDEN_FUNCTIONS = frozenset({
    "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "randomblob", "zeroblob",
})  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Database:
    path: Path
    tables: tuple[str, ...] = ()


async def query(database: Database, sql: str) -> Json:
    """Columns and rows of one SELECT; cancelling interrupts it."""
    return await _in_thread(database, lambda connection: _rows(connection, sql))


async def describe(database: Database) -> str:
    """CREATE statements and a few rows of each table, for a prompt."""
    return await _in_thread(database, lambda connection: _described(connection, database.tables))


async def _in_thread(database: Database, work: Callable[[sqlite3.Connection], T]) -> T:
    stopped = threading.Event()
    running = asyncio.get_running_loop().run_in_executor(None, _guarded, database, work, stopped)
    try:
        return await asyncio.shield(running)
    finally:
        stopped.set()


def _guarded(
    database: Database, work: Callable[[sqlite3.Connection], T], stopped: threading.Event
) -> T:
    connection = _open(database.path)
    end = time.monotonic() + TIME_S
    connection.set_progress_handler(lambda: stopped.is_set() or time.monotonic() > end, 10_000)
    try:
        return work(connection)
    except sqlite3.OperationalError as error:
        reason = f"it took longer than {TIME_S:.0f} s" if "interrupted" in str(error) else error
        raise FlowFailed("sql", f"The query failed: {reason}.") from None
    except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError) as error:
        raise FlowFailed("sql", f"The query failed: {error}.") from None
    finally:
        connection.close()


def _open(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise FlowFailed("sql", f"There is no database {path.name}.")
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
    return connection


def _rows(connection: sqlite3.Connection, sql: str) -> Json:
    if not re.match(r"\s*(select|with)\b", sql, re.IGNORECASE):
        raise FlowFailed("sql", "Only SELECT is allowed.")
    connection.set_authorizer(_authorize)
    cursor = connection.execute(sql)
    columns = told_apart([one[0] for one in cursor.description])
    kept: list[Json] = []
    room, is_truncated = MAX_CHARACTERS, False
    for row in cursor:
        room -= sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if len(kept) == MAX_ROWS or (room < 0 and kept):
            is_truncated = True
            break
        kept.append({name: _plain(cell) for name, cell in zip(columns, row, strict=True)})
    return {"columns": columns, "rows": kept, "sql": sql, "truncated": is_truncated}


def told_apart(names: list[str]) -> list[str]:
    """Each name once, so that no value takes another's place in a row: name, name_2."""
    found: list[str] = []
    for name in names:
        one, count = name, 1
        while one in found or (count > 1 and one in names):
            count += 1
            one = f"{name}_{count}"
        found.append(one)
    return found


def _authorize(action: int, _first: str | None, second: str | None, *_rest: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def _described(connection: sqlite3.Connection, wanted: tuple[str, ...]) -> str:
    found = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    parts = []
    for name, sql in found:
        if wanted and name not in wanted:
            continue
        quoted = '"' + name.replace('"', '""') + '"'
        rows = connection.execute(f"SELECT * FROM {quoted} LIMIT {SAMPLE_ROWS}").fetchall()
        samples = "\n".join("-- " + ", ".join(str(c)[:LONGEST_SAMPLE] for c in row) for row in rows)
        parts.append(f"{sql};\n{samples}")
    return "\n\n".join(parts)


def _plain(cell: Any) -> Any:
    return f"{len(cell)} bytes" if isinstance(cell, bytes) else cell
