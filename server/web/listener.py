"""Opens the server's sockets, for IPv4 and IPv6, on the wanted port or the next free one.

It also finds the program that uses a port, so that a person knows what to close.
"""

import errno
import itertools
import socket
import ssl
from dataclasses import dataclass

import psutil
from aiohttp import web

from server.errors import PortTaken
from server.sentences import Sentence
from server.tasks import whole

TRIES = 100
"""How many ports are tried before any free one is taken."""
BACKLOG = 1024
SHUTDOWN_S = 0.5
"""How many seconds answers have to end when the server closes."""
IDLE_S = 20.0
"""Seconds that a connection may take for a request's head, and may stay idle between requests."""
LINGER_S = 2.0
"""Seconds in which the rest of a body is still read after the answer was sent."""


@dataclass(frozen=True, slots=True)
class Listening:
    port: int
    hosts: frozenset[str]
    """The values of the Host header that mean this listener."""
    everywhere: bool = False
    """Whether other machines can connect."""

    @property
    def network_address(self) -> str:
        """The URL for other machines, with this machine's name; empty if they cannot connect."""
        name = socket.gethostname().lower()
        return f"http://{name}:{self.port}" if self.everywhere else ""


class Listener:
    """An aiohttp application and its sockets."""

    def __init__(self, app: web.Application) -> None:
        self._runner = web.AppRunner(
            app,
            handler_cancellation=True,
            access_log=None,
            shutdown_timeout=SHUTDOWN_S,
            keepalive_timeout=IDLE_S,
            lingering_time=LINGER_S,
            # aiohttp unpacks without a pause, even what was refused. server.web.body does better.
            auto_decompress=False,
            max_line_size=16 * 1024,
            max_field_size=16 * 1024,
        )

    async def open(
        self,
        port: int,
        *,
        everywhere: bool = False,
        exact: bool = False,
        context: ssl.SSLContext | None = None,
    ) -> Listening:
        """Opens a port; can be called again for more. With a `context`, this port speaks TLS.

        `exact` takes no other port than the wanted one. Raises PortTaken. A cancellation takes
        effect only at the end, because a socket could stay open otherwise.
        """
        sockets = bind(port, everywhere=everywhere, exact=exact)
        return await whole(self._open(sockets, everywhere=everywhere, context=context), "open")

    async def _open(
        self, sockets: list[socket.socket], *, everywhere: bool, context: ssl.SSLContext | None
    ) -> Listening:
        if self._runner.server is None:
            await self._runner.setup()
        for bound in sockets:
            site = web.SockSite(self._runner, bound, backlog=BACKLOG, ssl_context=context)
            await site.start()
        found: int = sockets[0].getsockname()[1]
        names = _host_names(found, sockets, everywhere=everywhere)
        return Listening(found, names, everywhere)

    async def stop_listening(self) -> None:
        """Closes the sockets that listen. The answers under way go on."""
        for site in tuple(self._runner.sites):
            await site.stop()

    async def drain(self, within_s: float) -> None:
        """Waits until the answers under way have ended, at most `within_s` seconds, and closes."""
        self._runner._shutdown_timeout = within_s
        await self._runner.cleanup()

    async def close(self) -> None:
        await self._runner.cleanup()


def bind(port: int, *, everywhere: bool, exact: bool = False) -> list[socket.socket]:
    """Binds the wanted port, or else the next free one. Port 0 means any port. Raises PortTaken."""
    if exact:
        if sockets := _bind_both(port, everywhere=everywhere):
            return sockets
        raise PortTaken(Sentence("Port {0} is taken.", port))
    candidates = [0] if port == 0 else [*range(port, min(port + TRIES, 65536)), 0]
    for candidate in candidates:
        sockets = _bind_both(candidate, everywhere=everywhere)
        if sockets:
            return sockets
    raise PortTaken(Sentence("No free port was found from {0} on.", port))


def _bind_both(port: int, *, everywhere: bool) -> list[socket.socket]:
    first = _bind_one(socket.AF_INET, "0.0.0.0" if everywhere else "127.0.0.1", port)
    if first is None:
        return []
    port = first.getsockname()[1]
    if not _has_ipv6():
        return [first]
    second = _bind_one(socket.AF_INET6, "::" if everywhere else "::1", port)
    if second is None:
        first.close()
        return []
    return [first, second]


def _bind_one(family: socket.AddressFamily, host: str, port: int) -> socket.socket | None:
    bound = socket.socket(family, socket.SOCK_STREAM)
    if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    try:
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return None
        raise
    bound.setblocking(False)  # noqa: FBT003
    return bound


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _host_names(port: int, sockets: list[socket.socket], *, everywhere: bool) -> frozenset[str]:
    names = {f"127.0.0.1:{port}", f"localhost:{port}"}
    if len(sockets) > 1:
        names.add(f"[::1]:{port}")
    if everywhere:
        names |= {f"{address}:{port}" for address in own_names()}
    return frozenset(names)


def own_names() -> set[str]:
    """Returns this machine's name and its IPv4 addresses."""
    entries = itertools.chain.from_iterable(psutil.net_if_addrs().values())
    addresses = {entry.address for entry in entries if entry.family == socket.AF_INET}
    return {socket.gethostname().lower(), *addresses}


UNKNOWN = Sentence("another program")


@dataclass(frozen=True, slots=True)
class Occupant:
    name: str
    pid: int = 0

    def __str__(self) -> str:
        return Sentence("{0} (process {1})", self.name, self.pid) if self.pid else self.name


def who_listens(port: int) -> Occupant | None:
    """Returns the program that listens on the port, as far as the system shows it; else None."""
    try:
        found = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return _knock(port)
    pids = (
        connection.pid
        for connection in found
        if connection.status == psutil.CONN_LISTEN
        and connection.laddr
        and connection.laddr.port == port
    )
    for pid in pids:
        return Occupant(UNKNOWN) if pid is None else Occupant(_program(pid), pid)
    return None


def _program(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return UNKNOWN


def _knock(port: int) -> Occupant | None:
    with socket.socket() as knocking:
        knocking.settimeout(1)
        answered = knocking.connect_ex(("127.0.0.1", port)) == 0
    return Occupant(UNKNOWN) if answered else None
