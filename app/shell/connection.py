"""The HTTP side of the link: the server's event stream, pings, and commands to the server.

It is imported once the server has reported its address. aiohttp takes a large part of the start,
and the tray icon must not wait for it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import aiohttp

from server.errors import AppError, LinkLost
from server.sentences import from_wire
from server.sse import Reader, Sent

log = logging.getLogger(__name__)

_LONGEST_LINE = 2**22
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=3)


class Connection:
    """A connection to the server's control link. Methods raise LinkLost if it cannot be reached."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def events(self) -> AsyncIterator[str]:
        """Yields the data of each event, until the server ends the stream properly."""
        too_long = partial(log.warning, "An event of the server part was too long")
        reader = Reader(_LONGEST_LINE, on_too_long=too_long)
        try:
            async with self._session.get("/control/stream") as response:
                response.raise_for_status()
                async for chunk in response.content.iter_any():
                    for sent in reader.feed(chunk):
                        if isinstance(sent, Sent):
                            yield sent.data
        except aiohttp.ClientError as error:
            raise LinkLost from error

    async def ping(self, patience_s: float) -> bool:
        """Returns whether the server answered within `patience_s` seconds."""
        try:
            async with (
                asyncio.timeout(patience_s),
                self._session.get("/control/ping") as response,
            ):
                return response.ok
        except TimeoutError:
            return False
        except aiohttp.ClientError as error:
            raise LinkLost from error

    async def command(self, name: str, arguments: Any) -> Any:
        """Sends a command and returns its result. Raises the server's error as AppError."""
        body = {"name": name, "arguments": arguments}
        try:
            async with self._session.post("/control/command", json=body) as response:
                answer = await response.json()
        except (aiohttp.ClientError, ValueError) as error:
            raise LinkLost from error
        if response.ok:
            return answer["result"]
        told = answer["error"]
        failure = AppError(from_wire(told.get("sentence", told["message"])))
        failure.code = told["code"]
        failure.known_details = told.get("details", "")
        raise failure


@asynccontextmanager
async def connect(address: str, secret: str) -> AsyncIterator[Connection]:
    headers = {"Authorization": f"Bearer {secret}"}
    async with aiohttp.ClientSession(address, headers=headers, timeout=_TIMEOUT) as session:
        yield Connection(session)
