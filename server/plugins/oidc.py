"""Who signs a person in for a plugin: its provider, as plugin.json names it."""

from dataclasses import dataclass

from yarl import URL

from server.data.findings import Findings, Map, value_at
from server.egress import is_address

ACCESS = "oidc-access-token"
REFRESH = "oidc-refresh-token"
EXPIRES = "oidc-expires-at"
TOKENS = (ACCESS, REFRESH, EXPIRES)
USUAL_SCOPE = "openid"


@dataclass(frozen=True, slots=True)
class Provider:
    """With an `issuer` the two addresses are asked of it; else they are given."""

    client_id: str
    issuer: str = ""
    authorization_url: str = ""
    token_url: str = ""
    scope: str = USUAL_SCOPE

    @property
    def hosts(self) -> tuple[str, ...]:
        """What is reached by us; the page to sign in on is opened by the browser."""
        named = (self.issuer, self.token_url)
        return tuple(dict.fromkeys(str(URL(one).origin()) for one in named if one))


def read_provider(auth: Map, findings: Findings) -> Provider | None:
    """None when plugin.json names none: then a token must be pasted."""
    given = {
        key: str(auth[key]).strip()
        for key in ("client_id", "issuer", "authorization_url", "token_url", "scope")
        if auth.get(key)
    }
    has_addresses = "authorization_url" in given and "token_url" in given
    if "client_id" not in given or not ("issuer" in given or has_addresses):
        return None
    for key in ("issuer", "authorization_url", "token_url"):
        if key in given and not is_safe(given[key]):
            message = f"'{key}' must be an https address (http only on this machine)."
            findings.error(value_at(auth, key), "oidc", message)
            return None
    return Provider(**given)


def is_safe(address: str) -> bool:
    """Tokens travel only encrypted, or not at all."""
    if not is_address(address):
        return False
    url = URL(address)
    is_here = url.host in ("127.0.0.1", "::1", "localhost")
    return url.scheme == "https" or is_here
