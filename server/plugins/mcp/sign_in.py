"""Signing in at an MCP server over HTTP, where its answers ask for it: OAuth, by the browser."""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from yarl import URL

from server.egress import Egress, is_near
from server.errors import AppError
from server.plugins.manifest import McpServer, is_safe
from server.plugins.secrets import Sealed
from server.plugins.sign_in import PATIENCE_S, Endpoints, OpenSignIn, SignInFailed, State
from server.system.lazy import Late
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

oauth = Late("server.plugins.mcp.oauth")
HERE = ("127.0.0.1", "::1", "localhost")
OWN_WAYS = ("authorization", "x-api-key", "cookie")


class SignInNeeded(AppError):
    code = "sign_in_needed"
    status = 401

    def __init__(self, server: str) -> None:
        super().__init__(f"{server} wants you to sign in. Do so under Plugins.")


def has_own_way(server: McpServer) -> bool:
    """Whether its headers sign in already."""
    return any(name.lower() in OWN_WAYS for name in server.headers)


class McpSignIn:
    """The sign-in at one server. `changed` is called when it is needed, begins or ends."""

    def __init__(
        self,
        server: McpServer,
        door: tuple[Egress, str],
        sealed: Sealed,
        changed: Callable[[], None],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.server = server
        self.door, self.reason = door
        self.sealed = sealed
        self._changed = changed
        self._patience_s = patience_s
        self._task: asyncio.Task[None] | None = None
        self._is_needed = False
        self.is_open = False
        self.problem = ""
        """Why the last sign-in failed."""

    @property
    def kept_as(self) -> str:
        """The name under which the keyring holds its tokens."""
        return f"mcp-sign-in-{hashlib.sha256(self.server.name.encode()).hexdigest()[:16]}"

    @property
    def state(self) -> State:
        if self.is_open:
            return "open"
        if self._is_needed:
            return "needed"
        return "done" if self.sealed.is_kept(self.kept_as) else ""

    def library_auth(self) -> Any:
        """Signs what is sent with the tokens there are, and renews them. Never opens a browser."""
        return oauth.Signed(self)

    def need(self) -> SignInNeeded:
        """The server has refused what we sent."""
        if not self._is_needed:
            self._is_needed = True
            self._changed()
        return SignInNeeded(self.server.name)

    def allow(self, address: str) -> None:
        """Lets the sign-in reach who the server names, only encrypted or on the same machine."""
        self._check(address)
        self.door.allow(address, self.reason, stays=True)

    def _check(self, address: str) -> None:
        """A server elsewhere leads nobody to this machine, nor to its network."""
        own, other = (URL(url).host or "" for url in (self.server.url, address))
        leads_here = other in HERE and own not in HERE
        if not is_safe(address) or leads_here or (is_near(other) and not is_near(own)):
            raise SignInFailed(f"{self.server.name} gives no safe address to sign in at.")

    async def begin(self) -> str:
        """Returns the address for the browser. Gives up a sign-in that was open."""
        await self.close()
        await asyncio.to_thread(getattr, oauth, "Signed")
        opened = OpenSignIn(Endpoints("", ""))
        server = await opened.listen()
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def show(url: str) -> None:
            self._check(url)
            opened.state = parse_qs(urlsplit(url).query).get("state", [opened.state])[0]
            address.set_result(url)

        self.problem = ""
        self._show(is_open=True)
        task = self._task = spawn(self._finish(opened, server, show), "sign in")
        waited: list[asyncio.Future[Any]] = [address, task]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            raise SignInFailed(self.problem or "The sign-in was given up.")
        return address.result()

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await stop(task)
        if self.is_open:
            self._show(is_open=False)

    async def is_done(self) -> bool:
        return await self.sealed.has(self.kept_as)

    async def forget(self) -> None:
        await self.close()
        await self.sealed.forget(self.kept_as)
        self._changed()

    async def _finish(self, opened: OpenSignIn, server: asyncio.Server, show: Any) -> None:
        try:
            async with server, asyncio.timeout(self._patience_s):
                await oauth.sign_in(self, opened, show)
            self._is_needed = False
        except TimeoutError:
            self.problem = "Nobody signed in within five minutes."
        except AppError as error:
            self.problem = str(error)
            log.warning("A sign-in at an MCP server failed: %s", error)
        finally:
            self._show(is_open=False)

    def _show(self, *, is_open: bool) -> None:
        self.is_open = is_open
        self._changed()
