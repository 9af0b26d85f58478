"""JSON in any cuts: where a value ends, and what of a string can be told already."""

import json


def decoded(text: str) -> tuple[int, str, bool]:
    """How much of a JSON string's inside can be decoded now, what it says, whether it closed."""
    at = 0
    parts: list[str] = []
    while at < len(text):
        if text[at] == '"':
            return at + 1, "".join(parts), True
        size = _escape_size(text, at) if text[at] == "\\" else 1
        if not size:
            break
        parts.append(_unescaped(text[at : at + size]) if size > 1 else text[at])
        at += size
    return at, "".join(parts), False


def _escape_size(text: str, at: int) -> int:
    """The length of the escape at this place; 0 while it is not all there."""
    if len(text) < at + 2:
        return 0
    if text[at + 1] != "u":
        return 2
    first_half = text[at + 2 : at + 4].lower() in ("d8", "d9", "da", "db")
    paired = first_half and "\\u".startswith(text[at + 6 : at + 8])
    size = 12 if paired else 6
    return size if len(text) >= at + size else 0


def _unescaped(escape: str) -> str:
    try:
        return str(json.loads(f'"{escape}"'))
    except (ValueError, RecursionError):
        return escape


class JsonScan:
    """Finds where one JSON value ends, fed in any cuts."""

    def __init__(self) -> None:
        self.done = False
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._bare = False

    def length(self, text: str) -> int:
        for at, char in enumerate(text):
            if self._ends_before(char):
                self.done = True
                return at
            self._see(char)
            if self.done:
                return at + 1
        return len(text)

    def _ends_before(self, char: str) -> bool:
        """A number or a word has no closing sign of its own."""
        return self._bare and not (char.isalnum() or char in "+-.")

    def _see(self, char: str) -> None:
        if self._quoted:
            self._see_quoted(char)
        elif char == '"':
            self._quoted = True
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            self.done = self._depth <= 0
        elif not self._depth:
            self._bare = True

    def _see_quoted(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._quoted = False
            self.done = not self._depth
