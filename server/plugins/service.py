"""The plugins as the window and conversations use them, and the card that shows each plugin."""

import asyncio
import json
import logging
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from server.chat import Json
from server.data.markdown import as_markdown
from server.data.yaml_with_places import Findings, nearest, read_file, summarise
from server.egress import is_address
from server.engine.base import Engine
from server.errors import AppError, BadRequest, FlowFailed
from server.events import StatusNote, StepChanged, TextDelta
from server.face.plugins import (
    SERVER,
    Approval,
    CommonServer,
    FlowCard,
    FormCard,
    OperationCard,
    OptionCard,
    PluginCard,
    PluginTest,
    ToolCard,
)
from server.flows.base import Action, Flow, Kit, Reach, Risk, Step, Work
from server.flows.calling import call_within
from server.flows.runner import Run
from server.observe import Value
from server.plugins import install
from server.plugins.answering import PluginTalk
from server.plugins.approvals import Approvals, chat_key, read_arguments
from server.plugins.folder import Loaded
from server.plugins.install import PREVIOUS, Imported
from server.plugins.kit import Forms, PluginKit, RehearsalKit, Rehearsed, as_text
from server.plugins.manifest import TOKENS, read_manifest
from server.plugins.mcp.client import McpAction
from server.plugins.plugin import Plugin
from server.plugins.python.host import fingerprint
from server.plugins.registry import PluginPlaces, PluginShelf, Shared
from server.plugins.walls import walls
from server.schemas import fill
from server.sentences import Sentence, in_a_row
from server.settings import PluginSettings
from server.tasks import spawn, stop


@dataclass(frozen=True, slots=True)
class KnownOperation:
    """An operation that is known without starting anything: from its code, or a decision."""

    key: str
    description: str
    risk: Risk
    fingerprint: str


def decidable(plugin: Plugin, approvals: Approvals) -> dict[str, Action | KnownOperation]:
    """Returns the operations that a person can decide about, by key.

    They come from its API, its code, and servers that have listed their tools. A tool with a
    decision is included even before its server has listed it.
    """
    digest = plugin.loaded.digest
    servers = {server.name for server in plugin.manifest.servers}
    of_code = [
        KnownOperation(
            tool.name, tool.description, "change", fingerprint(plugin.key, tool.name, digest)
        )
        for tool in plugin.loaded.tools
    ]
    known: list[Action | KnownOperation] = [*plugin.api_actions(), *of_code, *plugin.mcp_actions()]
    found: dict[str, Action | KnownOperation] = {operation.key: operation for operation in known}
    for key, mark in approvals.decided_operations(plugin.key).items():
        if key.partition("/")[0] in servers:
            found.setdefault(key, KnownOperation(key, "", "change", mark))
    return found


def card(
    plugin: Plugin, shelf: PluginShelf, approvals: Approvals, missing: tuple[str, ...]
) -> PluginCard:
    loaded, manifest, decided = plugin.loaded, plugin.manifest, plugin.decided
    return PluginCard(
        key=plugin.key,
        name=manifest.name,
        description=manifest.description,
        version=manifest.version,
        state=loaded.state,
        enabled=shelf.is_enabled(plugin),
        review=decided.reviewed != plugin.reviewed,
        shipped=shelf.is_shipped(plugin.key),
        findings=_findings(plugin),
        failure_details=_failure_details(plugin),
        working=in_a_row(plugin.working.values()),
        hosts=plugin.hosts,
        secrets=plugin.secrets,
        missing_secrets=missing,
        commands=tuple(" ".join(server.command) for server in manifest.servers if server.command),
        runs_code=bool(loaded.tools),
        database=manifest.database,
        operations=_operations(plugin, approvals),
        flows=tuple(
            FlowCard(flow.name, flow.description, flow.is_usable) for flow in loaded.flows.values()
        ),
        options=card_options(plugin),
        question=manifest.predefined_question,
        previous_version=_previous(shelf, plugin.key),
        changing_methods=decided.changing_methods,
        sign_in=sign_in.state if (sign_in := plugin.person_sign_in) else "",
        has_tools=bool(manifest.servers or loaded.tools),
        walled=plugin.is_walled,
        changes=plugin.changes,
        resources=tuple(name for listed in plugin.listed for name in listed.resources),
        prompts=tuple(name for listed in plugin.listed for name in listed.prompts),
    )


def broken_card(loaded: Loaded, shipped: bool) -> PluginCard:
    return PluginCard(
        key=loaded.key,
        name=loaded.key,
        description="",
        version="",
        state="broken",
        enabled=False,
        review=True,
        shipped=shipped,
        findings=summarise(loaded.findings),
    )


def _operations(plugin: Plugin, approvals: Approvals) -> tuple[OperationCard, ...]:
    return tuple(
        OperationCard(
            operation.key,
            operation.description,
            operation.risk,
            approvals.policy(plugin.key, operation),
        )
        for operation in decidable(plugin, approvals).values()
    )


def _findings(plugin: Plugin) -> tuple[str, ...]:
    """Returns the problems to show: failed servers, then those of its files, then its sign-in."""
    failed = [
        Sentence("The server '{0}' failed: {1}", name, why) for name, why in plugin.failures.items()
    ]
    problem = sign_in.problem if (sign_in := plugin.person_sign_in) else ""
    return (*failed, *summarise(plugin.loaded.findings), *filter(None, [problem]))


def _failure_details(plugin: Plugin) -> str:
    return "\n".join(
        f"{name}: {details}"
        for name, details in plugin.failure_details.items()
        if details and name in plugin.failures
    )


def card_options(plugin: Plugin) -> tuple[OptionCard, ...]:
    """Returns the options of plugin.json and, if it has an API, the API's address."""
    found = [
        OptionCard(
            option.name, option.label, option.kind, plugin.decided.options.get(option.name, "")
        )
        for option in plugin.manifest.options
    ]
    if plugin.loaded.api is not None:
        found.append(OptionCard(SERVER, "Address of its API", "text", plugin.server))
    return tuple(found)


def _previous(shelf: PluginShelf, key: str) -> str | None:
    folder = shelf.places.home / PREVIOUS / key
    if not folder.is_dir():
        return None
    findings = Findings("plugin.json")
    manifest = read_manifest(
        key, read_file(folder / "plugin.json", "plugin.json", findings), findings
    )
    return manifest.version if manifest else ""


log = logging.getLogger(__name__)

CHANGING = "changing_methods"
MOST_NAMED = 8
TRIAL_S = 60.0
SHOW_S = 0.5
NOTHING_BEFORE: Json = {"background": "", "question": "", "files": [], "previous_data": {}}


class NoPlugin(BadRequest):
    code = "plugin_not_found"
    status = 404

    def __init__(self, key: str, known: Iterable[str] = ()) -> None:
        super().__init__(
            _join(Sentence("There is no plugin '{0}'.", key), nearest(key, known)), "key"
        )


class PluginHouse:
    """The plugins of this machine: implements `server.face.plugins.PluginsFace`, supplies flows."""

    def __init__(
        self,
        places: PluginPlaces,
        shared: Shared,
        settings: Callable[[], PluginSettings],
        engine: Callable[[str | None], Awaitable[Engine]],
    ) -> None:
        self.cards: Value[tuple[PluginCard, ...]] = Value(())
        self._approvals = Approvals(places.config / "permissions.json")
        self.approvals: Value[tuple[Approval, ...]] = self._approvals.pending
        self._forms = Forms()
        self.forms: Value[tuple[FormCard, ...]] = self._forms.pending
        self.shelf = PluginShelf(places, shared, self._publish)
        self.unwatched: Value[tuple[str, ...]] = self.shelf.unwatched
        self._settings = settings
        self._engine = engine
        self._missing: dict[str, tuple[str, ...]] = {}
        self._asking_keychain: asyncio.Task[None] | None = None
        is_automatic = lambda: settings().choose == "automatic"  # noqa: E731
        given = (is_automatic, self.explain, self.prepare)
        self.talk = PluginTalk(self.flows, self.kit, *given)
        self._own_talk = PluginTalk(self.flows, self._own_kit, *given)

    async def open(self) -> None:
        """Reads the plugins. A task asks the keyring, which may be slow or ask the person."""
        await asyncio.to_thread(walls.kind)
        await self.shelf.open()
        self._asking_keychain = spawn(self._look_for_secrets(), "plugin-secrets")

    async def close(self) -> None:
        await stop(self._asking_keychain)
        await self.shelf.close()

    def for_clients(self) -> PluginTalk | None:
        """Returns None while connected programs may not use plugins, or if no plugin is enabled."""
        settings = self._settings()
        may_answer = settings.serve_clients and not settings.paused and self.shelf.enabled()
        return self.talk if may_answer else None

    def talk_for(self, *, is_own: bool) -> PluginTalk | None:
        """Returns the talk for Moat's own window, which needs no permission, or for other clients.

        In the window a person also sees why a plugin that they named cannot answer.
        """
        return self._own_talk if is_own else self.for_clients()

    async def flows(self) -> Sequence[Flow]:
        """Returns the flows of all enabled plugins. A flow that is switched off is not usable."""
        found: list[Flow] = []
        await self.shelf.look_again()
        plugins = [] if self._settings().paused else self.shelf.enabled()
        # All at once: a server that does not answer must not delay the others.
        of_all = await asyncio.gather(*(plugin.flows() for plugin in plugins))
        for plugin, flows in zip(plugins, of_all, strict=True):
            found += [replace(flow, is_usable=not self._off(plugin, flow)) for flow in flows]
        return found

    async def prepare(self) -> AsyncGenerator[str, None]:
        """Fetches the packages of enabled plugins, and yields a line about each new stage.

        Closing the generator stops the fetching.
        """
        fetching = [
            plugin
            for plugin in self.shelf.plugins.values()
            if plugin.must_fetch and self.shelf.is_enabled(plugin)
        ]
        if self._settings().paused or not fetching:
            return
        listing = spawn(self.flows(), "plugin-packages")
        shown = ""
        try:
            while not listing.done():
                await asyncio.wait([listing], timeout=SHOW_S)
                working = (plugin.working.values() for plugin in fetching)
                words = next((text for texts in working for text in texts if text), "")
                if words and words != shown:
                    shown = words
                    yield words
        finally:
            await stop(listing)

    async def explain(self, key: str, flow: str | None) -> str:
        """Returns why the named plugin, or its flow, cannot answer.

        Empty if it can, or if no plugin has a similar name.
        """
        known = (*self.shelf.plugins, *self.shelf.broken)
        if key not in known:
            hint = nearest(key, known)
            return _join(Sentence("There is no plugin '{0}'.", key), hint) if hint else ""
        if key in self.shelf.broken:
            broken = self.shelf.broken[key]
            return _join(Sentence("The plugin '{0}' is broken.", key), _first_error(broken))
        plugin = self.shelf.plugins[key]
        if self._settings().paused:
            return Sentence(
                "Plugins are paused, so '{0}' cannot answer: resume them under Plugins.", key
            )
        if not self.shelf.is_enabled(plugin):
            if plugin.decided.enabled:
                changed = Sentence(
                    "The plugin '{0}' has changed: look at it and enable it again.", key
                )
                return _join(changed, _list_changes(plugin.changes))
            return Sentence("The plugin '{0}' is switched off: enable it under Plugins.", key)
        return await self._explain_enabled(plugin, flow)

    async def _explain_enabled(self, plugin: Plugin, name: str | None) -> str:
        flows = {flow.name: flow for flow in await plugin.flows()}
        if name in flows and (off := self._off(plugin, flows[name])):
            return off
        if plugin.failures:
            return _join(
                Sentence("The plugin '{0}' cannot answer.", plugin.key), *_failures_of(plugin)
            )
        if name in plugin.loaded.flows:
            broken = Sentence("The flow '{0}' of {1} is broken.", name, plugin.key)
            return _join(broken, _first_error(plugin.loaded))
        if name is not None and flows:
            hint = nearest(name, flows) or Sentence(
                "It has: {0}.", ", ".join(list(flows)[:MOST_NAMED])
            )
            return _join(Sentence("The plugin '{0}' has no flow '{1}'.", plugin.key, name), hint)
        offs = list(filter(None, (self._off(plugin, flow) for flow in flows.values())))
        if len(offs) < len(flows):
            return ""
        return _join(Sentence("The plugin '{0}' cannot answer.", plugin.key), *offs[:1])

    def _off(self, plugin: Plugin, flow: Flow) -> str:
        return plugin.switched_off(flow, partial(self._approvals.is_blocked, plugin.key))

    async def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        self._approvals.answer(approval_id, decision, arguments)
        self._publish()

    async def answer_form(self, form_id: str, values: str) -> None:
        self._forms.answer(form_id, values)

    async def look_again(self) -> None:
        """Reads plugins whose folders have changed."""
        await self.shelf.look_again()

    async def install(self, path: str) -> str:
        home = self.shelf.places.home
        loaded = await asyncio.to_thread(lambda: install.install(Path(path).expanduser(), home))
        await self.shelf.look()
        await self._look_for_secrets()
        log.info(
            "The plugin %s %s is installed", loaded.key, loaded.manifest and loaded.manifest.version
        )
        return loaded.key

    async def import_servers(self, path: str) -> list[str]:
        """Imports every server in the file as a plugin. Installs nothing if one cannot be read."""
        found = await asyncio.to_thread(lambda: install.read_servers(Path(path).expanduser()))
        for server in found:
            await self._import(server)
        await self._look_for_secrets()
        log.info("MCP servers are imported: %s", ", ".join(server.key for server in found))
        return [server.key for server in found]

    async def common_servers(self) -> list[CommonServer]:
        found = await asyncio.to_thread(install.common_servers)
        known = (*self.shelf.plugins, *self.shelf.broken)
        return [replace(server, added=server.name in known) for server in found]

    async def add_server(self, name: str, hosts: str) -> str:
        server = await asyncio.to_thread(install.make_common_server, name, hosts)
        if server.key in (*self.shelf.plugins, *self.shelf.broken):
            raise BadRequest(Sentence("There is a plugin '{0}' already.", server.key), "name")
        await self._import(server)
        return server.key

    async def _import(self, server: Imported) -> None:
        def write() -> None:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name) / server.key
                folder.mkdir()
                text = json.dumps(server.manifest, ensure_ascii=False, indent=2)
                (folder / "plugin.json").write_text(text, encoding="utf-8")
                install.install(folder, self.shelf.places.home)

        await asyncio.to_thread(write)
        await self.shelf.look()
        for name, value in server.secrets.items():
            await self.shelf.sealed(server.key).keep(name, value)
        if server.folders and server.key in self.shelf.plugins:
            options = {install.FOLDERS: "\n".join(server.folders)}
            decided = self.shelf.plugins[server.key].decided
            self.shelf.decide(server.key, replace(decided, options=options))

    async def enable(self, key: str) -> None:
        """Enables a plugin after a person has seen what it may do now."""
        plugin = self._find(key)
        if plugin.loaded.state == "broken":
            raise BadRequest(Sentence("{0} is broken and cannot be enabled.", key), "key")
        files = plugin.loaded.files()
        decided = replace(plugin.decided, enabled=True, reviewed=plugin.reviewed, files=files)
        if not self.shelf.is_enabled(plugin):
            # Enabling again fetches the current packages, which also replaces damaged ones.
            await plugin.close()
            await plugin.forget_packages()
        self.shelf.decide(key, decided)
        await stop(self._asking_keychain)
        self._asking_keychain = spawn(self._look_for_secrets(), "plugin-secrets")

    async def disable(self, key: str) -> None:
        self.shelf.decide(key, replace(self._find(key).decided, enabled=False))

    async def remove(self, key: str) -> None:
        if key not in self.shelf.broken:
            self._find(key)
        if self.shelf.is_shipped(key):
            raise BadRequest(Sentence("{0} comes with Moat; disable it instead.", key), "key")
        plugin = self.shelf.plugins.get(key)
        for sign_in in plugin.mcp_sign_ins.values() if plugin else ():
            await sign_in.forget()
        await self.shelf.sealed(key).forget_all(*(plugin.secrets if plugin else ()), *TOKENS)
        self.shelf.kept.forget(key)
        self._approvals.forget(key)
        await asyncio.to_thread(install.remove, self.shelf.places.home, key)
        await self.shelf.look()
        if plugin is not None:
            await plugin.close()
            await plugin.forget_packages()

    async def roll_back(self, key: str) -> None:
        await asyncio.to_thread(install.roll_back, self.shelf.places.home, key)
        await self.shelf.look()

    async def set_secret(self, key: str, name: str, value: str) -> None:
        plugin = self._find(key)
        if name not in plugin.secrets:
            hint = nearest(name, plugin.secrets)
            raise BadRequest(_join(Sentence("{0} has no secret '{1}'.", key, name), hint), "name")
        if value:
            await self.shelf.sealed(key).keep(name, value)
        else:
            await self.shelf.sealed(key).forget(name)
        if not self.shelf.kept.has(key):
            self.shelf.kept.set(key, plugin.decided)
        await self._look_for_secrets()

    async def sign_in(self, key: str) -> str:
        plugin = self._find(key)
        if (sign_in := plugin.person_sign_in) is None:
            raise BadRequest(Sentence("{0} has no sign-in provider.", key), "key")
        if not self.shelf.is_enabled(plugin):
            raise BadRequest(Sentence("Enable {0} before you sign in.", key), "key")
        return await sign_in.begin()

    async def sign_out(self, key: str) -> None:
        plugin = self._find(key)
        if (sign_in := plugin.person_sign_in) is not None:
            await sign_in.forget()

    async def set_option(self, key: str, name: str, value: str) -> None:
        plugin = self._find(key)
        decided = plugin.decided
        if name == SERVER:
            decided = replace(decided, server=_address(value))
        elif name == CHANGING:
            decided = replace(decided, changing_methods=_read_switch(value))
        elif any(name == option.name for option in plugin.manifest.options):
            decided = replace(decided, options={**decided.options, name: value})
        else:
            known = [option.name for option in card_options(plugin)]
            hint = nearest(name, known) or Sentence("It has: {0}.", ", ".join(known) or "none")
            raise BadRequest(_join(Sentence("{0} has no option '{1}'.", key, name), hint), "name")
        self.shelf.decide(key, decided)

    async def set_policy(self, key: str, operation: str, policy: str) -> None:
        plugin = self._find(key)
        known = decidable(plugin, self._approvals)
        if operation not in known:
            hint = nearest(operation, known)
            raise BadRequest(
                _join(Sentence("{0} has no tool '{1}'.", key, operation), hint), "operation"
            )
        self._approvals.set_policy(key, known[operation], policy)
        self._publish()

    async def test(self, key: str, flow: str, question: str, mode: str) -> PluginTest:
        """Tests a flow. A tool becomes a flow of one step, whose arguments the model fills in."""
        plugin = self._find(key)
        found = plugin.loaded.flows.get(flow) or await self._tool_flow(plugin, flow)
        if not found.is_usable:
            raise BadRequest(Sentence("{0} has no usable flow '{1}'.", key, flow), "flow")
        kit, rehearsal = self._trial_kit(plugin, mode)
        run = Run(Work(found, question, await self._engine(None), kit))
        return await _try_flow(run, rehearsal)

    async def find_tools(self, key: str) -> tuple[ToolCard, ...]:
        plugin = self._find(key)
        self._may_run(plugin)
        found = await plugin.tools()
        if not found and plugin.failures:
            raise FlowFailed("mcp_error", await self.explain(key, None))
        return tuple(
            ToolCard(action.key, action.description, json.dumps(action.schema), action.risk)
            for action in found
        )

    async def try_tool(self, key: str, tool: str, arguments: str, mode: str) -> PluginTest:
        plugin = self._find(key)
        kit, rehearsal = self._trial_kit(plugin, mode)
        self._may_run(plugin)
        known = await plugin.tools()
        action = next((action for action in known if action.key == tool), None)
        if action is None:
            raise self._no_flow(plugin, tool, [action.key for action in known])
        given = fill.with_defaults(read_arguments(arguments or "{}"), action.schema)
        if wrong := fill.problems(given, action.schema):
            raise BadRequest(
                Sentence("The arguments are not valid: {0}.", wrong[0][1]), "arguments"
            )
        reach: Reach = "mcp" if isinstance(action, McpAction) else "lib"
        if isinstance(kit, PluginKit):
            kit = replace(kit, forms=self._forms)
        return await _try_call(await kit.action(reach, tool), given, kit, rehearsal)

    def _trial_kit(self, plugin: Plugin, mode: str) -> tuple[Kit, RehearsalKit]:
        if mode not in ("dry", "mock", "run"):
            raise BadRequest(Sentence("'{0}' is not a mode: use dry, mock or run.", mode), "mode")
        if mode == "run":
            self._may_run(plugin)
        is_enabled = self.shelf.is_enabled(plugin)
        rehearsal = RehearsalKit(plugin, mock=mode == "mock", is_enabled=is_enabled)
        if mode != "run":
            return rehearsal, rehearsal
        return PluginKit(plugin, self._approvals, chat_key(is_own=True), is_own=True), rehearsal

    def _may_run(self, plugin: Plugin) -> None:
        if not self.shelf.is_enabled(plugin):
            raise BadRequest(Sentence("Enable {0} before you run it.", plugin.key), "key")
        if self._settings().paused:
            raise BadRequest(Sentence("Plugins are paused; resume them to run one."), "mode")

    async def _tool_flow(self, plugin: Plugin, name: str) -> Flow:
        """Returns the flow of a tool that no file declares. Starts the plugin's programs for it."""
        servers = {server.name for server in plugin.manifest.servers}
        is_tool = name in {tool.name for tool in plugin.loaded.tools}
        if not is_tool and name.partition("/")[0] not in servers:
            raise self._no_flow(plugin, name, [*plugin.loaded.flows])
        if not self.shelf.is_enabled(plugin):
            raise BadRequest(
                Sentence("Enable {0} first: even a trial runs its code.", plugin.key), "key"
            )
        if is_tool:
            return Flow(plugin.key, name, name, (Step("start", name),))
        flows = await plugin.tool_flows()
        found = next((flow for flow in flows if flow.name == name), None)
        if found is None:
            raise self._no_flow(plugin, name, [flow.name for flow in flows])
        return found

    def _no_flow(self, plugin: Plugin, name: str, known: Iterable[str]) -> BadRequest:
        names = [*known, *(tool.name for tool in plugin.loaded.tools)]
        hint = nearest(name, names) or (
            Sentence("It has: {0}.", ", ".join(names[:MOST_NAMED])) if names else ""
        )
        text = Sentence("{0} has no usable flow '{1}'.", plugin.key, name)
        return BadRequest(_join(text, *(_failures_of(plugin) or [hint])), "flow")

    async def read_log(self, key: str, count: int) -> list[str]:
        return self.shelf.journal(key).recent(count)

    def _find(self, key: str) -> Plugin:
        plugin = self.shelf.plugins.get(key)
        if plugin is None:
            raise NoPlugin(key, (*self.shelf.plugins, *self.shelf.broken))
        return plugin

    def kit(self, flow: Flow, chat: str) -> Kit:
        """Returns the kit for the flow's plugin in this chat."""
        return PluginKit(self._find(flow.plugin), self._approvals, chat)

    def _own_kit(self, flow: Flow, chat: str) -> Kit:
        plugin = self._find(flow.plugin)
        return PluginKit(plugin, self._approvals, chat, self._forms, is_own=True)

    async def _look_for_secrets(self) -> None:
        """Asks the keyring, but not about examples that nobody has used: they have no secrets yet.

        Otherwise every start would open the keyring, which takes 10 MB and may ask the person.
        """
        for key, plugin in tuple(self.shelf.plugins.items()):
            if self.shelf.is_shipped(key) and not self.shelf.kept.has(key):
                self._missing[key] = plugin.secrets
                continue
            sealed = self.shelf.sealed(key)
            names = [name for name in plugin.secrets if not await sealed.has(name)]
            for sign_in in plugin.sign_ins:
                await sign_in.is_done()
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
        self.cards.set(tuple(sorted(cards, key=lambda card: card.key)))


def _address(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise BadRequest(Sentence("An address begins with http:// or https://."), "value")
    if value and not is_address(value):
        raise BadRequest(
            Sentence("This address cannot be read: it names no host or no such port."), "value"
        )
    return value.rstrip("/")


def _read_switch(value: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    if value.lower() not in words:
        raise BadRequest(Sentence("'{0}' is neither true nor false.", value), "value")
    return words[value.lower()]


def _join(*sentences: str) -> str:
    return in_a_row(sentences)


def _list_changes(changes: Sequence[str]) -> str:
    more = len(changes) - MOST_NAMED
    named = ", ".join(changes[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{named}." if changes else ""


def _failures_of(plugin: Plugin) -> list[str]:
    return [
        Sentence("Its server '{0}' failed: {1}", name, why) for name, why in plugin.failures.items()
    ]


def _first_error(loaded: Loaded) -> str:
    errors = (str(finding) for finding in loaded.findings if finding.level == "error")
    return next(errors, Sentence("It cannot be read."))


async def _try_call(
    action: Action, arguments: Json, kit: Kit, rehearsal: RehearsalKit
) -> PluginTest:
    """Calls a tool once with a person's arguments. A failure becomes the text of the result."""
    text, failed = "", False
    around = {**NOTHING_BEFORE, "plugin": kit.plugin}
    kit.note(f"try {action.key}")
    try:
        allowed = await kit.approve(action, arguments, confirm=False)
        person = (partial(kit.ask, action.key), kit.note)
        found = await call_within(action, allowed, around, TRIAL_S, person)
        text = as_markdown(found.data)
    except FlowFailed as error:
        text, failed = str(error), not isinstance(error, Rehearsed)
    return PluginTest(text, tuple(map(as_text, rehearsal.shown)), (action.key,), failed)


async def _try_flow(run: Run, rehearsal: RehearsalKit) -> PluginTest:
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
    shown = tuple(as_text(preview) for preview in rehearsal.shown)
    return PluginTest("".join(text), shown, tuple(steps), failed or run.status == "error")
