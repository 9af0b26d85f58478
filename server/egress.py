"""The one door out: every outgoing connection is opened, checked and recorded here."""

import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from yarl import URL

from server.errors import EgressRefused
from server.face import Use
from server.observe import Recent, Value
from server.settings import PROXY_FORM, NetworkSettings

KEPT_USES = 1000
KEPT_RECENT = 200
MAX_REDIRECTS = 5
CONNECT_S = 30.0
STALL_S = 300.0
Password = Callable[[], Awaitable[str | None]]
CREDENTIALS = ("authorization", "cookie", "x-api-key", "proxy-authorization")


class Egress:
    failures = (aiohttp.ClientError, OSError, TimeoutError)
    """What a request raises when the way is broken."""

    def __init__(
        self, network: Callable[[], NetworkSettings], password: Password | None = None
    ) -> None:
        """`password`: of the proxy, asked for when its address names a user."""
        self._network = network
        self._password = password
        self._allowed: set[tuple[str, str]] = set()
        self._storage: set[tuple[str, str]] = set()
        self._session: aiohttp.ClientSession | None = None
        self._extra_ca = ""
        self.uses: Value[tuple[Use, ...]] = Value(())
        self._recent: Recent[Use] = Recent(KEPT_RECENT, lambda use: use)
        self.recent = self._recent.value
        """The newest of them, told at a pace a screen can follow."""

    def allow(self, url: str, reason: str, storage: Iterable[str] = ()) -> None:
        """The user has decided that this host (and port) may be reached for this reason.

        It may send us on to hosts of the domains in `storage`; those are never asked directly.
        """
        self._allowed.add((_host(URL(url)), reason))
        self._storage |= {(domain, reason) for domain in storage}

    def forget(self, reason: str) -> None:
        self._allowed = {entry for entry in self._allowed if entry[1] != reason}
        self._storage = {entry for entry in self._storage if entry[1] != reason}

    @asynccontextmanager
    async def request(
        self, method: str, url: str, reason: str, *, stall_s: float = STALL_S, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A request to an allowed host. Redirects are followed only to hosts allowed as well.

        It may last as long as it likes, but not stay silent for longer than `stall_s`.
        """
        target = URL(url)
        patience = aiohttp.ClientTimeout(
            total=None, sock_connect=min(stall_s, CONNECT_S), sock_read=stall_s
        )
        redirected = False
        given = options.pop("headers", None) or {}
        headers = {key.lower(): value for key, value in given.items()}
        for _ in range(MAX_REDIRECTS + 1):
            self._check(target, reason, redirected=redirected)
            proxy, session = await self._proxy(), await self._open()
            response = await session.request(
                method,
                target,
                headers=headers,
                allow_redirects=False,
                proxy=proxy,
                timeout=patience,
                **options,
            )
            self._record(target, reason, response)
            if response.status not in (301, 302, 303, 307, 308):
                break
            response.release()
            following = target.join(URL(response.headers.get("Location", "")))
            if _host(following) != _host(target):
                headers = {key: value for key, value in headers.items() if key not in CREDENTIALS}
            if target.scheme == "https" and following.scheme != "https":
                raise EgressRefused(f"{target.host} redirects to an unencrypted address.")
            target, redirected = following, True
        else:
            raise EgressRefused(f"{target.host} redirects without end.")
        async with response:
            yield response

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _proxy(self) -> URL | None:
        """What cannot be read as one is never gone past: there is a reason for a proxy."""
        chosen = self._network().proxy
        if not chosen:
            return None
        try:
            proxy = URL(chosen)
        except ValueError:
            raise EgressRefused(PROXY_FORM) from None
        if proxy.scheme not in ("http", "https") or not proxy.host:
            raise EgressRefused(PROXY_FORM)
        if proxy.user and proxy.password is None and self._password is not None:
            proxy = proxy.with_password(await self._password())
        return proxy

    def _check(self, url: URL, reason: str, *, redirected: bool) -> None:
        if self._network().offline:
            raise EgressRefused("Moat is set to offline: no connection leaves this machine.")
        if url.scheme not in ("http", "https"):
            raise EgressRefused(f"Addresses of the kind '{url.scheme}' are never opened.")
        if (_host(url), reason) in self._allowed:
            return
        if not (redirected and self._is_storage(url.host or "", reason)):
            raise EgressRefused(f"{_host(url)} is not allowed for: {reason}.")

    def _is_storage(self, host: str, reason: str) -> bool:
        return any(
            why == reason and (host == domain or host.endswith("." + domain))
            for domain, why in self._storage
        )

    def _record(self, url: URL, reason: str, response: aiohttp.ClientResponse) -> None:
        size = response.content_length or 0
        use = Use(time.time(), _host(url), reason, response.status, size)
        self.uses.set((*self.uses.get(), use)[-KEPT_USES:])
        self._recent.add(use)

    async def _open(self) -> aiohttp.ClientSession:
        """The session in use; another one where another authority is trusted since."""
        extra = self._network().extra_ca
        if self._extra_ca != extra:
            await self.close()
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=_trusting(extra)),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=300),
                trust_env=False,
            )
            self._extra_ca = extra
        return self._session


def _trusting(extra_ca: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if extra_ca:
        try:
            context.load_verify_locations(extra_ca)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise EgressRefused(f"The certificate {extra_ca} cannot be read: {why}.") from error
    return context


def _host(url: URL) -> str:
    return f"{url.host}:{url.port}"
