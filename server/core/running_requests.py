"""The running requests: tracks, shows, cancels, measures and sums them up."""

import asyncio
import contextlib
import itertools
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import psutil

from server.core.keys import Keys
from server.errors import AppError, Busy, Stopping
from server.events import (
    CallArguments,
    Event,
    Events,
    Failed,
    Finished,
    OfChoice,
    PromptProgress,
    ReasoningDelta,
    StatusNote,
    TextDelta,
    Usage,
)
from server.face.core import About, AnsweredRequest, Load, RequestPhase, RunningRequest
from server.observe import Recent, Value
from server.sentences import Sentence
from server.sizes import MB
from server.system.logs import FIELDS
from server.tasks import spawn, stop

if TYPE_CHECKING:
    from server.core.figures import Figures, Measured

log = logging.getLogger(__name__)

PUBLISH_S = 0.5
LAST_FRAMES_S = 0.5
KEPT_ANSWERED = 200
KEPT_SENTENCES = 100
"""How many errors and notes of answers are remembered, for `recall`."""
Item = Event | OfChoice
Begin = Callable[[], Awaitable[Events]]
"""Waits for what a run needs, such as a model, and returns its events."""


BY_WINDOW = Sentence("The request was cancelled in Moat's window.")


class Cancelled(AppError):
    code = "cancelled"
    status = 499

    def __init__(self, message: str = BY_WINDOW) -> None:
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How many answers a model writes at once, and how many requests may wait."""

    slots: int
    queue: int


@dataclass(slots=True)
class _Tracked:
    """A running request. It counts every token; `now` builds what is shown."""

    shown: RunningRequest
    measured: "Measured"
    about: About
    begin: Begin
    answers: int = 1
    """The number of answers that the request wants."""
    phase: RequestPhase = "waiting"
    tokens: int = 0
    prompt_done: int = 0
    prompt_total: int = 0
    usage: Usage | None = None
    """The usage, once the engine has reported it."""
    outcome: str = "left"
    """How it ended. "left" until then, and if the client disconnects."""
    ending: AppError | None = None
    """The reason for ending it from outside, if any."""
    is_alone: bool = True
    """Whether no other request ran at the same time."""
    events: Events | None = None
    """The events of the run, once it has begun."""
    waits: "asyncio.Task[Any] | None" = None
    """The task that waits for the next event, if any."""

    def see(self, item: Item) -> None:
        event = item.event if isinstance(item, OfChoice) else item
        match event:
            case TextDelta() | ReasoningDelta() | CallArguments():
                self.phase = "writing"
                self.tokens += 1
                self.measured.see_token()
            case PromptProgress(done, total):
                self.phase = "reading"
                self.measured.start()
                self.prompt_done, self.prompt_total = done, total
            case Finished(reason, usage):
                self.outcome = reason
                self.usage = _add(self.usage, usage)
                self.tokens = self.usage.completion_tokens
            case Failed(error):
                self.outcome = error.code
            case _:
                pass

    def count_usage(self) -> Usage:
        """Returns the engine's count, or our own if the answer did not reach its end."""
        return self.usage or Usage(self.prompt_total, completion_tokens=self.tokens)

    def end(self, reason: AppError) -> None:
        if self.ending is None:
            self.ending = reason
            if self.waits is not None:
                self.waits.cancel()

    async def next_item(self) -> Item | None:
        """Returns the next event, None after the last, or a failure if the request was ended.

        Any error becomes the last event, so that each protocol can word it.
        """
        try:
            if self.ending is None:
                self.waits = asyncio.current_task()
                self.events = self.events or await self.begin()
                return await anext(self.events)
        except StopAsyncIteration:
            return None
        except asyncio.CancelledError:
            if self.ending is None or (self.waits and self.waits.uncancel()):
                raise
        except AppError as error:
            return Failed(error)
        except Exception:
            log.exception("A request failed")
            return Failed(
                AppError(Sentence("Something went wrong inside Moat; the log says what."))
            )
        finally:
            self.waits = None
        assert self.ending
        await self.close()
        return Failed(self.ending)

    async def close(self) -> None:
        if self.events is not None:
            await self.events.aclose()

    def now(self) -> RunningRequest:
        return replace(
            self.shown,
            phase=self.phase,
            tokens=self.tokens,
            prompt_done=self.prompt_done,
            prompt_total=self.prompt_total,
        )


class Requests:
    """All running requests and the most recent answers."""

    def __init__(
        self,
        changed: Callable[[], None],
        room: Callable[[], RequestLimits],
        make_figures: Callable[[], "Figures"],
        keys: Keys,
    ) -> None:
        """`room` returns a model's room. A request beyond it is refused on arrival, never later."""
        self._keys = keys
        self._make_figures = make_figures
        self.running: Value[tuple[RunningRequest, ...]] = Value(())
        self._answered: Recent[AnsweredRequest] = Recent(KEPT_ANSWERED, lambda request: request.id)
        self.answered = self._answered.value
        self.finished_tokens = 0
        self._changed = changed
        self._room = room
        self._tracked: dict[int, _Tracked] = {}
        self._numbers = itertools.count(1)
        self._publisher: asyncio.Task[None] | None = None
        self._closed = False
        self.on_alone: Callable[[str, Usage], None] = lambda _model, _usage: None
        """Called with the model and usage of an answer that had the engine to itself."""
        self._sentences: deque[Sentence] = deque(maxlen=KEPT_SENTENCES)
        self._none = asyncio.Event()
        self._none.set()

    @cached_property
    def figures(self) -> "Figures":
        """The metrics. They are made, and their library is loaded, when they are first used."""
        return self._make_figures()

    @property
    def tokens(self) -> int:
        """All tokens written so far, including those of running answers."""
        return self.finished_tokens + sum(request.tokens for request in self._tracked.values())

    async def track(self, begin: Begin, about: About, answers: int = 1) -> Events:
        """Yields the events of a run and shows it meanwhile. `answers` is how many it makes."""
        if refusal := self._refusal(about, answers):
            failed = Failed(refusal)
            self._remember(failed)
            yield failed
            return
        with self._show(begin, about, answers) as tracked:
            try:
                while (item := await tracked.next_item()) is not None:
                    tracked.see(item)
                    self._remember(item)
                    yield item
                    if isinstance(item, Failed):
                        break
            finally:
                await tracked.close()

    def _remember(self, item: Item) -> None:
        event = item.event if isinstance(item, OfChoice) else item
        if isinstance(event, Failed | StatusNote):
            text = str(event.error) if isinstance(event, Failed) else event.message
            if isinstance(text, Sentence):
                self._sentences.append(text)

    def recall(self, text: str) -> str:
        """Returns the sentence that a recent answer reported; protocols carry it as plain text."""
        words = text.split()
        return next((known for known in self._sentences if known.split() == words), text)

    @contextmanager
    def _show(self, begin: Begin, about: About, answers: int) -> Iterator[_Tracked]:
        """Shows a request while it runs, and counts it when it has ended."""
        with self._keys.count(about.key) as spend:
            tracked = self._add(begin, about, answers)
            try:
                yield tracked
            finally:
                self._end(tracked, spend)

    def _add(self, begin: Begin, about: About, answers: int) -> _Tracked:
        number = next(self._numbers)
        shown = RunningRequest(
            number, about.client, about.route, about.model, time.time(), "waiting"
        )
        measured = self.figures.begin(about.model, about.key)
        tracked = self._tracked[number] = _Tracked(shown, measured, about, begin, answers)
        if len(self._tracked) > 1 or answers > 1:
            for other in self._tracked.values():
                other.is_alone = False
        self._none.clear()
        self._publish_soon()
        return tracked

    def _end(self, tracked: _Tracked, spend: Callable[[int], None]) -> None:
        about = tracked.about
        del self._tracked[tracked.shown.id]
        if not self._tracked:
            self._none.set()
        self.finished_tokens += tracked.tokens
        self._answered.add(_summary(tracked))
        used = tracked.count_usage()
        tracked.measured.end(tracked.outcome, used)
        if tracked.is_alone and tracked.usage:
            self.on_alone(about.model, used)
        spend(used.prompt_tokens + used.completion_tokens)
        log.info(
            "%s: %s, %d tokens",
            about.route,
            tracked.outcome,
            tracked.tokens,
            extra=_fields(about, tracked),
        )

    def _refusal(self, about: About, answers: int) -> AppError | None:
        """Returns why a request is refused, or None.

        This is decided on arrival: once a stream has begun, its client no longer reads a status. A
        slow reader occupies a slot at most, never a place in the queue.
        """
        if self._closed:
            return Stopping()
        names = (about.asked or about.model, about.model)
        if refusal := self._keys.find_refusal(about.key, names):
            return refusal
        model = about.model
        room, waiting, begun = self._room(), 0, 0
        for tracked in self._tracked.values():
            if tracked.shown.model == model and tracked.outcome == "left":
                if tracked.phase == "waiting":
                    waiting += tracked.answers
                else:
                    begun += tracked.answers
        free = max(0, room.slots - begun)
        is_alone = not waiting and not begun
        return None if is_alone or waiting + answers <= room.queue + free else Busy(waiting)

    def note_reply(self, about: About) -> None:
        """Records a request that was answered at once, without a model."""
        now = time.time()
        reply = AnsweredRequest(
            next(self._numbers), about.client, about.route, about.model, now, 0.0, "stop"
        )
        self._answered.add(reply)

    def cancel(self, number: int, reason: AppError | None = None) -> None:
        """Ends a request with a typed error."""
        if number in self._tracked:
            self._tracked[number].end(reason or Cancelled())

    def cancel_by_client(self, request_id: str) -> None:
        """Ends the request with that id, because its client cancelled it in another request."""
        for tracked in self._tracked.values():
            if tracked.about.request_id == request_id:
                tracked.end(Cancelled(Sentence("The request was cancelled by its client.")))

    def cancel_by_key(self, name: str, reason: AppError) -> None:
        for tracked in self._tracked.values():
            if tracked.about.key == name:
                tracked.end(reason)

    def cancel_all(self, reason: AppError) -> None:
        for number in tuple(self._tracked):
            self.cancel(number, reason)

    async def drain(self, timeout_s: float) -> None:
        """Refuses new requests and gives the running ones this long to finish."""
        self._closed = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._none.wait(), timeout_s)

    async def close(self) -> None:
        """Ends all requests with a typed error and waits until it was sent."""
        self.cancel_all(Stopping())
        await self.drain(LAST_FRAMES_S)
        await stop(self._publisher)

    def _publish_soon(self) -> None:
        if self._publisher is None or self._publisher.done():
            self._publisher = spawn(self._publish(), "publish requests")

    async def _publish(self) -> None:
        while self._tracked:
            self.running.set(tuple(request.now() for request in self._tracked.values()))
            self._changed()
            await asyncio.sleep(PUBLISH_S)
        self.running.set(())
        self._changed()


def _summary(tracked: _Tracked) -> AnsweredRequest:
    shown = tracked.shown
    return AnsweredRequest(
        shown.id,
        shown.client,
        shown.route,
        shown.model,
        shown.started_at,
        round(time.time() - shown.started_at, 3),
        tracked.outcome,
        tracked.count_usage().prompt_tokens,
        tracked.tokens,
    )


def _add(before: Usage | None, usage: Usage) -> Usage:
    """Adds usages. The prompt counts once, because all answers of a request read the same one."""
    if before is None:
        return usage
    prompt = max(before.prompt_tokens, usage.prompt_tokens)
    cached = max(before.cached_tokens, usage.cached_tokens)
    return replace(before + usage, prompt_tokens=prompt, cached_tokens=cached)


def _fields(about: About, tracked: _Tracked) -> dict[str, Any]:
    """Returns the fields of a request for the log in JSON."""
    fields = {
        "route": about.route,
        "model": about.model,
        "key": about.key,
        "outcome": tracked.outcome,
        "seconds": round(time.time() - tracked.shown.started_at, 3),
        "prompt_tokens": tracked.count_usage().prompt_tokens,
        "completion_tokens": tracked.tokens,
    }
    return {FIELDS: fields}


LOOK_EVERY_S = 2.0


class Meter:
    """A meter of speed, load and memory, for the windows."""

    def __init__(self) -> None:
        self.load: Value[Load] = Value(Load())
        self._measured = (time.monotonic(), 0)
        self._memory = MemoryMeter()

    def measure(self, requests: Requests) -> None:
        """Updates the load. Called twice a second while requests run, and once after the last."""
        then, before = self._measured
        now, tokens = time.monotonic(), requests.tokens
        self._measured = (now, tokens)
        shown = requests.running.get()
        waiting = sum(request.phase == "waiting" for request in shown)
        speed = (tokens - before) / max(now - then, 0.001) if shown else 0.0
        memory_mb = self._memory.look(now)
        self.load.set(Load(len(shown) - waiting, waiting, round(speed, 1), memory_mb))

    def workers_changed(self) -> None:
        self._memory.forget_children()


class MemoryMeter:
    """The memory of this process and its workers.

    Finding the workers reads about every process of the machine, so it is done only when they
    change.
    """

    def __init__(self) -> None:
        self._own = psutil.Process()
        self._children: list[psutil.Process] | None = None
        self._looked_at = -math.inf
        self._found_mb = 0.0

    def look(self, now: float) -> float:
        if now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            if self._children is None:
                self._children = self._own.children(recursive=True)
            total = self._own.memory_info().rss
            for child in self._children:
                with suppress(psutil.Error):
                    total += child.memory_info().rss
            self._found_mb = round(total / MB, 1)
        return self._found_mb

    def forget_children(self) -> None:
        self._children = None
        self._looked_at = -math.inf
