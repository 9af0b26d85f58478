"""One model behind several servers: chooses a server for each request and watches which ones fail.

The least busy server answers, but a conversation stays where its prompt is cached. After three
failures a server is out until a probe succeeds. A request without any answer yet moves to another,
and waits a while for one that was only slow.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from server.chat import ChatRequest
from server.engine.base import Forwarding, LoadState, ModelFacts
from server.engine.elsewhere.engine import RemoteEngine
from server.errors import AppError, Busy, EngineCrashed, ModelLoadFailed
from server.events import Pieces, PromptProgress
from server.observe import Value
from server.sentences import Sentence
from server.tasks import spawn, stop

T = TypeVar("T")
MOST_FAILURES = 3
"""After so many failures in a row, a server is out."""
MORE_BUSY = 4
"""A conversation moves if its server has so many more requests than the least busy server."""
KNOWN = 10_000
"""How many conversations are remembered with their server."""
BEGINNING = 2000
"""How much of a raw prompt identifies its conversation, in characters or tokens."""
RETRIED = (EngineCrashed, ModelLoadFailed, Busy)
"""Failures of one server. Another server may succeed."""
PROBE_S, PATIENCE, QUIET, LONGEST, BACK = 2.0, 2.5, 5, 30, 15
"""PROBE_S is the time between two probes in seconds. The others are multiples of it: how long a
probe may take, how long a working server may be silent before it is probed, the longest time
between two probes of a server that is out, and how long requests wait for a silent one."""


class Silent(EngineCrashed):
    """Raised when a server does not answer its probes. Perhaps it is only slow."""


@dataclass(eq=False, slots=True)
class RemotePlace:
    """A server, the requests that it is working on, and its failures since its last success."""

    engine: RemoteEngine
    running: int = 0
    heard: float = 0.0
    failures: int = 0
    probe_at: float = 0.0
    waiting: set[asyncio.Timeout] = field(default_factory=set)

    @property
    def is_out(self) -> bool:
        return self.failures >= MOST_FAILURES

    def fail(self) -> None:
        """Counts a failure. If the server is now out, everybody who waits for it gets an error."""
        self.failures += 1
        while self.is_out and self.waiting:
            self.waiting.pop().reschedule(asyncio.get_running_loop().time())

    async def wait_for(self, work: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(None) as waiting:
                self.waiting.add(waiting)
                found = await work
        except TimeoutError:
            raise Silent(Sentence("The engine at {0} does not answer.", self.engine.host)) from None
        finally:
            self.waiting.discard(waiting)
        self.failures, self.heard = 0, time.monotonic()
        return found


class Several(Forwarding):
    """An engine over several servers. `prepare` is awaited before it loads; `out` are lost ones."""

    def __init__(
        self,
        engines: Sequence[RemoteEngine],
        prepare: Callable[[], Awaitable[None]] | None = None,
        probe_s: float = PROBE_S,
    ) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self.out: Value[tuple[str, ...]] = Value(())
        self._places = tuple(map(RemotePlace, engines))
        self._prepare = prepare
        self._probe_s = probe_s
        self._homes: OrderedDict[int, RemotePlace] = OrderedDict()
        self.watcher: asyncio.Task[None] | None = None

    async def load(self) -> None:
        if self.state.get().phase == "ready":
            return
        self.state.set(LoadState("loading"))
        try:
            if self._prepare is not None:
                await self._prepare()
            self.facts = await self._ask(_load)
        except AppError as error:
            self.state.set(LoadState.failed(error))
            raise ModelLoadFailed(str(error)) from error
        except BaseException:
            self.state.set(LoadState())  # the caller has left
            raise
        self.state.set(LoadState("ready", 1.0))

    async def close(self) -> None:
        await stop(self.watcher)
        for place in self._places:
            await place.engine.close()
        self.state.set(LoadState())

    async def generate(self, request: ChatRequest) -> Pieces:
        await self.load()
        tried: list[RemotePlace] = []
        slow: list[RemotePlace] = []
        may_wait = len(self._places) > 1
        while True:
            begun = False
            try:
                async with (
                    self._at(tried, _thread_of(request)) as place,
                    aclosing(place.engine.generate(request)) as pieces,
                ):
                    while piece := await place.wait_for(anext(pieces, None)):
                        begun |= not isinstance(piece, PromptProgress)
                        yield piece
                    return
            except RETRIED as error:
                slow += tried[-1:] if isinstance(error, Silent) else []
                if begun:
                    raise
                if len(tried) == len(self._places):
                    if not (may_wait and await self._see_one_back(slow)):
                        raise
                    tried, may_wait = [], False

    async def stats(self) -> dict[str, Any]:
        return {"running": sum(place.running for place in self._places)}

    async def _ask(self, ask: Callable[[RemoteEngine], Awaitable[T]]) -> T:
        tried: list[RemotePlace] = []
        while True:
            try:
                async with self._at(tried) as place:
                    return await place.wait_for(ask(place.engine))
            except RETRIED:
                if len(tried) == len(self._places):
                    raise

    @asynccontextmanager
    async def _at(
        self, tried: list[RemotePlace], thread: int | None = None
    ) -> AsyncGenerator[RemotePlace, None]:
        place = self._pick(tried, thread)
        tried.append(place)
        place.running += 1
        place.heard = time.monotonic()
        try:
            self._watch()
            yield place
        except (EngineCrashed, ModelLoadFailed):
            place.failures += not place.is_out
            raise
        finally:
            place.running -= 1
            self._publish_out()

    def _pick(self, tried: Sequence[RemotePlace], thread: int | None) -> RemotePlace:
        """Returns the least busy server or the conversation's own; one that is out comes last."""
        left = [place for place in self._places if place not in tried]
        left = [place for place in left if not place.is_out] or left
        chosen = min(left, key=lambda place: (place.running, place.heard))
        if thread is None:
            return chosen
        home = self._homes.pop(thread, chosen)
        if home in left and home.running - chosen.running < MORE_BUSY:
            chosen = home
        self._homes[thread] = chosen
        if len(self._homes) > KNOWN:
            self._homes.popitem(last=False)
        return chosen

    async def _see_one_back(self, slow: Sequence[RemotePlace]) -> bool:
        """Waits until one of the servers answers a probe. Returns False if none does in time."""
        if not slow:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(BACK * self._probe_s):
                while all(place.is_out for place in slow):  # noqa: ASYNC110  as often as probes
                    await asyncio.sleep(self._probe_s)
                return True
        return False

    def _watch(self) -> None:
        if self.watcher is None or self.watcher.done():
            self.watcher = spawn(self._look_after(), "watch engines elsewhere")

    async def _look_after(self) -> None:
        """Probes silent servers as long as requests are running or a server is out."""
        while any(place.running or place.is_out for place in self._places):
            await asyncio.sleep(self._probe_s)
            now = time.monotonic()
            due = (place for place in self._places if self._is_due(place, now))
            await asyncio.gather(*map(self._probe, due))

    def _is_due(self, place: RemotePlace, now: float) -> bool:
        is_silent = place.running > 0 and now - place.heard > QUIET * self._probe_s
        return now >= place.probe_at if place.is_out else is_silent

    async def _probe(self, place: RemotePlace) -> None:
        try:
            await place.engine.probe(PATIENCE * self._probe_s)
            place.failures = 0
        except AppError:
            place.fail()
            late = min(2 ** max(place.failures - MOST_FAILURES, 0), LONGEST)
            place.probe_at = time.monotonic() + late * self._probe_s
        self._publish_out()

    def _publish_out(self) -> None:
        self.out.set(tuple(place.engine.host for place in self._places if place.is_out))


async def _load(engine: RemoteEngine) -> ModelFacts:
    await engine.load()
    return engine.facts


def _thread_of(request: ChatRequest) -> int:
    """Identifies a conversation by its beginning, which all its turns share and which is cached."""
    if request.prompt is not None:
        return hash(request.prompt[:BEGINNING])
    texts = [message.content for message in request.messages]
    roles = [message.role for message in request.messages]
    return hash(tuple(texts[: roles.index("user") + 1 if "user" in roles else 1]))
