"""Keeps the threads of agents in memory, within bounds, so that they can be replayed and followed.

If the user wants it, each thread is also a file; switching that off deletes the files. The module
also keeps the last responses that a client can continue, in memory only and per client.
"""

import asyncio
import hashlib
import json
import logging
import shutil
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from server.chat import Json, Message, ToolCall
from server.errors import AppError
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    Citations,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    OfChoice,
    PromptProgress,
    ReasoningDelta,
    StateChanged,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.system.files import write_atomically
from server.tasks import spawn, stop


def compact(events: Iterable[Event]) -> list[Event]:
    """Joins adjacent pieces of text, of reasoning and of arguments.

    Keeps only the last state, and drops progress.
    """
    result: list[Event] = []
    for event in _without_old_states(list(events)):
        last = result[-1] if result else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ReasoningDelta) and isinstance(last, ReasoningDelta):
            result[-1] = ReasoningDelta(last.text + event.text)
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
    """Counts the characters and bytes in a value, at any depth. Any other leaf counts as one."""
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
"""How many runs a thread keeps. The oldest ones are forgotten."""
EVERYBODY = None
"""Used as an origin: it sees the threads of every page. Moat's own window uses it."""


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread, with the id that the client knows it by."""

    id: str
    message: Message


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept. Idle threads go after `idle_s`; beyond the limits, the oldest go."""

    threads: int = 1000
    characters: int = 50_000_000
    idle_s: float = 24 * 3600.0


BOUNDS = Bounds()


@dataclass(eq=False, slots=True)
class KeptRun:
    id: str
    messages: tuple[ThreadMessage, ...]
    """The messages that the thread did not have when the run began."""
    events: list[Event] = field(default_factory=list)
    ended: bool = False
    inbox: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    followers: list[asyncio.Queue[Event | None]] = field(default_factory=list)
    size: int = 0
    """The weight of messages and events. Set at the end: a run cannot be forgotten before."""

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
    """The page (or page and key) that owns the thread. Programs without a key share theirs."""
    runs: list[KeptRun] = field(default_factory=list)
    state: Json | None = None
    known: set[str] = field(default_factory=set)
    """The ids of the thread's messages and calls."""

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


class Threads:
    """All threads. An `origin` sees only its own threads, EVERYBODY sees all."""

    def __init__(
        self,
        files: "ThreadFiles",
        bounds: Bounds = BOUNDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._bounds = bounds
        self._clock = clock
        self._files = files
        self._threads = OrderedDict((thread.key, thread) for thread in self._files.load())

    def find(self, thread_id: str, origin: str | None = "") -> Thread | None:
        self._forget_old()
        return self._find(thread_id, origin)

    def of_agent(self, agent: str, origin: str | None = "") -> list[Thread]:
        """Returns the agent's threads, the latest first. An empty name means all agents."""
        self._forget_old()
        return [thread for thread in self._seen_by(origin) if agent in ("", thread.agent)]

    def clear(self, origin: str | None = "") -> None:
        for thread in [thread for thread in self._seen_by(origin) if not thread.running]:
            self._forget(thread)

    def keep_no_longer(self) -> None:
        """Deletes the files. The threads stay in memory until the program ends."""
        self._files.forget_all()

    def unknown(
        self, thread_id: str, messages: Iterable[ThreadMessage], origin: str | None = ""
    ) -> tuple[ThreadMessage, ...]:
        """Returns the messages that the thread does not have yet."""
        thread = self._find(thread_id, origin)
        known = thread.known if thread else set()
        return tuple(message for message in messages if message.id not in known)

    async def keep(
        self, agent: str, thread_id: str, run: KeptRun, events: Events, origin: str = ""
    ) -> Events:
        """Yields the events as they come, and keeps them. `stop` ends the run at once."""
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
                await self._files.save(thread)

    def stop(self, thread_id: str, origin: str | None = "") -> bool:
        thread = self._find(thread_id, origin)
        running = thread.running if thread else []
        for run in running:
            run.inbox.put_nowait(None)
        return bool(running)

    async def follow(
        self, thread_id: str, origin: str | None = ""
    ) -> AsyncGenerator[tuple[KeptRun, Event], None]:
        """Yields the thread's events so far, then those of the current run until it ends."""
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
        self._files.forget(thread)


def result_id(call_id: str) -> str:
    """Returns the id of the message with a call's result."""
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


def messages_of(thread: Thread | None) -> tuple[ThreadMessage, ...]:
    if thread is None:
        return ()
    return tuple(kept for run in thread.runs for kept in (*run.messages, *_answers_of(run)))


def _answers_of(run: KeptRun) -> list[ThreadMessage]:
    answers: list[ThreadMessage] = []
    draft = _Draft("")
    names: dict[str, str] = {}
    for event in run.events:
        match event:
            case MessageOpened(message_id):
                answers += draft.finish()
                draft = _Draft(message_id)
            case TextDelta(text):
                draft.text += text
            case ToolCallStarted(call) | ClientToolCall(call):
                draft.calls.append(call)
                names[call.id] = call.name
            case ToolCallFinished(call_id, result):
                answers += draft.finish()
                draft = _Draft("")
                message = Message("tool", result, tool_call_id=call_id, name=names.get(call_id))
                answers.append(ThreadMessage(result_id(call_id), message))
            case _:
                pass
    return answers + draft.finish()


class _Draft:
    def __init__(self, message_id: str) -> None:
        self.id = message_id
        self.text = ""
        self.calls: list[ToolCall] = []

    def finish(self) -> list[ThreadMessage]:
        if not self.text and not self.calls:
            return []
        return [
            ThreadMessage(self.id, Message("assistant", self.text, tool_calls=tuple(self.calls)))
        ]


KEPT = (
    Artifact, CallArguments, CallOpened, Citations, ClientToolCall, Finished, Interrupted,
    MessageOpened, ReasoningDelta, StateChanged, StatusNote, StepChanged, Suggestions, TextDelta,
    ToolCallFinished, ToolCallStarted,
)  # fmt: skip


@cache
def _events() -> dict[str, TypeAdapter[Event]]:
    """Makes an adapter for each type of event. Done at the first use, because it takes time."""
    return {kind.__name__: TypeAdapter(kind) for kind in KEPT}


@cache
def _messages() -> TypeAdapter[tuple[ThreadMessage, ...]]:
    return TypeAdapter(
        tuple[ThreadMessage, ...], config={"val_json_bytes": "base64", "ser_json_bytes": "base64"}
    )


class ThreadFiles:
    """Stores threads in files, if the user wants that (`is_on`)."""

    def __init__(self, folder: Path, is_on: Callable[[], bool]) -> None:
        self._folder = folder
        self._is_on = is_on

    def load(self) -> list[Thread]:
        """Reads the threads, the oldest first. Skips files that cannot be read."""
        if not self._is_on():
            return []
        found = [thread for path in self._folder.glob("*.json") if (thread := _read(path))]
        return sorted(found, key=lambda thread: thread.used_at)

    async def save(self, thread: Thread) -> None:
        if not self._is_on():
            return
        try:
            await asyncio.to_thread(write_atomically, self._path(thread), dump(thread))
        except OSError as error:
            log.warning("A conversation could not be kept: %s", error.strerror)
        if not self._is_on():
            self.forget_all()

    def forget(self, thread: Thread) -> None:
        self._path(thread).unlink(missing_ok=True)

    def forget_all(self) -> None:
        """Deletes all files, when a person switches the setting off.

        `load` does not do this: the setting can also be off because its file is damaged.
        """
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, thread: Thread) -> Path:
        """Returns the file of a thread. The name is a hash, because the id can be any text."""
        whose = f"{_hash(thread.origin)[:16]}-" if thread.origin else ""
        return self._folder / f"{whose}{_hash(thread.id)[:32]}.json"


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def dump(thread: Thread) -> str:
    whole = {
        "id": thread.id,
        "origin": thread.origin,
        "agent": thread.agent,
        "created_at": thread.created_at,
        "used_at": thread.used_at,
        "state": thread.state,
        "runs": [_dump_run(run) for run in thread.runs if run.ended],
    }
    return json.dumps(whole, ensure_ascii=False)


def _dump_run(run: KeptRun) -> Json:
    events = [written for event in run.events if (written := _dump_event(event)) is not None]
    return {"id": run.id, "said": json.loads(_messages().dump_json(run.messages)), "events": events}


def _dump_event(event: Event) -> list[Any] | None:
    name = type(event).__name__
    if isinstance(event, Failed):
        return [name, {"code": event.error.code, "message": str(event.error)}]
    adapter = _events().get(name)
    return [name, adapter.dump_python(event, mode="json")] if adapter else None


def _read(path: Path) -> Thread | None:
    try:
        whole = json.loads(path.read_text("utf-8"))
        thread = Thread(whole["id"], whole["agent"], whole["created_at"], whole["used_at"])
        thread.origin, thread.state = str(whole.get("origin", "")), whole["state"]
        for saved in whole["runs"]:
            messages = _messages().validate_json(json.dumps(saved["said"]))
            run = KeptRun(saved["id"], messages, [_read_event(*event) for event in saved["events"]])
            run.end()
            thread.remember(run)
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        log.warning("A kept conversation cannot be read: %s", path.name)
        return None
    return thread


def _read_event(name: str, saved: Any) -> Event:
    if name == "Failed":
        error = AppError(saved["message"])
        error.code = saved["code"]
        return Failed(error)
    return _events()[name].validate_python(saved)


MOST_OF_ONE = 200
"""The most responses that are kept for one client."""
MOST_OF_ALL = 1000
MOST_BYTES = 128 * 1024 * 1024


@dataclass(slots=True)
class KeptResponse:
    """A response, the input items of its request, and the conversation up to its answer."""

    owner: str
    request_id: str
    response: Json
    items: tuple[Json, ...] = ()
    messages: tuple[Message, ...] = ()
    size: int = field(init=False)
    """The weight of all three, when it was made."""

    def __post_init__(self) -> None:
        self.size = weight((self.response, self.items, self.messages))


class ResponseMemory:
    """The responses that are kept. When it is full, the client with the most loses its oldest."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptResponse] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, kept: KeptResponse) -> None:
        self._kept[kept.response["id"]] = kept
        self._kept.move_to_end(kept.response["id"])
        while len(self._kept) > 1 and self._is_full():
            del self._kept[self._oldest_of_most()]

    def find(self, owner: str, response_id: str) -> KeptResponse | None:
        """Returns a response of this owner; else None, so that nobody learns of another's.

        An owner is a page, a slash and a key. A request without a key finds the responses of the
        same page under any key: some libraries send a placeholder if no key is needed, and the
        next request of the same program may send none.
        """
        kept = self._kept.get(response_id)
        if kept is None:
            return None
        is_without_key = owner.endswith("/") and kept.owner.startswith(owner)
        return kept if kept.owner == owner or is_without_key else None

    def forget(self, owner: str, response_id: str) -> None:
        if self.find(owner, response_id) is not None:
            del self._kept[response_id]

    def _is_full(self) -> bool:
        if len(self._kept) > MOST_OF_ALL or self._most()[1] > MOST_OF_ONE:
            return True
        return sum(kept.size for kept in self._kept.values()) > MOST_BYTES

    def _most(self) -> tuple[str, int]:
        return Counter(kept.owner for kept in self._kept.values()).most_common(1)[0]

    def _oldest_of_most(self) -> str:
        owner, _ = self._most()
        return next(name for name, kept in self._kept.items() if kept.owner == owner)
