"""HTTPS beside HTTP, on this machine only: its sockets, and how a person trusts it."""

import asyncio
import logging
import shlex
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.settings import ServerSettings
from server.system.lazy import Late
from server.tasks import spawn, stop
from server.web.listener import Listener, Listening

AUTHORITY = "moat-localhost.crt"
BY_HAND = "Firefox: Settings, Privacy, View Certificates, Authorities, Import."
KEYCHAIN = "~/Library/Keychains/login.keychain-db"
NICKNAME = "Moat on localhost"


def told(settings: ServerSettings, folder: Path) -> Iterator[tuple[str, str]]:
    """Where HTTPS is, and what is to be done for it; nothing while it is switched off."""
    if not settings.https:
        return
    text = f"on https://localhost:{settings.https_port}, or the next free port"
    authority = folder / AUTHORITY
    if authority.exists():
        yield text, f"Browsers must trust {authority} once: {command(authority)} {BY_HAND}"
    else:
        yield text, "Its certificate is made when Moat serves next."


def command(authority: Path, system: str = sys.platform) -> str:
    """One line for a terminal, without administrator's rights. Firefox imports by hand."""
    if system == "darwin":
        place = shlex.quote(str(authority))
        return f"security add-trusted-cert -r trustRoot -p ssl -k {KEYCHAIN} {place}"
    if system == "win32":
        return f'certutil -user -addstore Root "{authority}"'
    place = shlex.quote(str(authority))
    return f'certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n "{NICKNAME}" -i {place}'


log = logging.getLogger(__name__)

LOOK_S = 6 * 3600.0
NOWHERE = Listening(0, frozenset())
certificates = Late("server.web.certificates")


@dataclass(frozen=True, slots=True)
class Secured:
    """Where HTTPS is, which certificate must be trusted for it, and how."""

    listening: Listening = NOWHERE
    certificate: str = ""
    trust: str = ""

    @property
    def address(self) -> str:
        """By name: that is what pages and certificates agree on."""
        return f"https://localhost:{self.listening.port}" if self.listening.port else ""


class Secure:
    def __init__(self, folder: Path) -> None:
        self._certificates: Any = None
        self._folder = folder
        self._renewing: asyncio.Task[None] | None = None

    async def open(self, listener: Listener, port: int) -> Secured:
        self._certificates = certificates.Certificates(self._folder)
        pair = await asyncio.to_thread(self._certificates.ready)
        context = _context(pair)
        listening = await listener.open(port, context=context)
        self._renewing = spawn(self._renew(context, pair.until), "certificate")
        authority = pair.authority
        return Secured(listening, str(authority), command(authority))

    async def close(self) -> None:
        await stop(self._renewing)
        self._renewing = None

    async def _renew(self, context: ssl.SSLContext, until: object) -> None:
        """New connections get the new certificate; those that are open keep theirs."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                pair = await asyncio.to_thread(self._certificates.ready)
            except OSError as error:
                log.warning("The certificate for localhost cannot be renewed: %s", error.strerror)
                continue
            if pair.until != until:
                until = pair.until
                context.load_cert_chain(pair.chain, pair.key)


def _context(pair: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(pair.chain, pair.key)
    return context
