"""MCP servers: what they offer, and the connections to them.

`Remote` is a server over HTTP. `Program` is a child process that Moat starts, reads line by line,
and ends. The protocol wants one message per line. A message over several lines is read too, and
one that follows a Content-Length header, as language servers write it.
"""

import asyncio
import errno
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from server.chat import Json
from server.egress import Egress
from server.errors import FlowFailed
from server.plugins.mcp.packages import Packages
from server.plugins.processes import end, follow, kill, start
from server.plugins.walls import walls
from server.plugins.walls.doorway import Doorway
from server.sentences import Sentence
from server.system import processes
from server.system.limits import try_json
from server.tasks import spawn, stop

LONGEST_LINE = 8 * 1024 * 1024
_LENGTH = re.compile(rb"content-length:[ \t]{0,9}(\d{1,9})", re.IGNORECASE)
QUIT_S = 2.0
DRAINED, DRAIN_S = 1024 * 1024, 0.01
"""After closing, at most this many bytes are read at a time, with this pause in seconds."""
OPEN_S = 20.0
"""Seconds for the sandbox to send its listening socket."""
KEPT_VARIABLES = (
    "PATH", "HOME", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "USER", "SYSTEMROOT", "APPDATA",
    "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "COMSPEC", *walls.CERTIFICATES,
)  # fmt: skip
"""The only variables that a program inherits from Moat."""
Hear = Callable[[Json], Awaitable[None] | None]
"""Takes a message from a program. The next line is read when it is done, so it sets the pace."""


Ask = Callable[[str, Json], Awaitable[Json | None]]
"""Asks the person with a form: a sentence and a schema. Returns None if there is no answer."""


@dataclass(frozen=True, slots=True)
class McpTool:
    name: str
    description: str
    schema: Json
    hints: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """The resources and prompts of a server, as texts to show."""

    resources: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remote:
    """A server that is reached over HTTP, through the egress."""

    url: str
    headers: dict[str, str]
    door: Egress
    reason: str
    auth: Any = None
    """The library's way to sign requests; None if the server needs no sign-in."""


class SessionForgotten(FlowFailed):
    """Raised when the server no longer knows the session. A new one must be opened."""


@dataclass(slots=True)
class Link:
    """The parts of a client that its session needs."""

    name: str
    clean: Callable[[Any], Any]
    ask: Ask
    changed: Callable[[], None]
    """Called when the server reports that its tools have changed."""
    hear: Callable[[Json], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Walls:
    """The sandbox of a program, and its only way to the network."""

    room: walls.Room
    way_out: Doorway
    packages: Packages | None = None
    """The packages that the program fetches, if it does. They stay in `room.kept`."""


class Program:
    """A server that Moat starts. Without `kept` it has no sandbox."""

    def __init__(
        self,
        command: tuple[str, ...],
        env: dict[str, str],
        hear: Hear,
        note: Callable[[str], None],
        kept: Walls | None = None,
    ) -> None:
        self._kept = kept
        self._command = command
        self._env = env
        self._hear = hear
        self._note = note
        self._process: Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._begun: list[str] = []
        """The lines of a message that is not whole yet."""
        self._left = LONGEST_LINE
        """So many characters may still come of it."""
        self.is_too_long = False
        """It said something larger than we read, and was heard no more."""
        self.has_ended = asyncio.Event()
        """Set when no more output comes, unless Moat itself closed the program."""

    async def open(self) -> None:
        inherited = processes.environment("render")
        env = {name: inherited[name] for name in KEPT_VARIABLES if name in inherited} | self._env
        command = await asyncio.to_thread(resolved, self._command, env)
        try:
            process = self._process = await self._started(command, env)
        except OSError as error:
            raise FlowFailed("mcp_error", _explain_start(self._command[0], error)) from None
        assert process.stdout
        assert process.stderr
        reading = spawn(self._read(process.stdout), "mcp-read")
        reading.add_done_callback(self._no_more)
        self._tasks = [reading, spawn(follow(process.stderr, self._note), "mcp-log")]
        if self._kept is not None and self._kept.room.kept and self._kept.packages:
            watching = self._kept.packages.watch(lambda: kill(process))
            self._tasks.append(spawn(watching, "mcp-packages"))

    async def _started(self, command: tuple[str, ...], env: dict[str, str]) -> Process:
        by = await asyncio.to_thread(walls.kind)
        options: dict[str, Any] = {
            "limit": LONGEST_LINE, "creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0),
        }  # fmt: skip
        if self._kept is None:
            return await start(*command, env=env, **options)
        room, way_out = self._room(env), self._kept.way_out
        command = _in(room.folder, command)
        await asyncio.to_thread(_must_be_there, command)
        if not by:
            return await start(*command, env=env, cwd=room.folder, **options)
        if room.kept and (packages := self._kept.packages):
            await asyncio.to_thread(packages.make_room)
            env |= packages.variables()
        if by == "sandbox-exec":
            listener = socket.create_server(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            await way_out.open(listener)
            around = walls.surroundings(env, room, port)
            return await start(
                *walls.walled(list(command), room, by, port=port),
                env=around,
                cwd=room.folder,
                **options,
            )
        return await self._start_walled(command, walls.surroundings(env, room), options)

    def _room(self, env: dict[str, str]) -> walls.Room:
        """Returns the sandbox's places, with the certificates that the variables name."""
        assert self._kept
        room = self._kept.room
        return replace(room, readable=(*room.readable, *walls.find_certificates(env)))

    async def _start_walled(
        self, command: tuple[str, ...], env: dict[str, str], options: dict[str, Any]
    ) -> Process:
        """Starts the program in a Linux sandbox. Receives the socket of its proxy first."""
        if sys.platform != "linux":
            raise OSError(Sentence("This sandbox is available on Linux only."))
        assert self._kept
        # Create it here: in a folder that is mounted read-only the sandbox could not.
        scratch = self._kept.room.scratch
        await asyncio.to_thread(lambda: scratch.mkdir(mode=0o700, parents=True, exist_ok=True))
        here, there = socket.socketpair()
        with here:
            with there:
                walled = walls.walled(list(command), self._room(env), walls.kind(), there.fileno())
                process = self._process = await start(
                    *walled, env=env, pass_fds=(there.fileno(),), **options
                )
            here.settimeout(OPEN_S)
            try:
                _, found, *_ = await asyncio.to_thread(socket.recv_fds, here, 1, 1)
            except TimeoutError:
                found = []
        if found:
            await self._kept.way_out.open(socket.socket(fileno=found[0]))
        return process

    async def send(self, message: Json) -> None:
        stdin = self._process.stdin if self._process is not None else None
        try:
            if stdin is None:
                raise BrokenPipeError
            stdin.write(json.dumps(message).encode() + b"\n")
            if "id" in message:
                # Do not wait after a notification: the program may have stopped reading.
                await stdin.drain()
        except OSError:
            raise FlowFailed("mcp_error", Sentence("The MCP server has ended.")) from None

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await end(process, QUIT_S)
        if self._kept is not None:
            await self._kept.way_out.close()
        for task in self._tasks:
            await stop(task)

    async def _read(self, stdout: asyncio.StreamReader) -> None:
        try:
            await self._read_lines(stdout)
        except ValueError:
            self.is_too_long = True
        except asyncio.IncompleteReadError:
            pass
        self._note_begun()
        if self._process is None:
            await _drain(stdout)

    async def _read_lines(self, stdout: asyncio.StreamReader) -> None:
        async for line in stdout:
            if self._process is None:
                break
            if header := _LENGTH.fullmatch(line.rstrip()):
                await self._take_framed(stdout, line, int(header[1]))
            else:
                await self._take(line)
            # Many lines may have arrived already. Let other tasks run between two of them.
            await asyncio.sleep(0)

    def _no_more(self, reading: asyncio.Task[None]) -> None:
        """Reports the end, whatever the reason, so that nobody waits. Not if Moat closed it."""
        if self._process is not None and not reading.cancelled():
            self.has_ended.set()

    async def _take_framed(self, stdout: asyncio.StreamReader, line: bytes, length: int) -> None:
        """Takes the message after this header; without an empty line below, it is no header."""
        if length > LONGEST_LINE:
            raise ValueError
        below = await stdout.readline()
        if below.lower().startswith(b"content-type:"):
            below = await stdout.readline()
        if below.strip():
            await self._take(line)
            await self._take(below)
        else:
            await self._take(await stdout.readexactly(length))

    def _join(self, text: str) -> str:
        """Returns a whole message or a line of the log; nothing while a message goes on.

        One over several lines begins and ends with a bracket that is alone in its line.
        """
        if self._begun and text.startswith('{"') and isinstance(try_json(text), dict):
            self._note_begun()
        if not self._begun and text.rstrip() not in ("{", "["):
            return text
        self._begun.append(text)
        self._left -= len(text)
        if self._left < 0:
            raise ValueError
        if text.rstrip() not in ("}", "]"):
            return ""
        return "".join(self._drop_begun())

    def _drop_begun(self) -> list[str]:
        lines, self._begun, self._left = self._begun, [], LONGEST_LINE
        return lines

    def _note_begun(self) -> None:
        for line in self._drop_begun():
            self._note(line.rstrip())

    async def _take(self, line: bytes) -> None:
        # The program may use another encoding. Its answer counts all the same.
        text = self._join(line.decode("utf-8-sig", "replace"))
        found = try_json(text)
        if found is None:
            for part in text.splitlines():
                self._note(part.rstrip())
        # An older protocol version allows several messages as one list.
        for message in found if isinstance(found, list) else [found]:
            if isinstance(message, dict) and (hearing := self._hear(message)) is not None:
                await hearing


async def _drain(stdout: asyncio.StreamReader) -> None:
    """Discards the output of a program that is being closed: it may block until it has written."""
    while await stdout.read(DRAINED):  # noqa: ASYNC110  a pause, not a wait
        await asyncio.sleep(DRAIN_S)


def resolved(command: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the command with the program's full path. Windows would not find npx.cmd by name."""
    found = shutil.which(command[0], path=env.get("PATH"))
    return (found or command[0], *command[1:])


def _in(folder: Path, command: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the command with a relative path to its program resolved in the plugin's folder."""
    name = command[0]
    is_path = os.sep in name and not os.path.isabs(name)  # noqa: PTH117
    return (str(folder / name), *command[1:]) if is_path else command


def _explain_start(program: str, error: OSError) -> str:
    """Returns why the program did not start, and how to help if it is not installed."""
    if isinstance(error, FileNotFoundError) and Path(program).name == program:
        return Sentence(
            "The program {0} is not installed on this computer, or its folder is not in the "
            "variable PATH.",
            program,
        )
    return Sentence("{0} cannot be started: {1}.", program, error.strerror)


def _must_be_there(command: tuple[str, ...]) -> None:
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
