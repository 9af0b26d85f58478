"""Writes data for people and models: rows as a Markdown table, other data as fenced JSON.

Long data is shortened by leaving out items, so that the JSON stays whole.
"""

import json
from collections.abc import Sequence
from typing import Any

from server.artifacts import markdown_table
from server.chat import Json

MOST_ROWS = 50
MOST_COLUMNS = 12
LONGEST_CELL = 120
LONGEST_JSON = 4000
NOTHING = "The answer is empty."

MARK = "…"


def as_markdown(data: Any) -> str:
    """Writes data as Markdown. A list of objects becomes a table, also if an object holds it."""
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
    """Writes rows as a Markdown table, with the columns in the order of their first appearance.
    Below the table it says how many rows and columns were left out."""
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
    """Returns the name of an object's only list of objects, and the plain values beside it. Returns
    None for any other object."""
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


def as_text(data: Any) -> str:
    if data is None:
        return ""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def shorten(data: Any, room_chars: int) -> str:
    """Returns the data as a text of at most about `room_chars` characters."""
    text = as_text(data)
    if len(text) <= room_chars:
        return text
    if isinstance(data, str):
        return _head_and_tail(data, room_chars)
    items, length = 64, 2000
    while items > 1 or length > 20:
        text = json.dumps(_cut(data, items, length), ensure_ascii=False)
        if len(text) <= room_chars:
            return text
        items, length = max(items // 2, 1), max(length // 2, 20)
    return _head_and_tail(text, room_chars)


def _cut(data: Any, items: int, length: int) -> Any:
    if isinstance(data, list):
        kept = [_cut(item, items, length) for item in data[:items]]
        more = len(data) - items
        return [*kept, f"{MARK} {more} more"] if more > 0 else kept
    if isinstance(data, dict):
        pairs = list(data.items())
        cut = {key: _cut(value, items, length) for key, value in pairs[: items * 2]}
        if len(pairs) > items * 2:
            cut[MARK] = f"{len(pairs) - items * 2} more"
        return cut
    if isinstance(data, str) and len(data) > length:
        return _head_and_tail(data, length)
    return data


def _head_and_tail(text: str, room_chars: int) -> str:
    tail = room_chars // 4
    return f"{text[: max(room_chars - tail - 3, 0)]} {MARK} {text[len(text) - tail :]}"
