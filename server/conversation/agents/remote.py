"""Agents on other servers, reached through `egress`: the list of servers, and how to ask them."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from server.chat import Json, Tool
from server.conversation.agents.base import Source
from server.egress import Egress, is_address, read_up_to
from server.errors import AppError
from server.sentences import Sentence
from server.sse import Sent, TooLong, read_events
from server.system.limits import try_json

REASON = Sentence("remote agents")
LONGEST_LINE = LONGEST_ANSWER = 32 * 1024 * 1024
"""The most bytes of a line and of an answer from a server."""
LONGEST_COMPLAINT = 300
"""The most characters of a server's reason that an error quotes."""
COMPLAINT_BYTES = 10_000
"""The most bytes of an error response that are read."""
PATIENCE_S = 5.0
"""How many seconds a server may take to list its agents. Requests to other agents wait too."""
FRESH_S = 30.0
"""How many seconds a list of agents, or the failure to get it, is kept."""
T = TypeVar("T")


class RemoteAgentFailed(AppError):
    code = "remote_agent_failed"
    status = 502


class RemoteSource(Source, Protocol):
    async def tools(self) -> tuple[Tool, ...]: ...


Make = Callable[["Peer"], RemoteSource]


class Peer:
    """A server elsewhere. Sends JSON, and reads JSON, lines or events. Raises RemoteAgentFailed."""

    def __init__(self, door: Egress, url: str) -> None:
        self._door = door
        self._url = url.rstrip("/")
        self.place = urlsplit(url).netloc

    async def ask(
        self, method: str, path: str, body: Json | None = None, *, within_s: float | None = None
    ) -> Any:
        try:
            async with asyncio.timeout(within_s), self._open(method, path, body) as response:
                data = await read_up_to(response, LONGEST_ANSWER + 1)
                if len(data) > LONGEST_ANSWER:
                    raise RemoteAgentFailed(f"{self.place} sent an answer that is too long.")
                return json.loads(data or b"null")
        except TimeoutError:
            raise self._unreachable() from None

    async def ask_who(self, path: str, body: Json) -> Any:
        """Asks for the list of agents, within PATIENCE_S."""
        return await self.ask("POST", path, body, within_s=PATIENCE_S)

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Raises RemoteAgentFailed if the code inside fails: an answer can have any shape."""
        try:
            yield
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
            raise RemoteAgentFailed(
                f"{self.place} sent an answer that Moat does not understand."
            ) from None

    async def lines(self, path: str, body: Json) -> AsyncGenerator[str, None]:
        async with self._open("POST", path, body) as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    yield line.decode("utf-8", "replace").rstrip("\r")
                if len(rest) > LONGEST_LINE:
                    raise RemoteAgentFailed(f"{self.place} sent a line without end.")
            if rest:
                yield rest.decode("utf-8", "replace")

    async def events(self, path: str, body: Json) -> AsyncGenerator[Sent, None]:
        try:
            async with (
                self._open("POST", path, body) as response,
                aclosing(read_events(response.content.iter_any(), LONGEST_LINE)) as events,
            ):
                async for sent in events:
                    yield sent
        except TooLong:
            raise RemoteAgentFailed(f"{self.place} sent a line without end.") from None

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Json | None) -> AsyncIterator[Any]:
        options: Json = {} if body is None else {"json": body}
        try:
            async with self._door.request(method, self._url + path, REASON, **options) as response:
                if response.status >= 400:
                    raise RemoteAgentFailed(await self._complaint(response))
                yield response
        except self._door.failures as error:
            raise self._unreachable() from error
        except (ValueError, RecursionError):
            raise RemoteAgentFailed(f"{self.place} sent an answer that is not JSON.") from None

    def _unreachable(self) -> RemoteAgentFailed:
        return RemoteAgentFailed(f"The agents at {self.place} cannot be reached.")

    async def _complaint(self, response: Any) -> str:
        found = try_json((await read_up_to(response, COMPLAINT_BYTES)).decode("utf-8", "replace"))
        detail = found.get("error") or found.get("detail") if isinstance(found, dict) else None
        ending = why(detail if isinstance(detail, str) else "")
        return f"{self.place} refused with {response.status}{ending}"


def why(reason: Any) -> str:
    """Returns the reason as the end of a sentence. Only its first line: others may name files."""
    lines = str(reason or "").strip().splitlines()
    return f": {lines[0][:LONGEST_COMPLAINT]}" if lines else "."


def require_name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("a name must be a text")
    return value


class Fresh(Generic[T]):
    """A server's answer or its failure, kept for FRESH_S so that not every request waits for it."""

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self._ask = ask
        self._answers: list[T] = []
        self._failed: RemoteAgentFailed | None = None
        self._asked_at = -FRESH_S

    async def get(self) -> T:
        if time.monotonic() - self._asked_at >= FRESH_S:
            self._answers, self._failed = [], None
            try:
                self._answers = [await self._ask()]
            except RemoteAgentFailed as error:
                self._failed = error
            self._asked_at = time.monotonic()
        if self._failed is not None:
            raise self._failed.with_traceback(None)
        return self._answers[0]


class Elsewhere:
    """The servers in the settings, as 'kind URL'. A listed server may be connected to."""

    def __init__(
        self, door: Egress, kinds: dict[str, Make], listed: Callable[[], tuple[str, ...]]
    ) -> None:
        self._door = door
        self._kinds = kinds
        self._listed = listed
        self._known: tuple[str, ...] = ()
        self._sources: tuple[RemoteSource, ...] = ()

    def sources(self) -> tuple[RemoteSource, ...]:
        listed = self._listed()
        if listed != self._known:
            self._known = listed
            self._door.forget(REASON)
            self._sources = tuple(map(self._make, listed))
        return self._sources

    async def tools(self) -> tuple[Tool, ...]:
        offered = await asyncio.gather(*(source.tools() for source in self.sources()))
        return tuple(tool for tools in offered for tool in tools)

    def _make(self, entry: str) -> RemoteSource:
        kind, _, url = entry.strip().partition(" ")
        make = self._kinds.get(kind)
        if make is None or not is_address(url.strip()):
            return _Misspelt(entry, tuple(self._kinds))
        self._door.allow(url.strip(), REASON)
        return make(Peer(self._door, url.strip()))


class _Misspelt:
    def __init__(self, entry: str, kinds: tuple[str, ...]) -> None:
        self._complaint = (
            f"'{entry}' is not an address of agents: write {' or '.join(kinds)}, then a URL."
        )

    async def agents(self) -> tuple[()]:
        raise RemoteAgentFailed(self._complaint)

    async def tools(self) -> tuple[()]:
        return ()
