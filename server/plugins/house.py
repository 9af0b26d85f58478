"""Everything a screen or a conversation asks of plugins, in one place."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from server.abilities import Approval, FormCard, PluginCard, PluginTest
from server.egress import is_address
from server.engine.base import Engine
from server.errors import AppError, BadRequest
from server.events import StatusNote, StepChanged, TextDelta
from server.flows.base import Flow, Kit, Work
from server.flows.runner import Run
from server.observe import Value
from server.plugins import install
from server.plugins.approval import Approvals, chat_key
from server.plugins.cards import SERVER, broken_card, card
from server.plugins.decidable import decidable
from server.plugins.forms import Forms
from server.plugins.kept import Decided
from server.plugins.kit import PluginKit, RehearsalKit, worded
from server.plugins.oidc import TOKENS
from server.plugins.plugin import Plugin
from server.plugins.shelf import PluginPlaces, PluginShelf, Shared
from server.plugins.talk import PluginTalk
from server.settings import PluginSettings
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

CHANGING = "changing_methods"


class NoPlugin(BadRequest):
    code = "plugin_not_found"
    status = 404

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no plugin '{key}'.", "key")


class PluginHouse:
    def __init__(
        self,
        places: PluginPlaces,
        shared: Shared,
        settings: Callable[[], PluginSettings],
        engine: Callable[[str | None], Awaitable[Engine]],
    ) -> None:
        self.plugins: Value[tuple[PluginCard, ...]] = Value(())
        self._approvals = Approvals(places.config / "permissions.json")
        self.approvals: Value[tuple[Approval, ...]] = self._approvals.pending
        self._forms = Forms()
        self.forms: Value[tuple[FormCard, ...]] = self._forms.pending
        self.shelf = PluginShelf(places, shared, self._publish)
        self._settings = settings
        self._engine = engine
        self._missing: dict[str, tuple[str, ...]] = {}
        self._asking_keychain: asyncio.Task[None] | None = None
        self.talk = PluginTalk(self.flows, self.kit, lambda: settings().choose == "automatic")
        self._own_talk = PluginTalk(
            self.flows, self._own_kit, lambda: settings().choose == "automatic"
        )

    async def open(self) -> None:
        """Does not wait for the keychain, which may be slow or ask the person first."""
        await self.shelf.open()
        self._asking_keychain = spawn(self._look_for_secrets(), "plugin-secrets")

    async def close(self) -> None:
        await stop(self._asking_keychain)
        await self.shelf.close()

    def for_clients(self) -> PluginTalk | None:
        """None while connected programs may not use plugins, or none is enabled."""
        return self.talk if self._settings().serve_clients and self._has_any() else None

    def talk_for(self, *, is_own: bool) -> PluginTalk | None:
        """The person's own window needs no leave to use what they have enabled."""
        if is_own:
            return self._own_talk if self._has_any() else None
        return self.for_clients()

    async def flows(self) -> Sequence[Flow]:
        """Every flow of every enabled plugin."""
        found: list[Flow] = []
        await self.shelf.look_again()
        plugins = self.shelf.enabled()
        # At the same time: a server that does not answer must not hold up the others.
        of_tools = await asyncio.gather(*(plugin.tool_flows() for plugin in plugins))
        for plugin, flows in zip(plugins, of_tools, strict=True):
            found += [flow for flow in plugin.loaded.flows.values() if flow.is_usable]
            found += flows
        return found

    def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        self._approvals.answer(approval_id, decision, arguments)
        self._publish()

    def answer_form(self, form_id: str, values: str) -> None:
        self._forms.answer(form_id, values)

    async def install_plugin(self, path: str) -> str:
        home = self.shelf.places.home
        loaded = await asyncio.to_thread(lambda: install.install(Path(path).expanduser(), home))
        await self.shelf.look()
        await self._look_for_secrets()
        log.info(
            "The plugin %s %s is installed", loaded.key, loaded.manifest and loaded.manifest.version
        )
        return loaded.key

    async def enable_plugin(self, key: str) -> None:
        """A person has seen what it may do, as it is now."""
        plugin = self._find(key)
        if plugin.loaded.state == "broken":
            raise BadRequest(f"{key} is broken and cannot be enabled.", "key")
        decided = replace(plugin.decided, enabled=True, reviewed=plugin.reviewed)
        self.shelf.decide(key, decided)

    async def disable_plugin(self, key: str) -> None:
        self.shelf.decide(key, replace(self._find(key).decided, enabled=False))

    async def remove_plugin(self, key: str) -> None:
        if self.shelf.is_shipped(key):
            raise BadRequest(f"{key} comes with Moat; disable it instead.", "key")
        for name in (*self._find(key).secrets, *TOKENS) if key in self.shelf.plugins else ():
            await self.shelf.sealed(key).forget(name)
        is_linked = bool(self.shelf.kept.get(key).linked)
        self.shelf.kept.forget(key)
        self._approvals.forget(key)
        if not is_linked:
            await asyncio.to_thread(install.remove, self.shelf.places.home, key)
        await self.shelf.look()

    async def roll_back_plugin(self, key: str) -> None:
        await asyncio.to_thread(install.roll_back, self.shelf.places.home, key)
        await self.shelf.look()

    async def link_plugin(self, path: str) -> str:
        """Used where it lies: for those who write one."""
        folder = await asyncio.to_thread(lambda: Path(path).expanduser().resolve())
        if not await asyncio.to_thread((folder / "plugin.json").is_file):
            raise BadRequest(f"There is no plugin.json in {folder.name}.", "path")
        self.shelf.kept.set(folder.name, Decided(linked=str(folder)))
        await self.shelf.look()
        return folder.name

    async def set_plugin_secret(self, key: str, name: str, value: str) -> None:
        if name not in self._find(key).secrets:
            raise BadRequest(f"{key} names no secret '{name}'.", "name")
        if value:
            await self.shelf.sealed(key).keep(name, value)
        else:
            await self.shelf.sealed(key).forget(name)
        await self._look_for_secrets()

    async def sign_in_plugin(self, key: str) -> str:
        plugin = self._find(key)
        if plugin.sign_in is None:
            raise BadRequest(f"{key} names nobody to sign in with.", "key")
        if not self.shelf.is_enabled(plugin):
            raise BadRequest(f"Enable {key} before you sign in.", "key")
        return await plugin.sign_in.begin()

    async def sign_out_plugin(self, key: str) -> None:
        plugin = self._find(key)
        if plugin.sign_in is not None:
            await plugin.sign_in.forget()

    async def set_plugin_option(self, key: str, name: str, value: str) -> None:
        plugin = self._find(key)
        decided = plugin.decided
        if name == SERVER:
            decided = replace(decided, server=_address(value))
        elif name == CHANGING:
            decided = replace(decided, changing_methods=value == "true")
        elif any(name == option.name for option in plugin.manifest.options):
            decided = replace(decided, options={**decided.options, name: value})
        else:
            raise BadRequest(f"{key} has no option '{name}'.", "name")
        self.shelf.decide(key, decided)

    async def set_operation_policy(self, key: str, operation: str, policy: str) -> None:
        plugin = self._find(key)
        known = decidable(plugin, self._approvals)
        if operation not in known:
            raise BadRequest(f"{key} has no tool '{operation}'.", "operation")
        self._approvals.set_policy(key, known[operation], policy)
        self._publish()

    async def test_plugin(self, key: str, flow: str, question: str, mode: str) -> PluginTest:
        plugin = self._find(key)
        found = plugin.loaded.flows.get(flow)
        if found is None or not found.is_usable:
            raise BadRequest(f"{key} has no usable flow '{flow}'.", "flow")
        if mode not in ("dry", "mock", "run"):
            raise BadRequest(f"'{mode}' is no mode: dry, mock or run.", "mode")
        is_enabled = self.shelf.is_enabled(plugin)
        if mode == "run" and not is_enabled:
            raise BadRequest(f"Enable {key} before you run it.", "key")
        if mode == "run" and self._settings().paused:
            raise BadRequest("Plugins are paused; resume them to run one.", "mode")
        kit: Kit
        rehearsal = RehearsalKit(plugin, mock=mode == "mock", is_enabled=is_enabled)
        chat = chat_key(is_own=True)
        kit = PluginKit(plugin, self._approvals, chat) if mode == "run" else rehearsal
        run = Run(Work(found, question, await self._engine(None), kit))
        return await _tested(run, rehearsal)

    async def plugin_log(self, key: str, count: int) -> list[str]:
        return self.shelf.journal(key).recent(count)

    def _has_any(self) -> bool:
        return bool(self.shelf.enabled()) and not self._settings().paused

    def _find(self, key: str) -> Plugin:
        plugin = self.shelf.plugins.get(key)
        if plugin is None:
            raise NoPlugin(key)
        return plugin

    def kit(self, flow: Flow, chat: str) -> Kit:
        """What the flow's plugin lends it for this chat."""
        return PluginKit(self._find(flow.plugin), self._approvals, chat)

    def _own_kit(self, flow: Flow, chat: str) -> Kit:
        return PluginKit(self._find(flow.plugin), self._approvals, chat, self._forms)

    async def _look_for_secrets(self) -> None:
        for key, plugin in tuple(self.shelf.plugins.items()):
            sealed = self.shelf.sealed(key)
            names = [name for name in plugin.secrets if not await sealed.has(name)]
            if plugin.sign_in is not None:
                await plugin.sign_in.is_done()
            self._missing[key] = tuple(names)
        self._publish()

    def _publish(self) -> None:
        shelf = self.shelf
        cards = [
            card(plugin, shelf, self._approvals, self._missing.get(key, ()))
            for key, plugin in shelf.plugins.items()
        ]
        cards += [
            broken_card(loaded, shelf.is_shipped(key)) for key, loaded in shelf.broken.items()
        ]
        self.plugins.set(tuple(sorted(cards, key=lambda one: one.key)))


def _address(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise BadRequest("An address begins with http:// or https://.", "value")
    if value and not is_address(value):
        raise BadRequest("This address cannot be read: it names no host or no such port.", "value")
    return value.rstrip("/")


async def _tested(run: Run, rehearsal: RehearsalKit) -> PluginTest:
    text: list[str] = []
    steps: list[str] = []
    failed = False
    try:
        async with aclosing(run.events()) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text.append(event.text)
                elif isinstance(event, StepChanged) and event.active:
                    steps.append(event.name)
                elif isinstance(event, StatusNote):
                    steps.append(f"  {event.message}")
    except AppError as error:
        text.append(str(error))
        failed = True
    shown = tuple(worded(preview) for preview in rehearsal.shown)
    return PluginTest("".join(text), shown, tuple(steps), failed or run.status == "error")
