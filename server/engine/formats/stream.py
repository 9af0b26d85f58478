"""Reading a model's text as it comes: a style is a generator that waits when it runs dry."""

import json
import secrets
from collections.abc import Callable, Generator
from typing import Any

from server.chat import ToolCall
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Piece,
    ReasoningDelta,
    StopReason,
    TextDelta,
    TokenLogprob,
    ToolCallRequested,
    Usage,
)

More = Generator[None, None, None]
Emit = Callable[[str], None]
Script = Callable[["Reader"], More]
SPACE = " \t\r\n"


def new_call_id() -> str:
    return "call_" + secrets.token_hex(12)


class Reader:
    """The text not read yet, and the pieces made so far. Scripts `yield` to wait for more text."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self.calls = 0
        self._pieces: list[Piece] = []
        self._logprobs: list[TokenLogprob] = []
        self._open: tuple[str, str] | None = None
        self._ids = {""}
        self._arguments = ""
        self._kept: list[str] = []

    def add(self, text: str, logprobs: tuple[TokenLogprob, ...]) -> None:
        self.text += text
        self._kept.append(text)
        self._logprobs.extend(logprobs)

    def keep(self) -> None:
        self._kept = [self.text]

    @property
    def kept(self) -> str:
        """All the text from where `keep` was last called, read or not."""
        return "".join(self._kept)

    def take(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces

    def say(self, text: str) -> None:
        if text:
            self._pieces.append(TextDelta(text, tuple(self._logprobs)))
            self._logprobs.clear()

    def think(self, text: str) -> None:
        if text:
            self._pieces.append(ReasoningDelta(text))
            self._logprobs.clear()

    def open_call(self, name: str, call_id: str = "") -> None:
        self.close_call()
        self._open = (new_call_id() if call_id in self._ids else call_id, name)
        self._ids.add(call_id)
        self._pieces.append(CallOpened(self.calls, *self._open))
        self.calls += 1

    def argue(self, text: str) -> None:
        if text:
            self._arguments += text
            self._pieces.append(CallArguments(self.calls - 1, text))

    def close_call(self) -> None:
        if self._open is None:
            return
        call_id, name = self._open
        try:
            arguments = json.loads(self._arguments or "null")
        except (ValueError, RecursionError):
            arguments = None
        valid = isinstance(arguments, dict)
        call = ToolCall(call_id, name, arguments if valid else {})
        self._pieces.append(ToolCallRequested(call, valid=valid))
        self._open, self._arguments = None, ""

    def left_over_logprobs(self) -> None:
        if self._logprobs and not self.calls:
            self._pieces.append(TextDelta("", tuple(self._logprobs)))
            self._logprobs.clear()

    def until(self, marks: tuple[str, ...], emit: Emit) -> Generator[None, None, str | None]:
        """Emit up to the first of the marks, consume and return it; None when the text ends."""
        while True:
            found = first_of(self.text, marks)
            if found:
                at, mark = found
                emit(self.text[:at])
                self.text = self.text[at + len(mark) :]
                return mark
            keep = 0 if self.ended else held_back(self.text, marks)
            cut = len(self.text) - keep
            emit(self.text[:cut])
            self.text = self.text[cut:]
            if self.ended:
                return None
            yield

    def headed(self, mark: str, body: Callable[[str], More]) -> More:
        """Parts until the end, each a header, `mark` and what `body` reads by that header."""
        while not (self.ended and not self.text):
            parts: list[str] = []
            if (yield from self.until((mark,), parts.append)) is None:
                unmarked = "".join(parts)
                self.say(unmarked if "<|" not in unmarked and "to=" not in unmarked else "")
                return
            yield from body("".join(parts))

    def accept(self, *options: str) -> Generator[None, None, str | None]:
        """Consume the longest option the text starts with; None, and nothing, if it is none."""
        while not self.ended and any(
            len(option) > len(self.text) and option.startswith(self.text) for option in options
        ):
            yield
        found = max(filter(self.text.startswith, options), key=len, default=None)
        self.text = self.text[len(found or "") :]
        return found

    def skip_space(self) -> More:
        while True:
            self.text = self.text.lstrip(SPACE)
            if self.text or self.ended:
                return
            yield

    def json_value(self, emit: Emit) -> More:
        """Emit the raw text of one JSON value as it comes."""
        yield from self.skip_space()
        scan = _JsonScan()
        while True:
            length = scan.length(self.text)
            emit(self.text[:length])
            self.text = self.text[length:]
            if scan.done or self.ended:
                return
            yield

    def json_text(self, emit: Emit) -> More:
        """Emit one JSON string decoded, as it comes; its opening quote is still ahead."""
        yield from self.skip_space()
        self.text = self.text[1:]
        while True:
            length, text, closed = decoded(self.text)
            emit(text)
            self.text = self.text[length:]
            if closed or self.ended:
                return
            yield

    def json_whole(self) -> Generator[None, None, Any]:
        """One whole JSON value, parsed; None when it is broken."""
        parts: list[str] = []
        yield from self.json_value(parts.append)
        try:
            return json.loads("".join(parts))
        except (ValueError, RecursionError):
            return None


class ScriptParser:
    """A Parser that runs a script over a Reader."""

    def __init__(self, script: Script) -> None:
        self._reader = Reader()
        self._script = script(self._reader)

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]:
        self._reader.add(text, logprobs)
        next(self._script, None)
        return self._reader.take()

    def end(self, reason: StopReason, usage: Usage) -> list[Piece]:
        reader = self._reader
        reader.ended = True
        for _ in self._script:
            pass
        reader.close_call()
        reader.left_over_logprobs()
        called: StopReason = "tool_calls" if reader.calls and reason == "stop" else reason
        return [*reader.take(), Finished(called, usage)]


def first_of(text: str, marks: tuple[str, ...]) -> tuple[int, str] | None:
    hits = [(at, -len(mark), mark) for mark in marks if (at := text.find(mark)) >= 0]
    if not hits:
        return None
    at, _, mark = min(hits)
    return at, mark


def held_back(text: str, marks: tuple[str, ...]) -> int:
    """How many last characters may yet become a mark."""
    longest = min(max(map(len, marks), default=1) - 1, len(text))
    for size in range(longest, 0, -1):
        tail = text[-size:]
        if any(mark.startswith(tail) for mark in marks):
            return size
    return 0


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


class _JsonScan:
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
