"""Streams frames as they come, with keep-alives. Ends connections whose client does not read."""

import asyncio
import socket

from aiohttp import web

from server.protocols.base import EVENT_STREAM, KEEP_ALIVE, Frames, KeepAlive
from server.tasks import spawn, stop

KEEP_ALIVE_S = 10.0
"""Seconds of silence after which a keep-alive is sent."""
STUCK_READER_S = 12.0
"""Seconds that a write may wait for the client before the connection is aborted."""
SEND_BUFFER_BYTES = 16 * 1024
WRITE_BUFFER_BYTES = 16 * 1024
"""The most bytes in asyncio's write buffer before a write waits."""
CHUNK_BYTES = 64
"""At least what chunked encoding adds to a frame."""


async def send(
    request: web.Request, frames: Frames, content_type: str, keep_alive: KeepAlive = KEEP_ALIVE
) -> web.StreamResponse:
    """Sends the frames. After a long silence, sends `keep_alive`; nothing if that is empty."""
    response = web.StreamResponse(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
    response.content_type = content_type.partition(";")[0]
    if content_type == EVENT_STREAM:
        response.charset = "utf-8"
    elif ";" in content_type:
        response.headers["Content-Type"] = content_type
    _shrink_send_buffer(request)
    await response.prepare(request)
    writer = _Writer(response, request.transport)
    ticker = spawn(writer.bridge(keep_alive), "keep-alive") if keep_alive else None
    try:
        async for frame in frames:
            await writer.write(frame)
            writer.last_frame = frame
        await response.write_eof()
    except (ConnectionError, TimeoutError):
        _abort(request)
    except Exception:
        _abort(request)  # the client would wait for an end that never comes
        raise
    finally:
        await stop(ticker)
    return response


class _Writer:
    def __init__(self, response: web.StreamResponse, transport: asyncio.Transport | None) -> None:
        self._response = response
        self._transport = transport
        self._clock = asyncio.get_running_loop().time
        self._last = self._clock()
        self.last_frame = b""

    async def write(self, frame: bytes) -> None:
        if self._has_room(frame):
            await self._response.write(frame)
        else:
            async with asyncio.timeout(STUCK_READER_S):
                await self._response.write(frame)
        self._last = self._clock()

    def _has_room(self, frame: bytes) -> bool:
        """Whether the frame can be written without waiting: the buffer is empty and has room."""
        waiting = self._transport.get_write_buffer_size() if self._transport else 0
        return not waiting and len(frame) + CHUNK_BYTES < WRITE_BUFFER_BYTES

    async def bridge(self, keep_alive: KeepAlive) -> None:
        while True:
            quiet_s = self._clock() - self._last
            if quiet_s >= KEEP_ALIVE_S:
                try:
                    frame = keep_alive(self.last_frame) if callable(keep_alive) else keep_alive
                    await self.write(frame)
                except (ConnectionError, TimeoutError):
                    return
                quiet_s = 0.0
            await asyncio.sleep(KEEP_ALIVE_S - quiet_s)


def _shrink_send_buffer(request: web.Request) -> None:
    """Makes the buffers small, so that a client that does not read is noticed soon.

    The kernel would otherwise take megabytes for it, and its slot would stay busy.
    """
    if request.transport is None:
        return
    request.transport.set_write_buffer_limits(WRITE_BUFFER_BYTES)
    wire = request.transport.get_extra_info("socket")
    if wire is not None:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
