"""The body of an answer, read to its end."""

from typing import Any

PIECE = 64 * 1024


async def read_up_to(response: Any, most: int) -> bytes:
    """All of it, or the first `most` bytes. One `read` gives only what has arrived by then."""
    parts, room = [], most
    while room > 0 and (part := await response.content.read(min(room, PIECE))):
        parts.append(part)
        room -= len(part)
    return b"".join(parts)
