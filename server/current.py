"""The model that answers by default: which it is, how its loading goes, what it says of itself."""

import logging
from collections.abc import Awaitable, Callable

from server.engine.pool import Loaded, Pool
from server.errors import AppError
from server.face import ModelStatus
from server.observe import Value

log = logging.getLogger(__name__)


class CurrentModel:
    def __init__(self, pool: Pool, default: Callable[[], str]) -> None:
        self.status: Value[ModelStatus] = Value(ModelStatus())
        self._pool = pool
        self._default = default
        self._reason = ""
        pool.loaded.connect(self._show)

    async def load(self) -> None:
        """Load the default model; a failure is a state, not an exception."""
        try:
            name = self._default()
        except AppError as error:
            self._fail(error)
        else:
            await self._try(self._pool.engine(name))

    async def reload(self) -> None:
        """Load it anew with other options; running answers end on the old one."""
        await self._try(self._pool.swap(self._default()))

    async def unload(self) -> None:
        self._reason = ""
        await self._pool.unload(self._name())

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
            )
        self.status.set(status)

    def _name(self) -> str:
        try:
            return self._default()
        except AppError:
            return ""
