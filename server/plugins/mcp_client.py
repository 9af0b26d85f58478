"""A client of one MCP server: its tools listed, called, and calls given up."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from server import VERSION
from server.chat import Json
from server.errors import AppError
from server.flows.base import FlowFailed
from server.plugins.mcp_wire import Hear, Remote, Wire
from server.tasks import spawn

PROTOCOL = "2025-11-25"
OPEN_S = 60.0
LIST_S = 30.0
MOST_PAGES = 20


@dataclass(frozen=True, slots=True)
class McpTool:
    name: str
    description: str
    schema: Json
    hints: Json = field(default_factory=dict)


class McpClient:
    """Opened on first use; `make` builds the wire, told where to send what it hears."""

    def __init__(self, name: str, make: Callable[[Hear], Awaitable[Wire]]) -> None:
        self.name = name
        self._make = make
        self._wire: Wire | None = None
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._turn = asyncio.Lock()
        self._tools: dict[str, McpTool] | None = None

    async def tools(self) -> dict[str, McpTool]:
        await self._ready()
        if self._tools is None:
            found: dict[str, McpTool] = {}
            cursor: Json = {}
            for _ in range(MOST_PAGES):
                page = await self._ask("tools/list", cursor, LIST_S)
                for one in page.get("tools", []):
                    found[one["name"]] = _tool(one)
                if not page.get("nextCursor"):
                    break
                cursor = {"cursor": page["nextCursor"]}
            self._tools = found
        return self._tools

    async def call(self, tool: str, arguments: Json, timeout_s: float) -> Json:
        await self._ready()
        return await self._ask("tools/call", {"name": tool, "arguments": arguments}, timeout_s)

    async def close(self) -> None:
        wire, self._wire, self._tools = self._wire, None, None
        if wire is not None:
            await wire.close()

    async def _ready(self) -> None:
        async with self._turn:
            if self._wire is not None:
                return
            wire = self._wire = await self._make(self._hear)
            try:
                await wire.open()
                hello = {
                    "protocolVersion": PROTOCOL,
                    "capabilities": {},
                    "clientInfo": {"name": "moat", "version": VERSION},
                }
                told = await self._ask("initialize", hello, OPEN_S)
                if isinstance(wire, Remote):
                    wire.version = str(told.get("protocolVersion", PROTOCOL))
                await wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            except BaseException:
                self._wire = None
                await wire.close()
                raise

    async def _ask(self, method: str, params: Json, timeout_s: float) -> Json:
        number = next(self._ids)
        waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[number] = waiting
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            async with asyncio.timeout(timeout_s):
                assert self._wire
                await self._wire.send(message)
                return await waiting
        except TimeoutError:
            self._give_up(number)
            raise FlowFailed(
                "timeout", f"{self.name} took longer than {timeout_s:.0f} s."
            ) from None
        except asyncio.CancelledError:
            self._give_up(number)
            raise
        finally:
            self._answers.pop(number, None)

    def _give_up(self, number: int) -> None:
        if self._wire is not None:
            params = {"requestId": number, "reason": "cancelled"}
            message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            spawn(_quietly(self._wire, message), "mcp-cancel")

    def _hear(self, message: Json) -> None:
        if message.get("gone"):
            self._lost()
            return
        number = message.get("id")
        if "method" in message:
            if number is not None:
                self._reply(number, message["method"])
            elif message["method"] == "notifications/tools/list_changed":
                self._tools = None
            return
        waiting = self._answers.get(number) if isinstance(number, int) else None
        if waiting is None or waiting.done():
            return
        if "error" in message:
            told = (message["error"] or {}).get("message", "unknown error")
            waiting.set_exception(FlowFailed("mcp_error", f"{self.name}: {told}"))
        else:
            waiting.set_result(message.get("result") or {})

    def _reply(self, number: Any, method: str) -> None:
        """A server may ask us too; we answer pings and nothing else."""
        answer: Json = {"jsonrpc": "2.0", "id": number}
        if method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "Not supported"}
        if self._wire is not None:
            spawn(_quietly(self._wire, answer), "mcp-reply")

    def _lost(self) -> None:
        self._wire = None
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(FlowFailed("mcp_error", f"{self.name} has ended."))


async def _quietly(wire: Wire, message: Json) -> None:
    try:
        await wire.send(message)
    except (AppError, AssertionError):
        return


def _tool(one: Json) -> McpTool:
    schema = one.get("inputSchema")
    return McpTool(
        str(one["name"]),
        str(one.get("description") or one.get("title") or ""),
        schema if isinstance(schema, dict) else {"type": "object"},
        one.get("annotations") or {},
    )
