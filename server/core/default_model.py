"""The default model: loads, reloads, checks and unloads it, and publishes its status."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from server import tasks
from server.chat import ChatRequest
from server.engine.pool import LoadedModel, Pool
from server.errors import AppError, EngineCrashed, ModelLoadFailed
from server.face.core import ModelPhase, ModelStatus
from server.observe import Value
from server.sentences import Sentence

log = logging.getLogger(__name__)
PROBE_S = 30.0
"""Seconds for one token of an idle model. A device that takes longer is as good as gone."""


class CurrentModel:
    """The default model and its `status`. Its failures are states, not exceptions."""

    def __init__(
        self,
        pool: Pool,
        default: Callable[[], str],
        say: Callable[[str], None],
        hosts_of: Callable[[str], tuple[str, ...]] = lambda _name: (),
    ) -> None:
        """`hosts_of` returns the servers that run a model; empty if Moat runs it itself."""
        self.status: Value[ModelStatus] = Value(ModelStatus())
        self._pool = pool
        self._default = default
        self._say = say
        self._hosts_of = hosts_of
        self._reason = ""
        self._details = ""
        self._checking = asyncio.Lock()
        self._turn = asyncio.Lock()
        """Held during loading, unloading and changes of settings, so that they do not overlap."""
        self._loads: dict[asyncio.Task[AppError | None], str] = {}
        self._stops = 0
        """The number of calls that wait to unload. Until they are done, nothing is loaded."""
        pool.loaded.connect(self._show)

    async def load(self, old: str = "") -> None:
        """Loads the default model in place of `old`. A failure is a state, not an exception.

        Running answers finish on the old model. If that is still loading, its load is cancelled.
        """
        self._give_up_others()
        async with self._turn:
            try:
                name = self._default()
            except AppError as error:
                self._fail(error)
                return
            takes_place = old not in ("", name)
            loading = self._pool.swap(name, old) if takes_place else self._pool.engine(name)
            if await self._try(name, loading):
                await self._keep_up(name)

    def forget_failure(self) -> None:
        """Clears the failure of a model that is no longer the default."""
        if self._reason:
            self._reason = ""
            self._show(self._pool.loaded.get())

    async def renew(self, old: str) -> None:
        """Applies changed settings if the default model, which was `old` before, is loaded."""
        was_loading = self._give_up_others()
        async with self._turn:
            name = self._name()
            loaded = was_loading or any(entry.name == old for entry in self._pool.loaded.get())
            if name != old and loaded:
                await self._try(name, self._pool.swap(name, old))
            await self._keep_up(name)

    async def _keep_up(self, name: str) -> None:
        """Reloads the model until it has the current settings: they may change while it loads."""
        while self._pool.is_outdated(name):
            if not await self._try(name, self._pool.swap(name)):
                return

    async def check(self, patience_s: float = PROBE_S) -> None:
        """Reloads every loaded model that no longer answers. Called after the machine slept."""
        async with self._checking:
            await self._check(patience_s)

    async def _check(self, patience_s: float) -> None:
        for model in self._pool.loaded.get():
            name = model.name
            # A busy model is watched anyway. Waiting in its queue would show nothing.
            is_idle = model.phase == "ready" and not model.running and not self._hosts_of(name)
            if is_idle and not await self._answers(model, patience_s):
                log.warning("%s did not answer after sleep; it is loaded again", name)
                await self._pool.unload(name)
                if await self._try(name, self._pool.engine(name)):
                    self._say(
                        Sentence(
                            "{0} did not answer after the computer slept and was loaded again.",
                            name,
                        )
                    )

    async def _answers(self, model: LoadedModel, patience_s: float) -> bool:
        try:
            async with asyncio.timeout(patience_s):
                engine = await self._pool.engine(model.name)
                async for _ in engine.generate(ChatRequest(prompt=" ", max_tokens=1)):
                    pass
        except (TimeoutError, EngineCrashed, ModelLoadFailed):
            return False
        except AppError:
            # The model refuses to write, perhaps because it only embeds: that is an answer, too.
            return True
        return True

    async def unload(self) -> None:
        async with self._stop_loads():
            await self._pool.unload(self._name())

    async def unload_all(self) -> None:
        """Unloads the default model and those that clients asked for by name."""
        async with self._stop_loads():
            await self._pool.unload_all()

    @asynccontextmanager
    async def _stop_loads(self) -> AsyncGenerator[None, None]:
        """Takes the turn without waiting for loads: cancels them and lets no other begin."""
        self._stops += 1
        try:
            for load in self._loads:
                load.cancel()
            async with self._turn:
                self._reason = ""
                yield
        finally:
            self._stops -= 1

    def _give_up_others(self) -> bool:
        """Cancels the loads of models that are not the default now. Returns whether any ran."""
        others = [load for load, name in self._loads.items() if name != self._name()]
        for load in others:
            load.cancel()
        return bool(others)

    async def _try(self, name: str, loading: Coroutine[Any, Any, object]) -> bool:
        """Loads a model. Returns False only if the load was cancelled, not if it failed."""
        self._reason = ""
        if self._stops:
            loading.close()
            return False
        load = tasks.spawn(_failure(loading), f"load-{name}")
        self._loads[load] = name
        try:
            await asyncio.wait([load])
        finally:
            del self._loads[load]
            await tasks.stop(load)
        if load.cancelled():
            return False
        if error := load.result():
            self._fail(error)
        self._show(self._pool.loaded.get())
        return True

    def _fail(self, error: AppError) -> None:
        self._reason, self._details = str(error), error.details
        log.warning("The model cannot be loaded: %s", error)
        self._show(self._pool.loaded.get())

    def _show(self, loaded: tuple[LoadedModel, ...]) -> None:
        name = self._name()
        entry = next((entry for entry in loaded if entry.name == name), None)
        hosts = self._hosts_of(name)
        if entry is None:
            phase: ModelPhase = "failed" if self._reason else "empty"
            details = self._details if self._reason else ""
            status = ModelStatus(phase, name, 0.0, self._reason, hosts=hosts, details=details)
        else:
            status = ModelStatus(
                entry.phase,
                name,
                round(entry.progress, 2),
                entry.reason,
                entry.facts.context_tokens,
                entry.facts.device,
                entry.facts.sees_images,
                hosts,
                entry.details,
            )
        self.status.set(status)

    def _name(self) -> str:
        try:
            return self._default()
        except AppError:
            return ""


async def _failure(loading: Coroutine[Any, Any, object]) -> AppError | None:
    try:
        await loading
    except AppError as error:
        return error
    return None
