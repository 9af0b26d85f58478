"""The threads of agents: kept in memory within bounds, replayed, followed, stopped."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from server.chat import Json, Message
from server.errors import AppError
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


def compact(events: Iterable[Event]) -> list[Event]:
    """Joins neighbouring deltas, keeps only the last state and drops progress."""
    result: list[Event] = []
    for event in _without_old_states(list(events)):
        last = result[-1] if result else None
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


def _without_old_states(events: list[Event]) -> Iterable[Event]:
    states = [at for at, event in enumerate(events) if isinstance(event, StateChanged)]
    old = set(states[:-1])
    for at, event in enumerate(events):
        if at not in old and not isinstance(event, PromptProgress):
            yield event


def weight(held: Any) -> int:
    """Counts the characters or bytes at any depth. Anything else counts as one."""
    total, waiting = 0, [held]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str | bytes):
            total += len(part)
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
        elif is_dataclass(part):
            waiting += [getattr(part, field.name) for field in fields(part)]
        else:
            total += 1
    return total


log = logging.getLogger(__name__)

RUNS_PER_THREAD = 100
EVERYBODY = None
"""Takes the place of an origin: the person's own window sees the threads of every page."""


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread, with the id that its client uses."""

    id: str
    message: Message


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of what is remembered. The oldest and abandoned threads go first."""

    threads: int = 1000
    characters: int = 50_000_000
    idle_s: float = 24 * 3600.0


BOUNDS = Bounds()


@dataclass(eq=False, slots=True)
class KeptRun:
    id: str
    messages: tuple[ThreadMessage, ...]
    """The messages that were new to the thread when this run began."""
    events: list[Event] = field(default_factory=list)
    ended: bool = False
    inbox: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    followers: list[asyncio.Queue[Event | None]] = field(default_factory=list)
    size: int = 0
    """Set when the run has ended. A running one cannot be forgotten."""

    def add(self, event: Event) -> None:
        self.events.append(event)
        for follower in self.followers:
            follower.put_nowait(event)

    def end(self) -> None:
        if not self.is_complete:
            self.add(Finished("stop"))
        self.ended = True
        self.events = compact(self.events)
        self.size = weight(self.messages) + weight(self.events)
        for follower in self.followers:
            follower.put_nowait(None)

    @property
    def is_complete(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], Finished | Failed)


@dataclass(eq=False, slots=True)
class Thread:
    id: str
    agent: str
    created_at: float
    used_at: float
    origin: str = ""
    """The page that owns it. Programs have no page and share their threads."""
    runs: list[KeptRun] = field(default_factory=list)
    state: Json | None = None
    known: set[str] = field(default_factory=set)
    """Ids of the thread's messages."""

    def remember(self, run: KeptRun) -> None:
        self.runs.append(run)
        self.known |= {kept.id for kept in run.messages}
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
    def key(self) -> tuple[str, str]:
        return self.origin, self.id

    @property
    def running(self) -> list[KeptRun]:
        return [run for run in self.runs if not run.ended]

    @property
    def size(self) -> int:
        return sum(run.size for run in self.runs)


class Keeper:
    """Stores threads beyond the program's end. This class stores nothing."""

    def load(self) -> list[Thread]:
        return []

    async def save(self, thread: Thread) -> None:
        pass

    def forget(self, thread: Thread) -> None:
        pass

    def forget_all(self) -> None:
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
        self._threads = OrderedDict((thread.key, thread) for thread in self._keeper.load())

    def find(self, thread_id: str, origin: str | None = "") -> Thread | None:
        self._forget_old()
        return self._find(thread_id, origin)

    def of_agent(self, agent: str, origin: str | None = "") -> list[Thread]:
        """Returns the agent's threads, latest first."""
        self._forget_old()
        return [thread for thread in self._seen_by(origin) if agent in ("", thread.agent)]

    def clear(self, origin: str | None = "") -> None:
        for thread in [thread for thread in self._seen_by(origin) if not thread.running]:
            self._forget(thread)

    def keep_no_longer(self) -> None:
        """Forgets them on disk: they then end with the program."""
        self._keeper.forget_all()

    def unknown(
        self, thread_id: str, messages: Iterable[ThreadMessage], origin: str | None = ""
    ) -> tuple[ThreadMessage, ...]:
        """Returns the messages that the thread does not know yet."""
        thread = self._find(thread_id, origin)
        known = thread.known if thread else set()
        return tuple(message for message in messages if message.id not in known)

    async def keep(
        self, agent: str, thread_id: str, run: KeptRun, events: Events, origin: str = ""
    ) -> Events:
        """Yields the events as they come and remembers them. `stop` ends them at once."""
        thread = self._open(agent, thread_id, origin)
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
            if thread.key in self._threads:
                await self._keeper.save(thread)

    def stop(self, thread_id: str, origin: str | None = "") -> bool:
        thread = self._find(thread_id, origin)
        running = thread.running if thread else []
        for run in running:
            run.inbox.put_nowait(None)
        return bool(running)

    async def follow(
        self, thread_id: str, origin: str | None = ""
    ) -> AsyncGenerator[tuple[KeptRun, Event], None]:
        """Yields the thread's events so far, then those of a running run until it ends."""
        thread = self._find(thread_id, origin)
        done = 0
        while thread is not None and done < len(thread.runs):
            run = thread.runs[done]
            done += 1
            queue: asyncio.Queue[Event | None] = asyncio.Queue()
            so_far = compact(run.events)
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

    def _find(self, thread_id: str, origin: str | None) -> Thread | None:
        if origin is not EVERYBODY:
            return self._threads.get((origin, thread_id))
        return next((thread for thread in self._seen_by(EVERYBODY) if thread.id == thread_id), None)

    def _seen_by(self, origin: str | None) -> list[Thread]:
        """Returns the threads that this origin may see, latest first."""
        latest = reversed(self._threads.values())
        return [thread for thread in latest if origin in (EVERYBODY, thread.origin)]

    def _open(self, agent: str, thread_id: str, origin: str) -> Thread:
        now = self._clock()
        thread = self._threads.get((origin, thread_id))
        if thread is None:
            thread = Thread(thread_id, agent, now, now, origin)
            self._threads[thread.key] = thread
        thread.agent, thread.used_at = agent, now
        while len(thread.runs) >= RUNS_PER_THREAD and thread.runs[0].ended:
            del thread.runs[0]
        self._threads.move_to_end(thread.key)
        return thread

    def _forget_old(self) -> None:
        oldest_use = self._clock() - self._bounds.idle_s
        size = sum(thread.size for thread in self._threads.values())
        for thread in list(self._threads.values()):
            too_much = len(self._threads) > self._bounds.threads or size > self._bounds.characters
            if thread.running or not (too_much or thread.used_at < oldest_use):
                continue
            size -= thread.size
            self._forget(thread)

    def _forget(self, thread: Thread) -> None:
        del self._threads[thread.key]
        self._keeper.forget(thread)


def result_id(call_id: str) -> str:
    """Returns the id of the message that carries a call's result."""
    return f"result-{call_id}"


async def _pump(events: Events, inbox: asyncio.Queue[Event | None]) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                inbox.put_nowait(event.event if isinstance(event, OfChoice) else event)
    except Exception:
        log.exception("An agent broke")
        inbox.put_nowait(Failed(AppError("Something went wrong inside Moat.")))
    finally:
        inbox.put_nowait(None)
