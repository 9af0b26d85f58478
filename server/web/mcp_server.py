"""Moat as an MCP server: the protocol's own library, behind our gate. It is imported late.

Offered are the tools of the plugins that a person has enabled, and the models: ask and embed. The
library speaks the revision that the client speaks. Each request stands for itself, with one
exception: a client of the older revision that can ask its user has a session, for only there can a
question be sent back to it. In the newer one a call ends with the question and is sent again.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Coroutine, MutableMapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import mcp_types as types
from aiohttp import web
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from server import VERSION
from server.chat import ChatRequest, Json, Message, Tool
from server.errors import AppError, BadRequest
from server.events import Failed, TextDelta
from server.face.core import About
from server.face.plugins import Approval
from server.plugins.approvals import ask_client
from server.protocols.base import Ask, Facts, Reply
from server.schemas import fill
from server.sizes import MB
from server.tasks import spawn, stop
from server.web.app import Site
from server.web.body import read_bytes

log = logging.getLogger(__name__)

MOST_TEXTS = 2048
MOST_SESSIONS = 200
QUESTION = "permission"
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
    calls: list["_Call"] = field(default_factory=list)
    """Those that end when it leaves."""


_visit: ContextVar[_Visit] = ContextVar("visit")


class _Call:
    """A tool that runs. It may wait for its client's user, from one request to the next."""

    def __init__(
        self, asks: tuple[str, str, Json | None], work: Coroutine[Any, Any, str], *, can_ask: bool
    ) -> None:
        self.asks = asks
        """Its owner, the tool's name and the arguments."""
        self._questions: asyncio.Queue[tuple[Approval, asyncio.Future[bool]]] = asyncio.Queue()
        self._open: asyncio.Future[bool] | None = None
        self._work, self._can_ask = work, can_ask
        self.task = spawn(self._run(), "mcp-call")

    async def _run(self) -> types.CallToolResult:
        """Whatever goes wrong is said in the answer, where a model can read it."""
        ask_client.set(self._ask if self._can_ask else None)
        try:
            return _result(await self._work)
        except AppError as error:
            return _result(str(error), is_error=True)

    async def _ask(self, shown: Approval) -> bool:
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._questions.put_nowait((shown, answer))
        return await answer

    async def next_question(self) -> Approval | None:
        """Waits until it asks something, or has ended."""
        asked = spawn(self._questions.get(), "mcp-question")
        try:
            await asyncio.wait({self.task, asked}, return_when=asyncio.FIRST_COMPLETED)
            if self.task.done():
                return None
            shown, self._open = asked.result()
            return shown
        finally:
            await stop(asked)

    def answer(self, *, is_allowed: bool) -> None:
        if self._open is not None and not self._open.done():
            self._open.set_result(is_allowed)


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
        self._sessions = StreamableHTTPSessionManager(
            server, max_request_body_size=MOST_BODY, max_sessions=MOST_SESSIONS
        )
        self._waiting: dict[str, _Call] = {}
        """Calls whose client was asked, by what it must send again."""
        self._is_open, self._closing = asyncio.Event(), asyncio.Event()
        self._holding = spawn(self._hold(), "mcp-server")

    async def answer(self, request: web.Request, facts: Facts, about: About) -> web.StreamResponse:
        await self._is_open.wait()
        body = await read_bytes(request, MOST_BODY)
        exchange = _Exchange(request, body, facts.owner)
        visit = _Visit(facts, about)
        _visit.set(visit)
        parts = exchange.scope(), exchange.receive, exchange.send
        try:
            if _wants_session(request, body):
                await exchange.see_through(self._sessions.handle_request(*parts))
            else:
                await self._manager.handle_request(*parts)
        finally:
            for call in visit.calls:
                await stop(call.task)
        return exchange.response or web.Response(status=500)

    async def close(self) -> None:
        self._closing.set()
        await asyncio.wait([self._holding])
        for call in self._waiting.values():
            await stop(call.task)

    async def _hold(self) -> None:
        async with self._manager.run(), self._sessions.run():
            self._is_open.set()
            await self._closing.wait()

    async def _list(self, _context: Any, _params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in await self._tools()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        visit = _visit.get()
        asks = (visit.facts.owner, params.name, params.arguments)
        try:
            call = self._take_up(params, asks) or _Call(
                asks, self._run(params.name, params.arguments or {}), can_ask=_can_ask(context)
            )
        except AppError as error:
            return _result(str(error), is_error=True)
        visit.calls.append(call)
        while shown := await call.next_question():
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                visit.calls.remove(call)
                return self._ask_again(call, shown)
            await _elicit(context, shown, call)
        return (
            _result("The client left.", is_error=True)
            if call.task.cancelled()
            else call.task.result()
        )

    def _take_up(
        self, params: types.CallToolRequestParams, asks: tuple[str, str, Json | None]
    ) -> _Call | None:
        """Returns the call that waits for this answer."""
        if params.request_state is None:
            return None
        call = self._waiting.get(params.request_state)
        if call is None or call.asks != asks:
            raise BadRequest("This question is no longer open.", "requestState")
        del self._waiting[params.request_state]
        answer = (params.input_responses or {}).get(QUESTION)
        call.answer(is_allowed=isinstance(answer, types.ElicitResult) and answer.action == "accept")
        return call

    def _ask_again(self, call: _Call, shown: Approval) -> types.InputRequiredResult:
        """Ends the request with a question. The tool waits for the next one, but not for ever."""
        state = secrets.token_urlsafe(32)
        self._waiting[state] = call
        call.task.add_done_callback(lambda _ended: self._waiting.pop(state, None))
        asked = types.ElicitRequest(params=_form(shown))
        return types.InputRequiredResult(input_requests={QUESTION: asked}, request_state=state)

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

    def __init__(self, request: web.Request, body: bytes, owner: str) -> None:
        self._request = request
        self._user = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        self._parts = [{"type": "http.request", "body": body, "more_body": False}]
        self._left: asyncio.Future[MutableMapping[str, Any]]
        self._left = asyncio.get_running_loop().create_future()
        self.response: web.StreamResponse | None = None

    async def see_through(self, work: Coroutine[Any, Any, None]) -> None:
        """When the client leaves, the library is told instead of cancelled.

        A client closes its connection as soon as it has read the answer. Who is cancelled while
        a session begins takes it for failed.
        """
        task = spawn(work, "mcp-request")
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            self._left.set_result({"type": "http.disconnect"})
            await asyncio.wait([task])
            raise

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
            "user": self._user,  # a session is for those only who opened it
        }

    async def receive(self) -> MutableMapping[str, Any]:
        """After the body nothing comes but the client's leaving, if we are not cancelled then."""
        return self._parts.pop() if self._parts else await asyncio.shield(self._left)

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self._left.done():
            return
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


def _wants_session(request: web.Request, body: bytes) -> bool:
    """Whether it has a session, or opens the connection of a client that can ask its user."""
    if MCP_SESSION_ID_HEADER in request.headers:
        return True
    try:
        message = json.loads(body)
        return (
            message["method"] == "initialize" and "elicitation" in message["params"]["capabilities"]
        )
    except (ValueError, LookupError, TypeError):
        return False


def _can_ask(context: Any) -> bool:
    """Whether the client can show a form, which is what one means that names no kind."""
    found = context.session.client_capabilities
    if found is None or found.elicitation is None:
        return False
    return found.elicitation.form is not None or found.elicitation.url is None


async def _elicit(context: Any, shown: Approval, call: _Call) -> None:
    """Sends the question and waits for its answer, or until the call has ended without it."""
    form = _form(shown)
    asked = spawn(
        context.session.elicit_form(form.message, form.requested_schema, context.request_id),
        "mcp-elicit",
    )
    await asyncio.wait({call.task, asked}, return_when=asyncio.FIRST_COMPLETED)
    if not asked.done():
        await stop(asked)
    elif error := asked.exception():
        log.warning("The client could not ask about %s: %s", shown.operation, error)
        call.answer(is_allowed=False)
    else:
        call.answer(is_allowed=asked.result().action == "accept")


def _form(shown: Approval) -> types.ElicitRequestFormParams:
    """Only yes or no is asked, so it has no fields."""
    lines = (f"Allow {shown.plugin}: {shown.title}?", shown.where, shown.body or shown.arguments)
    message = "\n".join(filter(None, lines))
    return types.ElicitRequestFormParams(
        message=message, requested_schema={"type": "object", "properties": {}}
    )


def _model(arguments: Json, facts: Facts) -> str | None:
    name = arguments.get("model")
    if name and name not in {card.name for card in facts.models}:
        raise facts.miss(str(name))
    return name or None


def _result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=is_error)
