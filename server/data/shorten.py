"""Shortens data at its structure, never in the middle of JSON."""

import json
from typing import Any

MARK = "…"


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
