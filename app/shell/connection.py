"""The HTTP side of the link: the server's stream of events, its pings, the commands sent to it.

It is imported when the server has said where it listens. Its library takes a good part of a start,
and the icon in the tray waits for none of it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import aiohttp

from server.errors import AppError, LinkLost
from server.sse import Reader, Sent

log = logging.getLogger(__name__)

_LONGEST_LINE = 2**22
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=3)


class Connection:
    """Every method raises `LinkLost` when the server cannot be reached."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def events(self) -> AsyncIterator[str]:
        """Yields the data of each event until the server ends the stream in good order."""
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
        """Returns whether the server answered in time."""
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
        """Sends a command and returns its result; raises what the server says went wrong."""
        body = {"name": name, "arguments": arguments}
        try:
            async with self._session.post("/control/command", json=body) as response:
                answer = await response.json()
        except (aiohttp.ClientError, ValueError) as error:
            raise LinkLost from error
        if response.ok:
            return answer["result"]
        failure = AppError(answer["error"]["message"])
        failure.code = answer["error"]["code"]
        failure.known_details = answer["error"].get("details", "")
        raise failure


@asynccontextmanager
async def connect(address: str, secret: str) -> AsyncIterator[Connection]:
    headers = {"Authorization": f"Bearer {secret}"}
    async with aiohttp.ClientSession(address, headers=headers, timeout=_TIMEOUT) as session:
        yield Connection(session)
