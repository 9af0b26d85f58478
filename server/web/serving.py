"""The public side of the server: opened and closed on demand, its gate made from the settings."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from server.errors import AppError
from server.face import Knock, ServerStatus
from server.observe import Recent, Value
from server.occupied import who_listens
from server.protocols.base import Endpoint
from server.settings import ServerSettings
from server.web.app import Site, create_app
from server.web.guard import Gate, Guard
from server.web.secure import Secure, Secured
from server.web.site import Listener, Listening

log = logging.getLogger(__name__)

MB = 1024 * 1024
KEPT_KNOCKS = 40


class Serving:
    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        site: Site,
        settings: Callable[[], ServerSettings],
        access_key: Callable[[], Awaitable[str]],
        https_folder: Path,
    ) -> None:
        self.status: Value[ServerStatus] = Value(ServerStatus())
        self._endpoints = tuple(endpoints)
        self._site = site
        self._settings = settings
        self._access_key = access_key
        self._listener: Listener | None = None
        self._listening = Listening(0, frozenset())
        self._secure = Secure(https_folder)
        self._secured = Secured()
        self._key: str | None = None
        self._knocks: Recent[Knock] = Recent(
            KEPT_KNOCKS, lambda one: (one.origin, one.method, one.client, one.outcome)
        )
        self.knocks = self._knocks.value

    async def start(self, port: int | None = None) -> None:
        if self._listener is not None:
            return
        self.status.set(ServerStatus("starting"))
        try:
            await self._open(self._settings().port if port is None else port)
        except (AppError, OSError) as error:
            self._listener = None
            self.status.set(ServerStatus("failed", reason=f"The server cannot listen: {error}"))
            log.exception("The server cannot listen")

    async def stop(self) -> None:
        listener, self._listener = self._listener, None
        await self._secure.close()
        self._secured = Secured()
        if listener is not None:
            await listener.close()
        self.status.set(ServerStatus("stopped"))

    async def renew_key(self) -> None:
        """The key asked for now: always one when other machines can connect."""
        settings = self._settings()
        needed = settings.require_key or settings.listen == "network"
        self._key = await self._access_key() if needed else None

    async def _open(self, wanted: int) -> None:
        settings = self._settings()
        await self.renew_key()
        guard = Guard(self._gate, self._knocked, self._knocks.add)
        app = create_app(self._endpoints, self._site, guard, settings.max_body_mb * MB)
        self._listener = Listener(app)
        everywhere = settings.listen == "network"
        self._listening = await self._listener.open(wanted, everywhere=everywhere)
        port = self._listening.port
        note = await _moved(wanted, port, "Moat")
        if settings.https:
            note = f"{note} {await self._open_secure(self._listener, wanted)}".strip()
        secured = self._secured
        self.status.set(
            ServerStatus(
                "ready",
                f"http://127.0.0.1:{port}",
                port_note=note,
                secure_address=secured.address,
                certificate=secured.certificate,
                trust=secured.trust,
            )
        )
        log.info("Listening on http://127.0.0.1:%d. %s", port, note)

    async def _open_secure(self, listener: Listener, plain: int) -> str:
        """What is to be said of it; without it HTTP goes on."""
        wanted = self._settings().https_port if plain else 0
        try:
            self._secured = await self._secure.open(listener, wanted)
        except (AppError, ImportError, OSError, ValueError) as error:
            log.exception("HTTPS cannot be served")
            return f"HTTPS cannot be served: {error}"
        return await _moved(wanted, self._secured.listening.port, "HTTPS")

    def _gate(self) -> Gate:
        settings = self._settings()
        named = {f"{name.lower()}:{self._listening.port}" for name in settings.host_names}
        named |= self._secured.listening.hosts
        credentials = tuple(one.path for one in self._endpoints if one.takes_credentials)
        hosts = self._listening.hosts | named
        forms = frozenset(one.path for one in self._endpoints if one.takes_form)
        return Gate(hosts, frozenset(settings.origins), self._key, credentials, forms)

    def _knocked(self, origin: str, method: str) -> None:
        log.warning("A page at %s was turned away (%s); allow it in the settings", origin, method)


def needs_new_socket(before: ServerSettings, after: ServerSettings) -> bool:
    fields = ("port", "listen", "max_body_mb", "https", "https_port")
    return any(getattr(before, name) != getattr(after, name) for name in fields)


async def _moved(wanted: int, port: int, what: str) -> str:
    if wanted in (0, port):
        return ""
    occupant = await asyncio.to_thread(who_listens, wanted)
    by = f" by {occupant}" if occupant else ""
    return f"Port {wanted} is taken{by}; {what} uses {port}."
