"""The core: opens, owns and closes everything, and has the state and commands a window sees."""

import asyncio
import csv
import hmac
import io
import logging
import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from server import VERSION
from server.chat import ChatRequest, Tool
from server.conversation.agents.plugins import PluginTools
from server.conversation.threads import ResponseMemory
from server.core.answering import Answering, Keeper, gather_agents
from server.core.calibration import Calibrator, KeptTrial
from server.core.configuration import Configuration, SettingsStore
from server.core.default_model import CurrentModel
from server.core.engines_elsewhere import EnginesElsewhere
from server.core.graphics import Build, Graphics
from server.core.keys import Keys
from server.core.running_requests import Meter, RequestLimits, Requests
from server.core.updates import Updates
from server.dashboard.links import AllowedFiles
from server.data import documents
from server.data.sources import Sources
from server.data.tables import Table
from server.egress import Egress
from server.engine.base import Engine, EngineOptions
from server.engine.fitted import Loader, MakeEngine, OptionsOf, limits_of
from server.engine.pool import FoundModel, Pool
from server.engine.process import WorkerProcess
from server.errors import AppError, BadRequest, KeyRevoked, ModelNotUsed, NoModel, Stopping
from server.face.core import About, FileText, KeyLimits, LogLine, ModelPhase
from server.face.models import ModelCard
from server.models.aliases import Aliases, switch_thinking
from server.models.fit import RememberedSetups
from server.models.machine import Surveyor
from server.models.service import ModelShelf
from server.observe import Signal, Value
from server.plugins.answering import UserQuestion
from server.plugins.approvals import chat_key
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.protocols import ENDPOINTS
from server.protocols.base import Facts, Readiness
from server.sentences import Sentence
from server.settings import (
    EngineSettings,
    ModelSettings,
    OwnSettings,
    Settings,
)
from server.system import backends
from server.system.keychain import Keychain
from server.system.lazy import Late
from server.system.logs import Logs
from server.system.paths import Paths
from server.tasks import spawn, stop
from server.web.app import Site
from server.web.lifecycle import Serving


def _read(path: Path) -> FileText:
    """Reads a document for the chat page. Runs in a thread; raises BadRequest."""
    try:
        if path.stat().st_size > documents.MAX_BYTES:
            raise BadRequest(Sentence("{0} is too big to read.", path.name), "path")
        found = documents.read(path.read_bytes(), path.name)
    except OSError as error:
        raise BadRequest(
            Sentence("{0} could not be read: {1}.", path.name, error.strerror), "path"
        ) from None
    except documents.Unreadable as error:
        raise BadRequest(str(error), "path") from None
    parts = [page for page in found.pages if page.strip()]
    parts += [_csv(table) for table in found.tables]
    return FileText(path.name, "\n\n".join(parts), found.notes)


def _csv(table: Table) -> str:
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(table.rows)
    return held.getvalue().rstrip()


TICK_S = 20.0
JUMP_S = 20.0
"""Seconds. A timer that is later than this means that the machine slept, not that it is busy."""


def clock() -> float:
    """Returns seconds that go on while the machine sleeps.

    Only Linux has a monotonic clock for that. Other systems use the wall clock.
    """
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time()


async def watch(
    woke: Callable[[], Awaitable[None]],
    now: Callable[[], float] = clock,
    tick_s: float = TICK_S,
) -> None:
    """Calls `woke` after each sleep of the machine, until it is cancelled."""
    while True:
        before = now()
        await asyncio.sleep(tick_s)
        if now() - before > tick_s + JUMP_S:
            await woke()


log = logging.getLogger(__name__)

figures: Any = Late("server.core.figures")


class Core:
    """The whole server, as a `server.face.core.Face`. Call open() before use and close() after."""

    def __init__(self, paths: Paths, make_engine: MakeEngine = WorkerProcess) -> None:
        paths.make()
        self._configure(paths)
        self._meter = Meter()
        self.load = self._meter.load
        self._chosen = ""
        self._failures: dict[str, tuple[str, str]] = {}
        """The reason and the technical details of each model's last failed load, by model name."""
        self._load_begun = False
        self._cards_added = 0
        self._options_of = OptionsOf(paths.cache / "conversations")
        self._options_of.forget(self._model_settings)
        self._pool = self._make_pool(paths, make_engine)
        self._pool.loaded.connect(lambda _loaded: self._mark_loaded())
        aliases, held = Aliases(paths.data / "names.json"), (self.models, self._pool)
        self._keeper = Keeper(held, aliases, self._default_name, self._own_of)
        self.models.release, self.models.on_deleted = self._release, self._keeper.forget
        self._current = CurrentModel(self._pool, self._default_name, self._notice, self._hosts_of)
        self.model = self._current.status
        self._keys = Keys(paths.config)
        self.keys = self._keys.cards
        self._requests = Requests(
            lambda: self._meter.measure(self._requests), self._room, self._make_figures, self._keys
        )
        self.requests, self.answered = self._requests.running, self._requests.answered
        self.outgoing, self.opened_at = self.egress.recent, Value(time.time())
        self.asked_to_quit: Signal[str] = Signal()
        self._responses, self._requests.on_alone = ResponseMemory(), self.speeds.note_use
        self.sources = Sources(paths.cache / "sources" / "index.db")
        self._furnish(paths)
        self._serving = Serving(
            ENDPOINTS,
            self._site(),
            lambda: self.settings.get().server,
            self.access_key,
            paths.https,
        )
        self.server, self.knocks = self._serving.status, self._serving.knocks

    def _make_pool(self, paths: Paths, make_engine: MakeEngine) -> Pool:
        loader = Loader(
            make_engine,
            self.models,
            RememberedSetups(paths.data / "loads.json"),
            self._notice,
            lambda: self._pool.leaving(),
        )
        limits = limits_of(self._model_settings)
        pool = Pool(self._look_up, loader, limits, self.engines.reach, self._keep_from_thinking)
        pool.logs_prompts = lambda: self.settings.get().privacy.log_prompts
        may_measure = lambda: self._model_settings.calibrate  # noqa: E731
        self.speeds = Calibrator(
            paths.data / "speeds.json", pool, self._file_of, may_measure, KeptTrial(paths.data)
        )
        self.models.speed_of = self.speeds.speed_of
        self.models.surveyor.is_quiet = lambda: self.speeds.is_quiet
        return pool

    def _configure(self, paths: Paths) -> None:
        """Makes what depends on nothing else: settings, logs, secrets, `Egress`, models."""
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
            variables=os.environ,
        )
        self.settings = self._configuration.settings
        self._logs.write_json(as_json=self.settings.get().server.log_format == "json")
        self.notices: Value[tuple[str, ...]] = Value(tuple(store.notices))
        self.change_setting = self._configuration.change_one
        self.change_settings = self._configuration.change
        self.egress = Egress(
            lambda: self.settings.get().network, self._configuration.proxy_password
        )
        self.models = ModelShelf(
            paths.models, (self.egress, self.keychain), self.settings.get, self.change_setting
        )
        self.models.survey_by(Surveyor(paths.data / "pace.json"))
        self.models.on_change, self.models.hide = self._refresh_models, self._logs.redactor.hide
        self.engines = EnginesElsewhere(
            (self.egress, self.keychain),
            self.settings.get,
            self.change_setting,
            self._refresh_models,
            lambda: (card.name for card in self.models.look()),
        )
        self.engines.hide = self._logs.redactor.hide
        self.library = self.models.library

    def _furnish(self, paths: Paths) -> None:
        """Makes the plugins, the agents that use them, updates and graphics support."""
        self.settings.connect(lambda now: backends.point(now.model.backends, paths.data))
        self._updates = Updates(self.egress, lambda: self.settings.get().updates, paths.data)
        self.update, self.check_update = self._updates.found, self._updates.check
        self._upkeep: list[asyncio.Task[None]] = []
        self.graphics = Graphics(self.egress, self.settings.get, paths.data, self._use_card)
        self.graphics.build = Build(self.graphics.offer, self._notice, self._use_card)
        self.models.after_survey = self.graphics.follow
        self.plugins = PluginHouse(
            PluginPlaces.find(paths),
            Shared(self.egress, self.keychain, self._logs.redactor),
            lambda: self.settings.get().plugins,
            self._engine,
        )
        self.own_secret = secrets.token_urlsafe(32)
        agents = gather_agents(
            self.egress,
            lambda: self.settings.get().copilot,
            self.plugins,
            self._engine,
            paths.data,
            self._own_of,
        )
        self._answering = Answering(
            self._engine,
            self._name_default,
            self.plugins,
            agents,
            self._requests,
            self._keeper,
            KeptTrial(paths.data),
            AllowedFiles(self.egress, lambda: self.settings.get().network),
            self._show_figures,
            self._keys,
        )
        self.answer_chat = self._answering.chat

    def _site(self) -> Site:
        return Site(
            self.answer_chat,
            self._answering.ask,
            self._facts,
            lambda: self.settings.get().server.max_requests,
            self._answering.look,
            self._requests.note_reply,
            self.is_own,
            self._requests.cancel_by_client,
            self._answering.manage,
            self._keys.name_of,
            self._narrow,
            self._client_tools,
        )

    async def _client_tools(self, about: About) -> tuple[Tool, ...]:
        """Returns the plugins' tools that a connected program may call by itself."""
        client = about.key or about.client
        chat = chat_key(client, about.chat, is_own=False)
        asked = UserQuestion((), client, chat)
        return await PluginTools(self.plugins).list_all(lambda: self._engine(None), asked)

    async def open(self, *, downloads: bool = True) -> None:
        """Opens everything. Pass downloads=False beside another Moat that works on them."""
        self._logs.open()
        backends.begin()
        await self._configuration.open()
        self.engines.follow()
        self._refresh_models()
        if downloads:
            self.models.open()
            self.graphics.open()
        await self.plugins.open()
        self._upkeep = [
            spawn(watch(self.check_engine), "watch for sleep"),
            spawn(self._updates.watch(), "look for new versions"),
        ]
        self.speeds.open()

    async def close(self) -> None:
        for task in self._upkeep:
            await stop(task)
        await self.graphics.close()
        await self.speeds.close()
        await self._requests.close()
        await self._serving.stop()
        await self.plugins.close()
        await self.sources.close()
        await self._pool.close()
        await self.engines.close()
        await self.models.close()
        await self.egress.close()
        await self._keys.close()
        self._logs.close()

    async def drain(self, timeout_s: float) -> None:
        """Refuses new requests and gives the running ones this long to finish."""
        await self._requests.drain(timeout_s)

    def log_to(self, stream: TextIO) -> None:
        """Writes the log to a stream, too, for programs that are watched by their output."""
        self._logs.write_to(stream)

    async def start(self) -> None:
        await self.start_on(None)

    async def start_on(self, port: int | None) -> None:
        """Listens on the port, or on that of the settings if None, then loads the model."""
        await self._serving.start(port)
        if self.server.get().phase != "ready":  # it failed, or somebody has stopped it
            return
        if self._model_settings.load_at_start and self.model.get().phase != "ready":
            await self._load_default()
        self.graphics.begin_building()

    def choose_model(self, name: str) -> None:
        """Sets the default model of this run, by its name or by the path of a GGUF file."""
        if self.engines.find(name) is not None:
            self._chosen = name
            self._refresh_models()
            return
        path = Path(name).expanduser()
        if path.suffix == ".gguf" or path.is_file():
            if not path.is_file():
                raise BadRequest(Sentence("There is no file {0}.", name), "model")
            name = self.library.add(path.resolve())
        self._chosen = self.library.find(name, "").name
        self._refresh_models()

    async def use_engines(self, given: Iterable[str]) -> None:
        """Uses engines for this run, written as for `moat serve --engine`. The first answers."""
        names = await self.engines.give(given)
        self._chosen = names[0] if names else self._chosen
        self._refresh_models()

    async def stop(self) -> None:
        self._requests.cancel_all(Stopping())
        await self._serving.stop()
        await self._current.unload_all()
        self._refresh_models()

    async def load_model(self, name: str) -> None:
        """Replaces the default model. Models that clients asked for by name stay loaded.

        If the model cannot be loaded, the old default is restored and ModelNotUsed is raised.
        """
        self._find(name, "")
        before, old = (self._chosen, self._model_settings.name), self._default_name()
        was_loaded = self.model.get().phase in ("ready", "loading")
        self._choose("", name)
        await self._load_default(old)
        now = self.model.get()
        if now.phase != "failed" or now.name != name or old == name:
            return
        self._failures[name] = now.reason, now.details
        self._choose(*before)
        if was_loaded:
            await self._load_default(name)
        self._current.forget_failure()
        self._refresh_models()
        failure = ModelNotUsed(name, now.reason, old)
        failure.known_details = now.details
        raise failure

    def _choose(self, chosen: str, name: str) -> None:
        """Sets the default model: `chosen` for this run, else `name` in the settings."""
        self._chosen = chosen
        if name != self._model_settings.name:
            self._configuration.save(self.settings.get().changed("model.name", name))

    async def unload_model(self) -> None:
        await self._current.unload()
        self._refresh_models()

    async def _release(self, name: str) -> None:
        if name == self.model.get().name:
            await self._current.unload()
        await self._pool.unload(name)

    async def cancel_request(self, request_id: int) -> None:
        self._requests.cancel(request_id)

    async def quit(self) -> None:
        self.asked_to_quit.emit("moat quit")

    async def own_key(self) -> str:
        """Returns, over the control link only, the secret that marks the own window's requests."""
        return self.own_secret

    async def recall(self, text: str) -> str:
        return self._requests.recall(text)

    def is_own(self, sent: str) -> bool:
        given = sent.encode("utf-8", "surrogateescape")
        return hmac.compare_digest(given, self.own_secret.encode())

    async def read_document(self, path: str) -> FileText:
        return await asyncio.to_thread(_read, Path(path))

    async def check_engine(self) -> None:
        """Checks that the graphics cards are still present and the model still answers."""
        if self.models.surveyor.machine().engine_uses_gpu:
            await self.models.survey_machine()
        await self._current.check()

    async def dismiss_notice(self, text: str) -> None:
        self.notices.set(tuple(notice for notice in self.notices.get() if notice != text))

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

    async def add_key(self, name: str, limits: KeyLimits) -> str:
        known = {card.name for card in self._keeper.cards()}
        if unknown := [model for model in limits.models if model not in known]:
            raise BadRequest(Sentence("There is no model '{0}' here.", unknown[0]), "limits")
        return self._keys.add(name, limits)

    async def revoke_key(self, name: str) -> None:
        self._keys.revoke(name)
        self._requests.cancel_by_key(name, KeyRevoked())

    def _narrow(self, facts: Facts, holder: str) -> Facts:
        """Limits the facts to the models that the holder of a named key may use."""
        if self._keys.limits_of(holder) is None:
            return facts
        may_use = [
            card
            for card in facts.models
            if any(self._keys.may_use(holder, name) for name in (card.name, card.base or card.name))
        ]
        names = {card.name for card in may_use}
        default = facts.default_model
        if default not in names:
            default = next(iter(card.name for card in may_use), "")
        return replace(
            facts,
            models=tuple(may_use),
            default_model=default,
            holder=holder,
            forbidden=frozenset(card.name for card in facts.models) - names,
        )

    async def _engine(self, name: str | None) -> Engine:
        card = self._find(self._keeper.base_name(name), self._default_name())
        return await self._pool.engine(card.name)

    def _facts(self, host: str) -> Facts:
        cards = self._keeper.cards()
        return Facts(
            f"http://{host}",
            cards,
            self._default_name() if cards else "",
            VERSION,
            self._pool.health,
            self._readiness(),
            responses=self._responses,
            loaded=self._pool.loaded.get(),
        )

    def _readiness(self) -> Readiness:
        try:
            name = self._default_name()
        except AppError:
            return "no model"
        if self._pool.health == "not answering":
            return "not answering"
        far = next((far for far in self.engines.states.get() if far.engine.name == name), None)
        if far is not None and (far.phase == "failed" or set(far.out) >= set(far.engine.hosts)):
            return "failed"
        loaded: dict[str, ModelPhase] = {
            entry.name: entry.phase for entry in self._pool.loaded.get()
        }
        phase = loaded.get(name, "empty")
        if phase == "empty" and self._load_begun:
            phase = self.model.get().phase
        if phase == "empty":
            begins = self._model_settings.load_at_start and not self._load_begun
            return "loading" if begins else "idle"
        return phase

    def _make_figures(self) -> Any:
        return figures.Figures(lambda: {card.name for card in self._keeper.cards()})

    async def _show_figures(self) -> str:
        names = [entry.name for entry in self._pool.loaded.get()]
        engines = {name: engine for name in names if (engine := self._pool.peek(name))}
        return await self._requests.figures.show(engines, self.engines.states.get())

    async def _load_default(self, old: str = "") -> None:
        self._load_begun = True
        await self._current.load(old)
        self._refresh_models()

    def _default_name(self) -> str:
        return self._default_of(self._model_settings)

    def _name_default(self) -> str:
        """Returns the default model's name, or the last known one (perhaps "") if there is none."""
        try:
            return self._default_name()
        except AppError:
            return self.model.get().name

    def _default_of(self, settings: ModelSettings) -> str:
        return self._find(None, self._chosen or settings.name).name

    def _find(self, name: str | None, default: str) -> ModelCard:
        """Finds a model here or elsewhere. `Library.find` does so for those here."""
        elsewhere = {card.name: card for card in self.models.cards.get() if card.hosts}
        wanted = name or default
        if wanted in elsewhere:
            return elsewhere[wanted]
        try:
            return self.library.find(name, default)
        except NoModel:
            if name or not elsewhere:
                raise
            return next(iter(elsewhere.values()))

    def _file_of(self, name: str) -> Path | None:
        card = next((card for card in self.models.cards.get() if card.name == name), None)
        return Path(card.path) if card is not None and not card.hosts else None

    def _hosts_of(self, name: str) -> tuple[str, ...]:
        return next((card.hosts for card in self.models.cards.get() if card.name == name), ())

    def _look_up(self, name: str) -> FoundModel:
        card = self._find(name, "")
        if card.hosts:
            return FoundModel(Path(card.path), EngineOptions(), 0, "", self.engines.find(name))
        settings = self._model_settings.for_model(card.name)
        options = self._options_of(settings)
        options = replace(options, projector=Path(card.projector) if card.projector else None)
        options = self.speeds.apply(Path(card.path), options)
        return FoundModel(Path(card.path), options, card.size_bytes, self._backends(settings))

    @property
    def _model_settings(self) -> ModelSettings:
        return self.settings.get().model

    def _own_of(self, name: str | None) -> OwnSettings:
        """Returns a model's own settings, or the default model's if `name` is None."""
        return self._model_settings.own_of(self._keeper.base_name(name) or self._name_default())

    def _keep_from_thinking(self, name: str, request: ChatRequest) -> ChatRequest:
        """Switches thinking off for dashboards and plugins, too, if the model's settings say so."""
        own = self._model_settings.own_of(name)
        return switch_thinking(request, own) if own.thinking == "off" else request

    def _room(self) -> RequestLimits:
        return RequestLimits(self._model_settings.slots, self._model_settings.queue_limit)

    async def _apply(self, before: Settings, after: Settings) -> None:
        """Puts changed settings into effect."""
        self._logs.write_json(as_json=after.server.log_format == "json")
        if before.engines != after.engines:
            self._reach_others(before.engines)
        if before.copilot.keep_threads and not after.copilot.keep_threads:
            self._answering.agents.threads.keep_no_longer()
        try:
            if before.server != after.server or not self._serving.is_settled:
                await self._serving.follow()
        finally:
            await self._manage_otherwise(before.model, after.model)

    def _reach_others(self, before: EngineSettings) -> None:
        """Stops sending requests to engines that were removed or changed."""
        self.engines.follow()
        self._refresh_models()
        for engine in before.elsewhere:
            if self.engines.find(engine.name) != engine:
                self._pool.let_go(engine.name)

    async def _manage_otherwise(self, before: ModelSettings, after: ModelSettings) -> None:
        # Another change may have overtaken this one, so this uses the current settings.
        self._pool.set_limits(limits_of(self._model_settings))
        self._options_of.forget(self._model_settings)
        self._let_go_of_changed(before, after)
        if self.models.cards.get() and self._loading(after) != self._loading(before):
            await self._current.renew(self._default_of(before))
        self._refresh_models()

    def _let_go_of_changed(self, before: ModelSettings, after: ModelSettings) -> None:
        """Lets go of non-default models with changed settings. The next request reloads them."""
        default = self._name_default()
        for loaded in self._pool.loaded.get():
            is_changed = before.own_of(loaded.name) != after.own_of(loaded.name)
            if is_changed and loaded.name != default and self._pool.is_outdated(loaded.name):
                self._pool.let_go(loaded.name)

    def _loading(self, settings: ModelSettings) -> tuple[object, ...]:
        """Returns everything that determines which model is loaded, and how."""
        name = self._name_default()
        return settings.name, self._backends(settings), self._options_of(settings.for_model(name))

    def _backends(self, settings: ModelSettings) -> str:
        """Returns a value that changes with the folder in the settings and with added libraries."""
        return f"{settings.backends}#{self._cards_added}"

    async def _use_card(self, kind: str) -> None:
        """Reloads the model with the graphics support that has just been installed."""
        self._cards_added += 1
        machine = await self.models.survey_machine()
        name = {"cuda": "CUDA", "vulkan": "Vulkan"}.get(kind, kind)
        used = Sentence("Support for {0} is in place. The graphics card is used from now on.", name)
        unused = Sentence(
            "Support for {0} is in place, but cannot be used. The Hardware page says why.", name
        )
        is_used = any(device.backend.lower() == kind for device in machine.devices)
        if not machine.note:
            unused = Sentence(
                "Support for {0} is in place, and finds no card that it can use.", name
            )
        self._notice(used if is_used and machine.engine_uses_gpu else unused)
        await self._current.renew(self._name_default())

    def _notice(self, text: str) -> None:
        if text not in self.notices.get():
            self.notices.set((*self.notices.get(), text))

    def _refresh_models(self) -> None:
        here = self.models.look()
        cards = (*here, *self.engines.cards(card.name for card in here))
        self.models.cards.set(cards)
        self._mark_loaded()

    def _mark_loaded(self) -> None:
        self._meter.workers_changed()
        states = {entry.name: entry for entry in self._pool.loaded.get()}
        for name, state in states.items():
            if state.phase == "failed":
                self._failures[name] = state.reason, state.details
            elif state.phase == "ready":
                self._failures.pop(name, None)
        loaded = {name for name, state in states.items() if state.phase == "ready"}
        self.models.cards.set(
            tuple(
                replace(
                    card,
                    loaded=card.name in loaded,
                    failure=self._failures.get(card.name, ("", ""))[0],
                    failure_details=self._failures.get(card.name, ("", ""))[1],
                )
                for card in self.models.cards.get()
            )
        )
