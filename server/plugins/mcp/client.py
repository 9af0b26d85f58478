"""A client of one MCP server: its tools listed, called, and calls given up."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from server import VERSION
from server.chat import Json
from server.errors import AppError, FlowFailed
from server.plugins.mcp.wire import Hear, Remote, SessionForgotten, Wire
from server.tasks import spawn

PROTOCOL = "2025-11-25"
OPEN_S = 60.0
LIST_S = 30.0
MOST_PAGES = 20
LONGEST_ERROR = 500
HELLO: Json = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "moat", "version": VERSION},
}
Answer = asyncio.Future[Json]


@dataclass(frozen=True, slots=True)
class McpTool:
    name: str
    description: str
    schema: Json
    hints: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Asked:
    wire: Wire
    answer: Answer


class McpClient:
    """Opened on first use; `make` builds the wire, told where to send what it hears.

    `clean` blacks out secrets in whatever the server says.
    """

    def __init__(
        self, name: str, make: Callable[[Hear], Awaitable[Wire]], clean: Callable[[Any], Any]
    ) -> None:
        self.name = name
        self.clean = clean
        self._make = make
        self._wire: Wire | None = None
        self._ids = itertools.count(1)
        self._asked: dict[int, _Asked] = {}
        self._turn = asyncio.Lock()
        self._tools: dict[str, McpTool] = {}
        self._has_told = False
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def known(self) -> dict[str, McpTool]:
        """The tools it has told of so far; asks nothing."""
        return self._tools

    async def tools(self) -> dict[str, McpTool]:
        if not self._has_told:
            found: dict[str, McpTool] = {}
            cursor: Json = {}
            for _ in range(MOST_PAGES):
                page = await self._ask("tools/list", cursor, LIST_S)
                found |= {tool.name: tool for tool in self._read_tools(page)}
                if not page.get("nextCursor"):
                    break
                cursor = {"cursor": page["nextCursor"]}
            self._tools, self._has_told = found, True
        return self._tools

    async def call(self, tool: str, arguments: Json, timeout_s: float) -> Json:
        return await self._ask("tools/call", {"name": tool, "arguments": arguments}, timeout_s)

    async def close(self) -> None:
        if self._wire is not None:
            self._let_go(self._wire)
        if self._closing:
            await asyncio.wait(self._closing)

    async def _ask(self, method: str, params: Json, timeout_s: float) -> Json:
        """A server that was started anew has forgotten us: it is greeted and asked once more."""
        wire = await self._ready()
        try:
            return await self._exchange(wire, method, params, timeout_s)
        except SessionForgotten:
            self._forget(wire)
        return await self._exchange(await self._ready(), method, params, timeout_s)

    async def _ready(self) -> Wire:
        async with self._turn:
            return self._wire or await self._greeted()

    async def _greeted(self) -> Wire:
        def hear(message: Json) -> None:
            self._hear(wire, message)

        wire = self._wire = await self._make(hear)
        try:
            await wire.open()
            told = await self._exchange(wire, "initialize", HELLO, OPEN_S)
            if isinstance(wire, Remote):
                wire.version = _header(told.get("protocolVersion"))
            await wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self._must_be_open(wire)
        except BaseException:
            self._let_go(wire)
            raise
        return wire

    async def _exchange(self, wire: Wire, method: str, params: Json, timeout_s: float) -> Json:
        self._must_be_open(wire)
        number = next(self._ids)
        answer: Answer = asyncio.get_running_loop().create_future()
        self._asked[number] = _Asked(wire, answer)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        # A server may go on talking after its answer; sending lasts as long as it does.
        sending = spawn(self._send(wire, message, answer), "mcp-send")
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            _give_up(wire, number)
            raise FlowFailed(
                "timeout", f"{self.name} took longer than {timeout_s:.0f} s."
            ) from None
        except asyncio.CancelledError:
            _give_up(wire, number)
            raise
        finally:
            del self._asked[number]
            sending.cancel()

    def _must_be_open(self, wire: Wire) -> None:
        """It may have ended, or been closed, while it was being opened."""
        if self._wire is not wire:
            raise FlowFailed("mcp_error", f"{self.name} has ended.")

    async def _send(self, wire: Wire, message: Json, answer: Answer) -> None:
        try:
            await wire.send(message)
            if isinstance(wire, Remote):
                # What was not said in the reply to a request comes no other way.
                self._fail(answer, "no answer")
        except AppError as error:
            if not answer.done():
                answer.set_exception(error)

    def _hear(self, wire: Wire, message: Json) -> None:
        if message.get("gone"):
            self._let_go(wire)
            return
        number = message.get("id")
        if "method" in message:
            if number is not None:
                _reply(wire, number, message["method"])
            elif message["method"] == "notifications/tools/list_changed":
                self._has_told = False
            return
        asked = self._asked.get(number) if isinstance(number, int) else None
        if asked is None or asked.answer.done():
            return
        error, result = message.get("error"), message.get("result")
        if error is not None:
            told = error.get("message", "unknown error") if isinstance(error, dict) else error
            self._fail(asked.answer, str(self.clean(str(told)))[:LONGEST_ERROR])
        elif isinstance(result, dict):
            asked.answer.set_result(self.clean(result))
        else:
            self._fail(asked.answer, "an answer without a result")

    def _fail(self, answer: Answer, told: str) -> None:
        if not answer.done():
            answer.set_exception(FlowFailed("mcp_error", f"{self.name}: {told}"))

    def _forget(self, wire: Wire) -> None:
        """The next question opens another, and what it offers may be another thing."""
        if self._wire is wire:
            self._wire, self._has_told = None, False

    def _let_go(self, wire: Wire) -> None:
        """A task of its own closes it: whoever is cancelled meanwhile, it ends."""
        self._forget(wire)
        for asked in self._asked.values():
            if asked.wire is wire and not asked.answer.done():
                asked.answer.set_exception(FlowFailed("mcp_error", f"{self.name} has ended."))
        task = spawn(wire.close(), "mcp-close")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _read_tools(self, page: Json) -> list[McpTool]:
        tools = page.get("tools")
        if not isinstance(tools, list) or not all(_is_named(one) for one in tools):
            raise FlowFailed("mcp_error", f"{self.name}: a list of tools that cannot be read")
        return [_tool(one) for one in tools]


def _give_up(wire: Wire, number: int) -> None:
    params = {"requestId": number, "reason": "cancelled"}
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    spawn(_quietly(wire, message), "mcp-cancel")


def _reply(wire: Wire, number: Any, method: Any) -> None:
    """A server may ask us too; we answer pings and nothing else."""
    answer: Json = {"jsonrpc": "2.0", "id": number}
    if method == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": -32601, "message": "Not supported"}
    spawn(_quietly(wire, answer), "mcp-reply")


async def _quietly(wire: Wire, message: Json) -> None:
    try:
        await wire.send(message)
    except AppError:
        return


def _header(version: Any) -> str:
    """The protocol's version that the server speaks, if it can stand in a header."""
    is_plain = isinstance(version, str) and version.isascii() and version.isprintable()
    return version if is_plain else PROTOCOL


def _is_named(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"] != ""


def _tool(one: Json) -> McpTool:
    schema, hints = one.get("inputSchema"), one.get("annotations")
    return McpTool(
        one["name"],
        str(one.get("description") or one.get("title") or ""),
        schema if isinstance(schema, dict) else {"type": "object"},
        hints if isinstance(hints, dict) else {},
    )
