"""Queries over a CSV file that a plugin brings."""

import sqlite3
from pathlib import Path
from typing import Any

from server.data.sqlite import import_csv


def rows(tmp_path: Path, text: str, sql: str) -> list[Any]:
    source = tmp_path / "t.csv"
    source.write_text(text, encoding="utf-8")
    connection = sqlite3.connect(import_csv(source, tmp_path / "data", "t"))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()
