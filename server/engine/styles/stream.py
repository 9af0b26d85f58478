"""Reads a model's text while it arrives: marks, stop texts and JSON, in arbitrary cuts."""

import json
import secrets
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

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
from server.system.limits import try_json


def first_of(text: str, marks: tuple[str, ...]) -> tuple[int, str] | None:
    hits = [(at, -len(mark), mark) for mark in marks if (at := text.find(mark)) >= 0]
    if not hits:
        return None
    at, _, mark = min(hits)
    return at, mark


def held_back(text: str, marks: tuple[str, ...]) -> int:
    """Returns how many of the last characters may still become a mark."""
    longest = min(max(map(len, marks), default=1) - 1, len(text))
    for size in range(longest, 0, -1):
        tail = text[-size:]
        if any(mark.startswith(tail) for mark in marks):
            return size
    return 0


def shared_start(*texts: str) -> str:
    """Returns the longest common beginning of the texts."""
    least, most = min(texts), max(texts)
    pairs = enumerate(zip(least, most, strict=False))
    return least[: next((at for at, (first, other) in pairs if first != other), len(least))]


def shared_end(*texts: str) -> str:
    """Returns the longest common ending of the texts."""
    return shared_start(*(text[::-1] for text in texts))[::-1]


def decode(text: str) -> tuple[int, str, bool]:
    """Decodes the inside of a JSON string. Returns length read, text, and whether it closed."""
    at = 0
    parts: list[str] = []
    while at < len(text):
        if text[at] == '"':
            return at + 1, "".join(parts), True
        size = _escape_size(text, at) if text[at] == "\\" else 1
        if not size:
            break
        escape = text[at : at + size]
        parts.append(str(try_json(f'"{escape}"', escape)) if size > 1 else escape)
        at += size
    return at, "".join(parts), False


def _escape_size(text: str, at: int) -> int:
    """Returns the length of the escape at this place; 0 if it is incomplete."""
    if len(text) < at + 2:
        return 0
    if text[at + 1] != "u":
        return 2
    first_half = text[at + 2 : at + 4].lower() in ("d8", "d9", "da", "db")
    paired = first_half and "\\u".startswith(text[at + 6 : at + 8])
    size = 12 if paired else 6
    return size if len(text) >= at + size else 0


class JsonScan:
    """Finds the end of a JSON value in text that arrives in arbitrary cuts."""

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
        """Whether a number or word ends before this character: neither has a closing character."""
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


class Stops:
    """Passes pieces on up to the first stop text. `met` is the stop text that was found."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.met: str | None = None
        self._texts = tuple(filter(None, texts))
        self._held = TextDelta("")

    def see(self, pieces: Sequence[Piece]) -> list[Piece]:
        if not self._texts:
            return list(pieces)
        passed: list[Piece] = []
        for piece in pieces:
            if self.met is not None:
                break
            passed += (
                self._pass_text(piece) if isinstance(piece, TextDelta) else [*self.rest(), piece]
            )
        return passed

    def rest(self) -> list[Piece]:
        """Returns the text that is still held back. It did not become a stop text."""
        held, self._held = self._held, TextDelta("")
        return [held] if held.text or held.logprobs else []

    def _pass_text(self, piece: TextDelta) -> list[Piece]:
        text, tokens = self._held.text + piece.text, self._held.logprobs + piece.logprobs
        found = first_of(text, self._texts)
        cut = len(text) - held_back(text, self._texts)
        if found:
            cut, self.met = found
        at = count = 0
        while count < len(tokens) and at < cut:
            at += len(tokens[count].text)
            count += 1
        self._held = TextDelta("") if found else TextDelta(text[cut:], tokens[count:])
        return [TextDelta(text[:cut], tokens[:count])] if cut else []


More = Generator[None, None, None]
Emit = Callable[[str], None]
Script = Callable[["Reader"], More]
SPACE = " \t\r\n"


def new_call_id() -> str:
    return "call_" + secrets.token_hex(12)


class Reader:
    """The unread text and the pieces made so far. Scripts `yield` to wait for more text.

    Tokens belong to the answer if they end after `_passed`, which is the place behind the last
    mark, thought or argument.
    """

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self.calls = 0
        self.is_broken = False
        """Whether the last call was cut off."""
        self._pieces: list[Piece] = []
        self._logprobs: list[tuple[int, int, TokenLogprob]] = []
        self._heard = 0
        self._passed = 0
        self._open: tuple[str, str] | None = None
        self._ids = {""}
        self._arguments = ""
        self._kept: list[str] = []

    def add(self, text: str, logprobs: tuple[TokenLogprob, ...]) -> None:
        self.text += text
        self._kept.append(text)
        at, self._heard = self._heard, self._heard + len(text)
        for token in logprobs:
            # Tokens for parts of a character may be longer than the text that they form together.
            begin = min(at, self._heard - bool(text))
            at = min(at + len(token.text), self._heard)
            self._logprobs.append((begin, max(begin, at), token))

    def keep(self) -> None:
        self._kept = [self.text]

    @property
    def kept(self) -> str:
        """All text since the last call of `keep`, whether read or not."""
        return "".join(self._kept)

    def take(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces

    def say(self, text: str) -> None:
        if text:
            self._pieces.append(TextDelta(text, self._tokens_passed()))

    def think(self, text: str) -> None:
        if text:
            self._pieces.append(ReasoningDelta(text))
            self._pass()

    def skip(self, _text: str) -> None:
        self._pass()

    def take_back(self, mark: str) -> None:
        """Makes the mark that was just consumed count as text again."""
        self._passed = self._place - len(mark)

    def open_call(self, name: str, call_id: str = "") -> None:
        self.close_call()
        self._open = (new_call_id() if call_id in self._ids else call_id, name)
        self._ids.add(call_id)
        self._pieces.append(CallOpened(self.calls, *self._open))
        self.calls += 1

    def argue(self, text: str) -> None:
        if text:
            self._arguments += text
            self._pass()
            self._pieces.append(CallArguments(self.calls - 1, text))

    def argue_text(self, text: str) -> None:
        """Adds a part of a string to the arguments, escaped as JSON."""
        self.argue(json.dumps(text, ensure_ascii=False)[1:-1])

    def close_call(self) -> None:
        if self._open is None:
            return
        call_id, name = self._open
        arguments = try_json(self._arguments)
        valid = isinstance(arguments, dict)
        self.is_broken = not valid
        call = ToolCall(call_id, name, arguments if valid else {})
        self._pieces.append(ToolCallRequested(call, valid=valid))
        self._open, self._arguments = None, ""

    def left_over_logprobs(self) -> None:
        tokens = tuple(token for _, end, token in self._logprobs if end > self._passed)
        if tokens and not self.calls:
            self._pieces.append(TextDelta("", tokens))

    @property
    def _place(self) -> int:
        """The current place in the whole text."""
        return self._heard - len(self.text)

    def _pass(self) -> None:
        self._passed = self._place

    def _tokens_passed(self) -> tuple[TokenLogprob, ...]:
        """Takes the tokens that begin before the current place, and returns those of the answer."""
        passed = [token for token in self._logprobs if token[0] < self._place]
        del self._logprobs[: len(passed)]
        return tuple(token for _, end, token in passed if end > self._passed)

    def _cut(self, size: int) -> str:
        cut, self.text = self.text[:size], self.text[size:]
        return cut

    def until(self, marks: tuple[str, ...], emit: Emit) -> Generator[None, None, str | None]:
        """Emits text up to the first mark, which it consumes and returns; None at the end."""
        while True:
            found = first_of(self.text, marks)
            keep = 0 if self.ended else held_back(self.text, marks)
            # Text that begins before the found mark may still become a longer mark.
            if found and keep <= len(self.text) - found[0]:
                at, mark = found
                emit(self._cut(at))
                self._cut(len(mark))
                self._pass()
                return mark
            emit(self._cut(len(self.text) - keep))
            if self.ended:
                return None
            yield

    def read_parts(self, mark: str, body: Callable[[str], More]) -> More:
        """Reads parts until the end: a header, `mark`, and whatever `body(header)` reads."""
        while not (self.ended and not self.text):
            parts: list[str] = []
            if (yield from self.until((mark,), parts.append)) is None:
                unmarked = "".join(parts)
                self.say(unmarked if "<|" not in unmarked and "to=" not in unmarked else "")
                return
            yield from body("".join(parts))

    def accept(self, *options: str) -> Generator[None, None, str | None]:
        """Consumes and returns the longest option that the text starts with; None if no match."""
        while not self.ended and any(
            len(option) > len(self.text) and option.startswith(self.text) for option in options
        ):
            yield
        found = max(filter(self.text.startswith, options), key=len, default=None)
        if found:
            self._cut(len(found))
            self._pass()
        return found

    def skip_space(self) -> More:
        while True:
            space = len(self.text) - len(self.text.lstrip(SPACE))
            if space:
                self._cut(space)
                self._pass()
            if self.text or self.ended:
                return
            yield

    def json_value(self, emit: Emit) -> More:
        """Emits the raw text of a JSON value while it arrives."""
        yield from self.skip_space()
        scan = JsonScan()
        while True:
            emit(self._cut(scan.length(self.text)))
            if scan.done or self.ended:
                return
            yield

    def json_text(self, emit: Emit) -> More:
        """Emits a JSON string, decoded, while it arrives. Its opening quote is not read yet."""
        yield from self.skip_space()
        self._cut(1)
        self._pass()
        while True:
            length, text, closed = decode(self.text)
            self._cut(length - closed)
            emit(text)
            self._cut(closed)
            if closed or self.ended:
                return
            yield

    def json_whole(self) -> Generator[None, None, Any]:
        """Reads and parses a JSON value; None if it is invalid."""
        parts: list[str] = []
        yield from self.json_value(parts.append)
        return try_json("".join(parts))


class PieceFilter(Protocol):
    """Filters a script's pieces before stop texts are searched."""

    @property
    def count(self) -> int:
        """The number of calls passed on so far."""
        ...

    @property
    def holds(self) -> bool:
        """Whether some text is held back."""
        ...

    def see(self, pieces: Sequence[Piece]) -> list[Piece]: ...
    def rest(self) -> list[Piece]: ...


class ScriptParser:
    """A `Parser` that runs a script over a `Reader`. `stops` are the texts that end the answer."""

    def __init__(self, script: Script, stops: tuple[str, ...] = ()) -> None:
        self._reader = Reader()
        self._script = script(self._reader)
        self._stops = Stops(stops)
        self._filter: PieceFilter | None = None

    def pass_through(self, through: PieceFilter) -> None:
        """Sends all following pieces through this filter."""
        self._filter = through

    @property
    def holds(self) -> bool:
        return self._filter is not None and self._filter.holds

    @property
    def stopped(self) -> bool:
        return self._stops.met is not None

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]:
        self._reader.add(text, logprobs)
        next(self._script, None)
        return self._stops.see(self._take())

    def end(self, reason: StopReason, usage: Usage) -> list[Piece]:
        reader = self._reader
        reader.ended = True
        for _ in self._script:
            pass
        reader.close_call()
        reader.left_over_logprobs()
        made = [*self._take(), *(self._filter.rest() if self._filter else ())]
        pieces = [*self._stops.see(made), *self._stops.rest()]
        if self.stopped:
            reason = "stop"
        calls = self._filter.count if self._filter else reader.calls
        if reason == "stop" and calls and not reader.is_broken:
            return [*pieces, Finished("tool_calls", usage)]
        return [*pieces, Finished(reason, usage, self._stops.met)]

    def _take(self) -> list[Piece]:
        pieces = self._reader.take()
        return self._filter.see(pieces) if self._filter else pieces
