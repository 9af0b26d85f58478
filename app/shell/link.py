"""The server process: starts it, passes it the secret of the link, restarts it when it dies.

`Link` mirrors the server's core: its values and signals are copied here, and commands are sent to
it.
"""

import asyncio
import json
import logging
import os
import re
import secrets
import signal
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from server import tasks
from server.errors import AppError, LinkLost
from server.face.core import ServerStatus
from server.face.wire import COMMANDS, SIGNALS, VALUES, assemble, initial
from server.observe import Signal, Value
from server.sentences import Sentence

if TYPE_CHECKING:
    from app.shell.connection import Connection

log = logging.getLogger(__name__)

_KEPT = "settings"
"""The value that `Link.show` does not reset."""
_MISSED = 2
"""Pings in a row that may fail. A single one may fail because the machine was asleep."""


class Unresponsive(AppError):
    code = "server_unresponsive"

    def __init__(self) -> None:
        super().__init__(Sentence("The server is running but does not respond."))


@dataclass(frozen=True, slots=True)
class Pulse:
    """The timing of pings: their interval, and how long the core may take to answer."""

    every_s: float = 30.0
    """Seconds between pings while nobody looks. `Link.look` pings at once."""
    patience_s: float = 3.0


class Link:
    """A mirror of the server's core. `face` is what pages use; its parts are declared in `Face`."""

    def __init__(self, pulse: Pulse = Pulse()) -> None:  # noqa: B008
        self.restart = asyncio.Event()
        """Set when the person wants a new server: there is none, or it does not respond."""
        self._pulse = pulse
        self._values: dict[str, Value[Any]] = {name: Value(initial(name)) for name in VALUES}
        self._signals: dict[str, Signal[Any]] = {name: Signal() for name in SIGNALS}
        self._connection: Connection | None = None
        self._looked = asyncio.Event()
        commands = {name: self._command(name) for name in COMMANDS}
        self.face = assemble(self._values | self._signals | commands)

    async def follow(self, address: str, secret: str) -> None:
        """Mirrors the core at this address until its stream ends.

        Raises LinkLost if the stream breaks, and Unresponsive if pings get no answer.
        """
        from app.shell.connection import connect  # noqa: PLC0415

        async with connect(address, secret) as connection:
            self._connection = connection
            reading = tasks.spawn(self._read_stream(connection), "mirror: read")
            try:
                await self._ping_while(reading, connection)
            finally:
                self._connection = None
                await tasks.stop(reading)
            if not await reading:
                raise LinkLost

    def look(self) -> None:
        """Pings the core at once. Called when somebody looks at the window or sends a command."""
        self._looked.set()

    def show(self, status: ServerStatus) -> None:
        """Shows a status while there is no core. Settings stay, and with them the theme."""
        for name, value in self._values.items():
            if name not in (_KEPT, "server"):
                value.set(initial(name))
        self.face.server.set(status)

    async def _read_stream(self, connection: "Connection") -> bool:
        """Reads the stream. Returns whether it ended properly."""
        try:
            async for told in connection.events():
                self._hear(told)
        except LinkLost:
            return False
        return True

    async def _ping_while(self, reading: "asyncio.Task[bool]", connection: "Connection") -> None:
        missed = 0
        while True:
            if not missed:
                await self._wait_for_a_look(reading)
            if reading.done():
                return
            missed = 0 if await connection.ping(self._pulse.patience_s) else missed + 1
            if missed >= _MISSED:
                raise Unresponsive

    async def _wait_for_a_look(self, reading: "asyncio.Task[bool]") -> None:
        """Waits until somebody looks, the stream ends, or the next ping is due."""
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
        """Applies an event. Logs an exception of a page, so that the next events still arrive."""
        try:
            self._apply(json.loads(told))
        except Exception:
            log.exception("An event of the server part was passed over")

    def _apply(self, event: dict[str, Any]) -> None:
        """Applies an event. Skips names that this window does not know, from a newer core."""
        if (name := event.get("value")) in self._values:
            self._values[name].set(VALUES[name].validate_python(event["data"]))
        elif (name := event.get("signal")) in self._signals:
            self._signals[name].emit(SIGNALS[name].validate_python(event["data"]))

    def _command(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **named: Any) -> Any:
            is_gone = self._connection is None or self.face.server.get().phase == "hung"
            if name == "start" and is_gone:
                self.restart.set()
                return None
            command = COMMANDS[name]
            sent = await self._send(name, command.name_arguments(*args, **named))
            return command.result.validate_python(sent)

        return call

    async def _send(self, name: str, arguments: dict[str, Any]) -> Any:
        if self._connection is None:
            raise LinkLost
        self.look()
        return await self._connection.command(name, to_jsonable_python(arguments))


_TRACEBACK = re.compile(r"^(Traceback |  File \")", re.MULTILINE)
"""A line of a traceback. What follows it was not written for people."""
_FIRST_WORD_S = 60.0
"""Seconds for a new server to report its address."""
_LAST_WORDS_BYTES = 4096
_RETRY_LINK_S = 0.5
_SHORTEST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_HEALTHY_AFTER_S = 60.0
"""Seconds after which a server counts as healthy, so that the next pause is short again."""
# Together less than the three seconds in which everything must have ended.
_CLOSE_S = 1.7
_TERMINATE_S = 0.4


class ServerDied(AppError):
    code = "server_died"


class Replaced(AppError):
    code = "server_replaced"

    def __init__(self) -> None:
        super().__init__(Sentence("The server did not respond and was stopped."))


@dataclass(frozen=True, slots=True)
class Program:
    """The command of the server process, and its environment."""

    command: Sequence[str]
    environment: Mapping[str, str]


async def keep_serving(program: Program, link: Link) -> None:
    """Runs the server process until cancelled. Restarts it, and shows why it ended."""
    loop = asyncio.get_running_loop()
    pause_s = _SHORTEST_PAUSE_S
    while True:
        began = loop.time()
        try:
            await _serve_once(program, link)
        except ServerDied as death:
            if loop.time() - began > _HEALTHY_AFTER_S:
                pause_s = _SHORTEST_PAUSE_S
            log.warning("%s Starting again in %.1f s", death, pause_s)
            reason = Sentence("{0} It is being restarted.", death)
            link.show(ServerStatus("failed", reason=reason, details=death.details))
        except Replaced as end:
            log.warning("%s", end)
            link.show(ServerStatus("starting"))
            continue
        await _pause(pause_s, link)
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


async def _pause(pause_s: float, link: Link) -> None:
    """Waits before the next start, or until the person asks to start at once."""
    with suppress(TimeoutError):
        async with asyncio.timeout(pause_s):
            await link.restart.wait()
        link.restart.clear()
        link.show(ServerStatus("starting"))


async def _serve_once(program: Program, link: Link) -> None:
    async with _running(program) as (process, last_words):
        secret = secrets.token_urlsafe(32)
        address = await _introduce(process, secret, last_words)
        assert process.stdout
        link.restart.clear()
        mirror = tasks.spawn(_mirror(link, address, secret), "mirror the core")
        rest = tasks.spawn(_listen(process.stdout, bytearray()), "the rest of its output")
        ended = tasks.spawn(process.wait(), "its end")
        replaced = tasks.spawn(link.restart.wait(), "a wish for another")
        try:
            await asyncio.wait([ended, replaced], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (mirror, rest, ended, replaced):
                await tasks.stop(task)
        if process.returncode is None:
            raise Replaced
        raise _death(process, last_words)


@asynccontextmanager
async def _running(program: Program) -> AsyncIterator[tuple[Process, bytearray]]:
    try:
        process = await asyncio.create_subprocess_exec(
            *program.command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=program.environment,
            **_apart(),
        )
    except OSError as error:
        raise ServerDied(Sentence("The server cannot be started. Install Moat again.")) from error
    assert process.stderr
    last_words = bytearray()
    listening = tasks.spawn(_listen(process.stderr, last_words), "listen to the server process")
    try:
        yield process, last_words
    finally:
        await _close(process)
        await tasks.stop(listening)


def _apart() -> dict[str, bool] | dict[str, int]:
    """Returns options that protect the child from our Ctrl-C. It ends when its stdin is closed."""
    if os.name == "nt":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP  # type: ignore[attr-defined,unused-ignore]
        return {"creationflags": flags}
    return {"start_new_session": True}


async def _introduce(process: Process, secret: str, last_words: bytearray) -> str:
    assert process.stdin
    assert process.stdout
    try:
        process.stdin.write(f"{secret}\n".encode())
        await process.stdin.drain()
        async with asyncio.timeout(_FIRST_WORD_S):
            line = await process.stdout.readline()
        return str(json.loads(line)["control"])
    except TimeoutError as error:
        raise ServerDied(Sentence("The server did not respond in time.")) from error
    except (OSError, ValueError, KeyError) as error:
        # It has ended or is about to. Its exit code and last output explain why.
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await process.wait()
        raise _death(process, last_words) from error


async def _mirror(link: Link, address: str, secret: str) -> None:
    while True:
        try:
            await link.follow(address, secret)
        except Unresponsive as silence:
            # Keep trying: if it wakes up, all is well again.
            if link.face.server.get().phase != "hung":
                log.warning("%s", silence)
            link.show(ServerStatus("hung", reason=str(silence)))
        except LinkLost:
            log.debug("The link to the server broke")
        except Exception:
            log.exception("The link to the server failed")
        await asyncio.sleep(_RETRY_LINK_S)


async def _listen(stream: asyncio.StreamReader, last_words: bytearray) -> None:
    """Reads all output, so that the child never blocks. Keeps the last 4 KiB."""
    while heard := await stream.read(4096):
        last_words += heard
        del last_words[:-_LAST_WORDS_BYTES]


async def _close(process: Process) -> None:
    """Ends the process: closes its stdin, then terminates it, then kills it."""
    assert process.stdin
    process.stdin.close()
    for wait_s, force in ((_CLOSE_S, process.terminate), (_TERMINATE_S, process.kill)):
        try:
            async with asyncio.timeout(wait_s):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                force()
        else:
            return
    await process.wait()


def _death(process: Process, last_words: bytearray) -> ServerDied:
    """Explains why the process ended. The signal or exit code and the last line are the details."""
    code = process.returncode
    if code is None:
        return ServerDied(Sentence("The server sent something this window does not understand."))
    if code < 0:
        death = ServerDied(Sentence("The server was stopped by the system or another program."))
        # A real-time signal has a number only.
        names = {one.value: one.name for one in signal.Signals}
        death.known_details = names.get(-code, f"signal {-code}")
        return death
    text = last_words.decode(errors="replace")
    said = next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")
    is_sentence = said and not _TRACEBACK.search(text)
    words = (
        Sentence("The server stopped: {0}", said)
        if is_sentence
        else Sentence("The server stopped unexpectedly.")
    )
    death = ServerDied(words)
    death.known_details = f"exit code {code}{f': {said}' if said else ''}"
    return death
