"""Core: opens, owns and closes everything; the face a screen sees."""

import logging
import time
from dataclasses import replace
from pathlib import Path

from server import VERSION
from server.conversation.threads.responses import ResponseMemory
from server.core.agents import gather
from server.core.answering import Answering
from server.core.configuration import Configuration
from server.core.default_model import CurrentModel
from server.core.meter import Meter
from server.core.model_commands import Shelved
from server.core.plugin_commands import Plugged, furnish
from server.core.running_requests import Requests, Room
from server.core.served_models import Keeper
from server.core.settings_store import SettingsStore
from server.core.updates import Updates
from server.core.upkeep import Upkeep
from server.core.window_link import Windowed, new_own_key
from server.dashboard.links import AllowedFiles
from server.egress import Egress
from server.engine.base import Engine
from server.engine.fitted import Loader, MakeEngine
from server.engine.options import OptionsOf, limits_of
from server.engine.pool import Found, Pool
from server.engine.process import WorkerProcess
from server.errors import BadRequest, Stopping
from server.face.core import LogLine, ModelCard
from server.models.aliases import Aliases
from server.models.remembered_setups import Worked
from server.models.service import ModelShelf
from server.observe import Signal, Value
from server.protocols import ENDPOINTS
from server.protocols.base import Facts
from server.settings import ModelSettings, Settings
from server.system import backends
from server.system.keychain import Keychain
from server.system.logs import Logs
from server.system.paths import Paths
from server.web.app import Site
from server.web.lifecycle import Serving

log = logging.getLogger(__name__)


class Core(Shelved, Plugged, Windowed):
    """open() before use, close() after. Everything in `server.face.core.Face`, and `converse`."""

    def __init__(self, paths: Paths, make_engine: MakeEngine = WorkerProcess) -> None:
        paths.make()
        self._configure(paths)
        self.models: Value[tuple[ModelCard, ...]] = Value(())
        self._meter = Meter()
        self.load = self._meter.load
        self._chosen = ""
        self._options_of = OptionsOf(paths.cache / "conversations")
        self._options_of.forget(self._model_settings)
        worked = Worked(paths.data / "loads.json")
        loader = Loader(
            make_engine,
            self.shelf,
            worked,
            self._notice,
            lambda: self._pool.leaving(),
            lambda: self.settings.get().privacy.log_prompts,
        )
        self._pool = Pool(self._look_up, loader, limits_of(self._model_settings))
        self._pool.loaded.connect(lambda _loaded: self._mark_loaded())
        aliases, held = Aliases(paths.data / "names.json"), (self.shelf, self._pool)
        self._keeper = Keeper(held, aliases, self.models.get, self._default_name, self.delete_model)
        self._current = CurrentModel(self._pool, self._default_name, self._notice)
        self.model = self._current.status
        self._requests = Requests(lambda: self._meter.measure(self._requests), self._room)
        self.requests, self.answered = self._requests.running, self._requests.answered
        self.outgoing, self.opened_at = self.egress.recent, Value(time.time())
        self.asked_to_quit: Signal[str] = Signal()
        self._responses = ResponseMemory()
        self._furnish(paths)
        self._serving = Serving(
            ENDPOINTS,
            self._site(),
            lambda: self.settings.get().server,
            self.access_key,
            paths.https,
        )
        self.server, self.knocks = self._serving.status, self._serving.knocks

    def _configure(self, paths: Paths) -> None:
        """The settings and what depends on nothing else: logs, secrets, the door out, models."""
        store = SettingsStore(paths.settings)
        self._logs = Logs(paths.logs)
        self.logged = self._logs.ring.logged
        self.keychain = Keychain(paths.secrets)
        self._configuration = Configuration(
            store,
            self.keychain,
            self._apply,
            say=self._notice,
            hide=self._logs.redactor.hide,
        )
        self.settings = self._configuration.settings
        self.notices: Value[tuple[str, ...]] = Value(tuple(store.notices))
        self.change_setting = self._configuration.change_one
        self.change_settings = self._configuration.change
        self.egress = Egress(
            lambda: self.settings.get().network, self._configuration.proxy_password
        )
        self.shelf = ModelShelf(
            paths.models, (self.egress, self.keychain), self.settings.get, self.change_setting
        )
        self.shelf.on_change, self.shelf.hide = self._refresh_models, self._logs.redactor.hide
        self.library = self.shelf.library
        self.downloads = self.shelf.downloads

    def _furnish(self, paths: Paths) -> None:
        """The plugins, the agents that may use them, and what was added or announced."""
        self.settings.connect(lambda now: backends.point(now.model.backends, paths.data))
        updates = Updates(self.egress, lambda: self.settings.get().updates, paths.data)
        self.update, self.check_update = updates.found, updates.check
        self._upkeep = Upkeep(self.check_engine, updates)
        self.house = furnish(
            paths,
            (self.egress, self.keychain, self._logs.redactor),
            lambda: self.settings.get().plugins,
            self._engine,
        )
        self.plugins, self.approvals = self.house.plugins, self.house.approvals
        self.unwatched = self.house.unwatched
        self.forms, self.own_secret = self.house.forms, new_own_key()
        agents = gather(
            self.egress,
            lambda: self.settings.get().copilot,
            self.house,
            self._engine,
            paths.data / "threads",
        )
        self._answering = Answering(
            self._engine,
            lambda: self.model.get().name,
            self.house,
            agents,
            self._requests,
            self._keeper,
            paths.data / "trials.json",
            AllowedFiles(self.egress, lambda: self.settings.get().network),
        )
        self.answer_chat = self._answering.chat

    def _site(self) -> Site:
        return Site(
            self.answer_chat,
            self._answering.ask,
            self._facts,
            self._max_requests,
            self._answering.look,
            self._requests.note_reply,
            self.is_own,
            self._requests.cancel_by_client,
            self._answering.manage,
        )

    async def open(self, *, downloads: bool = True) -> None:
        """`downloads`: take up those under way; not beside another Moat that works on them."""
        self._logs.open()
        await self._configuration.open()
        self._refresh_models()
        if downloads:
            self.shelf.open()
        await self.house.open()
        self._upkeep.open()

    async def close(self) -> None:
        await self._upkeep.close()
        await self._requests.close()
        await self._serving.stop()
        await self.house.close()
        await self._pool.close()
        await self.shelf.close()
        await self.egress.close()
        self._logs.close()

    async def drain(self, timeout_s: float) -> None:
        """Take no new requests; give the running ones this long to end by themselves."""
        await self._requests.drain(timeout_s)

    async def start(self) -> None:
        await self.start_on(None)

    async def start_on(self, port: int | None) -> None:
        """Listen (on the port of the settings if None is given), then load the model."""
        await self._serving.start(port)
        if self.server.get().phase != "ready":  # it failed, or somebody stopped it meanwhile
            return
        if self._model_settings.load_at_start and self.model.get().phase != "ready":
            await self._load_default()

    def choose_model(self, name: str) -> None:
        """For this run: a model by name, or the path of a GGUF file."""
        path = Path(name).expanduser()
        if path.suffix == ".gguf" or path.is_file():
            if not path.is_file():
                raise BadRequest(f"There is no file {name}.", "model")
            name = self.library.add(path.resolve())
        self._chosen = self.library.find(name, "").name
        self._refresh_models()

    async def stop(self) -> None:
        self._requests.cancel_all(Stopping())
        await self._serving.stop()
        await self._current.unload_all()
        self._refresh_models()

    async def load_model(self, name: str) -> None:
        """In place of the default until now; what clients asked for by name stays as it is."""
        self.library.find(name, "")
        old, self._chosen = self._default_name(), ""
        if name != self._model_settings.name:
            self._configuration.save(self.settings.get().changed("model.name", name))
        await self._load_default(old)

    async def unload_model(self) -> None:
        await self._current.unload()
        self._refresh_models()

    async def delete_model(self, name: str) -> int:
        self.shelf.check_deletable(name)
        if name == self.model.get().name:
            await self._current.unload()
        await self._pool.unload(name)
        path = self.library.find(name, "").path
        freed = await self.shelf.delete_model(name)
        self._keeper.forget(path)
        return freed

    async def cancel_request(self, request_id: int) -> None:
        self._requests.cancel(request_id)

    async def dismiss_notice(self, text: str) -> None:
        self.notices.set(tuple(one for one in self.notices.get() if one != text))

    async def recent_logs(self, count: int) -> list[LogLine]:
        return self._logs.ring.recent(count)

    async def plain_secrets_file(self) -> str:
        return await self.keychain.plain_file()

    async def access_key(self) -> str:
        key = await self.keychain.access_key()
        self._logs.redactor.hide(key)
        if self.keychain.notice:
            self._notice(self.keychain.notice)
        return key

    async def _engine(self, name: str | None) -> Engine:
        card = self.library.find(self._keeper.base_name(name), self._default_name())
        return await self._pool.engine(card.name)

    def _facts(self, host: str) -> Facts:
        return Facts(
            f"http://{host}",
            self._keeper.cards(),
            self._default_name(),
            VERSION,
            self._pool.health,
            responses=self._responses,
            loaded=self._pool.loaded.get(),
        )

    async def _load_default(self, old: str = "") -> None:
        await self._current.load(old)
        self._refresh_models()

    def _default_name(self) -> str:
        return self._default_of(self._model_settings)

    def _default_of(self, settings: ModelSettings) -> str:
        return self.library.find(None, self._chosen or settings.name).name

    def _look_up(self, name: str) -> Found:
        card = self.library.find(name, "")
        settings = self._model_settings
        options = self._options_of(settings)
        options = replace(options, projector=Path(card.projector) if card.projector else None)
        return Found(Path(card.path), options, card.size_bytes, settings.backends)

    @property
    def _model_settings(self) -> ModelSettings:
        return self.settings.get().model

    def _room(self) -> Room:
        return Room(self._model_settings.slots, self._model_settings.queue_limit)

    def _max_requests(self) -> int:
        return self.settings.get().server.max_requests

    async def _apply(self, before: Settings, after: Settings) -> None:
        """Make a changed setting true now."""
        if before.copilot.keep_threads and not after.copilot.keep_threads:
            self._answering.agents.threads.keep_no_longer()
        try:
            if before.server != after.server or not self._serving.is_settled:
                await self._serving.follow()
        finally:
            await self._manage_otherwise(before.model, after.model)

    async def _manage_otherwise(self, before: ModelSettings, after: ModelSettings) -> None:
        # Another change may have overtaken this one: what is set now is what holds.
        self._pool.set_limits(limits_of(self._model_settings))
        self._options_of.forget(self._model_settings)
        if self.models.get() and self._loading(after) != self._loading(before):
            await self._current.renew(self._default_of(before))
        self._refresh_models()

    def _loading(self, settings: ModelSettings) -> tuple[object, ...]:
        """All that decides which model is loaded, and how."""
        return settings.name, settings.backends, self._options_of(settings)

    def _notice(self, text: str) -> None:
        if text not in self.notices.get():
            self.notices.set((*self.notices.get(), text))

    def _refresh_models(self) -> None:
        self.models.set(self.shelf.look())
        self._mark_loaded()

    def _mark_loaded(self) -> None:
        self._meter.workers_changed()
        loaded = {one.name for one in self._pool.loaded.get() if one.phase == "ready"}
        cards = self.models.get()
        self.models.set(tuple(replace(card, loaded=card.name in loaded) for card in cards))
