"""HTTPS beside HTTP, on this machine only: its sockets, and a certificate that never runs out."""

import asyncio
import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.system.lazy import Late
from server.tasks import spawn, stop
from server.web import tls_trust
from server.web.listener import Listener, Listening

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
        return Secured(listening, str(authority), tls_trust.command(authority))

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
