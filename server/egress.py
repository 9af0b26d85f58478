"""The only way out: opens, checks and records every outgoing connection."""

import asyncio
import base64
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from server.errors import EgressRefused, RedirectRefused
from server.face.core import Use
from server.observe import Recent, Value
from server.sentences import Sentence
from server.settings import PROXY_FORM, NetworkSettings

PIECE = 64 * 1024


async def read_up_to(response: Any, most: int) -> bytes:
    """Reads the response, at most `most` bytes. A single `read` returns only what has arrived."""
    parts, room = [], most
    while room > 0 and (part := await response.content.read(min(room, PIECE))):
        parts.append(part)
        room -= len(part)
    return b"".join(parts)


KEPT_USES = 1000
KEPT_RECENT = 200
MAX_REDIRECTS = 5
MAX_STAYING = 3
MOVED = (301, 302, 303, 307, 308)
READING = ("GET", "HEAD")
CONNECT_S = 30.0
STALL_S = 300.0
Password = Callable[[], Awaitable[str | None]]
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
CREDENTIALS = ("authorization", "cookie", "x-api-key", "proxy-authorization")
_sealed = False
NEVER_BEGUN = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)
"""Errors that happen before a connection exists, so that nothing was sent."""


OWN_ENDINGS = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")
"""Domains that exist only in local networks."""


def seal() -> None:
    """Refuses connections that libraries open themselves from now on; see `server.door`."""
    global _sealed
    _sealed = True


def is_sealed() -> bool:
    return _sealed


class LeadsToPrivateAddress(OSError):
    """A public name leads to an address of this machine or of its network."""


class _Resolver(AbstractResolver):
    """A resolver that leads public names to public addresses only.

    Otherwise the owner of a name could reach this machine and its neighbours through us. The
    connection uses the very addresses that were checked.
    """

    def __init__(self, network: Callable[[], NetworkSettings]) -> None:
        self._network = network
        self._system = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._system.resolve(host, port, family)
        if self._may_be_private(host):
            return found
        public = [one for one in found if not is_private(one["host"])]
        if not public:
            text = f"{host} leads to a private address ({found[0]['host']})"
            raise LeadsToPrivateAddress(None, text)
        return public

    def _may_be_private(self, host: str) -> bool:
        network = self._network()
        name = host.rstrip(".").lower()
        if "." not in name or name == _host_of(network.proxy):
            return True
        known = (*OWN_ENDINGS, *(one.strip(". ").lower() for one in network.own_domains))
        return any(name == one or name.endswith(f".{one}") for one in known if one)

    async def close(self) -> None:
        await self._system.close()


def is_private(address: str) -> bool:
    """Whether an address is local, private or reserved: no public name should lead to it."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None) or found
    return not inner.is_global or inner.is_multicast


def is_near(host: str) -> bool:
    """Whether a name or address belongs to this machine or its network, judged by its form."""
    name = host.strip("[]").rstrip(".").lower()
    if ":" in name or name.replace(".", "").isdigit():
        return is_private(name)
    return "." not in name or name.endswith(tuple(f".{ending}" for ending in OWN_ENDINGS))


def _host_of(address: str) -> str:
    try:
        return (URL(address).host or "").lower()
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as it is sent. A redirect makes a new one from it."""

    method: str
    url: URL
    headers: dict[str, str]
    options: dict[str, Any]

    def sent_on(self, response: aiohttp.ClientResponse) -> "_Asked":
        """Returns the redirected request: without credentials for another host, often as a GET."""
        url = _parsed(response.headers.get("Location", ""), self.url)
        if self.url.scheme == "https" and url.scheme != "https":
            raise RedirectRefused(
                Sentence("{0} redirects to an unencrypted address.", self.url.host)
            )
        headers, options, method = self.headers, self.options, self.method
        if _host(url) != _host(self.url):
            headers = {key: value for key, value in headers.items() if key not in CREDENTIALS}
        is_post = response.status in (301, 302) and method == "POST"
        if is_post or (response.status == 303 and method not in READING):
            method = "GET"
            headers = {key: one for key, one in headers.items() if not key.startswith("content-")}
            options = {key: one for key, one in options.items() if key not in ("data", "json")}
        return replace(self, method=method, url=url, headers=headers, options=options)


class Egress:
    """The way to hosts that are allowed for a reason. Every request is recorded."""

    failures = (aiohttp.ClientError, OSError, TimeoutError)
    """The exceptions that a request raises if the connection fails."""

    def __init__(
        self, network: Callable[[], NetworkSettings], password: Password | None = None
    ) -> None:
        """`password` returns the proxy's password. It is called if the address has a user name."""
        self._network = network
        self._password = password
        self._allowed: set[tuple[str, str]] = set()
        self._storage: set[tuple[str, str]] = set()
        self._staying: set[str] = set()
        self._session: aiohttp.ClientSession | None = None
        self._extra_ca = ""
        self.uses: Value[tuple[Use, ...]] = Value(())
        self._recent: Recent[Use] = Recent(KEPT_RECENT, lambda use: use)
        self.recent = self._recent.value
        """The most recent uses, published at a rate that a window can follow."""

    def allow(
        self, url: str, reason: str, storage: Iterable[str] = (), *, stays: bool = False
    ) -> None:
        """Allows this host (and port) for this reason. The user has decided so.

        The host may redirect to the domains in `storage`, which are never contacted directly. With
        `stays`, no host may redirect to another for this reason, nor make us repeat a change.
        """
        self._allowed.add((_host(_parsed(url)), reason))
        self._storage |= {(domain, reason) for domain in storage}
        if stays:
            self._staying.add(reason)

    def forget(self, reason: str) -> None:
        self._allowed = {entry for entry in self._allowed if entry[1] != reason}
        self._storage = {entry for entry in self._storage if entry[1] != reason}
        self._staying.discard(reason)

    @asynccontextmanager
    async def request(
        self, method: str, url: str, reason: str, *, stall_s: float = STALL_S, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Sends a request to an allowed host. Follows redirects only to allowed hosts.

        It may take any time, but not stay silent for longer than `stall_s` seconds. The option
        `direct` bypasses the proxy, for requests that must not leave this machine.
        """
        given = options.pop("headers", None) or {}
        options["timeout"] = aiohttp.ClientTimeout(
            total=None, sock_connect=min(stall_s, CONNECT_S), sock_read=stall_s
        )
        headers = {key.lower(): value for key, value in given.items()}
        asked = _Asked(method.upper(), _parsed(url), headers, options)
        source = ""
        for _ in range((MAX_STAYING if reason in self._staying else MAX_REDIRECTS) + 1):
            self._check(asked.url, reason, source=source)
            response = await self._send(asked, reason)
            if response.status not in MOVED:
                break
            response.release()
            following = asked.sent_on(response)
            if reason in self._staying:
                _check_stays(asked, following)
            asked, source = following, asked.url.host or ""
        else:
            raise RedirectRefused(Sentence("{0} redirects without end.", asked.url.host))
        async with response:
            yield response

    async def tunnel(self, host: str, port: int, reason: str) -> Ends:
        """Opens a raw connection to an allowed host. Its content is not inspected."""
        name = f"[{host}]" if ":" in host else host
        url = _parsed(f"https://{name}:{port}")
        self._check(url, reason)
        proxy = await self._proxy()
        async with asyncio.timeout(CONNECT_S):
            if proxy is None:
                ends = await self._directly(host, port)
            else:
                ends = await self._through(proxy, f"{name}:{port}")
        self._record(url, reason, 200)
        return ends

    async def _directly(self, host: str, port: int) -> Ends:
        """Connects to the first reachable address of a host; a public name has only public ones."""
        try:
            addresses = [str(ipaddress.ip_address(host.partition("%")[0]))]
        except ValueError:
            addresses = await self._addresses(host, port)
        for address in addresses[:-1]:
            with suppress(OSError):
                return await asyncio.open_connection(address, port)
        return await asyncio.open_connection(addresses[-1], port)

    async def _addresses(self, host: str, port: int) -> list[str]:
        resolver = _Resolver(self._network)
        try:
            found = await resolver.resolve(host, port, socket.AddressFamily.AF_UNSPEC)
        except LeadsToPrivateAddress:
            raise EgressRefused(Sentence("{0} leads to a private address.", host)) from None
        return [address["host"] for address in found]

    async def _through(self, proxy: URL, target: str) -> Ends:
        context = _trusting(self._network().extra_ca) if proxy.scheme == "https" else None
        ends = await asyncio.open_connection(proxy.host, proxy.port, ssl=context)
        reader, writer = ends
        said = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.user:
            token = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
            said.append(f"Proxy-Authorization: Basic {token}")
        writer.write("\r\n".join([*said, "", ""]).encode())
        try:
            answer = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            answer = b""
        except BaseException:
            writer.close()
            raise
        if answer.split(b" ", 2)[1:2] != [b"200"]:
            writer.close()
            raise EgressRefused(Sentence("The proxy does not connect to {0}.", target))
        return ends

    async def _send(self, asked: _Asked, reason: str) -> aiohttp.ClientResponse:
        """Sends a request and records it, even if no response comes."""
        options = {key: value for key, value in asked.options.items() if key != "direct"}
        proxy = None if asked.options.get("direct") else await self._proxy()
        session = await self._open()
        try:
            response = await session.request(
                asked.method,
                asked.url,
                headers=asked.headers,
                allow_redirects=False,
                proxy=proxy,
                **options,
            )
        except NEVER_BEGUN:
            raise
        except ValueError:
            raise EgressRefused(
                Sentence("A request that cannot be written is never sent.")
            ) from None
        except BaseException:
            self._record(asked.url, reason)
            raise
        self._record(asked.url, reason, response.status, response.content_length or 0)
        return response

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _proxy(self) -> URL | None:
        """Returns the proxy. Raises if its address is invalid: there is a reason for a proxy."""
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

    def _check(self, url: URL, reason: str, *, source: str = "") -> None:
        """Raises unless this address may be opened. `source` is the host that redirects to it."""
        if self._network().offline:
            raise EgressRefused(
                Sentence(
                    "Offline mode is on, so Moat opens no outgoing connection. "
                    "Turn it off in Settings → Network."
                )
            )
        if url.scheme not in ("http", "https"):
            raise EgressRefused(
                Sentence("Addresses of the kind '{0}' are never opened.", url.scheme)
            )
        if (_host(url), reason) in self._allowed:
            return
        if not source:
            raise EgressRefused(Sentence("{0} is not allowed for: {1}.", _host(url), reason))
        if not self._is_storage(url.host or "", reason):
            raise EgressRefused(
                Sentence(
                    "{0} redirects to {1}, which is not allowed for: {2}.",
                    source,
                    _host(url),
                    reason,
                )
            )

    def _is_storage(self, host: str, reason: str) -> bool:
        return any(
            why == reason and (host == domain or host.endswith("." + domain))
            for domain, why in self._storage
        )

    def _record(self, url: URL, reason: str, status: int = 0, size: int = 0) -> None:
        """Records a connection. Status 0 means that no response came."""
        use = Use(time.time(), _host(url), reason, status, size)
        self.uses.set((*self.uses.get(), use)[-KEPT_USES:])
        self._recent.add(use)

    async def _open(self) -> aiohttp.ClientSession:
        """Returns the session, or a new one if the extra certificate authority has changed."""
        extra = self._network().extra_ca
        if self._extra_ca != extra:
            await self.close()
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    ssl=_trusting(extra), resolver=_Resolver(self._network)
                ),
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
            raise EgressRefused(
                Sentence("The certificate {0} cannot be read: {1}.", extra_ca, why)
            ) from error
    return context


def is_address(text: str) -> bool:
    """Whether the text is an address that a connection could be opened to."""
    try:
        url = _parsed(text)
    except EgressRefused:
        return False
    return url.scheme in ("http", "https") and bool(url.host) and " " not in str(url.host)


def _parsed(address: str, base: URL | None = None) -> URL:
    try:
        url = base.join(URL(address)) if base is not None else URL(address)
        _host(url)
    except (ValueError, IndexError):
        raise EgressRefused(Sentence("An address that cannot be read is never opened.")) from None
    return url


def _check_stays(asked: _Asked, following: _Asked) -> None:
    """Raises for redirects if a person has allowed one request to one host."""
    if _host(following.url) != _host(asked.url):
        raise RedirectRefused(Sentence("{0} redirects to another host.", asked.url.host))
    if following.method not in READING:
        raise RedirectRefused(
            Sentence("{0} redirects a change: it is not sent a second time.", asked.url.host)
        )


def _host(url: URL) -> str:
    return f"{url.host}:{url.port}"
