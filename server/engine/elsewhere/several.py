"""One model behind several servers: chooses a server for each request and watches which ones fail.

The least busy server answers, but a conversation stays where its prompt is cached. After three
failures a server is out until a probe succeeds. A request without any answer yet moves to another,
and waits a while for one that was only slow.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from server.chat import ChatRequest
from server.engine.base import Forwarding, LoadState, ModelFacts, loading
from server.engine.elsewhere.engine import RemoteEngine, Silent
from server.errors import AppError, Busy, EngineCrashed, ModelLoadFailed
from server.events import Pieces, PromptProgress
from server.observe import Value
from server.tasks import spawn, stop

T = TypeVar("T")
Work = Callable[[RemoteEngine], AsyncGenerator[T, None]]
MOST_FAILURES = 3
"""After so many failures in a row, a server is out."""
MORE_BUSY = 8
"""A conversation moves, and is read anew, if its server has so many more requests than another."""
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


@dataclass(eq=False, slots=True)
class RemotePlace:
    """A server, the requests that it is working on, and its failures since its last success."""

    engine: RemoteEngine
    probe_s: float
    running: int = 0
    failures: int = 0
    probe_at: float = 0.0
    """When it is probed next, if it is working or out."""
    waiting: set[asyncio.Timeout] = field(default_factory=set)

    @property
    def is_out(self) -> bool:
        return self.failures >= MOST_FAILURES

    async def results(self, work: Work[T]) -> AsyncGenerator[T, None]:
        """Yields what the server answers. Raises Silent if the server is found to be out."""
        if not self.running:
            self._probe_in(QUIET)
        self.running += 1
        try:
            async with aclosing(work(self.engine)) as results:
                while (result := await self._wait_for(anext(results, None))) is not None:
                    self.failures = 0
                    self._probe_in(QUIET)
                    yield result
        except (EngineCrashed, ModelLoadFailed):
            self.failures += not self.is_out
            raise
        finally:
            self.running -= 1

    async def probe(self) -> None:
        """Asks for a sign of life. If the server is out, all who wait for it get an error."""
        try:
            await self.engine.probe(PATIENCE * self.probe_s)
            self.failures = 0
            self._probe_in(QUIET)
        except AppError:
            self.failures += 1
            self._probe_in(min(2 ** max(self.failures - MOST_FAILURES, 0), LONGEST))
        while self.is_out and self.waiting:
            self.waiting.pop().reschedule(asyncio.get_running_loop().time())

    async def _wait_for(self, result: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(None) as waiting:
                self.waiting.add(waiting)
                return await result
        except TimeoutError:
            raise Silent(self.engine.host) from None
        finally:
            self.waiting.discard(waiting)

    def _probe_in(self, times: float) -> None:
        self.probe_at = time.monotonic() + times * self.probe_s


class Several(Forwarding):
    """An engine over several servers. `out` holds the hosts of those that are out."""

    def __init__(self, engines: Sequence[RemoteEngine], probe_s: float = PROBE_S) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self.out: Value[tuple[str, ...]] = Value(())
        self._places = tuple(RemotePlace(engine, probe_s) for engine in engines)
        self._probe_s = probe_s
        self._homes: OrderedDict[int, RemotePlace] = OrderedDict()
        self._watcher: asyncio.Task[None] | None = None

    async def load(self) -> None:
        if self.state.get().phase == "ready":
            return
        with loading(self.state):
            self.facts = await self._ask(RemoteEngine.find_facts)

    async def close(self) -> None:
        await stop(self._watcher)
        for place in self._places:
            await place.engine.close()
        self.state.set(LoadState())

    def generate(self, request: ChatRequest) -> Pieces:
        return self._send(lambda engine: engine.generate(request), _thread_of(request))

    async def stats(self) -> dict[str, Any]:
        return {"running": sum(place.running for place in self._places)}

    async def _ask(self, ask: Callable[[RemoteEngine], Awaitable[T]]) -> T:
        async def once(engine: RemoteEngine) -> AsyncGenerator[T, None]:
            yield await ask(engine)

        async with aclosing(self._send(once)) as results:
            return await anext(results)

    async def _send(self, work: Work[T], thread: int | None = None) -> AsyncGenerator[T, None]:
        """Yields what a server answers. If one fails before it began, others are tried."""
        tried: list[RemotePlace] = []
        slow: list[RemotePlace] = []
        may_wait = len(self._places) > 1
        begun = False
        while True:
            place = self._pick(tried, thread)
            tried.append(place)
            if self._watcher is None or self._watcher.done():
                self._watcher = spawn(self._look_after(), "watch engines elsewhere")
            try:
                async with aclosing(place.results(work)) as results:
                    async for result in results:
                        begun |= not isinstance(result, PromptProgress)
                        yield result
                    return
            except RETRIED as error:
                slow += [place] if isinstance(error, Silent) else []
                if begun:
                    raise
                if len(tried) == len(self._places):
                    if not (may_wait and await self._see_one_back(slow)):
                        raise
                    tried, may_wait = [], False

    def _pick(self, tried: Sequence[RemotePlace], thread: int | None) -> RemotePlace:
        """Returns the least busy server or the conversation's own; one that is out comes last."""
        left = [place for place in self._places if place not in tried]
        chosen = min(left, key=lambda place: (place.is_out, place.running, place.probe_at))
        if thread is None:
            return chosen
        home = self._homes.pop(thread, chosen)
        if home in left and not home.is_out and home.running - chosen.running < MORE_BUSY:
            chosen = home
        self._homes[thread] = chosen
        if len(self._homes) > KNOWN:
            self._homes.popitem(last=False)
        return chosen

    async def _see_one_back(self, slow: Sequence[RemotePlace]) -> bool:
        """Waits until one of the servers answers a probe. Returns False if none does in time."""
        for _ in range(BACK if slow else 0):
            if not all(place.is_out for place in slow):
                return True
            await asyncio.sleep(self._probe_s)
        return False

    async def _look_after(self) -> None:
        """Probes silent servers as long as requests are running or a server is out."""
        while watched := [place for place in self._places if place.running or place.is_out]:
            await asyncio.sleep(self._probe_s)
            now = time.monotonic()
            await asyncio.gather(*(place.probe() for place in watched if place.probe_at <= now))
            self.out.set(tuple(place.engine.host for place in self._places if place.is_out))


def _thread_of(request: ChatRequest) -> int:
    """Identifies a conversation by its beginning, which all its turns share and which is cached."""
    if request.prompt is not None:
        return hash(request.prompt[:BEGINNING])
    end = next((at for at, message in enumerate(request.messages, 1) if message.role == "user"), 1)
    return hash(tuple(message.content for message in request.messages[:end]))
