"""Mirrors the core of the server process: its values and signals here, our commands there."""

import inspect
import json
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast, get_args, get_origin, get_type_hints

import aiohttp
from pydantic_core import to_jsonable_python

from server.errors import AppError, LinkLost
from server.face import Face, ServerStatus
from server.mirror import COMMANDS, SIGNALS, VALUES
from server.observe import Signal, Value

_LONGEST_LINE = 2**22
_KEPT = "settings"
_STREAM_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=3)


class Link:
    """`face` is what a page sees; what it holds follows from the declarations in `Face`."""

    def __init__(self) -> None:
        self._values: dict[str, Value[Any]] = {name: Value(_initial(name)) for name in VALUES}
        self._signals: dict[str, Signal[Any]] = {name: Signal() for name in SIGNALS}
        self._session: aiohttp.ClientSession | None = None
        commands = {name: self._command(name) for name in COMMANDS}
        self.face = cast(Face, SimpleNamespace(**self._values, **self._signals, **commands))

    async def follow(self, address: str, secret: str) -> None:
        """Mirror the core at this address until its stream ends."""
        async with aiohttp.ClientSession(
            address,
            headers={"Authorization": f"Bearer {secret}"},
            timeout=_STREAM_TIMEOUT,
            read_bufsize=_LONGEST_LINE,
        ) as session:
            self._session = session
            try:
                await self._read_stream(session)
            except aiohttp.ClientError as error:
                raise LinkLost from error
            finally:
                self._session = None

    def show(self, status: ServerStatus) -> None:
        """What is true while there is no core to mirror. Settings stay, so the look does too."""
        for name, value in self._values.items():
            if name not in (_KEPT, "server"):
                value.set(_initial(name))
        self.face.server.set(status)

    async def _read_stream(self, session: aiohttp.ClientSession) -> None:
        async with session.get("/control/stream") as response:
            response.raise_for_status()
            async for line in response.content:
                if line.startswith(b"data:"):
                    self._apply(json.loads(line[5:]))

    def _apply(self, event: dict[str, Any]) -> None:
        """A newer core may send what this window does not know; that is passed over."""
        if (name := event.get("value")) in self._values:
            self._values[name].set(VALUES[name].validate_python(event["data"]))
        elif (name := event.get("signal")) in self._signals:
            self._signals[name].emit(SIGNALS[name].validate_python(event["data"]))

    def _command(self, name: str) -> Callable[..., Awaitable[Any]]:
        signature = inspect.signature(getattr(Face, name))

        async def call(*args: Any, **named: Any) -> Any:
            arguments = dict(signature.bind(None, *args, **named).arguments)
            del arguments["self"]
            return COMMANDS[name].result.validate_python(await self._send(name, arguments))

        return call

    async def _send(self, name: str, arguments: dict[str, Any]) -> Any:
        if self._session is None:
            raise LinkLost
        body = {"name": name, "arguments": to_jsonable_python(arguments)}
        try:
            async with self._session.post("/control/command", json=body) as response:
                answer = await response.json()
        except (aiohttp.ClientError, ValueError) as error:
            raise LinkLost from error
        if response.ok:
            return answer["result"]
        failure = AppError(answer["error"]["message"])
        failure.code = answer["error"]["code"]
        raise failure


def _initial(name: str) -> Any:
    """What a value is before the core has told: the defaults of its type."""
    (held,) = get_args(get_type_hints(Face)[name])
    return () if get_origin(held) is tuple else held()
