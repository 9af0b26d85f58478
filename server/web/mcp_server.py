"""Moat as an MCP server, with the protocol's own library, which is imported late.

It offers the tools of enabled plugins, and the models as the tools `ask` and `embed`. The library
speaks the client's revision of MCP. Requests are stateless, with one exception: a client of the
older revision that can ask its user gets a session, because only a session can send a question
back. In the newer revision, a call ends with the question, and the client sends the call again.
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
"""The name of our question in a result that asks the client's user."""
LONGEST_REASON = 500
"""The most characters of the reason in an error, which may quote the arguments."""
MOST_BODY = 1 * MB
"""The library parses a body in the event loop, so a larger one would make all clients wait."""
MODEL = {"type": "string", "description": "A model's name; without it the default model answers"}
ASK: Json = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "minLength": 1},
        "system": {"type": "string", "description": "How the model is to behave"},
        "model": MODEL,
        "max_tokens": {"type": "integer", "minimum": 1, "description": "The longest answer"},
    },
    "required": ["prompt"],
    "additionalProperties": False,
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
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class _Visit:
    """The request being answered. The library runs its handlers in the request's context."""

    facts: Facts
    about: About
    calls: list["_Call"] = field(default_factory=list)
    """The calls to cancel when the request ends."""


_visit: ContextVar[_Visit] = ContextVar("visit")


class _Call:
    """A running tool. It can wait for an answer of the client's user, across several requests."""

    def __init__(
        self, asks: tuple[str, str, Json | None], work: Coroutine[Any, Any, str], *, can_ask: bool
    ) -> None:
        self.asks = asks
        """The owner, the tool's name and its arguments."""
        self._questions: asyncio.Queue[tuple[Approval, asyncio.Future[bool]]] = asyncio.Queue()
        self._open: asyncio.Future[bool] | None = None
        self._work, self._can_ask = work, can_ask
        self.task = spawn(self._run(), "mcp-call")

    async def _run(self) -> types.CallToolResult:
        """Runs the tool. An error becomes the result, so that a model can read it."""
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
        """Waits for the next question of the tool. Returns None when the tool has ended."""
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
    """The MCP server. One task enters and leaves the library's managers, as they require."""

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
        """Calls that wait for an answer, by the `request_state` that the client must send back."""
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
        """Passes an answer to the call that waits for it. Returns that call; None if it is new."""
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
        """Returns a question to the client's user. The tool waits for the answer for a while."""
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
        most = arguments.get("max_tokens")
        request = ChatRequest(messages, model, max_tokens=most, client=visit.about.client)
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
    """An aiohttp request and its response, as an ASGI application sees them."""

    def __init__(self, request: web.Request, body: bytes, owner: str) -> None:
        self._request = request
        self._user = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        self._parts = [{"type": "http.request", "body": body, "more_body": False}]
        self._left: asyncio.Future[MutableMapping[str, Any]]
        self._left = asyncio.get_running_loop().create_future()
        self.response: web.StreamResponse | None = None

    async def see_through(self, work: Coroutine[Any, Any, None]) -> None:
        """Awaits the work. If the client leaves, tells the library instead of cancelling it.

        A client closes its connection as soon as it has read the answer. The library would treat
        a cancellation during the start of a session as a failure.
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
            "user": self._user,  # only the owner of a session may use it
        }

    async def receive(self) -> MutableMapping[str, Any]:
        """Returns the body, then waits for the client to disconnect."""
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
    """Whether the request belongs to a session, or opens one: its client can ask its user."""
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
    """Whether the client can show a form. Elicitation without a kind means forms."""
    found = context.session.client_capabilities
    if found is None or found.elicitation is None:
        return False
    return found.elicitation.form is not None or found.elicitation.url is None


async def _elicit(context: Any, shown: Approval, call: _Call) -> None:
    """Sends the question, and waits for the answer or for the end of the call."""
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
    """Makes the question as a form. It has no fields, because the answer is yes or no."""
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
