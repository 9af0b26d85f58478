"""Values as models write them without a grammar: JSON, single quotes, Python's words.

Every reader goes through a text once, from left to right, and waits (`yield`) for more.
"""

import json
import re
from collections.abc import Generator
from typing import Any

SPACE = re.compile(r"[ \t\r\n]*")
WORD = re.compile(r"[A-Za-z0-9_.+\-]*")
UNQUOTED = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|.)|"', re.DOTALL)
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?")
WORDS = {"True": "true", "False": "false", "None": "null"} | {
    word: word for word in ("true", "false", "null")
}
JSON_ESCAPES = '"\\/bfnrtu'

Waiting = Generator[None, None, str]


class NotACall(Exception):
    """What was read so far cannot become a call."""


class Source:
    """The text of an answer. Scripts wait for more only after they have read all of it."""

    def __init__(self) -> None:
        self.ended = False
        self.place = 0
        """How much was read."""
        self.begins_line = True
        """Whether only white space was read since the line began."""
        self._text = ""
        self._at = 0

    def add(self, text: str) -> None:
        self._text = self._text[self._at :] + text
        self._at = 0

    def peek(self) -> Waiting:
        """Returns the next character; empty at the end of the text."""
        while self._at >= len(self._text):
            if self.ended:
                return ""
            yield
        return self._text[self._at]

    @property
    def has_more(self) -> bool:
        """Whether some text is not read yet."""
        return self._at < len(self._text)

    def count(self, pattern: "re.Pattern[str]") -> int:
        """Returns how many of the next characters the pattern matches, as far as they are there."""
        found = pattern.match(self._text, self._at)
        return found.end() - self._at if found else 0

    def skip(self, size: int = 1) -> str:
        read = self._text[self._at : self._at + size]
        self._at += len(read)
        self.place += len(read)
        line = read.rpartition("\n")
        self.begins_line = (self.begins_line or bool(line[1])) and not line[2].strip()
        return read

    def take(self, pattern: "re.Pattern[str]") -> Waiting:
        """Reads as many characters as the pattern matches. It describes one kind of character."""
        parts: list[str] = []
        while True:
            parts.append(self.skip(self.count(pattern)))
            if self.has_more or self.ended:
                return "".join(parts)
            yield

    def expect(self, char: str) -> Generator[None, None, None]:
        yield from self.take(SPACE)
        if (yield from self.peek()) != char:
            raise NotACall
        self.skip()


def text(source: Source) -> Waiting:
    """Reads a text in quotes of either kind."""
    quote = yield from source.peek()
    if quote not in UNQUOTED:
        raise NotACall
    source.skip()
    parts: list[str] = []
    while True:
        parts.append((yield from source.take(UNQUOTED[quote])))
        char = yield from source.peek()
        if not char:
            raise NotACall
        source.skip()
        if char == quote:
            return _decode("".join(parts))
        parts.append(char)
        parts.append((yield from source.peek()))
        source.skip()


def value(source: Source) -> Generator[None, None, Any]:
    """Reads one value: an object, a list, a text, a number or a word."""
    made: list[str] = []
    depth = 0
    while True:
        yield from source.take(SPACE)
        char = yield from source.peek()
        if char in UNQUOTED:
            made.append(json.dumps((yield from text(source))))
        elif char and char in "{}[]:,":
            depth += (char in "{[") - (char in "}]")
            _add_sign(made, source.skip())
        else:
            made.append(_word((yield from source.take(WORD))))
        if depth <= 0:
            return parse("".join(made))


def parse(made: str) -> Any:
    try:
        return json.loads(made)
    except (ValueError, RecursionError) as error:
        raise NotACall from error


def _add_sign(made: list[str], sign: str) -> None:
    if sign in "}]" and made and made[-1] == ",":
        made.pop()
    made.append(sign)


def _word(word: str) -> str:
    if word not in WORDS and not NUMBER.fullmatch(word):
        raise NotACall
    return WORDS.get(word, word)


def _decode(inside: str) -> str:
    return str(parse_text(ESCAPE.sub(_json_escape, inside)))


def parse_text(inside: str) -> Any:
    """Parses a text. Lines may break within it, which JSON itself does not allow."""
    try:
        return json.loads(f'"{inside}"', strict=False)
    except ValueError as error:
        raise NotACall from error


def _json_escape(found: "re.Match[str]") -> str:
    """Writes the escape as JSON does."""
    escaped = found[1]
    if escaped is None:
        return '\\"'
    if escaped[0] in JSON_ESCAPES and (escaped[0] != "u" or len(escaped) > 1):
        return found[0]
    return escaped if escaped in "'\n" else f"\\\\{escaped}"
