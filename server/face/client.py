"""Reaches the same user's running server from a terminal, over its control link."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import to_jsonable_python

from server.errors import AppError, LinkLost
from server.face.wire import COMMANDS, SIGNALS, VALUES
from server.sse import Reader, Sent

PATIENCE_S = 3.0
ANSWER_S = 120.0
"""Seconds that a command may take: it may have to ask the hub first."""
LONGEST_LINE = 1 << 22
Ended = None


@dataclass(frozen=True, slots=True)
class RunningServer:
    """The way to the running server. Commands raise LinkLost if it does not answer."""

    address: str
    secret: str

    async def command(self, name: str, /, **arguments: Any) -> Any:
        sent = {"name": name, "arguments": to_jsonable_python(arguments)}
        status, body = await asyncio.to_thread(self._post, sent)
        try:
            answer = json.loads(body)
        except ValueError as unreadable:
            raise LinkLost from unreadable
        if status != 200:
            error = AppError(answer["error"]["message"])
            error.code = answer["error"]["code"]
            raise error
        return COMMANDS[name].result.validate_python(answer["result"])

    async def values(self, name: str) -> AsyncGenerator[Any, None]:
        """Yields a mirrored value now and after each change, until the server ends."""
        async with aclosing(self._events()) as events:
            async for event in events:
                if event.get("value") == name:
                    yield VALUES[name].validate_python(event["data"])

    @asynccontextmanager
    async def listen(self, name: str) -> AsyncIterator[AsyncGenerator[Any, None]]:
        """Yields the events of a signal until the server ends. From here on no event is lost."""

        async def heard() -> AsyncGenerator[Any, None]:
            async for event in events:
                if event.get("signal") == name:
                    yield SIGNALS[name].validate_python(event["data"])

        async with aclosing(self._events()) as events:
            # The current values come first: by then the server sends signals, too.
            await anext(events, None)
            async with aclosing(heard()) as coming:
                yield coming

    async def _events(self) -> AsyncGenerator[dict[str, Any], None]:
        question = Question("GET", "/control/stream", self._headers())
        async with aclosing(stream(self.address, question)) as events:
            async for sent in events:
                yield json.loads(sent.data)

    async def value(self, name: str) -> Any:
        """Returns the current value of a mirrored value."""
        async with aclosing(self.values(name)) as values:
            async for current in values:
                return current
        raise LinkLost

    def _post(self, body: dict[str, Any]) -> tuple[int, bytes]:
        connection = _connect(self.address, ANSWER_S)
        try:
            headers = {**self._headers(), "Content-Type": "application/json"}
            connection.request("POST", "/control/command", json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise LinkLost from error
        finally:
            connection.close()

    def answers(self) -> bool:
        connection = _connect(self.address, PATIENCE_S)
        try:
            connection.request("GET", "/control/ping", headers=self._headers())
            return connection.getresponse().status == 204
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


def _connect(address: str, timeout_s: float | None) -> http.client.HTTPConnection:
    place = urlsplit(address)
    return http.client.HTTPConnection(place.hostname or "", place.port, timeout=timeout_s)


@dataclass(frozen=True, slots=True)
class Question:
    method: str
    path: str
    headers: dict[str, str]
    body: str | None = None


async def stream(address: str, question: Question) -> AsyncGenerator[Sent, None]:
    """Yields the events that a server sends until it ends. A refusal raises AppError."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | AppError | None] = asyncio.Queue()
    connection = _connect(address, None)
    reader = Reader(LONGEST_LINE)

    def tell(line: bytes | AppError | None) -> None:
        # The loop has ended, so nobody listens any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lines.put_nowait, line)

    # A daemon, because on some systems nothing can interrupt its read.
    read = partial(_read_lines, connection, question, tell)
    threading.Thread(target=read, name="control-stream", daemon=True).start()
    try:
        while (line := await lines.get()) is not Ended:
            if isinstance(line, AppError):
                raise line
            for sent in reader.feed(line):
                if isinstance(sent, Sent):
                    yield sent
    finally:
        # Closing alone would leave the thread in its read, and the server with a listener.
        if connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()


def _read_lines(
    connection: http.client.HTTPConnection,
    question: Question,
    tell: Callable[[bytes | AppError | None], None],
) -> None:
    try:
        connection.connect()
        connection.request(question.method, question.path, question.body, question.headers)
        response = connection.getresponse()
        if response.status != 200:
            tell(_refusal(response))
        while line := response.readline(LONGEST_LINE):
            tell(line)
        tell(Ended)
    except (OSError, http.client.HTTPException, AttributeError, ValueError):
        # Reading also fails with these if the connection is closed meanwhile.
        tell(Ended)


def _refusal(response: http.client.HTTPResponse) -> AppError:
    try:
        told = json.loads(response.read())["error"]
        error = AppError(told["message"])
        error.code = told["code"]
    except (ValueError, LookupError, TypeError):
        return AppError(f"The server answered with status {response.status}.")
    return error


async def find(path: Path) -> RunningServer | None:
    """Finds the running server by the file it leaves for its user's terminals."""
    found = _read(path)
    if found is None:
        return None
    is_awake = await asyncio.to_thread(found.answers)
    return found if is_awake else None


def _read(path: Path) -> RunningServer | None:
    try:
        note = json.loads(path.read_text("utf-8"))
        found = RunningServer(str(note["address"]), str(note["secret"]))
        # Whatever the file says, the secret is sent only to this machine.
        return found if urlsplit(found.address).hostname == "127.0.0.1" else None
    except (OSError, ValueError, LookupError, TypeError):
        return None
