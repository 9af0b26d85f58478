"""A plugin as a card for the screen."""

from server.abilities import FlowCard, OperationCard, OptionCard, PluginCard
from server.findings import Findings
from server.plugins.approval import Approvals
from server.plugins.folder import Loaded
from server.plugins.install import PREVIOUS
from server.plugins.manifest import parse as read_manifest
from server.plugins.plugin import Plugin
from server.plugins.shelf import PluginShelf
from server.reading import read_file


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
        findings=tuple(map(str, loaded.findings)),
        hosts=loaded.hosts,
        secrets=plugin.secrets,
        missing_secrets=missing,
        commands=tuple(" ".join(one.command) for one in manifest.servers if one.command),
        runs_code=bool(loaded.tools),
        database=manifest.database,
        operations=_operations(plugin, approvals),
        flows=tuple(
            FlowCard(flow.name, flow.description, flow.is_usable) for flow in loaded.flows.values()
        ),
        options=tuple(
            OptionCard(one.name, one.label, one.kind, decided.options.get(one.name, ""))
            for one in manifest.options
        ),
        question=manifest.predefined_question,
        previous_version=_previous(shelf, plugin.key),
        changing_methods=decided.changing_methods,
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
        findings=tuple(map(str, loaded.findings)),
    )


def _operations(plugin: Plugin, approvals: Approvals) -> tuple[OperationCard, ...]:
    found = [
        OperationCard(one.key, one.description, one.risk, approvals.policy(plugin.key, one))
        for one in plugin.api_actions()
    ]
    found += [OperationCard(one.name, one.description, "change") for one in plugin.loaded.tools]
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
