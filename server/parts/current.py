"""The model that answers by default: which it is, how its loading goes, what it says of itself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from server.chat import ChatRequest
from server.engine.pool import Loaded, Pool
from server.errors import AppError, EngineCrashed, ModelLoadFailed
from server.face import ModelStatus
from server.observe import Value

log = logging.getLogger(__name__)
PROBE_S = 30.0
"""For one token of a model nobody uses; a device that takes longer is as good as gone."""


class CurrentModel:
    def __init__(self, pool: Pool, default: Callable[[], str], say: Callable[[str], None]) -> None:
        self.status: Value[ModelStatus] = Value(ModelStatus())
        self._pool = pool
        self._default = default
        self._say = say
        self._reason = ""
        self._checking = asyncio.Lock()
        self._turn = asyncio.Lock()
        """Loading, unloading and changes of settings come one after the other."""
        pool.loaded.connect(self._show)

    async def load(self, old: str = "") -> None:
        """Load the default model, in place of the old one; a failure is a state, no exception.

        Running answers end on the old one.
        """
        async with self._turn:
            try:
                name = self._default()
            except AppError as error:
                self._fail(error)
                return
            takes_place = old not in ("", name)
            loading = self._pool.swap(name, old) if takes_place else self._pool.engine(name)
            await self._try(loading)
            await self._keep_up(name)

    async def renew(self, old: str) -> None:
        """Make changed settings true if the default, which was `old` before them, is loaded."""
        async with self._turn:
            name = self._name()
            if name != old and any(one.name == old for one in self._pool.loaded.get()):
                await self._try(self._pool.swap(name, old))
            await self._keep_up(name)

    async def _keep_up(self, name: str) -> None:
        """Settings that change while it loads take effect after it."""
        while self._pool.is_outdated(name):
            await self._try(self._pool.swap(name))

    async def check(self, patience_s: float = PROBE_S) -> None:
        """After sleep: a loaded model that no longer answers is loaded anew."""
        async with self._checking:
            await self._check(patience_s)

    async def _check(self, patience_s: float) -> None:
        for one in self._pool.loaded.get():
            # One at work is watched as it is; to wait in its queue would tell nothing.
            is_idle = one.phase == "ready" and not one.running
            if is_idle and not await self._answers(one, patience_s):
                log.warning("%s did not answer after sleep; it is loaded again", one.name)
                await self._pool.unload(one.name)
                await self._try(self._pool.engine(one.name))
                self._say(
                    f"{one.name} did not answer after the computer slept and was loaded again."
                )

    async def _answers(self, one: Loaded, patience_s: float) -> bool:
        try:
            async with asyncio.timeout(patience_s):
                engine = await self._pool.engine(one.name)
                async for _ in engine.generate(ChatRequest(prompt=" ", max_tokens=1)):
                    pass
        except (TimeoutError, EngineCrashed, ModelLoadFailed):
            return False
        except AppError:
            # It refuses to write, say because it only embeds: that is an answer.
            return True
        return True

    async def unload(self) -> None:
        async with self._turn:
            self._reason = ""
            await self._pool.unload(self._name())

    async def unload_all(self) -> None:
        """It and what clients asked for by name."""
        async with self._turn:
            self._reason = ""
            await self._pool.unload_all()

    async def _try(self, loading: Awaitable[object]) -> None:
        self._reason = ""
        try:
            await loading
        except AppError as error:
            self._fail(error)
        self._show(self._pool.loaded.get())

    def _fail(self, error: AppError) -> None:
        self._reason = str(error)
        log.warning("The model cannot be loaded: %s", error)
        self._show(self._pool.loaded.get())

    def _show(self, loaded: tuple[Loaded, ...]) -> None:
        name = self._name()
        entry = next((one for one in loaded if one.name == name), None)
        if entry is None:
            status = ModelStatus("failed" if self._reason else "empty", name, 0.0, self._reason)
        else:
            status = ModelStatus(
                entry.phase,
                name,
                round(entry.progress, 2),
                entry.reason,
                entry.facts.context_tokens,
                entry.facts.device,
                entry.facts.sees_images,
            )
        self.status.set(status)

    def _name(self) -> str:
        try:
            return self._default()
        except AppError:
            return ""
