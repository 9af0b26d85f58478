"""A client of one MCP server: lists its tools and calls them as actions."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from server.chat import Json
from server.errors import AppError, FlowFailed
from server.flows.base import Beside, Missing, Output, Preview, Risk, beside
from server.plugins.manifest import McpServer
from server.plugins.mcp.packages import Packages
from server.plugins.mcp.servers import (
    Ask,
    Hear,
    Link,
    Listed,
    McpTool,
    Program,
    Remote,
    SessionForgotten,
)
from server.schemas import fill
from server.schemas.openapi import Plain, plain_object
from server.sentences import Sentence, in_a_row
from server.system.lazy import Late
from server.system.limits import try_json
from server.tasks import paused

if TYPE_CHECKING:
    from server.plugins.mcp.session import Session

sessions = Late("server.plugins.mcp.session")
T = TypeVar("T")
OPEN_S = 60.0
"""Seconds to open a session. They grow while packages are fetched."""
LIST_S = 30.0
MOST_QUESTIONS = 10
"""The most forms that a server may show to a person during one call."""
FRESH_S = 300.0
"""Seconds that a list of tools is used before the server is asked again."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call in progress. Its timeout is paused while a person is asked."""

    session: "Session"
    limit: asyncio.Timeout
    ask: Ask | None
    questions: int = 0

    async def wait_for(self, message: str, schema: Json) -> Json | None:
        """Asks the person. Returns None after MOST_QUESTIONS, as the call would never time out."""
        self.questions += 1
        if self.ask is None or self.questions > MOST_QUESTIONS or self.limit.expired():
            return None
        with paused(self.limit):
            return await self.ask(message, schema)


class McpClient:
    """A client that opens its session on first use, and again after it has ended.

    `make` builds the connection, and gets the function for the server's messages. `clean` hides
    secrets in everything that the server sends.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[Hear], Awaitable[Program | Remote]],
        clean: Callable[[Any], Any],
        packages: Packages | None = None,
    ) -> None:
        self.name = name
        self.clean = clean
        self.packages = packages
        """The packages that its program fetches before it starts; None if it fetches nothing."""
        self.refused: list[str] = []
        """Why connections of its program were refused during the last call, newest last."""
        self.listed = Listed()
        self._make = make
        self._session: Session | None = None
        self._turn = asyncio.Lock()
        self._listing = asyncio.Lock()
        self._tools: dict[str, McpTool] = {}
        self._fresh_until = 0.0
        self._calls: list[_Call] = []
        self._is_asking = False
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def known(self) -> dict[str, McpTool]:
        """The tools that it has listed so far. The server is not asked."""
        return self._tools

    @property
    def version(self) -> str:
        """The protocol version of the open session; empty if there is no session."""
        return self._session.version if self._session is not None else ""

    @staticmethod
    async def prepare() -> None:
        """Loads the library in a thread. The time this takes is not the server's."""
        await sessions.load()

    async def tools(self) -> dict[str, McpTool]:
        """Returns the tools. Callers at the same time share a list."""
        async with self._listing:
            if not self._is_fresh():
                await self._list()
            return self._tools

    async def call(
        self,
        tool: str,
        arguments: Json,
        timeout_s: float,
        ask: Ask | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Json:
        return await self._ask(
            lambda session: session.call(tool, arguments, progress), timeout_s, ask
        )

    async def close(self) -> None:
        if self._session is not None:
            self._let_go(self._session)
        if self._closing:
            await asyncio.wait(self._closing)

    def _is_fresh(self) -> bool:
        is_open = self._session is not None and not self._session.has_ended
        return is_open and asyncio.get_running_loop().time() <= self._fresh_until

    async def _list(self) -> None:
        async def ask(session: "Session") -> dict[str, McpTool]:
            # Set before asking: the tools may change while their list is on its way.
            self._fresh_until = asyncio.get_running_loop().time() + FRESH_S
            return await session.tools()

        try:
            self._tools = await self._ask(ask, LIST_S)
        except BaseException:
            self._fresh_until = 0.0
            raise
        await self._look_beside()

    async def _look_beside(self) -> None:
        """Lists resources and prompts. Shows none if that fails; the tools work all the same."""
        try:
            self.listed = await self._ask(lambda session: session.listed(), LIST_S)
        except AppError:
            self.listed = Listed()

    async def _ask(
        self,
        request: Callable[["Session"], Awaitable[T]],
        timeout_s: float,
        ask: Ask | None = None,
    ) -> T:
        """Sends a request. If the server has forgotten the session, repeats it in a new one."""
        session = await self._ready()
        try:
            return await self._exchange(session, request, timeout_s, ask)
        except SessionForgotten:
            self._forget(session)
        return await self._exchange(await self._ready(), request, timeout_s, ask)

    async def _ready(self) -> "Session":
        await self.prepare()
        async with self._turn:
            if self._session is not None and not self._session.has_ended:
                return self._session
            return await self._opened()

    async def _opened(self) -> "Session":
        """Opens a session. If kept packages do not start, fetches them again."""
        if self.packages is not None and self.packages.are_kept:
            try:
                return await self._open_session()
            except FlowFailed:
                await asyncio.to_thread(self.packages.distrust)
        return await self._open_session()

    async def _open_session(self) -> "Session":
        link = Link(self.name, self.clean, self._ask_person, self._is_stale)

        async def hear(message: Json) -> None:
            if link.hear is not None:
                await link.hear(message)

        session: Session = sessions.Session(link)
        self._session, self._fresh_until = session, 0.0
        way: Program | Remote | None = None
        try:
            async with asyncio.timeout(OPEN_S) as limit:
                with self.packages.fetching(limit) if self.packages else nullcontext():
                    way = await self._make(hear)
                    await session.open(way)
        except TimeoutError:
            self._let_go(session)
            if self.packages is not None:
                raise self.packages.explain_timeout(self.name) from None
            message = Sentence("{0} took longer than {1:.0f} s.", self.name, OPEN_S)
            if isinstance(way, Program):
                message = Sentence(
                    "{0} took longer than {1:.0f} s. It must read and write one "
                    "JSON message per line, without Content-Length headers. Its log shows what it "
                    "printed.",
                    self.name,
                    OPEN_S,
                )
            raise FlowFailed("timeout", message) from None
        except BaseException:
            self._let_go(session)
            raise
        if self._session is not session:
            raise FlowFailed("mcp_error", Sentence("{0} has ended.", self.name))
        return session

    async def _exchange(
        self,
        session: "Session",
        request: Callable[["Session"], Awaitable[T]],
        timeout_s: float,
        ask: Ask | None,
    ) -> T:
        call: _Call | None = None
        try:
            async with asyncio.timeout(timeout_s) as limit:
                self._calls.append(call := _Call(session, limit, ask))
                return await request(session)
        except TimeoutError:
            message = Sentence("{0} took longer than {1:.0f} s.", self.name, timeout_s)
            raise FlowFailed("timeout", message) from None
        finally:
            if call is not None:
                self._calls.remove(call)
            if self._session is not session:
                self._forget(session)

    async def _ask_person(self, message: str, schema: Json) -> Json | None:
        """Asks the person for the latest call that allows it. There is one question at a time."""
        call = next((call for call in reversed(self._calls) if call.ask is not None), None)
        if call is None or self._is_asking:
            return None
        self._is_asking = True
        try:
            return await call.wait_for(message, schema)
        finally:
            self._is_asking = False

    def _is_stale(self) -> None:
        self._fresh_until = 0.0

    def _forget(self, session: "Session") -> None:
        """Drops the session, so that the next request opens another and lists the tools again.

        Closes it once no call waits for its answer.
        """
        if self._session is session:
            self._session, self._fresh_until = None, 0.0
        if not any(call.session is session for call in self._calls):
            self._let_go(session)

    def _let_go(self, session: "Session") -> None:
        if self._session is session:
            self._session, self._fresh_until = None, 0.0
        session.close()
        if session.task is not None and not session.task.done():
            self._closing.add(session.task)
            session.task.add_done_callback(self._closing.discard)


MOST_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class McpAction:
    server: McpServer
    tool: McpTool
    client: McpClient

    @property
    def key(self) -> str:
        return f"{self.server.name}/{self.tool.name}"

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def schema(self) -> Json:
        return plain_object(self.tool.schema)

    @property
    def risk(self) -> Risk:
        """The risk: a tool may declare itself dangerous, but not harmless."""
        return "danger" if self.tool.hints.get("destructiveHint") is True else "change"

    @property
    def fingerprint(self) -> str:
        said = [self.server.command, self.server.url, self.tool.name, self.tool.schema]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def preview(self, arguments: Json) -> Preview:
        where = self.server.url or " ".join(self.server.command)
        return Preview(f"{self.tool.name} of {self.server.name}", where, {}, arguments)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:  # noqa: ARG002
        person = beside.get()
        ask, tell = (partial(_ask_by_form, person), person.tell) if person else (None, None)
        self.client.refused.clear()
        found = await self.client.call(self.tool.name, arguments, timeout_s, ask, tell)
        text = _text(found.get("content"))
        if found.get("isError"):
            raise FlowFailed("mcp_error", self._explain(text))
        data: Any = found.get("structuredContent")
        if data is None:
            # Clean the value again: JSON in a text may spell a secret in another way.
            data = self.client.clean(try_json(text, text))
        return Output(data, text[:2000])

    def _explain(self, text: str) -> str:
        """Adds a refused connection to the error, since few programs report it themselves."""
        words = f"{self.key}: {text[:500] or 'failed'}"
        if not self.client.refused:
            return words
        why = Sentence(
            "Moat refused a connection that its program wanted: {0}", self.client.refused[-1]
        )
        return in_a_row((f"{words.rstrip('.')}.", why))


async def _ask_by_form(person: Beside, message: str, schema: Json) -> Json | None:
    """Shows the server's question as a form. Returns None if there is no valid answer."""
    plain = {"properties": {}, **Plain(schema).schema(schema)}
    try:
        answer = await person.ask(Missing(plain, {}, message))
    except FlowFailed:
        return None
    if answer is None or fill.problems(answer.values, plain):
        return None
    return answer.values


def _text(content: Any) -> str:
    return "\n".join(part["text"] for part in content)[:MOST_TEXT]
