"""A worker's lines keep their level and cannot flood the log."""

import asyncio
import logging

import pytest

from server.engine import link


async def test_lines_are_logged_whole_with_their_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "engine")
    stream = asyncio.StreamReader()
    stream.feed_data(b"info: loading\nwarn")
    stream.feed_data("ing: größer\n\nplain error: text\nlast".encode())
    stream.feed_eof()
    await link.follow(stream)
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "loading"),
        ("WARNING", "größer"),
        ("DEBUG", "plain error: text"),
        ("DEBUG", "last"),
    ]


async def test_an_endless_line_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "engine")
    stream = asyncio.StreamReader()
    stream.feed_data(b"x" * 200_000 + b"\xff")
    stream.feed_eof()
    await link.follow(stream)
    assert max(len(record.message) for record in caplog.records) <= link.MAX_LINE_BYTES
