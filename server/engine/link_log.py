"""A worker's stderr as lines of our log, with the level each line names."""

import asyncio
import logging
import re

log = logging.getLogger("engine")
MAX_LINE_BYTES = 4096
_LEVEL = re.compile(r"(debug|info|warning|error|critical):\s*(.*)", re.DOTALL | re.IGNORECASE)
_NAMES = logging.getLevelNamesMapping()


async def follow(stream: asyncio.StreamReader) -> None:
    rest = b""
    while chunk := await stream.read(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            _write(line)
        if len(rest) > MAX_LINE_BYTES:
            _write(rest)
            rest = b""
    _write(rest)


def _write(line: bytes) -> None:
    text = line[:MAX_LINE_BYTES].decode(errors="replace").strip()
    if not text:
        return
    level, text = level_of(text)
    log.log(level, "%s", text)


def level_of(text: str) -> tuple[int, str]:
    """A line that names no level is a detail."""
    named = _LEVEL.match(text)
    if named is None:
        return logging.DEBUG, text
    return _NAMES[named[1].upper()], named[2]
