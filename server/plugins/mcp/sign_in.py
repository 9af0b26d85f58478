"""Sign-in at an MCP server over HTTP that asks for it: OAuth with the person's browser."""

import asyncio
import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from yarl import URL

from server.egress import Egress, is_near
from server.errors import AppError
from server.plugins.manifest import McpServer, is_safe
from server.plugins.secrets import Sealed
from server.plugins.sign_in import (
    PATIENCE_S,
    BrowserSignIn,
    Endpoints,
    OpenSignIn,
    SignInFailed,
    State,
)
from server.sentences import Sentence
from server.system.lazy import Late

oauth = Late("server.plugins.mcp.oauth")
HERE = ("127.0.0.1", "::1", "localhost")
OWN_WAYS = ("authorization", "x-api-key", "cookie")


class SignInNeeded(AppError):
    code = "sign_in_needed"
    status = 401

    def __init__(self, server: str) -> None:
        super().__init__(Sentence("{0} wants you to sign in. Do so under Plugins.", server))


def has_own_way(server: McpServer) -> bool:
    """Whether the server's own headers already sign in."""
    return any(name.lower() in OWN_WAYS for name in server.headers)


class McpSignIn(BrowserSignIn):
    """The sign-in at one server. `changed` is also called when a sign-in becomes necessary."""

    def __init__(
        self,
        server: McpServer,
        door: tuple[Egress, str],
        sealed: Sealed,
        changed: Callable[[], None],
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(door, sealed, changed, patience_s)
        self.server = server
        named = hashlib.sha256(server.name.encode()).hexdigest()[:16]
        self.kept = (f"mcp-sign-in-{named}",)
        self._is_needed = False

    @property
    def state(self) -> State:
        if self.is_open:
            return "open"
        if self._is_needed:
            return "needed"
        return "done" if self.sealed.is_kept(self.kept[0]) else ""

    def library_auth(self) -> Any:
        """Returns what signs the library's requests and renews tokens. It never opens a browser."""
        return oauth.Signed(self)

    def need(self) -> SignInNeeded:
        """Notes that the server refused a request. Returns the error to raise."""
        if not self._is_needed:
            self._is_needed = True
            self._changed()
        return SignInNeeded(self.server.name)

    def allow(self, address: str) -> None:
        """Allows an address for signing in that the server names. Raises SignInFailed if unsafe."""
        self._check(address)
        self.door.allow(address, self.reason, stays=True)

    def _check(self, address: str) -> None:
        """Refuses an unsafe address. A remote server must not lead to this machine's network."""
        own, other = (URL(url).host or "" for url in (self.server.url, address))
        leads_here = other in HERE and own not in HERE
        if not is_safe(address) or leads_here or (is_near(other) and not is_near(own)):
            raise SignInFailed(
                Sentence("{0} gives no safe address to sign in at.", self.server.name)
            )

    async def begin(self) -> str:
        """Returns the address for the browser. Cancels a sign-in that is still open."""
        await self.close()
        await oauth.load()
        opened = OpenSignIn(Endpoints("", ""))
        server = await opened.listen()
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def show(url: str) -> None:
            self._check(url)
            opened.state = parse_qs(urlsplit(url).query).get("state", [opened.state])[0]
            address.set_result(url)

        task = self._open(server, partial(self._sign_in, opened, show))
        waited: list[asyncio.Future[Any]] = [address, task]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            raise SignInFailed(self.problem or Sentence("The sign-in was given up."))
        return address.result()

    async def _sign_in(self, opened: OpenSignIn, show: Any) -> None:
        await oauth.sign_in(self, opened, show)
        self._is_needed = False
