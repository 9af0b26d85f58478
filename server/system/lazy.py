"""Imports large libraries that are seldom needed at first use."""

import asyncio
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
    "server.core.figures",
    "server.dashboard.prompt",
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
    "tarfile",
)
"""Every module that is imported this way, since packaging tools cannot see it in the code."""


class Late:
    """A stand-in for a module. The module is imported when one of its attributes is used."""

    def __init__(self, name: str) -> None:
        assert name in MODULES
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

    async def load(self) -> None:
        """Imports the module in a thread, so that the event loop goes on meanwhile."""
        await asyncio.to_thread(import_module, self._name)
