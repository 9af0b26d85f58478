"""The threads that agents talk in: kept in memory within bounds, replayed, followed, stopped."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from server.chat import Json, Message
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    MessageOpened,
    OfChoice,
    PromptProgress,
    StateChanged,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.tasks import spawn, stop

RUNS_PER_THREAD = 100


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a thread, and the id its client knows it by."""

    id: str
    message: Message


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is remembered; what is oldest or abandoned goes first."""

    threads: int = 1000
    characters: int = 50_000_000
    idle_s: float = 24 * 3600.0


BOUNDS = Bounds()


@dataclass(eq=False, slots=True)
class KeptRun:
    id: str
    said: tuple[Said, ...]
    """The messages that were new to the thread when this run began."""
    events: list[Event] = field(default_factory=list)
    ended: bool = False
    inbox: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    followers: list[asyncio.Queue[Event | None]] = field(default_factory=list)

    def add(self, event: Event) -> None:
        self.events.append(event)
        for follower in self.followers:
            follower.put_nowait(event)

    def end(self) -> None:
        if not self.is_complete:
            self.add(Finished("stop"))
        self.ended = True
        self.events = joined(self.events)
        for follower in self.followers:
            follower.put_nowait(None)

    @property
    def is_complete(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], Finished | Failed)

    @property
    def size(self) -> int:
        asked = sum(len(one.message.content) for one in self.said)
        images = sum(len(image.data) for one in self.said for image in one.message.images)
        return asked + images + sum(len(getattr(event, "text", "")) for event in self.events)


@dataclass(eq=False, slots=True)
class Thread:
    id: str
    agent: str
    created_at: float
    used_at: float
    runs: list[KeptRun] = field(default_factory=list)
    state: Json | None = None
    known: set[str] = field(default_factory=set)
    """Ids of the messages that were said in it."""

    def remember(self, run: KeptRun) -> None:
        self.runs.append(run)
        self.known |= {one.id for one in run.said}
        for event in run.events:
            self.note(event)

    def note(self, event: Event) -> None:
        match event:
            case StateChanged(state):
                self.state = state
            case MessageOpened(said_id) | CallOpened(_, said_id):
                self.known.add(said_id)
            case ToolCallStarted(call) | ClientToolCall(call):
                self.known.add(call.id)
            case ToolCallFinished(call_id):
                self.known.add(result_id(call_id))
            case _:
                pass

    @property
    def running(self) -> list[KeptRun]:
        return [run for run in self.runs if not run.ended]

    @property
    def size(self) -> int:
        return sum(run.size for run in self.runs)


class Keeper:
    """Where threads outlive the program: here, nowhere."""

    def load(self) -> list[Thread]:
        return []

    async def save(self, thread: Thread) -> None:
        pass

    def forget(self, thread_id: str) -> None:
        pass


class Threads:
    def __init__(
        self,
        bounds: Bounds = BOUNDS,
        clock: Callable[[], float] = time.time,
        keeper: Keeper | None = None,
    ) -> None:
        self._bounds = bounds
        self._clock = clock
        self._keeper = keeper or Keeper()
        self._threads = OrderedDict((thread.id, thread) for thread in self._keeper.load())

    def find(self, thread_id: str) -> Thread | None:
        self._forget_old()
        return self._threads.get(thread_id)

    def of_agent(self, agent: str) -> list[Thread]:
        """Latest first."""
        self._forget_old()
        return [one for one in reversed(self._threads.values()) if agent in ("", one.agent)]

    def clear(self) -> None:
        for thread_id in [one.id for one in self._threads.values() if not one.running]:
            self._forget(thread_id)

    def unknown(self, thread_id: str, said: Iterable[Said]) -> tuple[Said, ...]:
        """Those of the messages that the thread has not heard yet."""
        thread = self._threads.get(thread_id)
        known = thread.known if thread else set()
        return tuple(one for one in said if one.id not in known)

    async def keep(self, agent: str, thread_id: str, run: KeptRun, events: Events) -> Events:
        """The events as they come, remembered on the way; `stop` ends them at once."""
        thread = self._open(agent, thread_id)
        thread.remember(run)
        pump = spawn(_pump(events, run.inbox), f"thread {thread_id}")
        try:
            while (event := await run.inbox.get()) is not None:
                run.add(event)
                thread.note(event)
                yield event
            if not run.is_complete:
                run.add(Finished("stop"))
                yield run.events[-1]
        finally:
            await stop(pump)
            run.end()
            self._forget_old()
            if thread_id in self._threads:
                await self._keeper.save(thread)

    def stop(self, thread_id: str) -> bool:
        thread = self._threads.get(thread_id)
        running = thread.running if thread else []
        for run in running:
            run.inbox.put_nowait(None)
        return bool(running)

    async def follow(self, thread_id: str) -> AsyncGenerator[tuple[KeptRun, Event], None]:
        """Every event of the thread so far; then those of a run that goes on, until it ends."""
        thread = self._threads.get(thread_id)
        done = 0
        while thread is not None and done < len(thread.runs):
            run = thread.runs[done]
            done += 1
            queue: asyncio.Queue[Event | None] = asyncio.Queue()
            so_far = joined(run.events)
            if not run.ended:
                run.followers.append(queue)
            for event in so_far:
                yield run, event
            if queue in run.followers:
                try:
                    while (following := await queue.get()) is not None:
                        yield run, following
                finally:
                    run.followers.remove(queue)

    def _open(self, agent: str, thread_id: str) -> Thread:
        now = self._clock()
        thread = self._threads.get(thread_id)
        if thread is None:
            thread = self._threads[thread_id] = Thread(thread_id, agent, now, now)
        thread.agent, thread.used_at = agent, now
        while len(thread.runs) >= RUNS_PER_THREAD and thread.runs[0].ended:
            del thread.runs[0]
        self._threads.move_to_end(thread_id)
        return thread

    def _forget_old(self) -> None:
        oldest_use = self._clock() - self._bounds.idle_s
        size = sum(thread.size for thread in self._threads.values())
        for thread in list(self._threads.values()):
            too_much = len(self._threads) > self._bounds.threads or size > self._bounds.characters
            if thread.running or not (too_much or thread.used_at < oldest_use):
                continue
            size -= thread.size
            self._forget(thread.id)

    def _forget(self, thread_id: str) -> None:
        del self._threads[thread_id]
        self._keeper.forget(thread_id)


def result_id(call_id: str) -> str:
    """The id of the message that carries a call's result."""
    return f"result-{call_id}"


def joined(events: Iterable[Event]) -> list[Event]:
    """The same events with neighbouring deltas made one, and progress left out."""
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        if isinstance(event, PromptProgress):
            continue
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + event.text)
        elif (
            isinstance(event, CallArguments)
            and isinstance(last, CallArguments)
            and last.index == event.index
        ):
            result[-1] = replace(last, text=last.text + event.text)
        else:
            result.append(event)
    return result


async def _pump(events: Events, inbox: asyncio.Queue[Event | None]) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                inbox.put_nowait(event.event if isinstance(event, OfChoice) else event)
    finally:
        inbox.put_nowait(None)
