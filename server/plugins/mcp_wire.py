"""The two ways to an MCP server: a program's pipes, or HTTP through the one door out."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from server import roles
from server.chat import Json
from server.egress import Egress
from server.errors import EgressRefused
from server.flows.base import FlowFailed
from server.tasks import spawn, stop

LONGEST_LINE = 8 * 1024 * 1024
QUIT_S = 2.0
HTTP_S = 300.0
ACCEPT = "application/json, text/event-stream"
KEPT_VARIABLES = (
    "PATH", "HOME", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "USER", "SYSTEMROOT", "APPDATA",
    "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "COMSPEC",
)  # fmt: skip
Hear = Callable[[Json], None]


class Wire(Protocol):
    async def open(self) -> None: ...
    async def send(self, message: Json) -> None: ...
    async def close(self) -> None: ...


class Program:
    """A server started by us; one JSON message per line."""

    def __init__(
        self, command: tuple[str, ...], env: dict[str, str], hear: Hear, note: Callable[[str], None]
    ) -> None:
        self._command = command
        self._env = env
        self._hear = hear
        self._note = note
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        kept = roles.environment("render")
        env = {name: kept[name] for name in KEPT_VARIABLES if name in kept}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**env, **self._env},
                limit=LONGEST_LINE,
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            message = f"{self._command[0]} cannot be started: {error.strerror}."
            raise FlowFailed("mcp_error", message) from None
        self._tasks = [spawn(self._read(), "mcp-read"), spawn(self._read_log(), "mcp-log")]

    async def send(self, message: Json) -> None:
        assert self._process
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()
        except OSError:
            raise FlowFailed("mcp_error", "The MCP server has ended.") from None

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            assert process.stdin
            process.stdin.close()
            try:
                async with asyncio.timeout(QUIT_S):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        for task in self._tasks:
            await stop(task)

    async def _read(self) -> None:
        assert self._process
        assert self._process.stdout
        with contextlib.suppress(ValueError):
            async for line in self._process.stdout:
                self._take(line)
        self._hear({"gone": True})

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self._note(line.decode("utf-8", "replace").rstrip())
            return
        if isinstance(message, dict):
            self._hear(message)

    async def _read_log(self) -> None:
        assert self._process
        assert self._process.stderr
        with contextlib.suppress(ValueError):
            async for line in self._process.stderr:
                self._note(line.decode("utf-8", "replace").rstrip())


@dataclass(slots=True)
class Remote:
    """Streamable HTTP: each message is a POST, answered with JSON or a stream of events."""

    url: str
    headers: dict[str, str]
    door: Egress
    reason: str
    hear: Hear
    version: str = ""
    session: str = ""

    async def open(self) -> None:
        pass

    async def send(self, message: Json) -> None:
        headers = {**self.headers, "Accept": ACCEPT, "Content-Type": "application/json"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        try:
            async with self.door.request(
                "POST", self.url, self.reason, headers=headers,
                data=json.dumps(message).encode(), stall_s=HTTP_S,
            ) as response:  # fmt: skip
                self.session = response.headers.get("Mcp-Session-Id", self.session)
                if response.status >= 400:
                    told = f"The MCP server answered with status {response.status}."
                    raise FlowFailed("mcp_error", told)
                await self._answers(response)
        except EgressRefused as error:
            raise FlowFailed("http_connect", str(error)) from None
        except self.door.failures as error:
            message_text = f"The MCP server could not be reached: {type(error).__name__}."
            raise FlowFailed("http_connect", message_text) from None

    async def close(self) -> None:
        if self.session:
            headers = {**self.headers, "Mcp-Session-Id": self.session}
            with contextlib.suppress(EgressRefused, *self.door.failures):
                async with self.door.request("DELETE", self.url, self.reason, headers=headers):
                    pass

    async def _answers(self, response: Any) -> None:
        kind = response.headers.get("Content-Type", "").split(";")[0].strip()
        if kind == "text/event-stream":
            async for message in _events(response):
                self.hear(message)
        elif kind == "application/json":
            raw = await response.content.read(LONGEST_LINE)
            with contextlib.suppress(ValueError):
                found = json.loads(raw)
                for message in found if isinstance(found, list) else [found]:
                    self.hear(message)


async def _events(response: Any) -> AsyncIterator[Json]:
    data: list[str] = []
    pending = b""
    async for chunk in response.content.iter_any():
        *lines, pending = (pending + chunk).split(b"\n")
        if len(pending) > LONGEST_LINE:
            raise FlowFailed("too_large", "The MCP server's answer is too large.")
        for raw in lines:
            line = raw.decode("utf-8", "replace").rstrip("\r")
            if line.startswith("data:"):
                data.append(line[5:].lstrip())
            elif not line and data:
                text, data = "\n".join(data), []
                with contextlib.suppress(ValueError):
                    message = json.loads(text)
                    if isinstance(message, dict):
                        yield message
