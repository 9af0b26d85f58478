"""Child processes of plugins: starts them, reads their output, and makes sure that they end."""

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
    """Starts a process with pipes for all streams and, except on Windows, in a session of its own.

    A cancelled start is completed and undone, because asyncio's would wait forever.
    """
    starting = spawn(_try_start(command, options), "child-start")
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
    """Passes each line to `note`. Cuts a line after LONGEST_LINE bytes."""
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
    """Ends the process and everything it started, even if this call is cancelled."""
    # List them now: once the process has ended, its children cannot be found.
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
    for member in everyone:
        with contextlib.suppress(psutil.Error):
            member.kill()


async def release(process: Process) -> None:
    """Closes the pipes after a kill. `process.wait()` would wait for every holder of the pipes."""
    try:
        await _has_ended(process, KILLED_S)
    finally:
        process._transport.close()  # type: ignore[attr-defined]


async def _try_start(command: tuple[str, ...], options: dict[str, Any]) -> Process | OSError:
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
    """Returns the process and its descendants; empty once it has ended, as its id may be reused."""
    if process.returncode is None:
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(process.pid)
            return [first, *first.children(recursive=True)]
    return []


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip()
