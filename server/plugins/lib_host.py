"""A plugin's own code in a child process: started on first use, limited, ended when idle."""

import asyncio
import contextlib
import json
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from server import roles
from server.chat import Json
from server.flows.base import FlowFailed
from server.plugins.processes import follow, kill, release, start
from server.tasks import spawn, stop

LENGTH = struct.Struct(">I")
LONGEST_FRAME = 16 * 1024 * 1024
MEMORY_BYTES = 1024 * 1024 * 1024
OPEN_S = 20.0
IDLE_S = 300.0
WATCH_S = 0.25
LAST_WORDS_S = 1.0
KEPT_VARIABLES = frozenset({"PYTHONPATH", "SYSTEMROOT", "LANG", "TZ", roles.PARENT})

Http = Callable[[Json], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class ToolFound:
    name: str
    description: str
    schema: Json


@dataclass(frozen=True, slots=True)
class LibPlaces:
    """The plugin's folder, the one it may write to, and what else it may read."""

    folder: Path
    data: Path
    readable: tuple[str, ...] = ()


class LibHost:
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

    async def tools(self) -> dict[str, ToolFound]:
        """What the code offers; runs it if it was not run before."""
        if not self._tools:
            async with self._turn:
                await self._open()
        return self._tools

    def known(self, name: str) -> ToolFound:
        return self._tools[name]

    async def call(self, tool: str, arguments: Json, surroundings: Json) -> Json:
        """The tool's result: output, message and whatever it adds. Cancelling ends the child."""
        async with self._turn:
            try:
                await self._open()
                job = {"tool": tool, "arguments": arguments, "surroundings": surroundings}
                answer = await self._exchange(job)
            except BaseException:
                await self._end()
                raise
            self._rest()
        if "failed" in answer:
            raise FlowFailed("lib_crash", f"The tool {tool} failed: {answer['failed']}")
        found: Json = answer["result"]
        return found

    async def close(self) -> None:
        await self._end()

    async def _open(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None and self._process.returncode is None:
            return
        await self._end()
        self._places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = roles.environment("tools")
        self._excess = False
        process = self._process = await start(
            *roles.command("tools"),
            env={key: environment[key] for key in environment if key in KEPT_VARIABLES},
        )
        assert process.stderr
        self._tasks = [
            spawn(follow(process.stderr, self._note), "plugin-log"),
            spawn(self._watch(process), "plugin-memory"),
        ]
        try:
            self._tools = await self._introduced()
        except BaseException:
            await self._end()
            raise
        self._rest()

    async def _introduced(self) -> dict[str, ToolFound]:
        """Tells the child where it is; the code is run, and says what it offers."""
        places = self._places
        opening = {
            "folder": str(places.folder), "data": str(places.data), "readable": places.readable,
        }  # fmt: skip
        try:
            async with asyncio.timeout(OPEN_S):
                answer = await self._exchange(opening)
        except TimeoutError:
            raise FlowFailed("lib_crash", "The plugin's code does not start in time.") from None
        if "failed" in answer:
            raise FlowFailed("lib_crash", f"The plugin's code fails: {answer['failed']}")
        return {one["name"]: ToolFound(**one) for one in answer["tools"]}

    async def _exchange(self, frame: Json) -> Json:
        await self._send(frame)
        while True:
            answer = await self._receive()
            if answer.get("ask") != "http":
                return answer
            await self._send(await self._http(answer))

    async def _send(self, frame: Json) -> None:
        assert self._process
        assert self._process.stdin
        raw = json.dumps(frame, ensure_ascii=False).encode()
        try:
            self._process.stdin.write(LENGTH.pack(len(raw)) + raw)
            await self._process.stdin.drain()
        except OSError:
            raise self._crashed() from None

    async def _receive(self) -> Json:
        assert self._process
        assert self._process.stdout
        try:
            size = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))[0]
            if size > LONGEST_FRAME:
                raise FlowFailed("lib_crash", "The tool's result is too large.")
            answer: Json = json.loads(await self._process.stdout.readexactly(size))
        except (asyncio.IncompleteReadError, OSError, ValueError):
            raise self._crashed() from None
        return answer

    def _crashed(self) -> FlowFailed:
        reason = "took too much memory" if self._excess else "ended unexpectedly"
        return FlowFailed("lib_crash", f"The plugin's code {reason}.")

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Where the system sets no limit, we do."""
        with contextlib.suppress(psutil.Error):
            watched = psutil.Process(process.pid)
            while process.returncode is None:
                if watched.memory_info().rss > MEMORY_BYTES:
                    self._excess = True
                    watched.kill()
                    return
                await asyncio.sleep(WATCH_S)

    def _rest(self) -> None:
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE_S, lambda: spawn(self._end(), "plugin-idle"))

    async def _end(self) -> None:
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
