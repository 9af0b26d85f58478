"""A tool of a plugin's own code as an action."""

import hashlib
import json
from dataclasses import dataclass

from server.chat import Json
from server.flows.base import Output, Preview, Risk
from server.plugins.python.host import LibHost, ToolFound
from server.schemas.openapi import Plain


@dataclass(frozen=True, slots=True)
class LibAction:
    plugin: str
    tool: ToolFound
    host: LibHost
    digest: str
    """The checksum of the code: other code is another action."""
    options: Json
    risk: Risk = "change"

    @property
    def key(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def schema(self) -> Json:
        schema = Plain(self.tool.schema).schema(self.tool.schema)
        return {"type": "object", "properties": {}, "required": [], **schema}

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.plugin, self.key, self.digest)

    def preview(self, arguments: Json) -> Preview:
        return Preview(f"Run {self.key}", "the plugin's own code on this computer", {}, arguments)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:  # noqa: ARG002
        # Only requests need the paths of the person's files: a tool's code gets none.
        around = {key: value for key, value in surroundings.items() if key != "paths"}
        found = await self.host.call(self.tool.name, arguments, {**around, "options": self.options})
        return Output(found["output"], str(found.get("message") or ""))


def fingerprint(plugin: str, tool: str, digest: str) -> str:
    return hashlib.sha256(json.dumps([plugin, tool, digest]).encode()).hexdigest()
