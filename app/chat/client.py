"""The chat page's side of the public API: a client of our own server like any other."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from app.chat import dialects
from app.chat.dialects import Heard, Options
from app.desktop.probe import NAME
from server.chat import Message
from server.errors import AppError, LinkLost

log = logging.getLogger(__name__)

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5)
_LONGEST_LINE = 2**20
NOT_UNDERSTOOD = "The server part of Moat said something this window does not understand."
OWN_HEADER = "X-Moat-Window"
CHAT_HEADER = "X-Moat-Chat"
STEP = ": step "
"""A comment by which OpenAI's protocol, that has no word for it, tells what a flow does."""


def _unheard(_line: str) -> None:
    pass


async def ask(
    address: str,
    key: str,
    messages: Sequence[Message],
    options: Options = Options(),  # noqa: B008
    raw: Callable[[str], None] = _unheard,
    own_key: str = "",
) -> AsyncGenerator[Heard, None]:
    """Stream an answer; `raw` sees every line of it. A failure is an AppError with its sentence.

    With `own_key` the server knows that it is the person's own window that asks.
    """
    dialect = dialects.of(options)
    headers = {"User-Agent": NAME}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if own_key:
        headers[OWN_HEADER] = own_key
    if options.chat:
        headers[CHAT_HEADER] = options.chat
    body = dialect.body(messages, options)
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT, read_bufsize=_LONGEST_LINE) as session,
            session.post(f"{address}{dialect.path}", json=body, headers=headers) as response,
        ):
            raw(f"POST {dialect.path}  {response.status}")
            await _check(response)
            async for event, data in _events(response, raw):
                for heard in dialect.read(event, data):
                    yield heard
            yield dialect.end()
    except aiohttp.ClientError as error:
        raise LinkLost from error
    except (LineTooLong, ValueError) as error:
        # Without its message: that quotes the answer.
        log.warning("An answer could not be read: %s", type(error).__name__)
        raise AppError(NOT_UNDERSTOOD) from error


async def _check(response: aiohttp.ClientResponse) -> None:
    if response.ok:
        return
    try:
        raise dialects.failure(await response.json())
    except (ValueError, aiohttp.ContentTypeError) as error:
        raise AppError(f"The server answered with status {response.status}.") from error


async def _events(
    response: aiohttp.ClientResponse, raw: Callable[[str], None]
) -> AsyncIterator[tuple[str, str]]:
    event = ""
    async for line in response.content:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text:
            raw(text)
        if text.startswith("event:"):
            event = text[6:].strip()
        elif text.startswith(STEP):
            yield "step", text.removeprefix(STEP)
        elif text.startswith("data:"):
            yield event, text[5:].strip()
            event = ""
