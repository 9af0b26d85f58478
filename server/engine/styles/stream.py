"""Reading a model's text as it comes: a style is a generator that waits when it runs dry."""

import json
import secrets
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

from server.chat import ToolCall
from server.engine.styles.json_scan import JsonScan, decoded
from server.engine.styles.marks import first_of, held_back
from server.engine.styles.stops import Stops
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
    """The text not read yet, and the pieces made so far. Scripts `yield` to wait for more text.

    Places in the whole text tell which tokens are those of what is said: those behind `_passed`,
    the end of the last mark, thought or argument.
    """

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self.calls = 0
        self.is_broken = False
        """Whether the last call was cut."""
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
            # Halves of a character have more letters than the text that came of them.
            begin = min(at, self._heard - bool(text))
            at = min(at + len(token.text), self._heard)
            self._logprobs.append((begin, max(begin, at), token))

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
            self._pieces.append(TextDelta(text, self._tokens_said()))

    def think(self, text: str) -> None:
        if text:
            self._pieces.append(ReasoningDelta(text))
            self._pass()

    def skip(self, _text: str) -> None:
        self._pass()

    def take_back(self, mark: str) -> None:
        """What was just taken for a mark is text after all."""
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

    def close_call(self) -> None:
        if self._open is None:
            return
        call_id, name = self._open
        try:
            arguments = json.loads(self._arguments or "null")
        except (ValueError, RecursionError):
            arguments = None
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
        """Where in the whole text it is reading."""
        return self._heard - len(self.text)

    def _pass(self) -> None:
        self._passed = self._place

    def _tokens_said(self) -> tuple[TokenLogprob, ...]:
        """Those that begin before the place it is reading; one that goes on behind it is said."""
        told = [one for one in self._logprobs if one[0] < self._place]
        del self._logprobs[: len(told)]
        return tuple(token for _, end, token in told if end > self._passed)

    def _cut(self, size: int) -> str:
        cut, self.text = self.text[:size], self.text[size:]
        return cut

    def until(self, marks: tuple[str, ...], emit: Emit) -> Generator[None, None, str | None]:
        """Emit up to the first of the marks, consume and return it; None when the text ends."""
        while True:
            found = first_of(self.text, marks)
            keep = 0 if self.ended else held_back(self.text, marks)
            # What begins before the mark that was found may become a longer one yet.
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
        """Emit the raw text of one JSON value as it comes."""
        yield from self.skip_space()
        scan = JsonScan()
        while True:
            emit(self._cut(scan.length(self.text)))
            if scan.done or self.ended:
                return
            yield

    def json_text(self, emit: Emit) -> More:
        """Emit one JSON string decoded, as it comes; its opening quote is still ahead."""
        yield from self.skip_space()
        self._cut(1)
        self._pass()
        while True:
            length, text, closed = decoded(self.text)
            self._cut(length - closed)
            emit(text)
            self._cut(closed)
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


class Filter(Protocol):
    """Looks at the pieces of a script once more, before stop texts are looked for."""

    @property
    def count(self) -> int:
        """How many calls it passed on."""
        ...

    @property
    def holds(self) -> bool:
        """Whether it holds text back."""
        ...

    def see(self, pieces: Sequence[Piece]) -> list[Piece]: ...
    def rest(self) -> list[Piece]: ...


class ScriptParser:
    """A Parser that runs a script over a Reader. `stops`: the texts that end what is said."""

    def __init__(self, script: Script, stops: tuple[str, ...] = ()) -> None:
        self._reader = Reader()
        self._script = script(self._reader)
        self._stops = Stops(stops)
        self._filter: Filter | None = None

    def pass_through(self, through: Filter) -> None:
        """From now on, pieces go through this filter."""
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
        return self._stops.see(self._taken())

    def end(self, reason: StopReason, usage: Usage) -> list[Piece]:
        reader = self._reader
        reader.ended = True
        for _ in self._script:
            pass
        reader.close_call()
        reader.left_over_logprobs()
        made = [*self._taken(), *(self._filter.rest() if self._filter else ())]
        pieces = [*self._stops.see(made), *self._stops.rest()]
        if self.stopped:
            reason = "stop"
        calls = self._filter.count if self._filter else reader.calls
        if reason == "stop" and calls and not reader.is_broken:
            return [*pieces, Finished("tool_calls", usage)]
        return [*pieces, Finished(reason, usage, self._stops.met)]

    def _taken(self) -> list[Piece]:
        pieces = self._reader.take()
        return self._filter.see(pieces) if self._filter else pieces
