"""Finds out facts about each model once, while Moat is idle, and keeps them.

First, whether the model can make plans, then which options compute it fastest here. Measured
options apply from the next start of Moat on, so that no answer has to wait for a reload.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from server.engine.base import Engine, EngineOptions
from server.engine.pool import LoadedModel, Pool
from server.errors import AppError, BadRequest
from server.events import Usage
from server.face.models import Calibration
from server.observe import Value
from server.sentences import Sentence
from server.system import backends, hardware
from server.system.files import JsonFile
from server.system.lazy import Late
from server.tasks import spawn, stop

trial: Any = Late("server.dashboard.trial")
log = logging.getLogger(__name__)
TRIAL_S = 5.0
"""Idle seconds before a model is tried out."""
IDLE_S = 60.0
"""Idle seconds before a model's speed is measured."""
AGAIN_S = 900.0
"""Seconds until a measurement that other programs disturbed is repeated."""
MOST_OTHERS = 0.3
"""Cores that other programs may keep busy meanwhile. With more, the figures mean little."""
USUAL_BATCH = EngineOptions().batch_tokens
LEAST_READ, LEAST_WRITTEN = 64, 16
"""Fewer tokens than these, read and written, say nothing about the speed."""
NEWER = 0.3
"""The weight of the newest answer in the moving average."""
WORTH_KEEPING = 0.1
"""The relative change of a speed that is written to the disk."""
_KIND = TypeAdapter(Calibration)
_USES = TypeAdapter(dict[str, dict[str, float]])


@dataclass(frozen=True, slots=True)
class KeptTrial:
    """Whether a model can make plans. A trial finds out, and the folder keeps its result."""

    folder: Path

    async def __call__(self, engine: Engine, client: str) -> bool:
        able: bool = await self._trials().is_able(engine, client)
        return able

    def is_known(self, engine: Engine) -> bool:
        known: bool = self._trials().is_known(engine)
        return known

    def _trials(self) -> Any:
        return trial.trials_at(self.folder / "trials.json")


class Calibrator:
    """The trials and measurements of loaded models while Moat is idle.

    `path_of` returns a model's file, or None if a server elsewhere runs the model.
    """

    def __init__(
        self,
        file: Path,
        pool: Pool,
        path_of: Callable[[str], Path | None],
        is_allowed: Callable[[], bool],
        can_plan: Callable[[Engine, str], Awaitable[bool]],
    ) -> None:
        self._file = JsonFile(file, "The measured speeds")
        self._uses_file = JsonFile(file.with_name(f"used_{file.name}"), "The speeds of use")
        self._uses = _read_uses(self._uses_file)
        self._pool = pool
        self._path_of = path_of
        self._is_allowed = is_allowed
        self._can_plan = can_plan
        self._tried: set[Path] = set()
        """Files of the models whose trial is done."""
        self._used = self._read()
        """The measurements known at the start. Models are loaded with these."""
        self._task: asyncio.Task[None] | None = None
        self._asked = 0
        self._working = 0
        """Trials and measurements that are running now."""
        self.results: Value[tuple[Calibration, ...]] = Value(tuple(self._used.values()))

    def open(self) -> None:
        self._pool.loaded.connect(self._follow)

    async def close(self) -> None:
        await stop(self._task)

    @property
    def is_quiet(self) -> bool:
        """Whether Moat is idle: no answer, no loading, no trial, no measurement."""
        return not self._working and _is_idle(self._pool.loaded.get())

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        self._working += 1
        try:
            yield
        finally:
            self._working -= 1

    def apply(self, path: Path, options: EngineOptions) -> EngineOptions:
        """Fills in the options that the settings leave open."""
        known = self._used.get(_key(path))
        if known is None:
            return options
        is_free = options.flash_attention is None and options.kv_type == "f16"
        return replace(
            options,
            flash_attention=known.flash_attention if is_free else options.flash_attention,
            threads=options.threads or known.threads,
            batch_tokens=known.batch_tokens
            if options.batch_tokens == USUAL_BATCH
            else options.batch_tokens,
        )

    async def measure(self, name: str) -> None:
        """Measures a model at once, because a person requested it."""
        path = self._path_of(name)
        if path is None:
            raise BadRequest(
                Sentence("Only a model that runs on this computer can be measured."), "name"
            )
        self._asked += 1
        try:
            await stop(self._task)
            await self._pool.engine(name)
            engine = self._pool.peek(name)
            with self._at_work():
                found = await _calibrate(engine) if engine else {}
        finally:
            self._asked -= 1
        if not found:
            raise BadRequest(Sentence("This model cannot be measured."), "name")
        self._keep(name, path, found)

    def note_use(self, name: str, usage: Usage) -> None:
        """Learns a model's speed from an answer. Older answers count less and less."""
        path, fresh = self._path_of(name), usage.prompt_tokens - usage.cached_tokens
        if path is None or usage.completion_tokens < LEAST_WRITTEN or not usage.decode_s:
            return
        now = {"write": usage.tokens_per_s}
        if fresh >= LEAST_READ and usage.prompt_s:
            now["read"] = fresh / usage.prompt_s
        before = self._uses.get(_key(path), {})
        mixed = {
            name: before[name] + NEWER * (now[name] - before[name]) if name in before else now[name]
            for name in now
        }
        self._uses[_key(path)] = before | mixed
        if any(abs(now[name] / before.get(name, 0.001) - 1) > WORTH_KEEPING for name in now):
            self._uses_file.write(self._uses)

    def speed_of(self, path: Path) -> tuple[float, float]:
        """Returns the measured tokens per second, read and written; 0 if unknown."""
        key = _key(path)
        known = next((known for known in self.results.get() if known.key == key), None)
        trials = known.trials if known else ()
        best = max(trials, key=lambda trial: trial.write, default=None)
        seen = self._uses.get(key, {})
        read, write = (best.read, best.write) if best else (0.0, 0.0)
        return seen.get("read", read), seen.get("write", write)

    def _follow(self, loaded: tuple[LoadedModel, ...]) -> None:
        """Starts a trial when all is quiet, and cancels it as soon as a request arrives."""
        is_quiet = _is_idle(loaded)
        if self._task is not None and not self._task.done():
            if not is_quiet:
                self._task.cancel()
                self._task = None  # it may take a moment to end; the next task need not wait
            return
        name = next((model.name for model in loaded if self._is_unknown(model.name)), None)
        if is_quiet and name and not self._asked and self._is_allowed():
            self._task = spawn(self._look_into(name), "look into a model")

    def _is_unknown(self, name: str) -> bool:
        path = self._path_of(name)
        return path is not None and (path not in self._tried or not self._is_measured(path))

    def _is_measured(self, path: Path) -> bool:
        return _key(path) in {known.key for known in self.results.get()}

    async def _look_into(self, name: str) -> None:
        path = self._path_of(name)
        if path is None:
            return
        if path not in self._tried:
            await asyncio.sleep(TRIAL_S)
            await self._try_out(name)
            self._tried.add(path)
        if not self._is_measured(path):
            await self._measure_later(name)

    async def _try_out(self, name: str) -> None:
        """Tries a model out. An engine without a known file size waits until somebody needs it."""
        engine = self._pool.peek(name)
        if engine is None or not engine.facts.size_bytes or not self._is_allowed():
            return
        with self._at_work():
            able = await self._can_plan(engine, "")
        log.info("%s %s", name, "can make plans" if able else "makes no plans")

    async def _measure_later(self, name: str) -> None:
        wait_s = IDLE_S
        while True:
            await asyncio.sleep(wait_s)
            engine, path = self._pool.peek(name), self._path_of(name)
            if engine is None or path is None or not self._is_allowed():
                return
            try:
                with self._at_work():
                    found = await _calibrate(engine)
            except AppError as error:
                log.info("The speed of %s could not be measured: %s", name, error)
                return
            if not found:
                return
            if found.get("others", 0.0) <= MOST_OTHERS:
                self._keep(name, path, found)
                return
            wait_s = AGAIN_S

    def _keep(self, name: str, path: Path, found: dict[str, Any]) -> None:
        entry = {**found, "model": name, "key": _key(path), "measured_at": time.time()}
        made = _KIND.validate_python(entry)
        log.info("Measured %s: %s", name, {**found, "trials": len(made.trials)})
        rest = [known for known in self.results.get() if known.key != made.key]
        self.results.set((*rest, made))
        self._file.write({known.key: asdict(known) for known in self.results.get()})

    def _read(self) -> dict[str, Calibration]:
        found = {}
        for key, entry in self._file.read().items():
            try:
                found[key] = replace(_KIND.validate_python(entry), is_used=True)
            except ValidationError:
                continue  # from another version: it is measured again
        return found


def _read_uses(file: JsonFile) -> dict[str, dict[str, float]]:
    try:
        return _USES.validate_python(file.read())
    except ValidationError:
        return {}


def _is_idle(loaded: Iterable[LoadedModel]) -> bool:
    return not any(model.running or model.phase == "loading" for model in loaded)


async def _calibrate(engine: Engine) -> dict[str, Any]:
    measure = getattr(engine, "calibrate", None)
    found: dict[str, Any] = await measure() if measure is not None else {}
    return found


def _key(path: Path) -> str:
    """Returns a key that changes with the model, the engine, the processor and the cards."""
    size = path.stat().st_size if path.exists() else 0
    parts = (path.name, str(size), backends.engine_version(), hardware.read().model)
    return ":".join((*parts, ",".join(sorted(backends.found(backends.folder())))))
