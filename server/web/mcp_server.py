"""Moat as an MCP server: the protocol's own library, behind our gate. It is imported late.

Offered are the tools of the plugins that a person has enabled, and the models: ask and embed. Each
request stands for itself; the library speaks the revision that the client speaks.
"""

import asyncio
import json
import logging
from collections.abc import MutableMapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import mcp_types as types
from aiohttp import web
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from server import VERSION
from server.chat import ChatRequest, Json, Message, Tool
from server.errors import AppError, BadRequest
from server.events import Failed, TextDelta
from server.face.core import About
from server.protocols.base import Ask, Facts, Reply
from server.schemas import fill
from server.sizes import MB
from server.tasks import spawn
from server.web.app import Site
from server.web.body import read_bytes

log = logging.getLogger(__name__)

MOST_TEXTS = 2048
LONGEST_REASON = 500
"""It may quote what was sent."""
MOST_BODY = 1 * MB
"""The library parses it where everybody is served: a larger one would make others wait."""
MODEL = {"type": "string", "description": "A model's name; without it the default model answers"}
ASK: Json = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "minLength": 1},
        "system": {"type": "string", "description": "How the model is to behave"},
        "model": MODEL,
    },
    "required": ["prompt"],
}
EMBED: Json = {
    "type": "object",
    "properties": {
        "texts": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "maxItems": MOST_TEXTS,
        },
        "model": MODEL,
    },
    "required": ["texts"],
}


@dataclass(frozen=True, slots=True)
class _Visit:
    """Who asks. The library runs each request in the context it came in."""

    facts: Facts
    about: About


_visit: ContextVar[_Visit] = ContextVar("visit")


class McpSite:
    """The library's server. One task holds it: its scopes are entered and left by the same task."""

    def __init__(self, site: Site) -> None:
        self._site = site
        server: Server[Any] = Server(
            "moat", version=VERSION, on_list_tools=self._list, on_call_tool=self._call
        )
        self._manager = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=MOST_BODY
        )
        self._is_open, self._closing = asyncio.Event(), asyncio.Event()
        self._holding = spawn(self._hold(), "mcp-server")

    async def answer(self, request: web.Request, facts: Facts, about: About) -> web.StreamResponse:
        await self._is_open.wait()
        exchange = _Exchange(request, await read_bytes(request, MOST_BODY))
        _visit.set(_Visit(facts, about))
        await self._manager.handle_request(exchange.scope(), exchange.receive, exchange.send)
        return exchange.response or web.Response(status=500)

    async def close(self) -> None:
        self._closing.set()
        await asyncio.wait([self._holding])

    async def _hold(self) -> None:
        async with self._manager.run():
            self._is_open.set()
            await self._closing.wait()

    async def _list(self, _context: Any, _params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in await self._tools()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, _context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Whatever goes wrong is said in the answer, where a model can read it."""
        try:
            return _result(await self._run(params.name, params.arguments or {}))
        except AppError as error:
            return _result(str(error), is_error=True)

    async def _run(self, name: str, arguments: Json) -> str:
        tool = next((tool for tool in await self._tools() if tool.name == name), None)
        if tool is None or tool.run is None:
            raise BadRequest(f"There is no tool '{name}'.", "name")
        if wrong := fill.problems(arguments, tool.parameters):
            why = wrong[0][1][:LONGEST_REASON]
            raise BadRequest(f"The arguments are not valid: {why}.", "arguments")
        return await tool.run(arguments)

    async def _tools(self) -> tuple[Tool, ...]:
        own = (
            Tool("ask", "Asks a language model on this computer.", ASK, self._ask),
            Tool("embed", "Gives the embedding of each text, as JSON.", EMBED, self._embed),
        )
        taken = {tool.name for tool in own}
        offered = await self._site.tools(_visit.get().about)
        return (*own, *(tool for tool in offered if tool.name not in taken))

    async def _ask(self, arguments: Json) -> str:
        visit = _visit.get()
        texts = [("system", arguments.get("system")), ("user", arguments["prompt"])]
        messages = tuple(Message(role, text) for role, text in texts if text)  # type: ignore[arg-type]
        model = _model(arguments, visit.facts)
        request = ChatRequest(messages, model, client=visit.about.client)
        text: list[str] = []
        async with aclosing(self._site.converse(request, visit.about)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text.append(event.text)
                elif isinstance(event, Failed):
                    raise event.error
        return "".join(text)

    async def _embed(self, arguments: Json) -> str:
        visit = _visit.get()
        model = _model(arguments, visit.facts)
        ask = Ask("embed", model, {"texts": arguments["texts"]}, lambda _made: Reply())
        made = await self._site.answer(replace(ask, by=visit.about))
        return json.dumps([[round(float(value), 6) for value in row] for row in made.vectors])


class _Exchange:
    """One request as ASGI has it, and its answer."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        self._request = request
        self._parts = [{"type": "http.request", "body": body, "more_body": False}]
        self.response: web.StreamResponse | None = None

    def scope(self) -> MutableMapping[str, Any]:
        request = self._request
        headers = [(name.lower(), value) for name, value in request.raw_headers]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "raw_path": request.path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
        }

    async def receive(self) -> MutableMapping[str, Any]:
        """After the body nothing comes: when the client leaves, we are cancelled."""
        if self._parts:
            return self._parts.pop()
        never: asyncio.Future[MutableMapping[str, Any]] = asyncio.get_running_loop().create_future()
        return await never

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.response = web.StreamResponse(status=message["status"])
            for name, value in message.get("headers", ()):
                if name.lower() != b"content-length":
                    self.response.headers.add(name.decode("latin-1"), value.decode("latin-1"))
            await self.response.prepare(self._request)
        elif message["type"] == "http.response.body" and self.response is not None:
            if body := message.get("body"):
                await self.response.write(body)
            if not message.get("more_body"):
                await self.response.write_eof()


def _model(arguments: Json, facts: Facts) -> str | None:
    name = arguments.get("model")
    if name and name not in {card.name for card in facts.models}:
        raise facts.miss(str(name))
    return name or None


def _result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=is_error)
