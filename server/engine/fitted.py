"""An engine that fits this machine: checks the file, then tries setups until one loads.

This module also turns the settings into load options.
"""

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from server.chat import ChatRequest
from server.engine.base import Engine, EngineOptions, Forwarding, LoadState, ModelFacts
from server.engine.pool import PoolLimits
from server.engine.watch import Health
from server.errors import AppError, ModelDamaged, ModelLoadFailed, OutOfMemory, Stopping
from server.events import Pieces
from server.face.models import Machine, Setup
from server.models import memory
from server.models.fit import COMFORTABLE, RememberedSetups, explain, judge, ladder, without_card
from server.models.gguf.files import Headers
from server.models.gguf.header import Header
from server.models.repository import size_of
from server.models.service import ModelShelf
from server.observe import Disconnect, Value
from server.sentences import Sentence, from_wire
from server.settings import ModelSettings
from server.sizes import MB

T = TypeVar("T")
ALL_LAYERS = 999
ANY_QUEUE = 1 << 16
"""No limit in practice: requests are admitted on arrival (`Requests`), not by the worker."""


def limits_of(settings: ModelSettings) -> PoolLimits:
    return PoolLimits(settings.idle_unload_min * 60.0, settings.memory_budget_mb * MB)


class OptionsOf:
    """Turns the settings into the options to load a model with."""

    def __init__(self, kept_conversations: Path) -> None:
        self._kept_conversations = kept_conversations

    def __call__(self, settings: ModelSettings) -> EngineOptions:
        return EngineOptions(
            context_tokens=settings.context_tokens or None,
            slots=settings.slots,
            threads=settings.threads or None,
            batch_tokens=settings.batch_tokens,
            gpu_layers=ALL_LAYERS if settings.gpu_layers < 0 else settings.gpu_layers,
            gpu_split=settings.gpu_split,
            main_gpu=settings.main_gpu,
            kv_offload=settings.kv_offload,
            cpu_experts=settings.cpu_experts,
            device_sampling=_choice(settings.device_sampling),
            kv_type=settings.kv_type,
            flash_attention=_choice(settings.flash_attention),
            prompt_cache_mb=settings.prompt_cache_mb,
            prompt_disk_mb=settings.prompt_disk_mb,
            prompt_folder=self._kept_conversations if settings.prompt_disk_mb else None,
            speculate=settings.speculate,
            draft_model=memory.draft_path(settings),
            loras=tuple(Path(path) for path in settings.loras),
            queue_limit=ANY_QUEUE,
            tool_signatures=settings.tool_signatures,
        )

    def forget(self, settings: ModelSettings) -> None:
        """Deletes the stored conversations if the user does not keep them any more."""
        if not settings.prompt_disk_mb:
            shutil.rmtree(self._kept_conversations, ignore_errors=True)


def _choice(wanted: Literal["auto", "on", "off"]) -> bool | None:
    return None if wanted == "auto" else wanted == "on"


log = logging.getLogger(__name__)
TRIES = 6
"""The most setups that are tried for one load."""
SMALLER = 0.8
"""The next try takes at most this share of the last try's memory, to make a difference."""
LIKELY = 0.3
"""A load that needs more than this share of the free memory may have failed for lack of it."""
SLOW_LOOK_S = 3.0
LOOKING = LoadState(
    "loading",
    0.0,
    Sentence("Looking at the graphics card. At its first use, its driver may take minutes."),
)
"""What is shown when the machine's survey takes longer: it tries each card once."""
PATIENCE_S = 120.0
"""How long to wait, in seconds, for models that are being unloaded but still answer."""

MakeEngine = Callable[[Path, EngineOptions], Engine]


@dataclass(frozen=True, slots=True)
class Loader:
    """Makes engines for the pool. `say` shows a sentence to the user.

    `leaving` returns an event for each model that is being unloaded, set when its memory is free.
    """

    make: MakeEngine
    shelf: ModelShelf
    worked: RememberedSetups
    say: Callable[[str], None]
    leaving: Callable[[], Sequence[asyncio.Event]] = tuple

    def __call__(self, path: Path, options: EngineOptions) -> Engine:
        return FittedEngine(path, options, self)


class FittedEngine(Forwarding):
    """An engine that chooses its setup when it loads."""

    def __init__(self, path: Path, options: EngineOptions, loader: Loader) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self._path = path
        self._options = options
        self._loader = loader
        self._engine: Engine | None = None
        self._unlink: Disconnect = lambda: None
        self._turn = asyncio.Lock()
        self._device = ""
        self._gpu_bytes = 0
        self._settling = False
        self._closed = False

    @property
    def health(self) -> Health:
        """The worker's health; "ok" for an engine that is not watched."""
        found: Health = getattr(self._engine, "health", "ok")
        return found

    async def load(self) -> None:
        async with self._turn:
            if self._closed:
                raise Stopping
            if self._engine is not None and self.state.get().phase != "failed":
                await self._engine.load()
            else:
                await self._begin()

    async def close(self) -> None:
        self._closed = True
        await self._drop()
        self.state.set(LoadState())

    def generate(self, request: ChatRequest) -> Pieces:
        engine = self._engine
        return self._load_and_generate(request) if engine is None else engine.generate(request)

    async def _load_and_generate(self, request: ChatRequest) -> Pieces:
        engine = await self._loaded()
        async with aclosing(engine.generate(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _ask(self, ask: Callable[[Engine], Awaitable[T]]) -> T:
        return await ask(await self._loaded())

    async def calibrate(self) -> dict[str, Any]:
        """Measures how the model is computed fastest here; empty if the engine is not a worker."""
        measure = getattr(await self._loaded(), "calibrate", None)
        found: dict[str, Any] = await measure() if measure is not None else {}
        return found

    async def _loaded(self) -> Engine:
        if self._engine is None:
            await self.load()
        assert self._engine
        return self._engine

    async def _begin(self) -> None:
        self.state.set(LoadState("loading"))
        self._settling = True
        try:
            header = await asyncio.to_thread(self._loader.shelf.headers.check, self._path)
            await self._check_projector()
            await self._try(header, await self._survey(header))
        except AppError as error:
            self.state.set(LoadState.failed(error))
            raise
        finally:
            self._settling = False
            if self._engine is None and self.state.get().phase == "loading":
                self.state.set(LoadState())  # the caller was cancelled

    async def _survey(self, header: Header) -> Machine:
        """Surveys the machine; waits for leaving models if their memory allows a better setup."""
        while leaving := self._loader.leaving():
            machine = await self._look()
            if self._best(header, machine) == self._best(header, _with_all_memory_free(machine)):
                return machine
            if not await _all_set(leaving):
                break
            if self._closed:
                raise Stopping
        return await self._look()

    async def _look(self) -> Machine:
        """Surveys the machine, anew if it has graphics cards, as their free memory changes."""
        surveyor = self._loader.shelf.surveyor
        slow = asyncio.get_running_loop().call_later(SLOW_LOOK_S, self.state.set, LOOKING)
        try:
            return await surveyor.look(anew=surveyor.machine().engine_uses_gpu)
        finally:
            slow.cancel()
            if self.state.get() == LOOKING:
                self.state.set(LoadState("loading"))

    def _best(self, header: Header, machine: Machine) -> Setup | None:
        return next(self._setups(header, _setup(self._options), machine), None)

    async def _check_projector(self) -> None:
        """Leaves out a damaged projector, with a warning: the model can still read text."""
        projector = self._options.projector
        if projector is None:
            return
        try:
            await asyncio.to_thread(self._loader.shelf.headers.check, projector)
        except ModelDamaged as error:
            log.warning("%s", error)
            self._loader.say(str(error))
            self._options = replace(self._options, projector=None)

    async def _try(self, header: Header, machine: Machine) -> None:
        """Tries smaller setups until one loads. If none does, raises the first error."""
        asked = _setup(self._options)
        failure: ModelLoadFailed | None = None
        for setup in self._setups(header, asked, machine):
            try:
                await self._load_with(setup)
            except ModelDamaged:
                raise
            except ModelLoadFailed as error:
                known = isinstance(error, OutOfMemory) or failure is not None
                if not known and not _may_be_memory(header, setup, machine):
                    raise
                failure = failure or error
                log.info("Loading %s failed, trying with less: %s", self._path.name, error)
            else:
                self._conclude(header, asked, setup, machine)
                return
        fit = judge(header, asked, machine)
        raise failure or ModelLoadFailed(
            Sentence("{0} does not fit: {1}", self._path.stem, fit.why)
        )

    def _setups(self, header: Header, asked: Setup, machine: Machine) -> Iterator[Setup]:
        """Yields a few setups that fit by the estimate, each clearly smaller than the last."""
        recalled = self._loader.worked.recall(self._path, asked, machine)
        tried, last = 0, 0
        if recalled is not None:
            last = judge(header, recalled, machine).needed_bytes
            tried += 1
            yield recalled
        for rung, setup in enumerate(ladder(header, asked, machine)):
            fit = judge(header, setup, machine)
            # The requested setup may be tight; our own choice leaves room for other programs.
            greedy = rung and fit.memory.needed > COMFORTABLE * machine.free_bytes
            large = last and fit.needed_bytes > SMALLER * last
            if fit.verdict == "does not fit" or greedy or large:
                continue
            last, tried = fit.needed_bytes, tried + 1
            yield setup
            if tried >= TRIES:
                return

    async def _load_with(self, setup: Setup) -> None:
        await self._drop()
        options = replace(
            self._options,
            context_tokens=setup.context_tokens,
            slots=setup.slots,
            kv_type=setup.kv_type,
            gpu_layers=setup.gpu_layers,
            batch_tokens=setup.batch_tokens,
            cpu_experts=setup.cpu_experts,
        )
        engine = self._engine = self._loader.make(self._path, options)
        self._unlink = engine.state.connect(self._show)
        if self._closed:
            raise Stopping
        await engine.load()
        self.facts = engine.facts

    def _show(self, state: LoadState) -> None:
        if self._engine is not None:
            self.facts = self._engine.facts
            self.facts.extra["gpu_bytes"] = self._gpu_bytes
        if state.phase == "ready" and not self._settling:
            self._compare_device()
            self._tell_lost_template()
        # A failed try may not be the last one: `_begin` shows the final failure.
        if not self._closed and not (self._settling and state.phase == "failed"):
            self.state.set(state)

    def _compare_device(self) -> None:
        """Warns if a worker that was restarted does not use the graphics card any more."""
        if (self._device, self.facts.device) == ("gpu", "cpu"):
            self._warn(
                Sentence("The engine was started again and could not use the graphics card.")
            )
        self._device = self.facts.device

    def _conclude(self, header: Header, asked: Setup, taken: Setup, machine: Machine) -> None:
        wanted = next(iter(ladder(header, asked, machine)))
        sentence = explain(replace(wanted, context_tokens=asked.context_tokens), taken)
        if sentence:
            log.warning("%s: %s", self._path.stem, sentence)
            self._loader.say(Sentence("{0}: {1}", self._path.stem, sentence))
            self._loader.worked.remember(self._path, asked, taken, machine)
        projector = self._options.projector
        if projector is not None and not self.facts.sees_images:
            self._loader.say(
                Sentence(
                    "{0} cannot read images: the vision projector {1} does not match this model.",
                    self._path.stem,
                    projector.name,
                )
            )
        self._tell_lost_template()
        missing = self._loader.worked.last_card(machine)
        self._gpu_bytes = judge(header, taken, machine).memory.gpu
        self.facts.extra["gpu_bytes"] = self._gpu_bytes
        if self.facts.device == "cpu":
            self._warn(without_card(asked, taken, machine, missing))
        self._device = self.facts.device

    def _tell_lost_template(self) -> None:
        lost = from_wire(self.facts.extra.get("template_lost", ""))
        if not lost:
            return
        again = Sentence(
            "System prompts, tools and thoughts may be missing until that succeeds; "
            "it is tried again with the next question."
        )
        if not self.facts.extra.get("template_again"):
            again = Sentence("System prompts, tools or thoughts may not reach the model.")
        name = self._path.stem
        self._loader.say(
            Sentence("{0}: The chat template could not be tried out: {1}. {2}", name, lost, again)
        )

    def _warn(self, why: str) -> None:
        if why:
            log.warning("%s runs on the processor. %s", self._path.stem, why)
            self._loader.say(Sentence("{0} runs on the processor. {1}", self._path.stem, why))

    async def _drop(self) -> None:
        engine, self._engine = self._engine, None
        self._unlink()
        if engine is not None:
            await engine.close()


async def _all_set(events: Sequence[asyncio.Event]) -> bool:
    """Waits for the events, up to PATIENCE_S. Returns whether all were set."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            for event in events:
                await event.wait()
    except TimeoutError:
        return False
    return True


def _with_all_memory_free(machine: Machine) -> Machine:
    """Returns the machine as if all its memory were free."""
    devices = tuple(replace(device, free_bytes=device.total_bytes) for device in machine.devices)
    return replace(machine, free_bytes=machine.memory_bytes, devices=devices)


def _may_be_memory(header: Header, setup: Setup, machine: Machine) -> bool:
    """Whether this setup may have failed to load for lack of memory."""
    if setup.gpu_layers > 0 and machine.engine_uses_gpu:
        return True
    return judge(header, setup, machine).memory.needed > LIKELY * machine.free_bytes


def _setup(options: EngineOptions) -> Setup:
    setup = Setup(
        options.context_tokens or 0,
        options.slots,
        options.kv_type,
        -1 if options.gpu_layers >= ALL_LAYERS else options.gpu_layers,
        options.batch_tokens,
        options.flash_attention,
        options.gpu_split,
        size_of([str(options.projector or "")]),
        cpu_experts=options.cpu_experts,
        kv_offload=options.kv_offload,
        main_gpu=options.main_gpu,
    )
    return memory.add_draft(setup, options.draft_model, Headers())
