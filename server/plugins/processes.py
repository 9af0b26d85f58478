"""Processes that plugins start: what they print is followed, and their end is made sure."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Iterable
from typing import Any

import psutil

from server.tasks import spawn

TICK_S = 0.02
KILLED_S = 2.0
LONGEST_LINE = 64 * 1024


async def start(*command: str, **options: Any) -> Process:
    """With pipes to all its streams and, where there are any, in a session of its own.

    asyncio cannot give up a start halfway: it would wait for ever. So it is finished and undone.
    """
    starting = spawn(_started(command, options), "child-start")
    try:
        started = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if isinstance(process := starting.result(), Process):
            await end(process, 0)
        raise
    if isinstance(started, OSError):
        raise started
    return started


async def follow(stream: asyncio.StreamReader, note: Callable[[str], None]) -> None:
    """Each line, however long: of one that is too long only the beginning is kept."""
    begun = b""
    while chunk := await stream.read(1 << 16):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            note(_text(begun + part))
            begun = b""
        begun = (begun + rest)[:LONGEST_LINE]
    if begun:
        note(_text(begun))


async def end(process: Process, patience_s: float) -> None:
    """Ends it and all that it has started, also when this is cancelled."""
    # Asked now: nobody can tell later what a process that has ended had started.
    family = _family(process)
    try:
        if process.stdin is not None:
            process.stdin.close()
        await _has_ended(process, patience_s)
    finally:
        kill(process, family)
        await release(process)


def kill(process: Process, family: Iterable[psutil.Process] = ()) -> None:
    everyone = {*family, *_family(process)}
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for one in everyone:
        with contextlib.suppress(psutil.Error):
            one.kill()


async def release(process: Process) -> None:
    """After a kill. `process.wait()` would wait for all who hold a pipe of it, however long."""
    try:
        await _has_ended(process, KILLED_S)
    finally:
        process._transport.close()  # type: ignore[attr-defined]


async def _started(command: tuple[str, ...], options: dict[str, Any]) -> Process | OSError:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=sys.platform != "win32",
            **options,
        )
    except OSError as error:
        return error


async def _has_ended(process: Process, limit_s: float) -> None:
    for _ in range(max(round(limit_s / TICK_S), 1)):
        if process.returncode is not None:
            return
        await asyncio.sleep(TICK_S)


def _family(process: Process) -> list[psutil.Process]:
    """Itself and its descendants; nobody once it has ended, for its number may be another's."""
    if process.returncode is None:
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(process.pid)
            return [first, *first.children(recursive=True)]
    return []


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip()
