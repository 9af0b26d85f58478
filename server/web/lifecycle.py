"""Opens and closes the public server, and follows changes of its settings."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_network
from pathlib import Path

from server import tasks
from server.errors import AppError, PortTaken, describe_causes
from server.face.core import Knock, ServerStatus
from server.observe import Recent, Value
from server.protocols.base import Endpoint
from server.sentences import Sentence, in_a_row
from server.settings import ServerSettings
from server.sizes import MB
from server.tasks import whole
from server.web.app import Site, create_app
from server.web.guard import Gate, Guard
from server.web.listener import SHUTDOWN_S, Listener, who_listens
from server.web.tls import NOWHERE, Secure, Secured

log = logging.getLogger(__name__)

KEPT_KNOCKS = 40
"""How many of the last requests at the gate are remembered, for the window."""
LONGEST_ANSWER_S = 3600.0
"""How many seconds an old listener stays open for the answers under way."""
NOBODYS_KEY = secrets.token_urlsafe(32)
"""The key while the right one is not known yet, so that every request is refused."""


class Serving:
    """The public server. Starts, stops and changes of settings run one after the other."""

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
        self._listening = NOWHERE
        self._opened_with = ServerSettings()
        self._asked_port: int | None = None
        """The port given to `start`, which must then be free. It overrides the setting.

        None: the setting counts. 0: any free port, until another port is set.
        """
        self._found_port = 0
        """The port that was in use before a restart, if `start` was given port 0; else 0."""
        self._secure = Secure(https_folder)
        self._secured = Secured()
        self._key = ""
        self._turn = asyncio.Lock()
        self._draining: set[asyncio.Task[None]] = set()
        self._under_way: asyncio.Timeout | None = None
        self._stops = 0
        self._knocks: Recent[Knock] = Recent(
            KEPT_KNOCKS, lambda knock: (knock.origin, knock.method, knock.client, knock.outcome)
        )
        self.knocks = self._knocks.value

    async def start(self, port: int | None = None) -> None:
        await self._in_turn(lambda: self._start(port))

    async def stop(self) -> None:
        self._stops += 1
        if self._under_way is not None and self._under_way.when() is None:
            self._under_way.reschedule(0)
        async with self._turn:
            await asyncio.gather(*map(tasks.stop, tuple(self._draining)))
            await self._close()
            self.status.set(ServerStatus("stopped"))

    @property
    def is_settled(self) -> bool:
        """Whether the server runs with the current settings, or does not run."""
        lacks_key = self._asks_for_key() and not self._key
        moves = self._needs_new_socket()
        return self._listener is None or not (lacks_key or moves)

    async def follow(self) -> None:
        """Applies the current settings, with new sockets if needed."""
        await self._in_turn(self._follow)

    async def _in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs one job at a time. `stop` cancels the current one and drops those that wait."""
        stops = self._stops
        async with self._turn:
            if stops != self._stops:
                return
            try:
                async with asyncio.timeout(None) as self._under_way:
                    await work()
            except TimeoutError:
                if stops == self._stops:
                    raise
            finally:
                self._under_way = None

    async def _start(self, port: int | None, found_port: int = 0) -> None:
        if self._listener is not None:
            return
        self.status.set(ServerStatus("starting"))
        self._asked_port = port
        self._found_port = found_port
        try:
            await self._open()
        except (AppError, OSError) as error:
            await self._close()
            self.status.set(_explain_failure(error))
            log.exception("The server cannot listen")
        except BaseException:
            await self._close()
            self.status.set(ServerStatus("stopped"))
            raise

    async def _follow(self) -> None:
        """Applies the settings. Leaving the network does not wait for the keyring."""
        if self._listener is None:
            return
        if not self._reaches_out or self._settings().listen == "network":
            await self._learn_key()
        if self._needs_new_socket():
            found_port = self._listening.port if self._asked_port == 0 else 0
            await self._retire()
            await self._close()
            await self._start(self._asked_port, found_port)

    def _needs_new_socket(self) -> bool:
        after = self._settings()
        if self._asked_port:
            after = after.model_copy(update={"port": self._opened_with.port})
        return needs_new_socket(self._opened_with, after)

    async def _retire(self) -> None:
        """Frees the ports for another listener. The answers under way go on to their end."""
        listener, self._listener = self._listener, None
        assert listener is not None
        await whole(listener.stop_listening(), "free the ports")
        draining = tasks.spawn(_drain(listener), "drain the old listener")
        self._draining.add(draining)
        draining.add_done_callback(self._draining.discard)

    async def _close(self) -> None:
        await whole(self._close_all(), "close the server")

    async def _close_all(self) -> None:
        """Closes everything. Forgets the key last: until then, somebody may still be connected."""
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.close()
        await self._secure.close()
        self._secured = Secured()
        self._listening = NOWHERE
        self._key = ""

    async def _learn_key(self) -> None:
        """Reads the access key if requests need it, or if the settings open the network."""
        needed = self._asks_for_key() or self._settings().listen == "network"
        if needed and not self._key:
            self._key = await self._access_key()

    def _asks_for_key(self) -> bool:
        """Whether requests need a key: by the settings, or because other machines can connect."""
        settings = self._settings()
        return settings.require_key or bool(settings.proxies) or self._reaches_out

    @property
    def _reaches_out(self) -> bool:
        """Whether other machines can connect to the sockets that are open now."""
        return self._listening.everywhere or self._secured.listening.everywhere

    def _wanted_port(self, before: ServerSettings, after: ServerSettings) -> int:
        is_set = bool(self._found_port) and before.port != after.port
        if self._asked_port is None or (self._asked_port == 0 and is_set):
            return after.port
        return self._asked_port or self._found_port

    async def _open(self) -> None:
        await self._learn_key()
        # Read after the wait: they may have changed.
        before, settings = self._opened_with, self._settings()
        self._opened_with = settings
        wanted = self._wanted_port(before, settings)
        guard = Guard(self._gate, self._note_knock, self._knocks.add)
        app = create_app(self._endpoints, self._site, guard, settings.max_body_mb * MB)
        self._listener = Listener(app)
        is_network = settings.listen == "network"
        try:
            self._listening = await self._listener.open(
                wanted,
                everywhere=is_network and settings.plain_network,
                exact=bool(self._asked_port),
            )
        except PortTaken as error:
            raise PortTaken(
                Sentence("Port {0} is taken{1}.", wanted, await _holder(wanted))
            ) from error
        port = self._listening.port
        note = await _explain_port(wanted, port, "Moat")
        if settings.https or is_network:
            secure_port = settings.https_port if wanted else 0
            note = in_a_row((note, await self._open_secure(self._listener, secure_port)))
        secured = self._secured
        self.status.set(
            ServerStatus(
                "ready",
                f"http://127.0.0.1:{port}",
                port_note=note,
                secure_address=secured.address,
                certificate=secured.certificate,
                trust=secured.trust,
                network_address=secured.network_address or self._listening.network_address,
            )
        )
        log.info("Listening on http://127.0.0.1:%d. %s", port, note)

    async def _open_secure(self, listener: Listener, wanted: int) -> str:
        """Opens HTTPS. Returns a notice for the user; may be empty. If it fails, HTTP goes on."""
        try:
            self._secured = await self._secure.open(listener, wanted, self._settings())
        except (AppError, ImportError, OSError, ValueError) as error:
            log.exception("HTTPS cannot be served")
            why = str(error) if isinstance(error, AppError) else Sentence("The log says more.")
            return Sentence("HTTPS cannot be served: {0}", why)
        return await _explain_port(wanted, self._secured.listening.port, "HTTPS")

    def _gate(self) -> Gate:
        settings = self._settings()
        ports = {self._listening.port, self._secured.listening.port} - {0}
        named = {f"{name}:{port}" for name in settings.host_names for port in ports}
        named |= {*settings.host_names, *self._secured.listening.hosts}
        credentials = tuple(
            endpoint.path for endpoint in self._endpoints if endpoint.takes_credentials
        )
        hosts = self._listening.hosts | named
        forms = frozenset(endpoint.path for endpoint in self._endpoints if endpoint.takes_form)
        key = (self._key or NOBODYS_KEY) if self._asks_for_key() else None
        origins = frozenset(settings.origins)
        proxies = tuple(map(ip_network, settings.proxies))
        return Gate(hosts, origins, key, credentials, forms, self._site.name_of, proxies)

    def _note_knock(self, origin: str, method: str) -> None:
        log.warning("A page at %s was turned away (%s); allow it in the settings", origin, method)


async def _drain(listener: Listener) -> None:
    try:
        await listener.drain(LONGEST_ANSWER_S)
    except asyncio.CancelledError:
        await whole(listener.drain(SHUTDOWN_S), "end the last answers")
        raise


def needs_new_socket(before: ServerSettings, after: ServerSettings) -> bool:
    fields = ["port", "listen", "max_body_mb", "https", "https_port", "plain_network"]
    fields += ["certificate", "certificate_key"]
    if after.listen == "network":
        fields.append("host_names")  # the certificate has them
    return any(getattr(before, name) != getattr(after, name) for name in fields)


def _explain_failure(error: Exception) -> ServerStatus:
    if isinstance(error, AppError):
        reason, details = str(error), error.details
    else:
        reason, details = Sentence("The system refused."), "\n".join(describe_causes(error))
    return ServerStatus(
        "failed", reason=Sentence("The server cannot listen: {0}", reason), details=details
    )


async def _explain_port(wanted: int, port: int, what: str) -> str:
    if wanted in (0, port):
        return ""
    return Sentence(
        "Port {0} is taken{1}; {2} uses {3}.", wanted, await _holder(wanted), what, port
    )


async def _holder(port: int) -> str:
    """Returns " by" and the program on the port, to end a sentence; empty if it is unknown."""
    occupant = await asyncio.to_thread(who_listens, port)
    return Sentence(" by {0}", occupant) if occupant else ""
