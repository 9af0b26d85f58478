"""The one door out: every outgoing connection is opened, checked and recorded here."""

import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from server.errors import EgressRefused
from server.observe import Value
from server.settings import NetworkSettings

KEPT_USES = 1000
MAX_REDIRECTS = 5
CREDENTIALS = ("authorization", "cookie", "x-api-key", "proxy-authorization")


@dataclass(frozen=True, slots=True)
class Use:
    """One outgoing request: when, where to, why, how it went, how much came back."""

    at: float
    host: str
    reason: str
    status: int = 0
    bytes_received: int = 0


class Egress:
    def __init__(self, network: Callable[[], NetworkSettings]) -> None:
        self._network = network
        self._allowed: set[tuple[str, str]] = set()
        self._session: aiohttp.ClientSession | None = None
        self.uses: Value[tuple[Use, ...]] = Value(())

    def allow(self, url: str, reason: str) -> None:
        """The user has decided that this host (and port) may be reached for this reason."""
        self._allowed.add((_host(URL(url)), reason))

    def forget(self, reason: str) -> None:
        self._allowed = {entry for entry in self._allowed if entry[1] != reason}

    @asynccontextmanager
    async def request(
        self, method: str, url: str, reason: str, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A request to an allowed host. Redirects are followed only to hosts allowed as well."""
        target = URL(url)
        headers = {
            key.lower(): value for key, value in (options.pop("headers", None) or {}).items()
        }
        for _ in range(MAX_REDIRECTS + 1):
            self._check(target, reason)
            response = await self._open().request(
                method,
                target,
                headers=headers,
                allow_redirects=False,
                proxy=self._network().proxy or None,
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
            target = following
        else:
            raise EgressRefused(f"{target.host} redirects without end.")
        async with response:
            yield response

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _check(self, url: URL, reason: str) -> None:
        if self._network().offline:
            raise EgressRefused("Moat is set to offline: no connection leaves this machine.")
        if url.scheme not in ("http", "https"):
            raise EgressRefused(f"Addresses of the kind '{url.scheme}' are never opened.")
        if (_host(url), reason) not in self._allowed:
            raise EgressRefused(f"{_host(url)} is not allowed for: {reason}.")

    def _record(self, url: URL, reason: str, response: aiohttp.ClientResponse) -> None:
        size = response.content_length or 0
        use = Use(time.time(), _host(url), reason, response.status, size)
        self.uses.set((*self.uses.get(), replace(use))[-KEPT_USES:])

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            context = ssl.create_default_context()
            extra = self._network().extra_ca
            if extra and Path(extra).exists():
                context.load_verify_locations(extra)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=context),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session


def _host(url: URL) -> str:
    return f"{url.host}:{url.port}"
