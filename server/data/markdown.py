"""Data as people read it in a chat: rows as a Markdown table, everything else as fenced JSON."""

import json
from collections.abc import Sequence
from typing import Any

from server.artifacts import markdown_table
from server.chat import Json
from server.data.shorten import as_text, shorten

MOST_ROWS = 50
MOST_COLUMNS = 12
LONGEST_CELL = 120
LONGEST_JSON = 4000
NOTHING = "The answer is empty."


def as_markdown(data: Any) -> str:
    """Writes a list of objects as a table, also within an object that has few other values."""
    if data is None or data in ("", [], {}):
        return NOTHING
    if isinstance(data, str):
        return data
    if is_rows(data):
        return table(data)
    held = _held_rows(data)
    if held is not None:
        name, rest = held
        lines = [f"- {key}: {_cell(value)}" for key, value in rest.items()]
        return "\n".join([*lines, *([""] if lines else []), table(data[name])])
    return _as_json_block(data)


def is_rows(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(row, dict) for row in data)


def table(rows: Sequence[Json], most_rows: int = MOST_ROWS) -> str:
    """Shows every column that any row has, in the order of their first appearance."""
    shown = rows[:most_rows]
    names = list(dict.fromkeys(name for row in shown for name in row))
    cut = names[MOST_COLUMNS:]
    names = names[:MOST_COLUMNS] or ["(empty)"]
    lines = [markdown_table(names, ([row.get(name) for name in names] for row in shown), _cell)]
    if len(rows) > most_rows:
        lines.append(f"\n{len(rows) - most_rows} more rows")
    if cut:
        lines.append(f"\n{len(cut)} more columns: {', '.join(map(str, cut[:MOST_COLUMNS]))}")
    return "\n".join(lines)


def _held_rows(data: Any) -> tuple[str, Json] | None:
    """The name of the only list of objects in an object, and the plain values beside it."""
    if not isinstance(data, dict):
        return None
    names = [name for name, value in data.items() if is_rows(value)]
    rest = {name: value for name, value in data.items() if name not in names}
    is_plain = not any(isinstance(value, dict | list) and value for value in rest.values())
    return (names[0], rest) if len(names) == 1 and is_plain else None


def _as_json_block(data: Any) -> str:
    whole = json.dumps(data, ensure_ascii=False, indent=2)
    text = whole if len(whole) <= LONGEST_JSON else shorten(data, LONGEST_JSON)
    fence = "````" if "```" in text else "```"
    return f"{fence}json\n{text}\n{fence}"


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    text = as_text(cell) if isinstance(cell, dict | list) else str(cell)
    return shorten(text, LONGEST_CELL) if isinstance(cell, dict | list) else text
