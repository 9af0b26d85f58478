"""Starts the server role, hands it the secret of the link, and starts it again when it dies."""

import asyncio
import json
import logging
import os
import secrets
import signal
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from app.shell.link import Link, Unresponsive
from server import tasks
from server.errors import AppError, LinkLost
from server.face.core import ServerStatus

log = logging.getLogger(__name__)

_FIRST_WORD_S = 60.0
_LAST_WORDS_BYTES = 4096
_RETRY_LINK_S = 0.5
_SHORTEST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_HEALTHY_AFTER_S = 60.0
# Together under the three seconds in which everything must be gone.
_CLOSE_S = 1.7
_TERMINATE_S = 0.4


class ServerDied(AppError):
    code = "server_died"


class Replaced(AppError):
    code = "server_replaced"

    def __init__(self) -> None:
        super().__init__("The server did not respond and was stopped.")


@dataclass(frozen=True, slots=True)
class Program:
    """What to start, and the environment it sees."""

    command: Sequence[str]
    environment: Mapping[str, str]


async def keep_serving(program: Program, link: Link) -> None:
    """Run the server role until cancelled; say in one sentence why it ended each time."""
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
            link.show(ServerStatus("failed", reason=f"{death} It is being restarted."))
        except Replaced as end:
            log.warning("%s", end)
            link.show(ServerStatus("starting"))
            continue
        await _pause(pause_s, link)
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


async def _pause(pause_s: float, link: Link) -> None:
    """A person who wants to try again does not have to wait for it."""
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
        raise ServerDied(_cause(process, last_words))


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
        raise ServerDied(f"The server cannot be started: {error}.") from error
    assert process.stderr
    last_words = bytearray()
    listening = tasks.spawn(_listen(process.stderr, last_words), "listen to the server process")
    try:
        yield process, last_words
    finally:
        await _close(process)
        await tasks.stop(listening)


def _apart() -> dict[str, bool] | dict[str, int]:
    """Out of reach of a Ctrl-C meant for us: the child ends when we close its stdin."""
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
        raise ServerDied("The server did not respond in time.") from error
    except (OSError, ValueError, KeyError) as error:
        # It ended, or is about to: its exit code and last words say why.
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await process.wait()
        raise ServerDied(_cause(process, last_words)) from error


async def _mirror(link: Link, address: str, secret: str) -> None:
    while True:
        try:
            await link.follow(address, secret)
        except Unresponsive as silence:
            # Tried on: should it wake up, all is well again.
            if link.face.server.get().phase != "hung":
                log.warning("%s", silence)
            link.show(ServerStatus("hung", reason=str(silence)))
        except LinkLost:
            log.debug("The link to the server broke")
        except Exception:
            log.exception("The link to the server failed")
        await asyncio.sleep(_RETRY_LINK_S)


async def _listen(stream: asyncio.StreamReader, last_words: bytearray) -> None:
    """Read on, whatever comes, so that the child never waits for us; keep the end of it."""
    while heard := await stream.read(4096):
        last_words += heard
        del last_words[:-_LAST_WORDS_BYTES]


async def _close(process: Process) -> None:
    """Ask by closing its stdin, then tell, then make."""
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


def _cause(process: Process, last_words: bytearray) -> str:
    code = process.returncode
    if code is None:
        return "The server sent something this window does not understand."
    if code < 0:
        return f"The server was stopped by {signal.Signals(-code).name}."
    lines = last_words.decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"The server stopped (exit code {code}{f': {said}' if said else ''})."
