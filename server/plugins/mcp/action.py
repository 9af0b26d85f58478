"""A tool of an MCP server as an action."""

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from server.chat import Json
from server.errors import FlowFailed
from server.flows.base import Beside, Missing, Output, Preview, Risk, beside
from server.plugins.manifest import McpServer
from server.plugins.mcp.client import McpClient, McpTool
from server.schemas import fill
from server.schemas.openapi import Plain, plain_object

MOST_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class McpAction:
    server: McpServer
    tool: McpTool
    client: McpClient

    @property
    def key(self) -> str:
        return f"{self.server.name}/{self.tool.name}"

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def schema(self) -> Json:
        return plain_object(self.tool.schema)

    @property
    def risk(self) -> Risk:
        """A server's own word that it only reads is not taken; that it destroys, is."""
        return "danger" if self.tool.hints.get("destructiveHint") is True else "change"

    @property
    def fingerprint(self) -> str:
        said = [self.server.command, self.server.url, self.tool.name, self.tool.schema]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def preview(self, arguments: Json) -> Preview:
        where = self.server.url or " ".join(self.server.command)
        return Preview(f"{self.tool.name} of {self.server.name}", where, {}, arguments)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:  # noqa: ARG002
        person = beside.get()
        ask, tell = (partial(_ask, person), person.tell) if person else (None, None)
        found = await self.client.call(self.tool.name, arguments, timeout_s, ask, tell)
        text = _text(found.get("content"))
        if found.get("isError"):
            raise FlowFailed("mcp_error", f"{self.key}: {text[:500] or 'failed'}")
        data: Any = found.get("structuredContent")
        if data is None:
            # Cleaned again: a text that is JSON may spell a secret in another way.
            data = self.client.clean(_parsed(text))
        return Output(data, text[:2000])


async def _ask(person: Beside, message: str, schema: Json) -> Json | None:
    """Shows what the server asks for as a form. Returns None if there is no valid answer."""
    plain = {"properties": {}, **Plain(schema).schema(schema)}
    try:
        answer = await person.ask(Missing(plain, {}, message))
    except FlowFailed:
        return None
    if answer is None or fill.problems(answer.values, plain):
        return None
    return answer.values


def _text(content: Any) -> str:
    return "\n".join(part["text"] for part in content)[:MOST_TEXT]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
