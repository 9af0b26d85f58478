"""A plugin at work: its actions, its child processes, its secrets, its log.

`Decisions` keeps what a person decided about each plugin: enabled, reviewed, its API's address, its
options.
"""

import asyncio
import hashlib
import json
import logging
import os
import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from server.chat import Json
from server.data.sqlite import Database, import_csv
from server.egress import Egress, is_address, read_up_to
from server.errors import AppError, EgressRefused, Fault, FlowFailed
from server.flows.base import Action, Flow, Reach, Step
from server.plugins.api.action import MAX_ANSWER, ApiAction, Reaching
from server.plugins.api.operations import Operation
from server.plugins.folder import Loaded
from server.plugins.manifest import OPTION, SECRET, TOKENS, Auth, Manifest, McpServer
from server.plugins.mcp.client import McpAction, McpClient
from server.plugins.mcp.packages import Packages, find_package
from server.plugins.mcp.packages import remove as remove_packages
from server.plugins.mcp.servers import Hear, Listed, McpTool, Program, Remote, Walls
from server.plugins.mcp.sign_in import McpSignIn, has_own_way
from server.plugins.python.host import LibAction, LibHost, LibPlaces
from server.plugins.secrets import Sealed, SecretMissing
from server.plugins.sign_in import SignIn
from server.plugins.walls import walls
from server.plugins.walls.doorway import Doorway
from server.plugins.walls.walls import Room
from server.sentences import Sentence, in_a_row
from server.system.files import JsonFile
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

KEPT_LINES = 500
LONGEST_LINE = 2000
FILE_BYTES = 512 * 1024
"""The size in bytes at which a log file is renamed to `.old.log`."""


@dataclass(frozen=True, slots=True)
class Decided:
    enabled: bool = False
    reviewed: str = ""
    """The hash of all that the person accepted (`Plugin.reviewed`). A change needs a new review."""
    files: dict[str, str] = field(default_factory=dict)
    """The checksums of the plugin's files at the review. They show which files have changed."""
    server: str = ""
    """The address of its API, if it differs from the description's."""
    options: dict[str, str] = field(default_factory=dict)
    changing_methods: bool = False
    """Whether its API's methods that change something may be called."""
    more: dict[str, Any] = field(default_factory=dict)
    """Fields that a newer version of Moat wrote. They are kept."""


KINDS = {name: type(value) for name, value in asdict(Decided()).items() if name != "more"}


class Decisions:
    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, "The choices about plugins", is_precious=True)
        self._decided, self._odd = _sort(self._file.read())

    def get(self, key: str) -> Decided:
        return self._decided.get(key, Decided())

    def has(self, key: str) -> bool:
        return key in self._decided

    def set(self, key: str, decided: Decided) -> None:
        self._decided[key] = decided
        self._odd.pop(key, None)
        self._save()

    def forget(self, key: str) -> None:
        self._decided.pop(key, None)
        self._odd.pop(key, None)
        self._save()

    def _save(self) -> None:
        saved = {key: _write(decided) for key, decided in self._decided.items()}
        self._file.write({**self._odd, **saved})


def _write(decided: Decided) -> dict[str, Any]:
    fields = asdict(decided)
    more = fields.pop("more")
    return {**more, **fields}


def _read(fields: dict[str, Any]) -> Decided:
    known = {name: fields[name] for name in fields if name in KINDS}
    if any(type(value) is not KINDS[name] for name, value in known.items()):
        raise TypeError("the entry has the form of another version")
    return Decided(**known, more={name: fields[name] for name in fields if name not in KINDS})


def _sort(entries: dict[str, Any]) -> tuple[dict[str, Decided], dict[str, Any]]:
    """Splits the entries into decisions and those in another version's form. Both are kept."""
    decided: dict[str, Decided] = {}
    odd: dict[str, Any] = {}
    for key, entry in entries.items():
        try:
            decided[key] = _read(entry)
        except TypeError:
            odd[key] = entry
    return decided, odd


class Journal:
    """The log of one plugin, in memory and in a file. `clean` removes secrets from each line."""

    def __init__(self, path: Path, clean: Callable[[str], str]) -> None:
        self._path = path
        self._clean = clean
        self._lines: deque[tuple[str, bool]] = deque(maxlen=KEPT_LINES)
        """Each line with its time, and whether Moat wrote it rather than the plugin."""

    def note(self, text: str, *, is_own: bool = False) -> None:
        """Adds lines to the log. `is_own`: Moat wrote them, not the plugin."""
        for line in self._clean(text)[: LONGEST_LINE * 4].splitlines():
            stamped = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line[:LONGEST_LINE]}"
            self._lines.append((stamped, is_own))
            self._write(stamped)

    def recent(self, count: int) -> list[str]:
        return [line for line, _ in self._lines][-count:] if count > 0 else []

    def since(self, last: list[str]) -> list[str]:
        """Returns the plugin's own lines after those in `last`, without their times."""
        lines = list(self._lines)
        known = max((at for at, (line, _) in enumerate(lines, 1) if line in last), default=0)
        return [line[STAMP:] for line, is_own in lines[known:] if not is_own]

    def _write(self, line: str) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > FILE_BYTES:
                self._path.replace(self._path.with_suffix(".old.log"))
            handle = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            log.debug("A plugin's log could not be written: %s", error.strerror)


READS = ("get", "post", "query")
"""The HTTP methods that are allowed while changing methods are off."""
HTTP_S = 30.0
LISTING_S = 10.0
REST_S = 120.0
"""Seconds before a server that did not list its tools is asked again."""
STAMP = len("2026-01-01 00:00:00 ")
_TELLING = re.compile(
    r"error|exception|cannot|no module|not found|denied|fatal|invalid|refused", re.IGNORECASE
)
_TRACE = re.compile(r"^\s*(?:at\b|File\b|code:|errno:|\^)")


def choose_telling(lines: list[str]) -> str:
    """Returns the line of a program's output that best explains a failure, else its last line.

    Node's last line is its version, after a closing brace.
    """
    telling = [line for line in lines if _TELLING.search(line) and not _TRACE.match(line)]
    spoken = [line for line in lines if re.search(r"\w", line)]
    return (telling or spoken or lines or [""])[-1].strip()


@dataclass(frozen=True, slots=True)
class Outside:
    """The parts that all plugins share: the egress, the folder for data, and two callbacks."""

    door: Egress
    data: Path
    changed: Callable[[], None] = lambda: None
    """Called when something changes that the window shows."""
    unwatched: Callable[[str], None] = lambda _key: None
    """Called with the key of a plugin that starts a program without a sandbox."""


class Plugin:
    """A plugin that has been read. It starts its programs when they are first needed."""

    def __init__(
        self, loaded: Loaded, decided: Decided, sealed: Sealed, journal: Journal, outside: Outside
    ) -> None:
        assert loaded.manifest
        self.loaded = loaded
        self.manifest: Manifest = loaded.manifest
        self.decided = decided
        self.sealed = sealed
        self.journal = journal
        self._outside = outside
        self._data = outside.data / loaded.key
        provider = self.manifest.auth.provider if self.manifest.auth else None
        door = (outside.door, self.reason)
        self.sign_in = SignIn(provider, door, sealed, outside.changed) if provider else None
        self.mcp_sign_ins = {
            server.name: McpSignIn(
                server, door, sealed, partial(self._sign_in_changed, server.name)
            )
            for server in self.manifest.servers
            if server.url and not has_own_way(server)
        }
        """The sign-ins of its MCP servers over HTTP, by server name. A server may ask for one."""
        self._lib: LibHost | None = None
        self._clients: dict[str, McpClient] = {}
        self._listings: dict[str, tuple[asyncio.Task[dict[str, McpTool]], float]] = {}
        """Running requests for a server's tools, and the loop time until which one waits for it."""
        self._resting: dict[str, float] = {}
        """The loop time, by server name, before which a failed server is not asked again."""
        self.failures: dict[str, str] = {}
        """Why an MCP server does not list its tools, by server name."""
        self.failure_details: dict[str, str] = {}
        """Technical details of `failures`, by server name."""
        self.working: dict[str, str] = {}
        """What a server is doing before it can answer, by server name; empty if nothing."""

    @property
    def sign_ins(self) -> tuple[SignIn | McpSignIn, ...]:
        return (*filter(None, [self.sign_in]), *self.mcp_sign_ins.values())

    @property
    def person_sign_in(self) -> SignIn | McpSignIn | None:
        """The sign-in to show now: an open one, else one that is needed, else a finished one."""
        order = ("open", "needed", "done")
        found = [sign_in for sign_in in self.sign_ins if sign_in.state]
        return min(found, key=lambda sign_in: order.index(sign_in.state), default=None)

    def _sign_in_changed(self, server: str) -> None:
        """Publishes the change. The server that waited for this sign-in is asked again at once."""
        self._resting.pop(server, None)
        if self.mcp_sign_ins[server].state == "done":
            self.failures.pop(server, None)
        self._outside.changed()

    @property
    def key(self) -> str:
        return self.loaded.key

    @property
    def reason(self) -> str:
        return Sentence("plugin {0}", self.key)

    @property
    def program_reason(self) -> str:
        """The egress reason for encrypted traffic of its programs, which Moat cannot read."""
        return f"program of plugin {self.key}"

    @property
    def server(self) -> str:
        api = self.loaded.api
        return self.decided.server or (api.server if api else "")

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every address it may reach, including the API address that a person set."""
        return tuple(dict.fromkeys(filter(None, (self.server, *self.loaded.hosts))))

    @property
    def auth(self) -> Auth | None:
        """The sign-in from plugin.json, else the one from the API's description."""
        api = self.loaded.api
        return self.manifest.auth or (api.auth if api else None)

    @property
    def secrets(self) -> tuple[str, ...]:
        named = [
            name
            for text in (self.auth.args if self.auth else {}).values()
            for name in SECRET.findall(text)
        ]
        by_sign_in = TOKENS if self.sign_in is not None else ()
        found = dict.fromkeys([*self.manifest.secrets, *named])
        return tuple(name for name in found if name not in by_sign_in)

    @property
    def reviewed(self) -> str:
        """The hash of what a person accepts by enabling the plugin: its files, hosts and secrets.

        It also covers whether programs run without a sandbox: a plugin that was accepted with one
        does not run without it.
        """
        accepted: list[Any] = [self.loaded.hosts, sorted(self.loaded.files().items()), self.secrets]
        runs = self.loaded.tools or any(server.command for server in self.manifest.servers)
        if runs and not self.is_walled:
            accepted.append("without walls")
        return hashlib.sha256(json.dumps(accepted).encode()).hexdigest()

    @property
    def changes(self) -> tuple[str, ...]:
        """The files that changed since the plugin was accepted; empty for a new plugin."""
        before, now = self.decided.files, self.loaded.files()
        if not before or self.decided.reviewed == self.reviewed:
            return ()
        words = [f"{name} has changed" for name in now if before.get(name, now[name]) != now[name]]
        words += [f"{name} is new" for name in now if name not in before]
        return (*words, *(f"{name} is gone" for name in before if name not in now))

    @property
    def is_walled(self) -> bool:
        """Whether the system has a sandbox that keeps its programs from files and network."""
        return bool(walls.kind())

    def open_door(self) -> None:
        """Allows its hosts in the egress, for this plugin only.

        Skips invalid addresses, so that a plugin with such an address still loads and can be fixed.
        """
        door = self._outside.door
        self.close_door()
        for host in filter(is_address, (self.server, *self.loaded.hosts)):
            door.allow(host, self.reason, stays=True)
            if any(server.command for server in self.manifest.servers):
                door.allow(host, self.program_reason)

    def close_door(self) -> None:
        self._outside.door.forget(self.reason)
        self._outside.door.forget(self.program_reason)

    async def action(self, reach: Reach, name: str) -> Action:
        if reach == "api":
            return self._api_action(name)
        if reach == "lib":
            tools = await self._host().tools()
            if name not in tools:
                raise FlowFailed("not_found", Sentence("{0} has no tool '{1}'.", self.key, name))
            return self._lib_action(name)
        server_name, _, tool_name = name.partition("/")
        server = next(
            (server for server in self.manifest.servers if server.name == server_name), None
        )
        if server is None:
            raise FlowFailed(
                "not_found", Sentence("{0} has no MCP server '{1}'.", self.key, server_name)
            )
        client = self._client(server)
        last_words = self.journal.recent(1)
        try:
            tool = (await client.tools()).get(tool_name)
        except SecretMissing as error:
            raise FlowFailed("denied", str(error)) from None
        except FlowFailed as error:
            raise FlowFailed(error.fault, self._with_last_words(error, last_words)) from None
        if tool is None:
            raise FlowFailed(
                "not_found", Sentence("{0} has no tool '{1}'.", server_name, tool_name)
            )
        return McpAction(server, tool, client)

    def api_actions(self) -> list[ApiAction]:
        api = self.loaded.api
        return (
            [ApiAction(operation, self._reaching()) for operation in api.operations.values()]
            if api
            else []
        )

    def mcp_actions(self) -> list[McpAction]:
        """Returns the tools of servers that have listed them. Starts no server."""
        return [
            McpAction(server, tool, client)
            for server in self.manifest.servers
            if (client := self._clients.get(server.name)) is not None
            for tool in client.known.values()
        ]

    @property
    def listed(self) -> list[Listed]:
        """The resources and prompts that its servers have listed so far."""
        return [client.listed for client in self._clients.values()]

    async def tools(self) -> list[Action]:
        """Returns every tool of its servers and its code. Starts both to list them."""
        found: list[Action] = [*await self._server_tools()]
        if self.loaded.tools:
            found += [self._lib_action(name) for name in await self._host().tools()]
        return found

    async def _server_tools(self) -> list[McpAction]:
        servers = self.manifest.servers
        listed = await asyncio.gather(*(self._list_tools(server) for server in servers))
        return [
            McpAction(server, tool, self._client(server))
            for server, tools in zip(servers, listed, strict=True)
            for tool in tools.values()
        ]

    async def flows(self) -> list[Flow]:
        """Returns the usable flows that its files declare, and those of its tools."""
        declared = [flow for flow in self.loaded.flows.values() if flow.is_usable]
        return [*declared, *await self.tool_flows()]

    async def tool_flows(self) -> list[Flow]:
        """Returns a flow for each MCP tool and, with `automatic_flow`, each tool of its code."""
        found: list[Flow] = []
        for action in await self._server_tools():
            params = {"server": action.server.name, "tool": action.tool.name}
            about = action.description or action.key
            found.append(Flow(self.key, action.key, about, (Step("start", "mcp", params),)))
        if self.manifest.automatic_flow:
            for seen in self.loaded.tools:
                step = Step("start", seen.name, {})
                found.append(Flow(self.key, seen.name, seen.description or seen.name, (step,)))
        return found

    async def _list_tools(self, server: McpServer) -> dict[str, McpTool]:
        """Returns a server's tools; {} if it fails, rests, or is not ready after LISTING_S.

        A server that starts slowly goes on starting. It is waited for once, not by each question.
        """
        loop = asyncio.get_running_loop()
        if loop.time() < self._resting.get(server.name, 0.0):
            return {}
        client = self._client(server)
        await client.prepare()
        if client.packages and not client.version:
            # It fetches them first, until its caller no longer wants it.
            return await self._ask_for_tools(server, client)
        listing, until = self._listings.get(server.name, (None, 0.0))
        if listing is None or listing.done():
            listing = spawn(self._ask_for_tools(server, client), f"tools of {server.name}")
            until = loop.time() + LISTING_S
            self._listings[server.name] = listing, until
        await asyncio.wait([listing], timeout=max(0.0, until - loop.time()))
        if listing.done():
            return {} if listing.cancelled() else listing.result()
        if not self.working.get(server.name):
            self.working[server.name] = Sentence("{0} has not listed its tools yet …", server.name)
            self._outside.changed()
        return {}

    async def _ask_for_tools(self, server: McpServer, client: McpClient) -> dict[str, McpTool]:
        """Asks a server for its tools. On failure returns {} and rests the server for REST_S."""
        before, last_words = (client.known, client.listed), self.journal.recent(1)
        try:
            found = await client.tools()
        except (AppError, TimeoutError) as error:
            reason = self._with_last_words(str(error) or Sentence("no answer."), last_words)
            self.journal.note(Sentence("{0} did not list its tools: {1}", server.name, reason))
            self._resting[server.name] = asyncio.get_running_loop().time() + REST_S
            self.failures[server.name] = reason
            details = error.details if isinstance(error, AppError) else type(error).__name__
            self.failure_details[server.name] = details
            self.working.pop(server.name, None)
            self._outside.changed()
            return {}
        was_starting = bool(self.working.pop(server.name, ""))
        had_failed = self.failures.pop(server.name, None) is not None
        if was_starting or had_failed or (found, client.listed) != before:
            self._outside.changed()
        return found

    def _with_last_words(self, reason: object, before: list[str]) -> str:
        """Adds what the program printed since `before` to the reason for its failure."""
        said = self.journal.since(before)
        words = Sentence("It said: {0}", choose_telling(said)) if said else ""
        return in_a_row((str(reason), words))

    @property
    def must_fetch(self) -> bool:
        """Whether a server has yet to fetch its package, and is not resting after a failure."""
        now = asyncio.get_running_loop().time()
        for server in self.manifest.servers:
            client = self._clients.get(server.name)
            packages = client.packages if client else self._packages_of(server)
            is_idle = now >= self._resting.get(server.name, 0.0) and not (client and client.version)
            if packages is not None and is_idle and not packages.are_kept:
                return True
        return False

    async def forget_packages(self) -> None:
        """Removes the packages that its programs have fetched. The programs must have ended."""
        await asyncio.to_thread(remove_packages, self._packages)

    @property
    def _packages(self) -> Path:
        return self._data / "packages"

    def switched_off(self, flow: Flow, is_blocked: Callable[[str], bool]) -> str:
        """Returns why a step that the flow must reach is off or blocked; empty if none is."""
        for step in flow.certain:
            name = self._operation_name(step)
            if is_blocked(name):
                return Sentence("{0} is blocked under Plugins.", name)
            operation = self.loaded.api.operations.get(name) if self.loaded.api else None
            if operation is not None and self._is_off(operation):
                return off_words(operation.key, self.key)
        return ""

    def _operation_name(self, step: Step) -> str:
        if step.call_type == "api":
            return " ".join(str(step.params.get("endpoint")).split())
        if step.call_type == "mcp":
            return f"{step.params.get('server')}/{step.params.get('tool')}"
        return step.call_type.removeprefix(f"{self.key}.")

    def _is_off(self, operation: Operation) -> bool:
        return operation.method.lower() not in READS and not self.decided.changing_methods

    async def database(self) -> Database:
        option = OPTION.fullmatch(self.manifest.database)
        path = self.loaded.folder / self.manifest.database
        if option:
            path = Path(self._chosen(option[1], "sql"))
        if path.suffix.lower() == ".csv":
            name = option[1] if option else path.stem
            path = await asyncio.to_thread(import_csv, path, self._data, name)
        return Database(path, self.manifest.tables)

    async def close(self) -> None:
        for sign_in in self.sign_ins:
            await sign_in.close()
        if self._lib is not None:
            await self._lib.close()
            self._lib = None
        for listing, _ in tuple(self._listings.values()):
            await stop(listing)
        self._listings.clear()
        await asyncio.gather(*(client.close() for client in self._clients.values()))
        self._clients = {}

    def _api_action(self, name: str) -> ApiAction:
        api = self.loaded.api
        operation = api.operations.get(name) if api else None
        if operation is None:
            raise FlowFailed("not_found", Sentence("{0} has no endpoint '{1}'.", self.key, name))
        if self._is_off(operation):
            raise FlowFailed("denied", off_words(operation.key, self.key))
        return ApiAction(operation, self._reaching())

    def _reaching(self) -> Reaching:
        return Reaching(
            self._outside.door, self.reason, self.server, self.sealed, self.auth, self.sign_in
        )

    def _lib_action(self, name: str) -> LibAction:
        host = self._host()
        return LibAction(
            self.key, host.known(name), host, self.loaded.digest, dict(self.decided.options)
        )

    def _host(self) -> LibHost:
        if self._lib is None:
            places = LibPlaces(self.loaded.folder, self._data, self._readable())
            self._lib = LibHost(places, self.journal.note, self._http)
            if not self.is_walled:
                self._outside.unwatched(self.key)
        return self._lib

    def _readable(self) -> tuple[str, ...]:
        """Returns the files and folders that a person chose in its options."""
        found: list[str] = []
        for option in self.manifest.options:
            value = self.decided.options.get(option.name, "")
            if option.kind in ("file", "folder", "folders"):
                found += [line for line in value.splitlines() if line.strip()]
        return tuple(found)

    def _command(self, server: McpServer) -> tuple[str, ...]:
        """Returns the command. `${option:NAME}` becomes one argument per line of that option."""
        made: list[str] = []
        for part in server.command:
            match = OPTION.fullmatch(part)
            made += self._chosen(match[1], "mcp_error").splitlines() if match else [part]
        return tuple(made)

    def _chosen(self, option: str, fault: Fault) -> str:
        value = self.decided.options.get(option, "").strip()
        if not value:
            message = Sentence(
                "Choose '{0}' for {1} under Plugins first.", option, self.manifest.name
            )
            raise FlowFailed(fault, message)
        return value

    def _client(self, server: McpServer) -> McpClient:
        if server.name not in self._clients:

            async def make(hear: Hear) -> Program | Remote:
                if server.url:
                    headers = await self.sealed.opened_all(server.headers)
                    sign_in = self.mcp_sign_ins.get(server.name)
                    auth = sign_in.library_auth() if sign_in else None
                    return Remote(server.url, headers, self._outside.door, self.reason, auth)
                env = await self.sealed.opened_all(server.env)
                if not self.is_walled:
                    self._outside.unwatched(self.key)
                command = self._command(server)
                return Program(command, env, hear, self.journal.note, self._walls_for(client))

            client = McpClient(server.name, make, self.sealed.clean_all, self._packages_of(server))
            self._clients[server.name] = client
        return self._clients[server.name]

    def _walls_for(self, client: McpClient) -> Walls:
        scratch = self._data / "programs" / hashlib.sha256(client.name.encode()).hexdigest()[:16]
        packages = client.packages
        kept = packages.folder if packages and self.is_walled else None
        room = Room(self.loaded.folder, scratch, self._readable(), kept=kept)

        def refuse(why: str) -> None:
            client.refused.append(why)
            self.journal.note(why)

        count = packages.hear if packages else lambda _size: None
        return Walls(
            room, Doorway(self._outside.door, self.program_reason, refuse, count), packages
        )

    def _packages_of(self, server: McpServer) -> Packages | None:
        if not find_package(server.command):
            return None

        def tell(words: str) -> None:
            self.working[server.name] = words
            self._outside.changed()

        note = partial(self.journal.note, is_own=True)
        return Packages(server.command, self._packages, tell, note)

    async def _http(self, asked: Json) -> Json:
        """Makes an HTTP call for a tool's code: GET and HEAD only, to declared hosts only."""
        door = self._outside.door
        method = str(asked.get("method", "GET")).upper()
        if method not in ("GET", "HEAD"):
            return {
                "failed": Sentence(
                    "A tool may only read over HTTP; declare an API to change things."
                )
            }
        try:
            headers = {str(key): str(value) for key, value in (asked.get("headers") or {}).items()}
            headers = await self.sealed.opened_all(headers)
            async with (
                asyncio.timeout(HTTP_S),
                door.request(method, str(asked.get("url")), self.reason, headers=headers) as answer,
            ):
                raw = await read_up_to(answer, MAX_ANSWER)
                text = self.sealed.clean(raw.decode("utf-8", "replace"))
                return {"status": answer.status, "text": text}
        except (EgressRefused, SecretMissing) as error:
            return {"failed": str(error)}
        except door.failures as error:
            return {"failed": f"{type(error).__name__}"}


def off_words(operation: str, plugin: str) -> str:
    return Sentence("{0} is off: allow changing methods for {1} first.", operation, plugin)
