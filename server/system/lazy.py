"""Imports large libraries that are seldom needed at first use."""

from importlib import import_module
from typing import Any

MODULES = (
    "cryptography.exceptions",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "jsonschema",
    "keyring",
    "llguidance",
    "llguidance.gbnf_to_lark",
    "pypdf",
    "pypdf.errors",
    "pypdf.generic._font",
    "referencing",
    "server.dashboard.run",
    "server.dashboard.titles",
    "server.dashboard.trial",
    "server.engine.worker.prompt.pictures",
    "server.models.gguf.templates",
    "server.models.hub_facts",
    "server.plugins.mcp.oauth",
    "server.plugins.mcp.session",
    "server.protocols.copilotkit.operations",
    "server.web.certificates",
    "server.web.mcp_server",
)
"""Every module that is imported this way, since packaging tools cannot see it in the code."""


class Late:
    """A stand-in for a module. The module is imported when one of its attributes is used."""

    def __init__(self, name: str) -> None:
        assert name in MODULES
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
