"""An event stream is read whatever its cuts, its line ends and its size."""

from collections.abc import AsyncIterator

import pytest

from server.sse import Comment, Reader, Sent, TooLong, read_events

STREAM = 'event: x\ndata: {"a": "ü"}\r\n\n: note\n\ndata:[DONE]\n\n'.encode()
MANY = (
    "\ufeffid: 7\nretry: 250\nevent: one\ndata: first\ndata:  second\n\n"
    ": a comment\ndata\n\nunknown: x\nevent: lost\n\nid: \0\nretry: soon\ndata: last\n\n"
)
FOUND = [
    Sent("first\n second", "one", "7"),
    Comment("a comment"),
    Sent("", "", "7"),
    Sent("last", "", "7"),
]


async def in_chunks(stream: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(stream), size):
        yield stream[at : at + size]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_events_are_whole_in_any_cut(size: int) -> None:
    found = [sent async for sent in read_events(in_chunks(STREAM, size), 1000)]
    assert found == [Sent('{"a": "ü"}', "x"), Sent("[DONE]")]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
async def test_every_field_is_read_with_every_line_end(line_end: str, size: int) -> None:
    reader = Reader(1000)
    stream = MANY.replace("\n", line_end).encode()
    assert [item async for chunk in in_chunks(stream, size) for item in reader.feed(chunk)] == FOUND
    assert reader.end() == []


def test_a_last_event_without_its_blank_line_is_read_and_half_a_line_is_not() -> None:
    reader = Reader(1000)
    assert reader.feed(b"data: whole\ndata: ha") == []
    assert reader.end() == [Sent("whole")]


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 100, b"data: xxxxxxxxxx\n" * 10])
def test_an_event_that_is_too_long_is_refused(stream: bytes) -> None:
    with pytest.raises(TooLong):
        Reader(99).feed(stream)
    assert len(Reader(1000).feed(stream + b"\n\n")) == 1


@pytest.mark.parametrize("size", [1, 9, 100_000])
async def test_or_it_is_passed_over_as_a_whole(size: int) -> None:
    told: list[str] = []
    reader = Reader(99, on_too_long=lambda: told.append("too long"))
    stream = b"data: a\n\ndata: " + b"x" * 1000 + b"\ndata: y\n\ndata: b\n\n"
    found = [item async for chunk in in_chunks(stream, size) for item in reader.feed(chunk)]
    assert (found, told) == ([Sent("a"), Sent("b")], ["too long"])


def test_each_line_is_shown() -> None:
    lines: list[str] = []
    Reader(100, on_line=lines.append).feed(b": c\r\nevent: x\ndata: 1\n\n")
    assert lines == [": c", "event: x", "data: 1"]
