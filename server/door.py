"""Lets libraries connect only through `Egress`: a transport for `httpx2`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import httpx2

from server import egress
from server.egress import Egress
from server.errors import AnswerTooLong, EgressRefused
from server.sizes import MB

T = TypeVar("T")
UNSENT = ("host", "content-length", "transfer-encoding", "accept-encoding", "connection")
"""Headers that Egress writes itself."""
UNPACKED = ("content-encoding", "content-length", "transfer-encoding")
"""Response headers that are no longer true, because Egress has decoded the body."""


class WayBroken(httpx2.TransportError):
    """The connection failed. Its cause is one of `Egress.failures`; libraries do not retry it."""


@dataclass(slots=True)
class Pass:
    """A permission for a library to connect, for one reason and within limits."""

    door: Egress
    reason: str
    stall_s: float = 30.0
    most_bytes: int = 32 * MB
    """Limit for all responses together; 0 means no limit."""
    most_requests: int = 0
    """0 means no limit."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that replace the library's own."""
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _waiting: set[Future[Any]] = field(default_factory=set)
    _requests: int = 0
    _bytes: int = 0
    _has_ended: bool = False

    def begin(self, request: httpx2.Request, body: bytes) -> AbstractAsyncContextManager[Any]:
        self._requests += 1
        if self._has_ended:
            raise EgressRefused("What a library was asked for has ended: it may send no more.")
        if self.most_requests and self._requests > self.most_requests:
            raise AnswerTooLong(f"{request.url.host} answers in too many pages.")
        kept = {key: one for key, one in request.headers.items() if key.lower() not in UNSENT}
        return self.door.request(
            request.method,
            str(request.url),
            self.reason,
            stall_s=self.stall_s,
            headers={**kept, **self.headers},
            data=body or None,
        )

    def count(self, chunk: bytes) -> bytes:
        self._bytes += len(chunk)
        if self.most_bytes and self._bytes > self.most_bytes:
            raise AnswerTooLong(f"The answer is longer than {self.most_bytes // MB} MB.")
        return chunk

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits, in the library's thread, for work on the event loop."""
        if self._has_ended:
            work.close()
            raise EgressRefused("What a library was asked for has ended: it may send no more.")
        doing = asyncio.run_coroutine_threadsafe(work, self.loop)
        self._waiting.add(doing)
        try:
            return doing.result()
        except CancelledError:
            raise EgressRefused("What a library was asked for was cancelled.") from None
        finally:
            self._waiting.discard(doing)

    def end(self) -> None:
        """Cancels what the library's thread waits for, and lets it send nothing more.

        The thread itself cannot be stopped.
        """
        self._has_ended = True
        for doing in tuple(self._waiting):
            doing.cancel()


_pass: ContextVar[Pass | None] = ContextVar("pass", default=None)


async def call(pass_: Pass, work: Callable[[], T]) -> T:
    """Runs a library's blocking work in a thread. Cancelling it cancels its requests."""
    before = _pass.set(pass_)
    try:
        return await asyncio.to_thread(work)
    finally:
        _pass.reset(before)
        pass_.end()


def client(check: Callable[[httpx2.Response], None]) -> httpx2.Client:
    """Returns a client for a library that shares one: each request uses the pass of its `call`.

    `check` sees each response before the library does.
    """
    return httpx2.Client(
        transport=_Blocking(), trust_env=False, event_hooks={"response": [check]}, timeout=None
    )


def async_client(
    pass_: Pass, replies: "Replies | None" = None, **options: Any
) -> httpx2.AsyncClient:
    options |= {"transport": _Waiting(pass_), "trust_env": False}
    return _Replying(replies, **options) if replies else httpx2.AsyncClient(**options)


@dataclass(frozen=True, slots=True)
class Replies:
    """Rules that turn failures into responses, for a library that gives up at the first failure."""

    answer: Callable[[httpx2.Request, int | Exception, bytes], bytes | None]
    """Called with the status and body, or the exception. Returns None to pass it on."""
    largest: int
    """The most bytes of a response. A stream of events is passed on as it arrives."""
    limits_s: Mapping[str, float | None]
    """The allowed methods, and the seconds that each may take; None means no limit."""


class _Replying(httpx2.AsyncClient):
    def __init__(self, replies: Replies, **options: Any) -> None:
        super().__init__(**options)
        self._replies = replies

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if request.method not in self._replies.limits_s:
            return httpx2.Response(405, request=request)
        outcome: int | Exception
        headers, text = [("content-type", "application/json")], b""
        try:
            async with asyncio.timeout(self._replies.limits_s[request.method]):
                response = await super().send(request, **options)
                if "text/event-stream" in response.headers.get("content-type", ""):
                    return response
                text = await self._whole(response)
            outcome, headers = response.status_code, response.headers.multi_items()
        except Exception as error:  # noqa: BLE001  a library's sign-in may raise anything
            outcome = error
        reply = self._replies.answer(request, outcome, text)
        if reply is not None:
            headers = [*headers, ("content-type", "application/json")]
            return httpx2.Response(200, headers=_last(headers), content=reply, request=request)
        if isinstance(outcome, Exception):
            raise outcome
        return httpx2.Response(outcome, headers=headers, content=text, request=request)

    async def _whole(self, response: httpx2.Response) -> bytes:
        pieces = bytearray()
        try:
            async for piece in response.aiter_bytes():
                pieces += piece
                if len(pieces) > self._replies.largest:
                    most = self._replies.largest // MB
                    raise AnswerTooLong(f"The answer is longer than {most} MB.")
        finally:
            await response.aclose()
        return bytes(pieces)


def _last(headers: list[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


class _Body(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    """A response's body in pieces. Closing it discards what has not arrived."""

    def __init__(
        self, pass_: Pass, answer: AbstractAsyncContextManager[Any], response: Any
    ) -> None:
        self._pass = pass_
        self._answer = answer
        self._pieces: AsyncIterator[bytes] = response.content.iter_any()
        self._is_open = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._next():
            yield piece

    def __iter__(self) -> Iterator[bytes]:
        while piece := self._pass.wait(self._next()):
            yield piece

    async def _next(self) -> bytes:
        try:
            return self._pass.count(await anext(self._pieces, b""))
        except Egress.failures as error:
            raise WayBroken(_why(error)) from error

    async def aclose(self) -> None:
        if self._is_open:
            self._is_open = False
            await self._answer.__aexit__(None, None, None)

    def close(self) -> None:
        if self._is_open:
            asyncio.run_coroutine_threadsafe(self.aclose(), self._pass.loop)


async def _send(pass_: Pass, request: httpx2.Request, body: bytes) -> httpx2.Response:
    answer = pass_.begin(request, body)
    try:
        response = await answer.__aenter__()
    except Egress.failures as error:
        raise WayBroken(_why(error)) from error
    headers = [(key, one) for key, one in response.headers.items() if key.lower() not in UNPACKED]
    return httpx2.Response(
        response.status, headers=headers, stream=_Body(pass_, answer, response), request=request
    )


class _Blocking(httpx2.BaseTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        pass_ = _pass.get()
        if pass_ is None:
            raise EgressRefused("A library may send only what it was asked for.")
        return pass_.wait(_send(pass_, request, request.read()))


class _Waiting(httpx2.AsyncBaseTransport):
    def __init__(self, pass_: Pass) -> None:
        self._pass = pass_

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await _send(self._pass, request, await request.aread())


def _guard(send: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(send)
    def send_if_allowed(transport: Any, request: httpx2.Request) -> Any:
        if egress.is_sealed() or _pass.get() is not None:
            raise EgressRefused(f"A library tried to reach {request.url.host} past the one door.")
        return send(transport, request)

    return send_if_allowed


def _why(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


# These transports are the library's only other way to connect.
httpx2.HTTPTransport.handle_request = _guard(httpx2.HTTPTransport.handle_request)  # type: ignore[method-assign]
httpx2.AsyncHTTPTransport.handle_async_request = _guard(  # type: ignore[method-assign]
    httpx2.AsyncHTTPTransport.handle_async_request
)
