"""Listening: loopback on both address families, the next free port if the wanted one is taken."""

import errno
import socket
from dataclasses import dataclass

from aiohttp import web

from server.errors import PortTaken

TRIES = 100
BACKLOG = 1024
SHUTDOWN_S = 0.5


@dataclass(frozen=True, slots=True)
class Listening:
    port: int
    hosts: frozenset[str]
    """Every Host header that names this listener."""


class Listener:
    """An aiohttp application on its sockets."""

    def __init__(self, app: web.Application) -> None:
        self._runner = web.AppRunner(
            app,
            handler_cancellation=True,
            access_log=None,
            shutdown_timeout=SHUTDOWN_S,
            max_line_size=16 * 1024,
            max_field_size=16 * 1024,
        )

    async def open(self, port: int, *, everywhere: bool = False) -> Listening:
        sockets = bind(port, everywhere=everywhere)
        await self._runner.setup()
        for one in sockets:
            await web.SockSite(self._runner, one, backlog=BACKLOG).start()
        found: int = sockets[0].getsockname()[1]
        return Listening(found, _host_names(found, sockets, everywhere=everywhere))

    async def close(self) -> None:
        await self._runner.cleanup()


def bind(port: int, *, everywhere: bool) -> list[socket.socket]:
    """Sockets on the wanted port, else on the next free one; port 0 takes any."""
    candidates = [0] if port == 0 else [*range(port, min(port + TRIES, 65536)), 0]
    for candidate in candidates:
        sockets = _bind_both(candidate, everywhere=everywhere)
        if sockets:
            return sockets
    raise PortTaken(f"No free port was found from {port} on.")


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
    one = socket.socket(family, socket.SOCK_STREAM)
    if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    try:
        one.bind((host, port))
        one.listen(BACKLOG)
    except OSError as error:
        one.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return None
        raise
    one.setblocking(False)  # noqa: FBT003
    return one


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
        names |= {f"{address}:{port}" for address in _own_addresses()}
    return frozenset(names)


def _own_addresses() -> set[str]:
    name = socket.gethostname()
    found = {name.lower()}
    try:
        found |= {str(entry[4][0]) for entry in socket.getaddrinfo(name, None, socket.AF_INET)}
    except OSError:
        return found
    return found
