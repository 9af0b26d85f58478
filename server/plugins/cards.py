"""A plugin as a card for the screen."""

from typing import Literal

from server.data.findings import Findings, summarised
from server.data.yaml_with_places import read_file
from server.face.plugins import SERVER, FlowCard, OperationCard, OptionCard, PluginCard
from server.plugins.approvals import Approvals
from server.plugins.decidable import decidable
from server.plugins.folder import Loaded
from server.plugins.install import PREVIOUS
from server.plugins.manifest import parse as read_manifest
from server.plugins.oidc import ACCESS
from server.plugins.plugin import Plugin
from server.plugins.registry import PluginShelf


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
        hosts=plugin.hosts,
        secrets=plugin.secrets,
        missing_secrets=missing,
        commands=tuple(" ".join(one.command) for one in manifest.servers if one.command),
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
        sign_in=_signed(plugin),
        has_tools=bool(manifest.servers or loaded.tools),
        walled=plugin.is_walled,
        changes=plugin.changes,
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
        findings=summarised(loaded.findings),
    )


def _operations(plugin: Plugin, approvals: Approvals) -> tuple[OperationCard, ...]:
    return tuple(
        OperationCard(one.key, one.description, one.risk, approvals.policy(plugin.key, one))
        for one in decidable(plugin, approvals).values()
    )


def _findings(plugin: Plugin) -> tuple[str, ...]:
    """What is wrong with it: its servers and its sign-in that failed, then its files."""
    failed = [f"The server '{name}' failed: {why}" for name, why in plugin.failures.items()]
    problem = plugin.sign_in.problem if plugin.sign_in else ""
    return (*failed, *summarised(plugin.loaded.findings), *filter(None, [problem]))


def card_options(plugin: Plugin) -> tuple[OptionCard, ...]:
    """What its manifest names; and where its API is, which may be elsewhere than it says."""
    found = [
        OptionCard(one.name, one.label, one.kind, plugin.decided.options.get(one.name, ""))
        for one in plugin.manifest.options
    ]
    if plugin.loaded.api is not None:
        found.append(OptionCard(SERVER, "Address of its API", "text", plugin.server))
    return tuple(found)


def _signed(plugin: Plugin) -> Literal["", "needed", "open", "done"]:
    if plugin.sign_in is None:
        return ""
    if plugin.sign_in.is_open:
        return "open"
    return "done" if plugin.sealed.is_kept(ACCESS) else "needed"


def _previous(shelf: PluginShelf, key: str) -> str | None:
    folder = shelf.places.home / PREVIOUS / key
    if not folder.is_dir():
        return None
    findings = Findings("plugin.json")
    manifest = read_manifest(
        key, read_file(folder / "plugin.json", "plugin.json", findings), findings
    )
    return manifest.version if manifest else ""
