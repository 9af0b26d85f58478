"""HTTPS: opens its sockets, chooses and renews the certificate, and explains how to trust it."""

import asyncio
import logging
import shlex
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from server.errors import AppError
from server.settings import ServerSettings
from server.system.lazy import Late
from server.tasks import spawn, stop
from server.web.listener import Listener, Listening, own_names

AUTHORITY = "moat-localhost.crt"
NETWORK_AUTHORITY = "moat-network.crt"
BY_HAND = "Firefox: Settings, Privacy, View Certificates, Authorities, Import."
KEYCHAIN = "~/Library/Keychains/login.keychain-db"
NICKNAME = "Moat on localhost"


def describe(settings: ServerSettings, folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the address of HTTPS and what a person must do for it; nothing if it is off."""
    is_network = settings.listen == "network"
    if not (settings.https or is_network):
        return
    text = f"on https://localhost:{settings.https_port}, or the next free port"
    if settings.certificate:
        yield text, f"It shows the certificate {settings.certificate}."
        return
    authority = folder / (NETWORK_AUTHORITY if is_network else AUTHORITY)
    if authority.exists():
        yield text, f"Browsers must trust {authority} once: {command(authority)} {BY_HAND}"
    else:
        yield text, "Its certificate is made when Moat serves next."


def command(authority: Path, system: str = sys.platform) -> str:
    """Returns the command to trust the authority, without administrator rights. Not for Firefox."""
    if system == "darwin":
        place = shlex.quote(str(authority))
        return f"security add-trusted-cert -r trustRoot -p ssl -k {KEYCHAIN} {place}"
    if system == "win32":
        return f'certutil -user -addstore Root "{authority}"'
    place = shlex.quote(str(authority))
    return f'certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n "{NICKNAME}" -i {place}'


log = logging.getLogger(__name__)

LOOK_S = 6 * 3600.0
"""Seconds between two checks of our own certificate."""
LOOK_GIVEN_S = 60.0
"""Seconds between two checks of a certificate from the settings: it can be replaced at any time."""
NOWHERE = Listening(0, frozenset())
certificates = Late("server.web.certificates")


@dataclass(frozen=True, slots=True)
class Secured:
    """The state of HTTPS: where it listens, which certificate must be trusted, and how."""

    listening: Listening = NOWHERE
    certificate: str = ""
    trust: str = ""

    @property
    def address(self) -> str:
        """The URL on this machine, with the name localhost, which is in the certificate."""
        return f"https://localhost:{self.listening.port}" if self.listening.port else ""

    @property
    def network_address(self) -> str:
        return self.listening.network_address.replace("http://", "https://", 1)


@dataclass(frozen=True, slots=True)
class Given:
    """A certificate from the settings. `until` has the change times of its files, not an expiry."""

    chain: Path
    key: Path
    authority: Path | None = None
    until: object = None

    def ready(self) -> "Given":
        try:
            _context(self)
            changed = (self.chain.stat().st_mtime_ns, self.key.stat().st_mtime_ns)
        except OSError as error:
            why = error.strerror or str(error)
            files = f"{self.chain} with the key {self.key}"
            raise AppError(f"The certificate {files} cannot be used: {why}.") from error
        return replace(self, until=changed)


def _source(settings: ServerSettings, folder: Path) -> Any:
    """Returns the certificate from the settings, or else our own for the names that clients use."""
    if settings.certificate:
        chain = Path(settings.certificate).expanduser()
        key = Path(settings.certificate_key).expanduser() if settings.certificate_key else chain
        return Given(chain, key)
    names = own_names() if settings.listen == "network" else set()
    if names:
        names |= {name.rpartition(":")[0] or name for name in settings.host_names if name[0] != "["}
    return certificates.Certificates(folder, tuple(sorted(names)))


class Secure:
    """HTTPS on a listener. Renews the certificate while it is open."""

    def __init__(self, folder: Path) -> None:
        self._certificates: Any = None
        self._folder = folder
        self._renewing: asyncio.Task[None] | None = None

    async def open(self, listener: Listener, port: int, settings: ServerSettings) -> Secured:
        self._certificates = _source(settings, self._folder)
        pair = await asyncio.to_thread(self._certificates.ready)
        context = _context(pair)
        everywhere = settings.listen == "network"
        listening = await listener.open(port, everywhere=everywhere, context=context)
        look_s = LOOK_GIVEN_S if settings.certificate else LOOK_S
        self._renewing = spawn(self._renew(context, pair.until, look_s), "certificate")
        authority = pair.authority
        if authority is None:
            return Secured(listening)
        return Secured(listening, str(authority), command(authority))

    async def close(self) -> None:
        await stop(self._renewing)
        self._renewing = None

    async def _renew(self, context: ssl.SSLContext, until: object, look_s: float) -> None:
        """Looks for a new certificate from time to time. Open connections keep the old one."""
        while True:
            await asyncio.sleep(look_s)
            try:
                pair = await asyncio.to_thread(self._certificates.ready)
                if pair.until != until:
                    # The files may be replaced just now. Then the next look loads them.
                    context.load_cert_chain(pair.chain, pair.key)
                    until = pair.until
            except (AppError, OSError) as error:
                log.warning("The certificate cannot be renewed: %s", error)


def _context(pair: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(pair.chain, pair.key)
    return context
