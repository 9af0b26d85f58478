"""Mirrors the core of the server process: its values and signals here, our commands there."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
from pydantic_core import to_jsonable_python

from server import tasks
from server.errors import AppError, LinkLost
from server.face.core import ServerStatus
from server.face.wire import COMMANDS, SIGNALS, VALUES, assemble, initial
from server.observe import Signal, Value
from server.sse import Reader, Sent

log = logging.getLogger(__name__)

_LONGEST_LINE = 2**22
_KEPT = "settings"
_STREAM_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=3)
_MISSED = 2
"""Pings in a row: one may be lost to a machine that slept in between."""


class Unresponsive(AppError):
    code = "server_unresponsive"

    def __init__(self) -> None:
        super().__init__("The server is running but does not respond.")


@dataclass(frozen=True, slots=True)
class Pulse:
    """How often the core is asked whether it is awake, and how long it may take to say so."""

    every_s: float = 30.0
    """While nobody looks; who acts or looks has it asked at once (`Link.look`)."""
    patience_s: float = 3.0


class Link:
    """`face` is what a page sees; what it holds follows from the declarations in `Face`."""

    def __init__(self, pulse: Pulse = Pulse()) -> None:  # noqa: B008
        self.restart = asyncio.Event()
        """Set when the person wants another server: there is none, or it does not respond."""
        self._pulse = pulse
        self._values: dict[str, Value[Any]] = {name: Value(initial(name)) for name in VALUES}
        self._signals: dict[str, Signal[Any]] = {name: Signal() for name in SIGNALS}
        self._session: aiohttp.ClientSession | None = None
        self._looked = asyncio.Event()
        commands = {name: self._command(name) for name in COMMANDS}
        self.face = assemble(self._values | self._signals | commands)

    async def follow(self, address: str, secret: str) -> None:
        """Mirror the core at this address until its stream ends, or it falls silent."""
        async with aiohttp.ClientSession(
            address,
            headers={"Authorization": f"Bearer {secret}"},
            timeout=_STREAM_TIMEOUT,
        ) as session:
            self._session = session
            reading = tasks.spawn(self._read_stream(session), "mirror: read")
            try:
                await self._ping_while(reading, session)
            except aiohttp.ClientError as error:
                raise LinkLost from error
            finally:
                self._session = None
                await tasks.stop(reading)
            if not await reading:
                raise LinkLost

    def look(self) -> None:
        """Somebody looks at the core or commands it: ask now whether it is awake."""
        self._looked.set()

    def show(self, status: ServerStatus) -> None:
        """What is true while there is no core to mirror. Settings stay, so the look does too."""
        for name, value in self._values.items():
            if name not in (_KEPT, "server"):
                value.set(initial(name))
        self.face.server.set(status)

    async def _read_stream(self, session: aiohttp.ClientSession) -> bool:
        """Whether it ended in good order."""
        try:
            async with session.get("/control/stream") as response:
                response.raise_for_status()
                reader = Reader(_LONGEST_LINE, on_too_long=_note_too_long)
                async for chunk in response.content.iter_any():
                    for sent in reader.feed(chunk):
                        if isinstance(sent, Sent):
                            self._hear(sent.data)
        except aiohttp.ClientError:
            return False
        return True

    async def _ping_while(
        self, reading: "asyncio.Task[bool]", session: aiohttp.ClientSession
    ) -> None:
        missed = 0
        while True:
            if not missed:
                await self._wait_for_a_look(reading)
            if reading.done():
                return
            try:
                async with (
                    asyncio.timeout(self._pulse.patience_s),
                    session.get("/control/ping") as response,
                ):
                    missed = 0 if response.ok else missed + 1
            except TimeoutError:
                missed += 1
            if missed >= _MISSED:
                raise Unresponsive

    async def _wait_for_a_look(self, reading: "asyncio.Task[bool]") -> None:
        """Until somebody looks, the stream ends, or it is time to ask again."""
        looked = tasks.spawn(self._looked.wait(), "mirror: look")
        try:
            await asyncio.wait(
                [reading, looked],
                timeout=self._pulse.every_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            await tasks.stop(looked)
        self._looked.clear()

    def _hear(self, told: str) -> None:
        """One event that a page stumbles over must not keep the next from all of them."""
        try:
            self._apply(json.loads(told))
        except Exception:
            log.exception("An event of the server part was passed over")

    def _apply(self, event: dict[str, Any]) -> None:
        """A newer core may send what this window does not know; that is passed over."""
        if (name := event.get("value")) in self._values:
            self._values[name].set(VALUES[name].validate_python(event["data"]))
        elif (name := event.get("signal")) in self._signals:
            self._signals[name].emit(SIGNALS[name].validate_python(event["data"]))

    def _command(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **named: Any) -> Any:
            is_gone = self._session is None or self.face.server.get().phase == "hung"
            if name == "start" and is_gone:
                self.restart.set()
                return None
            command = COMMANDS[name]
            sent = await self._send(name, command.name_arguments(*args, **named))
            return command.result.validate_python(sent)

        return call

    async def _send(self, name: str, arguments: dict[str, Any]) -> Any:
        if self._session is None:
            raise LinkLost
        self.look()
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


def _note_too_long() -> None:
    log.warning("An event of the server part was too long")
