"""How a person makes the system trust the certificate for localhost, by the kind of system."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from server.settings import ServerSettings

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
