"""The aiohttp applications: the public one with all protocols, and the control link.

A handler reads the body, passes it to the endpoint's protocol, and sends what that returns. The
control link serves the window: the face's state as one stream, and its commands as calls.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from aiohttp import web

from server.chat import ChatRequest, Tool
from server.errors import AppError, BadRequest, Busy, DiskFull, KeyRefused, Stopping
from server.events import Event, Events, Failed, OfChoice
from server.face.core import About, Face
from server.face.wire import COMMANDS, SIGNALS, VALUES
from server.models.downloads.journal import is_full
from server.protocols import wording
from server.protocols.base import (
    EVENT_STREAM,
    Accepted,
    AgentRun,
    Ask,
    Cancel,
    Endpoint,
    Facts,
    Frames,
    Look,
    LookResult,
    Manage,
    Managed,
    Reply,
    Run,
)
from server.sentences import Sentence, to_wire
from server.system.lazy import Late
from server.system.logs import Redactor
from server.web.body import FORM, MOST_UNKNOWN, SIZE, apart, as_json, read_form, read_json
from server.web.guard import (
    HOLDER,
    OPEN_PATHS,
    SCHEME,
    Guard,
    Handler,
    client_of,
    describe_error,
    read_credentials,
    readable,
)
from server.web.stream import send

log = logging.getLogger(__name__)

FIRST_EVENT_S = 5.0
"""Seconds to wait for the first event before a stream opens. A failure until then has a status."""

Item = Event | OfChoice
OWN_HEADER = "x-moat-window"
CHAT_HEADER = "x-moat-chat"
WARNING_HEADER = "X-Moat-Warning"
WARNINGS = web.RequestKey("warnings", str)
MCP_PATH = "/mcp"
mcp_server = Late("server.web.mcp_server")
READABLE = " '.,:;_-()/"
"""Characters that are not escaped in the warning header."""
OWNER_SECRET = secrets.token_bytes(32)
"""The key of the hashes in `Facts.owner`; new at each start."""
SECRET_HEADERS = frozenset(
    {"authorization", "x-api-key", "cookie", "proxy-authorization", OWN_HEADER}
)


class TooManyRequests(AppError):
    code = "server_busy"
    status = 503
    retry_after_s = 2

    def __init__(self) -> None:
        super().__init__(Sentence("Too many requests at once."))


class HttpError(AppError):
    """A refusal by aiohttp itself: an unknown path, a wrong method, a body that is too large."""

    def __init__(self, error: web.HTTPException, path: str) -> None:
        message = f"{error.reason}."
        if isinstance(error, web.HTTPNotFound):
            message = Sentence("Moat has nothing at {0}.", path)
        elif isinstance(error, web.HTTPMethodNotAllowed):
            message = Sentence(
                "{0} takes {1} only.", path, ", ".join(sorted(error.allowed_methods))
            )
        elif isinstance(error, web.HTTPRequestEntityTooLarge):
            message = Sentence("The body is larger than Moat's settings allow.")
        super().__init__(message)
        self.code = f"http_{error.status}"
        self.status = error.status


@dataclass(frozen=True, slots=True)
class Site:
    """What the endpoints need from the rest of the server."""

    converse: Callable[[ChatRequest | Run | AgentRun, About], Events]
    answer: Callable[[Ask], Awaitable[Any]]
    facts: Callable[[str], Facts]
    max_requests: Callable[[], int]
    look: Callable[[Look], Awaitable[LookResult]]
    replied: Callable[[About], None]
    is_own: Callable[[str], bool]
    cancel: Callable[[str], None]
    manage: Callable[[Manage], Awaitable[Managed]]
    name_of: Callable[[str], str | None]
    """Returns the name of a named key; None if it is unknown. Raises KeyRefused if revoked."""
    narrow: Callable[[Facts, str], Facts]
    """Limits the facts to what the holder of a key may see."""
    tools: Callable[[About], Awaitable[tuple[Tool, ...]]]
    """Returns the plugins' tools that a connected program may call."""


def create_app(
    endpoints: Iterable[Endpoint], site: Site, guard: Guard, max_body_bytes: int
) -> web.Application:
    app = web.Application(client_max_size=max_body_bytes)
    guard.install(app, wording)
    app.on_response_prepare.append(_add_warnings)
    app.middlewares.append(_limit(site.max_requests))
    app.middlewares.append(_errors)
    for endpoint in endpoints:
        app.router.add_route(endpoint.method, endpoint.path, _handler(endpoint, site))
    _add_mcp(app, site)
    return app


def _add_mcp(app: web.Application, site: Site) -> None:
    """Adds the MCP server. The first request loads its library, in a thread.

    It is not loaded beforehand: it takes half as much memory as the whole idle server.
    """
    made: list[Any] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if not made:
            await mcp_server.load()
        if not made:
            made.append(mcp_server.McpSite(site))
        facts = _facts(request, site)
        endpoint = Endpoint("POST", MCP_PATH, lambda _body, _facts: Reply())
        answered: web.StreamResponse = await made[0].answer(
            request, facts, _about(request, endpoint, facts)
        )
        return answered

    async def close(_app: web.Application) -> None:
        for opened in made:
            await opened.close()

    app.router.add_post(MCP_PATH, handle)
    app.router.add_delete(MCP_PATH, handle)
    app.on_cleanup.append(close)


def _handler(endpoint: Endpoint, site: Site) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            body = await _body(request, endpoint)
            facts = _facts(request, site)
            size = _size(request, endpoint)
            first = await apart(size, lambda: endpoint.accept(body, facts))
            about = _about(request, endpoint, facts)
            accepted = await _settle(first, site, size, about)
            if isinstance(accepted, Cancel):
                site.cancel(accepted.request_id)
                accepted = accepted.reply
            _note_warnings(request, accepted)
            if isinstance(accepted, Look):
                found = await site.look(accepted)
                return await _tell(request, endpoint, found, (site, about))
            if isinstance(accepted, Reply | AsyncGenerator):
                site.replied(about)
            if isinstance(accepted, Reply):
                return _plain(accepted)
            if isinstance(accepted, AsyncGenerator):
                async with aclosing(accepted) as frames:
                    return await send(request, frames, endpoint.content_type, b"")
            async with aclosing(site.converse(accepted, about)) as events:
                return await _respond(request, endpoint, events, (body, facts))
        except AppError as error:
            return _failure(endpoint.failed, error)

    return handle


def _size(request: web.Request, endpoint: Endpoint) -> int:
    """Returns the size of the body in bytes, by which `apart` decides whether to use a thread."""
    if not endpoint.reads_body or request.method in ("GET", "HEAD"):
        return 0
    if endpoint.takes_form and request.content_type == FORM:
        return MOST_UNKNOWN if request.content_length is None else request.content_length
    return request[SIZE]


def _facts(request: web.Request, site: Site) -> Facts:
    return replace(
        site.narrow(site.facts(request.host), request.get(HOLDER, "")),
        address=f"{request.get(SCHEME, request.scheme)}://{request.host}",
        path=dict(request.match_info),
        query=dict(request.query),
        headers=_headers(request),
        is_own=site.is_own(request.headers.get(OWN_HEADER, "")),
        request_id=uuid4().hex,
        owner=_owner(request),
    )


def _about(request: web.Request, endpoint: Endpoint, facts: Facts) -> About:
    return About(
        endpoint.path,
        facts.origin or client_of(request),
        is_own=facts.is_own,
        chat=facts.headers.get(CHAT_HEADER, ""),
        request_id=facts.request_id,
        key=request.get(HOLDER, ""),
    )


def _owner(request: web.Request) -> str:
    """Returns the hashes of the page and of the key, with a slash between; empty if not sent."""

    def hashed(*sent: str) -> str:
        text = "\0".join(sent).encode("utf-8", "surrogateescape")
        return hmac.new(OWNER_SECRET, text, "sha256").hexdigest() if any(sent) else ""

    headers = request.headers
    credentials = read_credentials(headers.get("Authorization", ""))
    return (
        f"{hashed(headers.get('Origin', ''))}/{hashed(*credentials, headers.get('X-API-Key', ''))}"
    )


def _note_warnings(request: web.Request, accepted: Any) -> None:
    """Logs the warnings, and stores them for the header of the response."""
    warnings: tuple[str, ...] = getattr(accepted, "warnings", ())
    for warning in warnings:
        log.warning("%s: %s", request.path, warning)
    if warnings:
        request[WARNINGS] = " ".join(warnings)


async def _add_warnings(request: web.Request, response: web.StreamResponse) -> None:
    if WARNINGS in request:
        response.headers[WARNING_HEADER] = quote(request[WARNINGS], safe=READABLE)


async def _settle(
    accepted: Accepted | Managed, site: Site, size: int, about: About
) -> ChatRequest | Run | Reply | Cancel | Look | Frames:
    """Asks the engine and the model keeper until there is a reply, a stream, or a run to start."""
    while isinstance(accepted, Ask | Manage):
        if isinstance(accepted, Ask):
            answer = await site.answer(replace(accepted, by=about))
            accepted = await apart(size, partial(accepted.then, answer))
        else:
            accepted = await site.manage(accepted)
    return accepted


async def _body(request: web.Request, endpoint: Endpoint) -> Any:
    if not endpoint.reads_body:
        return {}
    if endpoint.takes_form and request.content_type == FORM:
        return await read_form(request)
    return await read_json(request, required=endpoint.needs_body)


def _headers(request: web.Request) -> dict[str, str]:
    found = {name.lower(): readable(value) for name, value in request.headers.items()}
    return {name: value for name, value in found.items() if name not in SECRET_HEADERS}


async def _respond(
    request: web.Request,
    endpoint: Endpoint,
    events: Events,
    known: tuple[Any, Facts],
) -> web.StreamResponse:
    async with _begun(events, FIRST_EVENT_S) as (refusal, all_events):
        if refusal is not None:
            return _failure(endpoint.failed, refusal)
        if endpoint.collect and not (endpoint.render and endpoint.streams(known[0])):
            return _plain(await endpoint.collect(all_events, *known))
        assert endpoint.render
        async with aclosing(endpoint.render(all_events, *known)) as frames:
            kept = endpoint.keep_alive if endpoint.content_type == EVENT_STREAM else b""
            return await send(request, frames, endpoint.content_type, kept)


@asynccontextmanager
async def _begun(
    events: Events, wait_s: float
) -> AsyncGenerator[tuple[AppError | None, Events], None]:
    """Waits for the first event. Yields its error, if it failed in time, and all of the events."""
    first = asyncio.get_running_loop().create_task(anext(events), name="first event")
    try:
        await asyncio.wait({first}, timeout=wait_s)
        has_come = first.done() and not isinstance(first.exception(), StopAsyncIteration)
        refusal = _find_error(first.result()) if has_come else None
        async with aclosing(_resume(first, events)) as all_events:
            yield refusal, all_events
    finally:
        first.cancel()
        await asyncio.wait({first})


def _find_error(item: Item) -> AppError | None:
    event = item.event if isinstance(item, OfChoice) else item
    return event.error if isinstance(event, Failed) else None


async def _tell(
    request: web.Request, endpoint: Endpoint, found: LookResult, known: tuple[Site, About]
) -> web.StreamResponse:
    if isinstance(found, Reply):
        return _plain(found)
    if not isinstance(found, AgentRun):
        async with aclosing(found) as frames:
            return await send(request, frames, EVENT_STREAM)
    site, about = known
    async with (
        aclosing(site.converse(found, about)) as events,
        _begun(events, 0.0) as (refusal, all_events),
    ):
        # These refusals get an HTTP status. Any other failure is part of the stream.
        if isinstance(refusal, Busy | Stopping | KeyRefused):
            return _failure(endpoint.failed, refusal)
        if found.collect is not None:
            return _plain(await found.collect(all_events))
        assert found.render
        async with aclosing(found.render(all_events)) as frames:
            return await send(request, frames, found.content_type, found.keep_alive)


async def _resume(first: asyncio.Task[Item], events: Events) -> Events:
    try:
        yield await first
    except StopAsyncIteration:
        return
    async for event in events:
        yield event


def _limit(max_requests: Callable[[], int]) -> Any:
    open_requests = 0

    @web.middleware
    async def limit(request: web.Request, handler: Handler) -> web.StreamResponse:
        nonlocal open_requests
        if open_requests >= max_requests() and request.path not in OPEN_PATHS:
            return _failure(wording(request.path), TooManyRequests())
        open_requests += 1
        try:
            return await handler(request)
        finally:
            open_requests -= 1

    return limit


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    words = wording(request.path)
    try:
        return await handler(request)
    except web.HTTPException as error:
        response = _failure(words, HttpError(error, readable(request.path)[:200]))
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response
    except AppError as error:
        return _failure(words, error)
    except Exception:
        log.exception("A request to %s failed", request.path)
        return _failure(words, AppError(Sentence("Something went wrong inside Moat.")))


def _failure(words: Callable[[Exception], Reply] | None, error: AppError) -> web.Response:
    if words is not None:
        response = _plain(words(error))
    else:
        response = web.json_response(describe_error(error), status=error.status)
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


def _plain(reply: Reply) -> web.Response:
    if reply.text is not None:
        data = reply.text.encode("utf-8", "replace")
        kind = reply.content_type
        return web.Response(body=data, status=reply.status, content_type=kind, charset="utf-8")
    return web.Response(
        body=as_json(reply.body), status=reply.status, content_type=reply.content_type
    )


GATHER_S = 0.05
"""Seconds between two writes: many log lines share one, and only a value's last state is sent."""
MAX_SIGNALS = 2000
"""The most signals that wait for one write; further signals are dropped."""
REFUSED = Sentence("The system refused. The log says more.")


def create_control(face: Face, guard: Guard) -> web.Application:
    app = web.Application(client_max_size=1024 * 1024)
    guard.install(app)

    async def stream(request: web.Request) -> web.StreamResponse:
        return await send(request, _changes(face), EVENT_STREAM)

    async def command(request: web.Request) -> web.StreamResponse:
        try:
            result = await _call(face, await read_json(request))
        except AppError as error:
            return _refusal(error)
        except web.HTTPException:
            raise
        except OSError as error:
            log.exception("A command failed")
            return _refusal(_of_the_system(error))
        except Exception as error:
            log.exception("A command failed")
            return _refusal(_of_ours(error))
        data = as_json({"result": result}, nan="constants")
        return web.Response(body=data, content_type="application/json")

    async def ping(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

    app.router.add_get("/control/ping", ping)
    app.router.add_get("/control/stream", stream)
    app.router.add_post("/control/command", command)
    return app


async def _call(face: Face, body: Any) -> Any:
    if not isinstance(body, dict) or body.get("name") not in COMMANDS:
        raise BadRequest(Sentence("There is no such command."), "name")
    command = COMMANDS[body["name"]]
    try:
        arguments = command.read_arguments(body.get("arguments") or {})
    except ValueError as error:
        raise BadRequest(
            Sentence("The command's arguments are wrong: {0}", error), "arguments"
        ) from None
    run = attrgetter(body["name"])(face)
    return command.result.dump_python(await run(**arguments), mode="json")


def _refusal(error: AppError) -> web.Response:
    details = Redactor().clean(error.details)
    found = {"message": str(error), "sentence": to_wire(str(error))}
    body = {"error": {**found, "code": error.code, "details": details}}
    return web.json_response(body, status=error.status)


def _of_the_system(error: OSError) -> AppError:
    if is_full(error):
        found: AppError = DiskFull(Sentence("The disk cannot be written: {0}.", error.strerror))
    else:
        words = Sentence("The system refused: {0}.", error.strerror) if error.strerror else REFUSED
        found = AppError(words)
    found.__cause__ = error
    return found


def _of_ours(error: Exception) -> AppError:
    """Makes the error for an exception, without its message: that may be private, and is logged."""
    found = AppError(Sentence("Something went wrong inside Moat."))
    found.known_details = type(error).__name__
    return found


async def _changes(face: Face) -> Frames:
    values: dict[str, Any] = {}
    signals: list[tuple[str, Any]] = []
    awake = asyncio.Event()

    def keep(name: str, item: Any) -> None:
        values[name] = item
        awake.set()

    def note(name: str, item: Any) -> None:
        if len(signals) < MAX_SIGNALS:
            signals.append((name, item))
        awake.set()

    disconnects = [
        attrgetter(name)(face).connect(lambda item, name=name: keep(name, item)) for name in VALUES
    ] + [
        attrgetter(name)(face).connect(lambda item, name=name: note(name, item)) for name in SIGNALS
    ]
    try:
        while True:
            await awake.wait()
            awake.clear()
            frames = _frames(values, signals)
            values.clear()  # before the write, so that changes meanwhile go out with the next one
            signals.clear()
            yield frames
            await asyncio.sleep(GATHER_S)
    finally:
        for disconnect in disconnects:
            disconnect()


def _frames(values: dict[str, Any], signals: list[tuple[str, Any]]) -> bytes:
    frames = [
        _frame({"value": name, "data": VALUES[name].dump_python(item, mode="json")})
        for name, item in values.items()
    ]
    frames += [
        _frame({"signal": name, "data": SIGNALS[name].dump_python(item, mode="json")})
        for name, item in signals
    ]
    return b"".join(frames)


def _frame(content: dict[str, Any]) -> bytes:
    return b"data: " + as_json(content, nan="constants") + b"\n\n"
