"""The requests being answered: shown while they run, ended on demand, summed up when they end."""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from server.errors import AppError, Stopping
from server.events import (
    CallArguments,
    Event,
    Events,
    Failed,
    Finished,
    OfChoice,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
)
from server.face import AnsweredRequest, RunningRequest
from server.observe import Recent, Value
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

PUBLISH_S = 0.5
LAST_FRAMES_S = 0.5
KEPT_ANSWERED = 200
Item = Event | OfChoice


class Cancelled(AppError):
    code = "cancelled"
    status = 499

    def __init__(self) -> None:
        super().__init__("The request was cancelled in Moat's window.")


@dataclass(frozen=True, slots=True)
class About:
    """Where a request came in, from whom, and which model it is for."""

    route: str
    client: str = ""
    model: str = ""
    is_own: bool = False
    """It came from the person's own window."""


@dataclass(slots=True)
class _Tracked:
    shown: RunningRequest
    queue: asyncio.Queue[Item | None] = field(default_factory=asyncio.Queue)
    prompt_tokens: int = 0

    def see(self, item: Item) -> None:
        event = item.event if isinstance(item, OfChoice) else item
        match event:
            case PromptProgress(done, total):
                self.shown = replace(
                    self.shown, phase="reading", prompt_done=done, prompt_total=total
                )
            case TextDelta() | ReasoningDelta() | CallArguments():
                self.shown = replace(self.shown, phase="writing", tokens=self.shown.tokens + 1)
            case Finished(_, usage):
                self.shown = replace(self.shown, tokens=usage.completion_tokens)
                self.prompt_tokens = usage.prompt_tokens
            case _:
                pass


class Requests:
    def __init__(self, changed: Callable[[], None]) -> None:
        self.running: Value[tuple[RunningRequest, ...]] = Value(())
        self._answered: Recent[AnsweredRequest] = Recent(KEPT_ANSWERED, lambda one: one.id)
        self.answered = self._answered.value
        self.finished_tokens = 0
        self._changed = changed
        self._tracked: dict[int, _Tracked] = {}
        self._numbers = itertools.count(1)
        self._publisher: asyncio.Task[None] | None = None
        self._closed = False
        self._none = asyncio.Event()
        self._none.set()

    @property
    def tokens(self) -> int:
        """All tokens written so far, the running answers' included."""
        return self.finished_tokens + sum(one.shown.tokens for one in self._tracked.values())

    async def track(self, events: Events, about: About) -> Events:
        if self._closed:
            yield Failed(Stopping())
            return
        number = next(self._numbers)
        shown = RunningRequest(
            number, about.client, about.route, about.model, time.time(), "waiting"
        )
        tracked = self._tracked[number] = _Tracked(shown)
        self._none.clear()
        self._publish_soon()
        pump = spawn(_pump(events, tracked.queue), f"request {number}")
        outcome = "left"
        try:
            while (item := await tracked.queue.get()) is not None:
                tracked.see(item)
                outcome = _outcome(item) or outcome
                yield item
                if isinstance(item, Failed):
                    break
        finally:
            del self._tracked[number]
            if not self._tracked:
                self._none.set()
            self.finished_tokens += tracked.shown.tokens
            self._answered.add(_summary(tracked, outcome))
            log.info("%s: %s, %d tokens", about.route, outcome, tracked.shown.tokens)
            await stop(pump)

    def note_reply(self, about: About) -> None:
        """A question that needed no model: answered on the spot."""
        now = time.time()
        reply = AnsweredRequest(
            next(self._numbers), about.client, about.route, about.model, now, 0.0, "stop"
        )
        self._answered.add(reply)

    def cancel(self, number: int, reason: AppError | None = None) -> None:
        """End one request with a typed error."""
        if number in self._tracked:
            self._tracked[number].queue.put_nowait(Failed(reason or Cancelled()))

    def cancel_all(self, reason: AppError) -> None:
        for number in tuple(self._tracked):
            self.cancel(number, reason)

    async def drain(self, timeout_s: float) -> None:
        """Refuse new requests; give the running ones this long to end by themselves."""
        self._closed = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._none.wait(), timeout_s)

    async def close(self) -> None:
        """End everything with a typed error and wait until it was said."""
        self.cancel_all(Stopping())
        await self.drain(LAST_FRAMES_S)
        await stop(self._publisher)

    def _publish_soon(self) -> None:
        if self._publisher is None or self._publisher.done():
            self._publisher = spawn(self._publish(), "publish requests")

    async def _publish(self) -> None:
        while self._tracked:
            self.running.set(tuple(one.shown for one in self._tracked.values()))
            self._changed()
            await asyncio.sleep(PUBLISH_S)
        self.running.set(())
        self._changed()


async def _pump(events: Events, queue: asyncio.Queue[Item | None]) -> None:
    try:
        async with aclosing(_worded(events)) as worded:
            async for item in worded:
                queue.put_nowait(item)
    finally:
        queue.put_nowait(None)


async def _worded(events: Events) -> AsyncGenerator[Item, None]:
    """Whatever goes wrong inside becomes the last event, so that each protocol can word it."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except AppError as error:
        yield Failed(error)
    except Exception:
        log.exception("A request failed")
        yield Failed(AppError("Something went wrong inside Moat; the log says what."))


def _summary(tracked: _Tracked, outcome: str) -> AnsweredRequest:
    shown = tracked.shown
    return AnsweredRequest(
        shown.id,
        shown.client,
        shown.route,
        shown.model,
        shown.started_at,
        round(time.time() - shown.started_at, 3),
        outcome,
        tracked.prompt_tokens or shown.prompt_total,
        shown.tokens,
    )


def _outcome(item: Item) -> str:
    event = item.event if isinstance(item, OfChoice) else item
    match event:
        case Finished(reason):
            return reason
        case Failed(error):
            return error.code
        case _:
            return ""
