"""A plugin's own code: its tools as actions, which run in a child process.

The child starts on first use and ends when it is idle. Its files, network and memory are limited.
"""

import asyncio
import contextlib
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from server.chat import Json
from server.errors import FlowFailed
from server.flows.base import Output, Preview, Risk
from server.plugins.processes import follow, kill, release, start
from server.plugins.python.child import LENGTH, LONGEST_FRAME, MEMORY_BYTES
from server.plugins.walls import walls
from server.schemas.openapi import plain_object
from server.sentences import Sentence
from server.system import processes
from server.tasks import spawn, stop

OPEN_S = 20.0
"""Seconds for the code to start and list its tools."""
IDLE_S = 300.0
"""Seconds without a call after which the child ends."""
WATCH_S = 0.25
LAST_WORDS_S = 1.0
UNASKED = Sentence("The plugin's code sent an unexpected answer and was stopped.")
KEPT_VARIABLES = frozenset({"PYTHONPATH", "SYSTEMROOT", "LANG", "TZ", processes.PARENT})

Http = Callable[[Json], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class ToolFound:
    name: str
    description: str
    schema: Json


@dataclass(frozen=True, slots=True)
class LibPlaces:
    """The plugin's folder, the folder it may write to, and other places it may read."""

    folder: Path
    data: Path
    readable: tuple[str, ...] = ()

    def room(self) -> walls.Room:
        return walls.Room(self.folder, self.data, self.readable, is_code=True)


class LibHost:
    """The child process of a plugin's code. Calls run one after another."""

    def __init__(self, places: LibPlaces, note: Callable[[str], None], http: Http) -> None:
        self._places = places
        self._note = note
        self._http = http
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._tools: dict[str, ToolFound] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._idle: asyncio.TimerHandle | None = None
        self._excess = False
        """Whether the child was killed because of its memory."""

    async def tools(self) -> dict[str, ToolFound]:
        """Returns the tools of the code. Starts the child if it has not listed them yet."""
        if not self._tools:
            async with self._turn:
                await self._open()
        return self._tools

    def known(self, name: str) -> ToolFound:
        return self._tools[name]

    async def call(self, tool: str, arguments: Json, surroundings: Json) -> Json:
        """Returns the tool's result, with `output` and `message`. Cancelling ends the child."""
        async with self._turn:
            try:
                await self._open()
                job = {"tool": tool, "arguments": arguments, "surroundings": surroundings}
                answer = _checked(await self._exchange(job))
            except BaseException:
                await self.close()
                raise
            self._rest()
        if "failed" in answer:
            raise FlowFailed(
                "lib_crash", Sentence("The tool {0} failed: {1}", tool, answer["failed"])
            )
        found: Json = answer["result"]
        return found

    async def _open(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None and self._process.returncode is None:
            if await self._has_stayed_quiet(self._process):
                return
            self._note(UNASKED)
        await self.close()
        self._places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = processes.environment("tools")
        self._excess = False
        env = {key: environment[key] for key in environment if key in KEPT_VARIABLES}
        by = await asyncio.to_thread(walls.kind)
        if by in ("bubblewrap", "namespaces"):
            # The child sees only its own processes, so it cannot check whether its parent is alive.
            env.pop(processes.PARENT, None)
        room = self._places.room()
        command = await asyncio.to_thread(walls.walled, processes.command("tools"), room, by)
        process = self._process = await start(*command, env=env)
        assert process.stderr
        self._tasks = [
            spawn(follow(process.stderr, self._note), "plugin-log"),
            spawn(self._watch(process), "plugin-memory"),
        ]
        try:
            self._tools = await self._introduce()
        except BaseException:
            await self.close()
            raise
        self._rest()

    async def _introduce(self) -> dict[str, ToolFound]:
        """Sends the folders to the child, which then runs the code and lists its tools."""
        places = self._places
        opening = {
            "folder": str(places.folder), "data": str(places.data), "readable": places.readable,
        }  # fmt: skip
        try:
            async with asyncio.timeout(OPEN_S):
                answer = await self._exchange(opening)
        except TimeoutError:
            raise FlowFailed(
                "lib_crash", Sentence("The plugin's code does not start in time.")
            ) from None
        if "failed" in answer:
            raise FlowFailed(
                "lib_crash", Sentence("The plugin's code fails: {0}", answer["failed"])
            )
        try:
            return {tool["name"]: ToolFound(**tool) for tool in answer["tools"]}
        except (KeyError, TypeError):
            raise FlowFailed("lib_crash", UNASKED) from None

    async def _exchange(self, frame: Json) -> Json:
        """Sends a request and returns its answer. Both carry an id that the code cannot guess."""
        name = secrets.token_hex(16)
        await self._send({**frame, "id": name})
        while True:
            answer = await self._receive()
            if answer.pop("id", None) != name:
                raise FlowFailed("lib_crash", UNASKED)
            if answer.get("ask") != "http":
                return answer
            await self._send({**await self._http(answer), "id": name})

    async def _send(self, frame: Json) -> None:
        assert self._process
        assert self._process.stdin
        raw = json.dumps(frame, ensure_ascii=False).encode("utf-8", "replace")
        try:
            self._process.stdin.write(LENGTH.pack(len(raw)) + raw)
            await self._process.stdin.drain()
        except OSError:
            raise self._crash_error() from None

    async def _receive(self) -> Json:
        assert self._process
        assert self._process.stdout
        try:
            size = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))[0]
            if size > LONGEST_FRAME:
                raise FlowFailed("lib_crash", Sentence("The tool's result is too large."))
            answer: Any = json.loads(await self._process.stdout.readexactly(size))
        except (asyncio.IncompleteReadError, OSError, ValueError, RecursionError):
            raise self._crash_error() from None
        if not isinstance(answer, dict):
            raise FlowFailed("lib_crash", UNASKED)
        return answer

    def _crash_error(self) -> FlowFailed:
        reason = (
            Sentence("took too much memory") if self._excess else Sentence("ended unexpectedly")
        )
        return FlowFailed("lib_crash", Sentence("The plugin's code {0}.", reason))

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Kills the child if it takes too much memory, on systems that do not limit it."""
        with contextlib.suppress(psutil.Error):
            watched = psutil.Process(process.pid)
            while process.returncode is None:
                family = [watched, *watched.children(recursive=True)]
                if sum(member.memory_info().rss for member in family) > MEMORY_BYTES:
                    self._excess = True
                    kill(process)
                    return
                await asyncio.sleep(WATCH_S)

    async def _has_stayed_quiet(self, process: asyncio.subprocess.Process) -> bool:
        """Whether the child sent nothing between two calls."""
        assert process.stdout
        try:
            async with asyncio.timeout(0):
                return not await process.stdout.read(1)
        except TimeoutError:
            return True

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE_S, lambda: spawn(self.close(), "plugin-idle"))

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        process, self._process = self._process, None
        tasks, self._tasks = self._tasks, []
        if process is None:
            return
        kill(process)
        try:
            await asyncio.wait(tasks, timeout=LAST_WORDS_S)
        finally:
            await release(process)
        for task in tasks:
            await stop(task)


@dataclass(frozen=True, slots=True)
class LibAction:
    plugin: str
    tool: ToolFound
    host: LibHost
    digest: str
    """The checksum of the plugin's files: changed code needs new permission."""
    options: Json
    risk: Risk = "change"

    @property
    def key(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def schema(self) -> Json:
        return plain_object(self.tool.schema)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.plugin, self.key, self.digest)

    def preview(self, arguments: Json) -> Preview:
        return Preview(f"Run {self.key}", "the plugin's own code on this computer", {}, arguments)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:  # noqa: ARG002
        # Only API requests need the paths of the person's files. A tool's code does not get them.
        around = {key: value for key, value in surroundings.items() if key != "paths"}
        found = await self.host.call(self.tool.name, arguments, {**around, "options": self.options})
        return Output(found["output"], str(found.get("message") or ""))


def fingerprint(plugin: str, tool: str, digest: str) -> str:
    return hashlib.sha256(json.dumps([plugin, tool, digest]).encode()).hexdigest()


def _checked(answer: Json) -> Json:
    """Returns the answer of a tool, which has an output or says what failed."""
    result = answer.get("result")
    if "failed" in answer or (isinstance(result, dict) and "output" in result):
        return answer
    raise FlowFailed("lib_crash", UNASKED)
