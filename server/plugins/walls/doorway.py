"""The way out of the sandbox: a proxy that reaches only accepted hosts, through `egress`."""

import asyncio
import contextlib
import socket
from collections.abc import Callable

from yarl import URL

from server.egress import Egress, Ends
from server.errors import EgressRefused
from server.tasks import spawn, stop

CHUNK = 64 * 1024
HEAD_S = 30.0
MOST = 64
"""The most connections of a program at a time."""


class Doorway:
    """A proxy for one sandboxed program, on a socket that listens inside its sandbox."""

    def __init__(
        self,
        door: Egress,
        reason: str,
        note: Callable[[str], None],
        count: Callable[[int], None] = lambda _size: None,
    ) -> None:
        """`note` gets each refusal, `count` the number of bytes that arrive."""
        self._door = door
        self._reason = reason
        self._note = note
        self._count = count
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def open(self, listener: socket.socket) -> None:
        self._server = await asyncio.start_server(self._meet, sock=listener)

    async def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in tuple(self._running):
            await stop(task)

    def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._running) >= MOST:
            writer.close()
            return
        task = spawn(self._serve((reader, writer)), "doorway")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _serve(self, inner: Ends) -> None:
        reader, writer = inner
        try:
            async with asyncio.timeout(HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._pass_on(head, inner)
        except EgressRefused as error:
            self._note(str(error))
            writer.write(_refusal(403, str(error)))
        except (*self._door.failures, ValueError, EOFError, asyncio.LimitOverrunError):
            writer.write(_refusal(502, "No connection."))
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    async def _pass_on(self, head: bytes, inner: Ends) -> None:
        line, _, rest = head.partition(b"\r\n")
        method, target, version = line.decode("ascii").split(" ")
        if method == "CONNECT":
            url, first = URL(f"https://{target}"), b""
        else:
            url = URL(target)
            first = f"{method} {url.raw_path_qs} {version}\r\n".encode() + _own_headers(rest)
        if url.scheme not in ("http", "https") or not url.host or url.port is None:
            raise EgressRefused("A program asked for something that is not an address.")
        outer = await self._door.tunnel(url.host, url.port, self._reason)
        if method == "CONNECT":
            inner[1].write(f"{version} 200 Connected\r\n\r\n".encode())
        outer[1].write(first)
        await _join(inner, outer, self._count)


async def _join(inner: Ends, outer: Ends, count: Callable[[int], None]) -> None:
    """Copies both ways until both sides are done, or one fails."""
    try:
        async with asyncio.TaskGroup() as ways:
            ways.create_task(_copy(inner[0], outer[1]))
            ways.create_task(_copy(outer[0], inner[1], count))
    except* OSError:
        pass
    finally:
        outer[1].close()


async def _copy(
    source: asyncio.StreamReader,
    target: asyncio.StreamWriter,
    count: Callable[[int], None] = lambda _size: None,
) -> None:
    while chunk := await source.read(CHUNK):
        count(len(chunk))
        target.write(chunk)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()


def _own_headers(rest: bytes) -> bytes:
    """Removes proxy headers. Asks for one request per connection: each may name another host."""
    kept = [
        line
        for line in rest.split(b"\r\n")
        if line and not line.lower().startswith((b"proxy-", b"connection:"))
    ]
    return b"\r\n".join([*kept, b"Connection: close", b"", b""])


def _refusal(status: int, why: str) -> bytes:
    body = why.encode()
    head = f"HTTP/1.1 {status} Refused\r\nContent-Type: text/plain; charset=utf-8\r\n"
    return (
        head.encode() + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
    )
