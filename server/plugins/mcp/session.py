"""A session with an MCP server, by the protocol's own library. Imported when it is first used.

The library refuses messages with odd details, and servers are written by many people. So `_Ear`
mends each message before the library reads it: a tool with an odd detail is still a tool.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, get_args

import anyio
import mcp_types as types
from mcp.client import Client, ClientRequestContext, ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

from server import VERSION, door
from server.chat import Json
from server.errors import AnswerTooLong, AppError, Fault, FlowFailed
from server.plugins.mcp import servers
from server.plugins.mcp.servers import (
    Link,
    Listed,
    McpTool,
    Program,
    Remote,
    SessionForgotten,
)
from server.sentences import Sentence
from server.system.limits import one_line, printable, try_json
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

HTTP_S = 300.0
PROBE_S = 3.0
"""Seconds for a program to answer the probe for its version. Then the old handshake is used."""
MOST_PAGES = 20
MOST_ROUNDS = 10
"""The most times that a server may ask for input during one call."""
STATE_ONLY_S = 0.2
"""Seconds to wait before repeating a call for a server that asks for this without a question."""
LONGEST_ERROR = 500
MOST_A_SECOND = 1000
"""The most messages per second. A server that sends more is slowed down."""
MOST_OPEN = 32
"""The most requests of the server that wait for an answer. Further requests are dropped."""
NOTES_AT_ONCE, NOTE_S = 50, 0.2
"""After this many progress notes, one is shown per NOTE_S seconds."""
OUR_FAULT = "moat_fault"
"""The key in an error's data that holds Moat's own kind of fault."""
FORGOTTEN = "forgotten"
NOT_FOUND = -32601
TOO_LARGE = Sentence("The MCP server's answer is too large.")
TOO_LONG_EVENT = "SSE stream failed: Server-sent event exceeded"
US = types.Implementation(name="moat", version=VERSION)


class _Raw(RootModel[dict[str, Any]]):
    """A result that is returned unchanged, without a model of its fields."""


class Session:
    """A session that one task holds: the library's scopes must end in the task they began in."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._said = ""
        """What we last put in place of an answer. The library carries plain text."""
        self.task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._problem: BaseException | None = None
        self._is_too_long = False

    @property
    def has_ended(self) -> bool:
        return self._closing.is_set() or self.task is None or self.task.done()

    @property
    def version(self) -> str:
        """The protocol version in use; empty before the session is open."""
        return self._client.protocol_version if self._client is not None else ""

    async def open(self, way: Program | Remote) -> None:
        """Opens the session. Returns once the server has answered the handshake.

        A caller that gives up must close it.
        """
        self.task = spawn(self._hold(way), "mcp-session")
        await asyncio.wait([self._opened, self.task], return_when=asyncio.FIRST_COMPLETED)
        if self._problem is not None:
            raise self._explain(self._problem)
        if not self._opened.done():
            raise self._ended()

    def close(self) -> None:
        """Begins to close the session. `task` ends when everything is closed."""
        self._closing.set()
        if not self._opened.done() and self.task is not None:
            self.task.cancel()

    async def tools(self) -> dict[str, McpTool]:
        found: dict[str, McpTool] = {}
        with self._explained("a list of tools that cannot be read"):
            client = self._must_be_open()
            async for page in self._pages(client.list_tools):
                found |= {tool.name: _tool(tool) for tool in page.tools}
                if len(found) >= MOST_LISTED:
                    break
        return found

    async def listed(self) -> Listed:
        """Returns the resources and prompts. Asks only for what the server says it has."""
        client = self._must_be_open()
        abilities = client.server_capabilities
        resources: list[str] = []
        prompts: list[str] = []
        with self._explained("a list that cannot be read"):
            if abilities.resources is not None:
                async for page in self._pages(client.list_resources):
                    resources += [f"{entry.name} ({entry.uri})" for entry in page.resources]
                async for page in self._pages(client.list_resource_templates):
                    templates = page.resource_templates
                    resources += [f"{entry.name} ({entry.uri_template})" for entry in templates]
            if abilities.prompts is not None:
                async for page in self._pages(client.list_prompts):
                    prompts += [entry.name for entry in page.prompts]
        return Listed(tuple(resources), tuple(prompts))

    async def call(self, tool: str, arguments: Json, say: Callable[[str], None] | None) -> Json:
        notes = _Notes()

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            if say is not None and notes.is_due():
                say(_progress_words(progress, total, message))

        session = self._must_be_open().session
        params = types.CallToolRequestParams(name=tool, arguments=arguments)
        for _ in range(MOST_ROUNDS):
            request = types.CallToolRequest(params=params)
            with self._explained("an answer that cannot be read"):
                answer = await session.send_request(
                    request, _Raw, progress_callback=tell if say else None
                )
                if answer.root.get("resultType") != "input_required":
                    return answer.root
                needed = types.InputRequiredResult.model_validate(answer.root)
                params = params.model_copy(
                    update={
                        "input_responses": await self._respond(session, needed),
                        "request_state": needed.request_state,
                    }
                )
        raise self._failed(f"it asked more than {MOST_ROUNDS} times")

    async def _respond(
        self, session: ClientSession, needed: types.InputRequiredResult
    ) -> dict[str, Any] | None:
        """Answers what a server of the new version asks for before it goes on."""
        requests = needed.input_requests or {}
        if not requests:
            await asyncio.sleep(STATE_ONLY_S)
        found: dict[str, Any] = {}
        for key, request in requests.items():
            meta = request.params.meta if request.params else None
            context = ClientRequestContext(session=session, request_id=key, meta=meta)
            answer = await session.dispatch_input_request(context, request)
            if isinstance(answer, types.ErrorData):
                raise MCPError.from_error_data(answer)
            found[key] = answer
        return found or None

    async def _pages(self, ask: Callable[..., Awaitable[Any]]) -> AsyncIterator[Any]:
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await ask(cursor=cursor, cache_mode="bypass")
            yield page
            cursor = page.next_cursor
            if not cursor:
                return

    async def _follow_changes(self, client: Client) -> None:
        """Asks a server of the new version to report changed tools; older ones do so unasked.

        Not over HTTP: that request would stay open for ever.
        """
        tools = client.server_capabilities.tools
        is_new = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not is_new or tools is None or not tools.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                self.link.changed()  # what changed before this was not reported
                async for _ in changes:
                    self.link.changed()
        except (MCPError, RuntimeError) as error:
            log.debug("%s does not report changed tools: %s", self.link.name, error)

    def _must_be_open(self) -> Client:
        """Returns the client. Raises FlowFailed if the session has ended."""
        if self._client is None or self.has_ended:
            raise self._ended()
        return self._client

    async def _hold(self, way: Program | Remote) -> None:
        transport = self._piped(way) if isinstance(way, Program) else self._remote(way)
        client = Client(
            transport,
            client_info=US,
            message_handler=self._hear,
            elicitation_callback=self._elicit,
            cache=None,
        )
        try:
            async with client:
                self._client = client
                self._opened.set_result(None)
                is_program = isinstance(way, Program)
                following = (
                    spawn(self._follow_changes(client), "mcp-changes") if is_program else None
                )
                try:
                    await self._closing.wait()
                finally:
                    await stop(following)
        except asyncio.CancelledError:
            self._problem = self._ended()
        except Exception as error:
            self._problem = error
            log.debug("The session with %s ended", self.link.name, exc_info=True)
        finally:
            self._closing.set()

    @contextmanager
    def _explained(self, unreadable: str) -> Iterator[None]:
        try:
            yield
        except ValidationError:
            raise self._failed(unreadable) from None
        except (MCPError, RuntimeError, ExceptionGroup) as error:
            raise self._explain(error) from None

    def _explain(self, error: BaseException) -> AppError:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, AppError):
            return error
        if isinstance(error, MCPError):
            return self._explain_answer(error)
        return self._failed(str(error) or type(error).__name__)

    def _explain_answer(self, error: MCPError) -> AppError:
        fault = error.data.get(OUR_FAULT) if isinstance(error.data, dict) else None
        if fault == FORGOTTEN:
            return SessionForgotten("mcp_error", error.message)
        if fault:
            why = self._said if self._said == error.message else error.message
            return FlowFailed(fault if fault in get_args(Fault) else "mcp_error", why)
        if error.message.startswith(TOO_LONG_EVENT):
            return FlowFailed("too_large", TOO_LARGE)
        if error.code == types.CONNECTION_CLOSED and self.has_ended:
            return self._ended()
        return self._failed(error.message)

    def _answer_for(self, request: Any, outcome: int | Exception, text: bytes) -> bytes | None:
        """Returns an answer in place of a failure; None if the library reads the original."""
        sent = try_json(request.content)
        number = sent.get("id") if isinstance(sent, dict) and "method" in sent else None
        if number is None:
            return None
        if outcome == 200 and isinstance(found := try_json(text), list):
            answers = (
                part for part in found if isinstance(part, dict) and part.get("id") == number
            )
            return json.dumps(next(answers, {})).encode()
        why, fault = _why(outcome, text, has_session="mcp-session-id" in request.headers)
        if not why:
            return None
        self._said = why
        error = {"code": types.INTERNAL_ERROR, "message": why, "data": {OUR_FAULT: fault}}
        return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()

    def _ended(self) -> FlowFailed:
        if self._is_too_long:
            return FlowFailed("too_large", TOO_LARGE)
        return FlowFailed("mcp_error", Sentence("{0} has ended.", self.link.name))

    def _failed(self, why: str) -> FlowFailed:
        return FlowFailed("mcp_error", f"{self.link.name}: {printable(why)[:LONGEST_ERROR]}")

    async def _hear(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.link.changed()

    async def _elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        """Asks the person with a form. Declines to open a web page for a server."""
        del context
        if not isinstance(params, types.ElicitRequestFormParams):
            return types.ElicitResult(action="decline")
        message = printable(params.message)[:LONGEST_ERROR]
        values = await self.link.ask(message, dict(params.requested_schema))
        if values is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=values)

    @asynccontextmanager
    async def _piped(self, started: Program) -> AsyncIterator[tuple["_Ear", "_Mouth"]]:
        """Yields the program's pipes as the streams that the library expects."""
        sent, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        traffic = _Traffic()

        async def hear(message: Json) -> None:
            try:
                await sent.send(SessionMessage(_read(message)))
            except (ValidationError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return

        async def give_up() -> None:
            await started.has_ended.wait()
            self._is_too_long = started.is_too_long
            sent.close()
            self._closing.set()

        self.link.hear = hear
        watching = spawn(give_up(), "mcp-end")
        try:
            await started.open()
            ear = _Ear(heard, traffic, self.link.clean)
            yield ear, _Mouth(_Stdin(started, hear), traffic)
        finally:
            self.link.hear = None
            sent.close()
            heard.close()
            await stop(watching)
            await started.close()

    @asynccontextmanager
    async def _remote(self, way: Remote) -> AsyncIterator[tuple["_Ear", "_Mouth"]]:
        traffic = _Traffic()
        pass_ = door.Pass(way.door, way.reason, HTTP_S, most_bytes=0, headers=way.headers)
        # The server may not push messages outside of requests: that stream would stay open for
        # ever.
        limits_s = {"POST": None, "DELETE": servers.QUIT_S}
        replies = door.Replies(self._answer_for, servers.LONGEST_LINE, limits_s)
        async with (
            door.async_client(pass_, replies, auth=way.auth, timeout=None) as http,
            streamable_http_client(
                way.url, http_client=http, max_sse_event_size=servers.LONGEST_LINE
            ) as (read, write),
        ):
            yield _Ear(read, traffic, self.link.clean), _Mouth(write, traffic)


@dataclass(slots=True)
class _Stdin:
    """Writes to a program. Answers the version probe itself if the program stays silent."""

    program: Program
    hear: Callable[[Json], Awaitable[None]]
    probing: list[asyncio.Task[None]] = field(default_factory=list)

    async def send(self, item: SessionMessage) -> None:
        message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        if message.get("method") == "server/discover":
            self.probing.append(spawn(self._answer_later(message["id"]), "mcp-probe"))
        else:
            await self._stop_probing()
        try:
            await self.program.send(message)
        except FlowFailed:
            raise anyio.BrokenResourceError from None

    async def _answer_later(self, number: Any) -> None:
        await asyncio.sleep(PROBE_S)
        error = {"code": NOT_FOUND, "message": "no answer"}
        await self.hear({"jsonrpc": "2.0", "id": number, "error": error})

    async def _stop_probing(self) -> None:
        for task in self.probing:
            await stop(task)
        self.probing.clear()

    async def aclose(self) -> None:
        await self._stop_probing()


class _Ends:
    """One end of a connection, with the methods that the library expects."""

    inner: Any

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def __aenter__(self) -> "Any":
        return self

    async def __aexit__(self, *_why: object) -> None:
        await self.aclose()


@dataclass(slots=True)
class _Traffic:
    """The open requests of both sides, and the rate of messages."""

    asked: dict[str, str] = field(default_factory=dict)
    """The method of each request of ours that waits for its answer, by id."""
    questions: set[str] = field(default_factory=set)
    """The ids of the server's own requests that have no answer yet."""
    count: int = 0
    since: float = 0.0

    async def slow_down(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self.since >= 1:
            self.since, self.count = now, 0
        self.count += 1
        if self.count > MOST_A_SECOND:
            await asyncio.sleep(self.since + 1 - now)

    def may_pass(self, message: Any) -> bool:
        if not isinstance(message, types.JSONRPCRequest):
            return True
        if len(self.questions) >= MOST_OPEN:
            return False
        self.questions.add(str(message.id))
        return True


@dataclass(slots=True)
class _Notes:
    """Limits how often the progress of a call is shown."""

    count: int = 0
    last: float = 0.0

    def is_due(self) -> bool:
        now = asyncio.get_running_loop().time()
        self.count += 1
        if self.count > NOTES_AT_ONCE and now - self.last < NOTE_S:
            return False
        self.last = now
        return True


@dataclass(slots=True)
class _Mouth(_Ends):
    inner: Any
    traffic: _Traffic

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, types.JSONRPCRequest):
            self.traffic.asked[str(message.id)] = message.method
        await self.inner.send(item)
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self.traffic.questions.discard(str(message.id))


@dataclass(slots=True)
class _Ear(_Ends):
    """The receiving end: hides secrets in messages and mends them."""

    inner: Any
    traffic: _Traffic
    clean: Callable[[Any], Any]

    async def receive(self) -> SessionMessage | Exception:
        return await self._next(self.inner.receive)

    def __aiter__(self) -> "_Ear":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._next(self.inner.__anext__)

    async def _next(self, hear: Callable[[], Awaitable[Any]]) -> SessionMessage | Exception:
        while True:
            item = await hear()
            await self.traffic.slow_down()
            if isinstance(item, Exception) or self.traffic.may_pass(item.message):
                return self._read(item)

    def _read(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            return item
        message = item.message
        if isinstance(message, types.JSONRPCResponse):
            method = self.traffic.asked.pop(str(message.id), "")
            message.result = tidy(method, self.clean(message.result))
        elif isinstance(message, types.JSONRPCError):
            self.traffic.asked.pop(str(message.id), "")
            message.error.message = str(self.clean(message.error.message))
        elif message.params is not None:
            message.params = self.clean(message.params)
        return item


def _read(message: Json) -> types.JSONRPCMessage:
    """Reads a message. A malformed answer becomes an error for the request that waits for it."""
    message = {"jsonrpc": "2.0", **message}
    if is_too_deep(message):
        message = {"id": message.get("id"), "error": TOO_DEEP}
    try:
        return types.jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        number = message.get("id")
        if "method" in message or not isinstance(number, int | str):
            raise
        why = _words(message.get("error")) if message.get("error") is not None else NO_RESULT
        error = types.ErrorData(code=types.INTERNAL_ERROR, message=why)
        return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


NO_RESULT = "an answer without a result"
TOO_DEEP = "an answer that is nested too deep"


def _words(error: Any) -> str:
    return str(error.get("message", "unknown error") if isinstance(error, dict) else error)


def _why(outcome: int | Exception, text: bytes, *, has_session: bool) -> tuple[str, str]:
    """Returns a sentence and the kind of fault; both are empty if nothing is wrong."""
    if isinstance(outcome, Exception):
        return _why_unreached(outcome)
    if outcome == 202:
        return Sentence("The MCP server gave no answer."), "mcp_error"
    found = try_json(text)
    if outcome >= 400 and not (isinstance(found, dict) and isinstance(found.get("error"), dict)):
        fault = FORGOTTEN if outcome == 404 and has_session else "mcp_error"
        return Sentence("The MCP server answered with status {0}.", outcome), fault
    if outcome < 300 and text and not isinstance(found, dict):
        return Sentence("The answer says it is JSON, but it is not."), "mcp_error"
    if is_too_deep(found):
        return Sentence("The MCP server's answer is nested too deep."), "mcp_error"
    return "", ""


def _why_unreached(error: Exception) -> tuple[str, str]:
    if isinstance(error, AnswerTooLong):
        return TOO_LARGE, "too_large"
    if isinstance(error, AppError):
        return str(error), "http_connect"
    kind = type(error.__cause__ or error).__name__
    return Sentence("The MCP server could not be reached: {0}.", kind), "http_connect"


def _tool(tool: types.Tool) -> McpTool:
    hints = (
        tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
    )
    return McpTool(tool.name, tool.description or "", tool.input_schema, hints)


def _progress_words(done: float, total: float | None, message: str | None) -> str:
    count = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{one_line(message)[:LONGEST_ERROR]} ({count})" if message else count


MOST_LISTED = 500
LONGEST_NAME = 128
LONGEST_WORDS = 10_000
DEEPEST = 100
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
UNKNOWN = {"name": "", "version": ""}


def tidy(method: str, result: Json) -> Json:
    """Mends the result of a request. What cannot be mended stays as it is."""
    mend = MENDED.get(method)
    return mend(result) if mend else result


def _greeting(result: Json) -> Json:
    abilities, info = result.get("capabilities"), result.get("serverInfo")
    is_known = isinstance(info, dict) and isinstance(info.get("name"), str)
    known = {"serverInfo": info if is_known else UNKNOWN}
    return {**result, "capabilities": abilities if isinstance(abilities, dict) else {}, **known}


def _tools(result: Json) -> Json:
    """Leaves out tools whose names cannot be shown unchanged, since tools are called by name."""
    tools = result.get("tools")
    if not isinstance(tools, list) or not all(_is_named(tool) for tool in tools[:MOST_LISTED]):
        return result
    good = (tool for tool in tools if _is_named(tool) and _is_plain(tool["name"]))
    return {**result, "tools": [_tidy_tool(tool) for tool in islice(good, MOST_LISTED)]}


def _is_named(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def _is_plain(name: str) -> bool:
    is_shown = name.isprintable() and name == one_line(name)
    return is_shown and 0 < len(name) <= LONGEST_NAME


def is_too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than DEEPEST, which could exhaust the stack."""
    level = [value]
    for _ in range(DEEPEST):
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def _tidy_tool(tool: Json) -> Json:
    """Keeps what is used. Drops the output schema: its patterns would run in this process."""
    hints = tool.get("annotations")
    given = hints if isinstance(hints, dict) else {}
    return {
        "name": tool["name"],
        "description": _description(tool),
        "inputSchema": _arguments(tool.get("inputSchema")),
        "annotations": {name: given[name] for name in HINTS if isinstance(given.get(name), bool)},
    }


def _description(entry: Json) -> str:
    return printable(str(entry.get("description") or entry.get("title") or ""))[:LONGEST_WORDS]


def _arguments(schema: Any) -> Json:
    if not isinstance(schema, dict):
        return {"type": "object"}
    found = {**schema, "type": "object"}
    if not isinstance(found.get("$schema", ""), str):
        del found["$schema"]
    parts, required = found.get("properties"), found.get("required")
    if "properties" in found:
        listed = parts.items() if isinstance(parts, dict) else ()
        found["properties"] = {name: part for name, part in listed if isinstance(part, dict | bool)}
    if "required" in found:
        names = required if isinstance(required, list) else ()
        found["required"] = [name for name in names if isinstance(name, str)]
    return found


def _answer(result: Json) -> Json:
    """Turns all content into texts, because nothing else is read."""
    if result.get("resultType", "complete") != "complete":
        return result
    content, data = result.get("content"), _writable(result.get("structuredContent"))
    parts = content if isinstance(content, list) else [content]
    texts = [_text(part) for part in parts]
    if data is not None and not isinstance(data, dict):
        texts, data = [json.dumps(data)], None
    found: Json = {
        "content": [{"type": "text", "text": text} for text in texts if text is not None],
        "isError": bool(result.get("isError")),
    }
    kept = {name: result[name] for name in ("resultType",) if name in result}
    return found | kept | ({} if data is None else {"structuredContent": data})


def _writable(data: Any) -> Any:
    """Returns data that JSON can hold: NaN and infinity become None, lone surrogates go."""
    try:
        text = json.dumps(data, ensure_ascii=False)
    except (ValueError, RecursionError):
        return data
    return json.loads(_without_halves(text), parse_constant=lambda _name: None)


def _without_halves(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(part: Any) -> str | None:
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind == "text":
        return _without_halves(str(part.get("text", "")))
    if kind == "resource":
        held = part.get("resource")
        if not isinstance(held, dict):
            return ""
        return _without_halves(str(held["text"])) if "text" in held else _place(kind, held)
    if kind == "resource_link":
        return _place(kind, part)
    return f"[{kind}]" if kind else None


def _place(kind: str, part: Json) -> str:
    """Returns what is said of a resource whose content is not in the answer: a link to it, say."""
    about = (one_line(str(part[name])) for name in ("name", "uri", "description") if part.get(name))
    return " ".join((f"[{kind}]", *about))[:LONGEST_WORDS]


def _listed(key: str, *needed: str) -> Callable[[Json], Json]:
    """Returns a function that keeps the entries with these fields, and only what is shown."""

    def mend(result: Json) -> Json:
        entries = result.get(key)
        good = [
            {
                **{name: one_line(entry[name])[:LONGEST_WORDS] for name in needed},
                "description": _description(entry),
            }
            for entry in (entries[:MOST_LISTED] if isinstance(entries, list) else ())
            if isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in needed)
        ]
        return {**result, key: good}

    return mend


MENDED: dict[str, Callable[[Json], Json]] = {
    "initialize": _greeting,
    "tools/list": _tools,
    "tools/call": _answer,
    "resources/list": _listed("resources", "name", "uri"),
    "resources/templates/list": _listed("resourceTemplates", "name", "uriTemplate"),
    "prompts/list": _listed("prompts", "name"),
}
