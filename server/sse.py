"""Parses server-sent events from chunks of bytes that may be cut anywhere."""

import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Sent:
    """An event. `event` is empty if the stream does not name it."""

    data: str
    event: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    text: str


class TooLong(ValueError):
    """An event is larger than its reader allows."""


class Reader:
    """A parser of chunks. `feed` returns the events and comments that are complete.

    `on_line` sees each line that is not blank. An event of more than `most_bytes` raises TooLong.
    With `on_too_long`, that is called instead, and the event is skipped.
    """

    def __init__(
        self,
        most_bytes: int,
        on_line: Callable[[str], None] | None = None,
        on_too_long: Callable[[], None] | None = None,
    ) -> None:
        self._most_bytes = most_bytes
        self._on_line = on_line
        self._on_too_long = on_too_long
        self._line = bytearray()
        self._is_first_line = True
        self._ended_with_cr = False
        self._is_passed_over = False
        self._data: list[str] = []
        self._size = 0
        self._event = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[Sent | Comment]:
        if self._ended_with_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._ended_with_cr = False
        if not chunk:
            return []
        self._ended_with_cr = chunk[-1:] == b"\r"
        first, *others = _LINE_END.split(chunk)
        self._add(first)
        found: list[Sent | Comment] = []
        for part in others:
            item = self._take_line()
            found += [item] if item is not None else []
            self._add(part)
        return found

    def end(self) -> list[Sent | Comment]:
        """Returns the last event if the stream ended without the blank line after it."""
        last = self._dispatch()
        return [last] if last is not None else []

    def _add(self, part: bytes) -> None:
        self._line += part
        if len(self._line) + self._size <= self._most_bytes:
            return
        if self._on_too_long is None:
            raise TooLong(f"An event has more than {self._most_bytes} bytes.")
        if not self._is_passed_over:
            self._on_too_long()
        self._is_passed_over = True
        # One byte stands for the rest of the line, so that it does not count as blank.
        self._line = bytearray(b"x")
        self._forget()

    def _take_line(self) -> Sent | Comment | None:
        raw, self._line = bytes(self._line), bytearray()
        if self._is_first_line:
            raw, self._is_first_line = raw.removeprefix(_BYTE_ORDER_MARK), False
        if not raw:
            return self._dispatch()
        line = raw.decode("utf-8", "replace")
        if self._on_line is not None:
            self._on_line(line)
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not name:
            return Comment(value)
        self._set(name, value, len(raw))
        return None

    def _set(self, name: str, value: str, size: int) -> None:
        match name:
            case "data":
                self._data.append(value)
                self._size += size
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self._id = value

    def _dispatch(self) -> Sent | None:
        sent = Sent("\n".join(self._data), self._event, self._id)
        is_event = bool(self._data) and not self._is_passed_over
        self._is_passed_over = False
        self._forget()
        return sent if is_event else None

    def _forget(self) -> None:
        self._data, self._size, self._event = [], 0, ""


async def read_events(chunks: AsyncIterable[bytes], most_bytes: int) -> AsyncGenerator[Sent, None]:
    """Yields the events of a stream without comments. Raises TooLong if an event is too big."""
    reader = Reader(most_bytes)
    async for chunk in chunks:
        for item in reader.feed(chunk):
            if isinstance(item, Sent):
                yield item
    for item in reader.end():
        if isinstance(item, Sent):
            yield item
