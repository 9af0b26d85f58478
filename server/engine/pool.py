"""A pool of engines: loads models on request, within a memory budget, and unloads idle ones."""

import asyncio
import itertools
import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from server.chat import ChatRequest
from server.engine.base import Engine, EngineOptions, Forwarding, LoadPhase, ModelFacts
from server.engine.watch import Health
from server.errors import AppError, Busy, ModelLoadFailed, Stopping
from server.events import Pieces
from server.observe import Value
from server.sentences import Sentence
from server.settings import EngineElsewhere
from server.sizes import MB
from server.tasks import spawn

T = TypeVar("T")
log = logging.getLogger(__name__)
MARGIN = "\n  | "
"""Put before each line of a prompt, so that it cannot look like a line of the log."""


async def log_prompt(engine: Engine, request: ChatRequest) -> None:
    """Logs the prompt as the model gets it."""
    try:
        prompt = request.prompt
        if not isinstance(prompt, str) or request.infill is not None:
            prompt = await engine.apply_template(request)
    except AppError as error:
        log.info("A prompt cannot be shown: %s", error)
        return
    log.info("A prompt for the model:%s", "".join(MARGIN + line for line in prompt.splitlines()))


class PooledEngine(Forwarding):
    """A model of the pool, by name. Closing it does nothing: the pool owns the engines."""

    def __init__(self, engine: Engine, pool: "Pool", name: str) -> None:
        self.facts = engine.facts
        self.state = engine.state
        self._pool = pool
        self._name = name

    async def load(self) -> None:
        async with self._pool.use(self._name) as engine:
            self.facts, self.state = engine.facts, engine.state

    async def close(self) -> None:
        return

    async def generate(self, request: ChatRequest) -> Pieces:
        adapted = self._pool.adapt(self._name, request)
        async with self._pool.use(self._name, request.keep_s) as engine:
            if self._pool.logs_prompts():
                await log_prompt(engine, adapted)
            async with aclosing(engine.generate(adapted)) as pieces:
                async for piece in pieces:
                    yield piece

    async def apply_template(self, request: ChatRequest) -> str:
        return await super().apply_template(self._pool.adapt(self._name, request))

    async def _ask(self, ask: Callable[[Engine], Awaitable[T]]) -> T:
        async with self._pool.use(self._name) as engine:
            return await ask(engine)


LONGEST_S = 366 * 24 * 3600.0
"""In seconds, a year. A model that is kept longer is never unloaded for being idle."""


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that was looked up by name: its file, its load options and its estimated memory."""

    path: Path
    options: EngineOptions
    size_bytes: int
    backends: str = ""
    """The folder in which its worker looks for added graphics support."""
    elsewhere: EngineElsewhere | None = None
    """The servers that run the model; None if it is a file on this machine."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """The state of a model in the pool, for display."""

    name: str
    phase: LoadPhase
    progress: float
    reason: str
    size_bytes: int
    running: int
    facts: ModelFacts = field(default_factory=ModelFacts)
    leaves_at: float | None = None
    """The Unix time at which it is unloaded if it stays idle; None while used, or if it stays."""
    details: str = ""
    """Technical details of the reason."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    idle_s: float = 0.0
    """Seconds without use after which a model is unloaded; 0 means never."""
    budget_bytes: int = 0
    """The memory for all loaded models together; 0 means no limit."""
    patience_s: float = 120.0
    """How long a request waits for memory that running answers hold, in seconds."""


class _Entry:
    def __init__(self, name: str, found: FoundModel, engine: Engine) -> None:
        self.name = name
        self.found = found
        self.engine = engine
        self.running = 0
        self.used = 0
        self.keep_s: float | None = None
        """Seconds that its last user wants it kept; None leaves it to the limits."""
        self.idle: asyncio.TimerHandle | None = None
        self.drained = asyncio.Event()
        self.gone = asyncio.Event()

    @property
    def has_failed(self) -> bool:
        return self.engine.state.get().phase == "failed"


class Pool:
    """Owns the engines. Those that it returns load their model again if it was unloaded."""

    def __init__(
        self,
        look_up: Callable[[str], FoundModel],
        make: Callable[[Path, EngineOptions], Engine],
        limits: PoolLimits | None = None,
        reach: Callable[[EngineElsewhere], Engine] | None = None,
        adapt: Callable[[str, ChatRequest], ChatRequest] = lambda _name, request: request,
    ) -> None:
        """`make` makes the engine for a file, `reach` the engine for a model on other servers.

        `adapt` may change each request to the model of that name.
        """
        self.loaded: Value[tuple[LoadedModel, ...]] = Value(())
        self._look_up = look_up
        self._make = make
        self._reach = reach
        self.adapt = adapt
        self.logs_prompts: Callable[[], bool] = lambda: False
        self._limits = limits or PoolLimits()
        self._entries: dict[str, _Entry] = {}
        self._retired: set[_Entry] = set()
        self._uses = itertools.count(1)
        self._freed = asyncio.Event()
        self._adding = asyncio.Lock()
        self._closed = False

    @property
    def health(self) -> Health:
        """The worst health of all engines."""
        found: list[Health] = [getattr(e.engine, "health", "ok") for e in self._entries.values()]
        return max(found, key=("ok", "busy", "not answering").index, default="ok")

    async def engine(self, name: str) -> Engine:
        """Returns the model of that name, loaded. Concurrent callers share one load."""
        async with self.use(name) as engine:
            return PooledEngine(engine, self, name)

    def peek(self, name: str) -> Engine | None:
        """Returns the engine if it is loaded, else None. It does not count as a use."""
        entry = self._entries.get(name)
        is_ready = entry is not None and entry.engine.state.get().phase == "ready"
        return entry.engine if entry is not None and is_ready else None

    def keep(self, name: str, seconds: float) -> None:
        """Sets how many seconds a model stays after its last use. With 0, an idle one goes now."""
        entry = self._entries.get(name)
        if entry is None:
            return
        entry.keep_s = seconds
        if not seconds and not entry.running:
            self._retire(name)
        else:
            self._set_timer(entry)
            self._tell()

    @asynccontextmanager
    async def use(self, name: str, keep_s: float | None = None) -> AsyncGenerator[Engine, None]:
        """Loads the engine. Keeps it loaded within the block and `keep_s` seconds after it."""
        entry = self._current(name) or await self._add(name)
        self._enter(entry)
        if keep_s is not None:
            entry.keep_s = keep_s
        try:
            await self._load(entry)
            yield entry.engine
        finally:
            self._leave(entry)

    def set_limits(self, limits: PoolLimits) -> None:
        self._limits = limits
        for entry in self._entries.values():
            self._set_timer(entry)
        self._tell()

    async def swap(self, name: str, old: str = "") -> None:
        """Loads a model again, or instead of `old`. Running answers finish on the old engine."""
        self._retire(old or name)
        await self.engine(name)

    def is_outdated(self, name: str) -> bool:
        """Whether the model would now be loaded in another way, e.g. after a change of settings."""
        entry = self._entries.get(name)
        return entry is not None and entry.found != self._look_up(name)

    def leaving(self) -> tuple[asyncio.Event, ...]:
        """Returns an event for each model that is being unloaded, set when its memory is free."""
        return tuple(entry.gone for entry in self._retired)

    def let_go(self, name: str) -> None:
        """Unloads the model once its running answers have ended, without waiting for that."""
        self._retire(name)

    async def unload(self, name: str) -> None:
        """Unloads the model. Returns when its running answers have ended and its memory is free.

        A load in progress is given up, even if requests wait for it.
        """
        entry = self._retire(name, wanted=False)
        if entry is not None:
            await entry.gone.wait()

    async def unload_all(self) -> None:
        """Unloads every model, and waits for those that are already being unloaded."""
        for name in tuple(self._entries):
            self._retire(name, wanted=False)
        for gone in self.leaving():
            await gone.wait()

    async def close(self) -> None:
        """Closes every engine now. Running answers end with an error."""
        self._closed = True
        entries = [*self._entries.values(), *self._retired]
        for entry in entries:
            _stop_timer(entry)
        await asyncio.gather(*(entry.engine.close() for entry in entries))
        self._entries.clear()
        self._tell()

    def _current(self, name: str) -> _Entry | None:
        entry = self._entries.get(name)
        if entry is not None and entry.has_failed and not entry.running:
            # Look it up again: the file or the options may have been repaired.
            self._retire(name)
            return None
        return entry

    def _enter(self, entry: _Entry) -> None:
        _stop_timer(entry)
        entry.running += 1
        entry.used = next(self._uses)
        entry.drained.clear()
        self._tell()

    def _leave(self, entry: _Entry) -> None:
        entry.running -= 1
        if not entry.running:
            entry.drained.set()
            self._set_timer(entry)
        self._tell()

    async def _add(self, name: str) -> _Entry:
        # One at a time: two concurrent loads must not both count on the same free memory.
        async with self._adding:
            if self._closed:
                raise Stopping
            if name not in self._entries:
                found = self._look_up(name)
                await self._make_room(found)
                self._entries[name] = _Entry(name, found, self._engine_for(found))
                self._entries[name].engine.state.connect(lambda _state: self._tell())
            return self._entries[name]

    def _engine_for(self, found: FoundModel) -> Engine:
        if found.elsewhere is None or self._reach is None:
            return self._make(found.path, found.options)
        return self._reach(found.elsewhere)

    async def _make_room(self, found: FoundModel) -> None:
        budget, needed = self._limits.budget_bytes, found.size_bytes
        if not budget:
            return
        if needed > budget:
            raise ModelLoadFailed(
                Sentence(
                    "The model needs about {0} MB of memory, but only {1} MB are allowed.",
                    needed // MB,
                    budget // MB,
                )
            )
        try:
            async with asyncio.timeout(self._limits.patience_s):
                while _memory([*self._entries.values(), *self._retired]) + needed > budget:
                    await self._free_one()
        except TimeoutError as error:
            raise Busy(sum(entry.running for entry in self._entries.values())) from error

    async def _free_one(self) -> None:
        idle = [e for e in self._entries.values() if not e.running]
        if idle:
            least = min(idle, key=lambda entry: entry.used)
            log.info("Unloading %s to make room", least.name)
            await self.unload(least.name)
        else:
            await self._freed.wait()

    async def _load(self, entry: _Entry) -> None:
        try:
            await entry.engine.load()
        except Stopping:
            if self._closed:
                raise
            raise ModelLoadFailed(Sentence("The model was unloaded before it was ready.")) from None

    def _retire(self, name: str, *, wanted: bool = True) -> _Entry | None:
        """Removes the model from the pool. It is closed once its running answers have ended.

        If it is still loading and not `wanted`, it is closed at once.
        """
        entry = self._entries.pop(name, None)
        if entry is not None:
            _stop_timer(entry)
            self._retired.add(entry)
            is_vain = not wanted and entry.engine.state.get().phase == "loading"
            spawn(self._close(entry, drained=not is_vain), f"unload-{name}")
            self._tell()
        return entry

    async def _close(self, entry: _Entry, *, drained: bool) -> None:
        if drained and entry.running:
            await entry.drained.wait()
        try:
            await entry.engine.close()
        finally:
            self._retired.discard(entry)
            entry.gone.set()
            self._tell()

    def _set_timer(self, entry: _Entry) -> None:
        _stop_timer(entry)
        idle_s = (self._limits.idle_s or math.inf) if entry.keep_s is None else entry.keep_s
        listed = self._entries.get(entry.name) is entry
        if idle_s <= LONGEST_S and listed and not entry.running and not self._closed:
            loop = asyncio.get_running_loop()
            entry.idle = loop.call_later(idle_s, self._unload_idle, entry.name)

    def _unload_idle(self, name: str) -> None:
        log.info("Unloading %s, which was idle", name)
        self._retire(name)

    def _tell(self) -> None:
        """Publishes the list of models, and lets requests that wait for memory check again."""
        self._freed.set()
        self._freed = asyncio.Event()
        self.loaded.set(tuple(map(self._describe, self._entries.values())))

    def _describe(self, entry: _Entry) -> LoadedModel:
        state = entry.engine.state.get()
        return LoadedModel(
            entry.name,
            state.phase,
            state.progress,
            state.reason,
            entry.found.size_bytes,
            entry.running,
            entry.engine.facts,
            _leaves_at(entry),
            state.details,
        )


def _leaves_at(entry: _Entry) -> float | None:
    if entry.idle is None:
        return None
    left_s = entry.idle.when() - asyncio.get_running_loop().time()
    return round(time.time() + left_s, 1)


def _memory(entries: list[_Entry]) -> int:
    return sum(entry.found.size_bytes for entry in entries if not entry.has_failed)


def _stop_timer(entry: _Entry) -> None:
    if entry.idle is not None:
        entry.idle.cancel()
        entry.idle = None
