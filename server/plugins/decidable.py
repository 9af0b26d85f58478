"""What of a plugin a person can decide about, found without starting anything of it."""

from dataclasses import dataclass

from server.flows.base import Action, Risk
from server.plugins.approvals import Approvals
from server.plugins.plugin import Plugin
from server.plugins.python.action import fingerprint


@dataclass(frozen=True, slots=True)
class Seen:
    """An operation as it is known from outside: by its code's text, or by an earlier decision."""

    key: str
    description: str
    risk: Risk
    fingerprint: str


def decidable(plugin: Plugin, approvals: Approvals) -> dict[str, Action | Seen]:
    """Its operations by key: of its API, of its code, of the servers that have told their tools.

    A tool that something was decided about is among them even before its server has told of it.
    """
    digest = plugin.loaded.digest
    servers = {server.name for server in plugin.manifest.servers}
    of_code = [
        Seen(one.name, one.description, "change", fingerprint(plugin.key, one.name, digest))
        for one in plugin.loaded.tools
    ]
    known: tuple[Action | Seen, ...] = (*plugin.api_actions(), *of_code, *plugin.mcp_actions())
    found: dict[str, Action | Seen] = {one.key: one for one in known}
    for key, mark in approvals.decided(plugin.key).items():
        if key.partition("/")[0] in servers:
            found.setdefault(key, Seen(key, "", "change", mark))
    return found
