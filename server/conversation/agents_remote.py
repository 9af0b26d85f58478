"""Agents that run elsewhere, reached through the one door out: which there are, and how to ask."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit

from server.chat import Json, Tool
from server.conversation.agents import Source
from server.errors import AppError

REASON = "agents elsewhere"
LONGEST_LINE = 32 * 1024 * 1024
LONGEST_COMPLAINT = 300


class RemoteAgentFailed(AppError):
    code = "remote_agent_failed"
    status = 502


class Door(Protocol):
    """What of the egress is used here."""

    @property
    def failures(self) -> tuple[type[Exception], ...]: ...
    def allow(self, url: str, reason: str) -> None: ...
    def forget(self, reason: str) -> None: ...
    def request(self, method: str, url: str, reason: str, **options: Any) -> Any: ...


class RemoteSource(Source, Protocol):
    async def tools(self) -> tuple[Tool, ...]: ...


Make = Callable[["Peer"], RemoteSource]


class Peer:
    """One server elsewhere: JSON to it, JSON or lines from it, and failures in a sentence."""

    def __init__(self, door: Door, url: str) -> None:
        self._door = door
        self._url = url.rstrip("/")
        self.place = urlsplit(url).netloc

    async def ask(self, method: str, path: str, body: Json | None = None) -> Any:
        async with self._open(method, path, body) as response:
            return json.loads(await response.read() or b"null")

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

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Json | None) -> AsyncIterator[Any]:
        options: Json = {} if body is None else {"json": body}
        try:
            async with self._door.request(method, self._url + path, REASON, **options) as response:
                if response.status >= 400:
                    raise RemoteAgentFailed(await self._complaint(response))
                yield response
        except self._door.failures as error:
            name = type(error).__name__
            raise RemoteAgentFailed(
                f"The agents at {self.place} cannot be reached ({name})."
            ) from None
        except ValueError:
            raise RemoteAgentFailed(
                f"{self.place} answered with something else than JSON."
            ) from None

    async def _complaint(self, response: Any) -> str:
        text = (await response.read())[:10_000].decode("utf-8", "replace")
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        said = found.get("error") or found.get("detail") if isinstance(found, dict) else None
        detail = f": {said.splitlines()[0][:LONGEST_COMPLAINT]}" if isinstance(said, str) else "."
        return f"{self.place} refused with {response.status}{detail}"


class Elsewhere:
    """The servers the user has listed, as 'kind URL'; listing one allows the door to it."""

    def __init__(
        self, door: Door, kinds: dict[str, Make], listed: Callable[[], tuple[str, ...]]
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
        return tuple([tool for source in self.sources() for tool in await source.tools()])

    def _make(self, entry: str) -> RemoteSource:
        kind, _, url = entry.strip().partition(" ")
        make = self._kinds.get(kind)
        if make is None or urlsplit(url.strip()).scheme not in ("http", "https"):
            return _Misspelt(entry, tuple(self._kinds))
        self._door.allow(url.strip(), REASON)
        return make(Peer(self._door, url.strip()))


class _Misspelt:
    def __init__(self, entry: str, kinds: tuple[str, ...]) -> None:
        self._complaint = (
            f"'{entry}' is no place for agents: write {' or '.join(kinds)}, then a URL."
        )

    async def agents(self) -> tuple[()]:
        raise RemoteAgentFailed(self._complaint)

    async def tools(self) -> tuple[()]:
        return ()
