"""Checks every request on every route: host, origin, Sec-Fetch-Site, content type and key."""

import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, Literal

from aiohttp import web
from yarl import URL

from server.errors import AppError, KeyRefused
from server.face.core import Knock
from server.protocols.base import Reply
from server.sentences import Sentence
from server.system.limits import without_halves
from server.web.body import FORM, as_json

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PREFLIGHT_S = "600"
"""How long a browser may remember the answer to a preflight, in seconds."""
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
SCHEME = web.RequestKey("scheme", str)
"""http or https as the client used it, if a trusted proxy reports that."""
HOLDER = web.RequestKey("holder", str)
"""The name of the request's key; empty if no key is needed and no known key was sent."""
ACCESS_KEY = "access-key"
"""The name of the key that the Connect page shows."""
OPEN_PATHS = frozenset({"/health", "/ready"})
"""Paths that need no key."""
OUTCOMES: dict[str, Literal["let in", "origin", "key"]] = {
    "": "let in",
    "origin_not_allowed": "origin",
    "invalid_api_key": "key",
}
EXPOSED = "X-Trace-Id, X-Completion-Id, X-Moat-Warning, Retry-After"
SIGNS_OF_A_BROWSER = ("Origin", "Referer", "Cookie", "Accept-Language")
"""Headers that browsers send by themselves. A page cannot remove all of them from a request."""
BROWSER_NAMES = ("mozilla/", "opera/")
SHELL = "powershell/"
"""PowerShell's User-Agent begins with Mozilla as well. No browser has this text in its own."""
Wording = Callable[[str], Callable[[Exception], Reply] | None]
"""Takes a path. Returns what formats its errors; None: OpenAI's format."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Which requests are allowed: exact hosts with their port, exact origins, and the key."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    key: str | None = None
    """The access key; None if no key is needed."""
    credentials: tuple[str, ...] = ()
    """Paths to which an allowed page may send cookies. Paths below them count too."""
    forms: frozenset[str] = frozenset()
    """Paths that accept a form with a file."""
    name_of: Callable[[str], str | None] = lambda _sent: None
    """Returns the name of a named key; None if it is unknown. Raises KeyRefused if revoked."""
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks of proxies whose X-Forwarded headers are trusted."""

    def takes_credentials(self, path: str) -> bool:
        return any(path == own or path.startswith(f"{own}/") for own in self.credentials)


class Refused(AppError):
    """The guard refused the request. Without a code, the response has no body."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Guard:
    """The middleware that checks every request, and adds the CORS headers to every response."""

    def __init__(
        self,
        gate: Callable[[], Gate],
        knocked: Callable[[str, str], None],
        seen: Callable[[Knock], None] = lambda _knock: None,
    ) -> None:
        self._gate = gate
        self._knocked = knocked
        """Called with the origin and the method of every page that is refused."""
        self._seen = seen
        """Called with every request of a page, and every request that is refused for its key."""

    def install(self, app: web.Application, wording: Wording = lambda _path: None) -> None:
        app.middlewares.insert(0, self._middleware(wording))
        app.on_response_prepare.append(self._add_headers)

    def _middleware(self, wording: Wording) -> "web.middlewares._Middleware":  # type: ignore[name-defined]
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            gate = self._gate()
            address = note_forwarding(request, gate)
            try:
                check_host(request, gate)
                self._check_origin(request, gate)
                if request.method == "OPTIONS":
                    self._note(request, "")
                    return _preflight(request)
                check_content_type(request, gate)
                request[HOLDER] = find_holder(request, gate)
            except (Refused, KeyRefused) as refused:
                self._note(request, refused.code)
                if refused.status == 401:
                    log.warning("%s was turned away: it has no valid key", address)
                return _refusal(refused, wording(request.path))
            self._note(request, "")
            return await handler(request)

        return guard

    def _note(self, request: web.Request, code: str) -> None:
        origin = readable(request.headers.get("Origin", ""))[:200]
        outcome = OUTCOMES.get(code)
        if outcome and (origin or outcome != "let in"):
            path = readable(request.path)[:200]
            who = client_of(request)
            self._seen(Knock(time.time(), origin, request.method, who, outcome, path))

    def _check_origin(self, request: web.Request, gate: Gate) -> None:
        origins = request.headers.getall("Origin", [])
        if len(origins) == 1 and origins[0] in gate.origins:
            return
        if origins:
            self._knocked(readable(origins[0])[:200], request.method)
            raise Refused(403, "origin_not_allowed", Sentence("This page may not use Moat."))
        if request.headers.get("Sec-Fetch-Site", "none") in ("cross-site", "same-site"):
            raise Refused(403, "origin_not_allowed", Sentence("This page may not use Moat."))

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Vary"] = "Origin"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers.popall("Server", None)
        origin, gate = request.headers.get("Origin"), self._gate()
        if origin in gate.origins and response.status != 421:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
            if gate.takes_credentials(request.path):
                response.headers["Access-Control-Allow-Credentials"] = "true"
        trace = request.headers.get("X-Trace-Id")
        if trace and response.status < 400 and trace.isprintable():
            response.headers["X-Trace-Id"] = trace


def client_of(request: web.Request) -> str:
    """Returns the client's name from its User-Agent, without the version, for lists of requests."""
    return readable(request.headers.get("User-Agent", "unknown")).split("/")[0][:60]


def readable(header: str) -> str:
    """Replaces lone surrogates by `?`: bytes that are not text, which could not be encoded."""
    return without_halves(header, "?")


def note_forwarding(request: web.Request, gate: Gate) -> str:
    """Returns the client's address. Trusts the X-Forwarded headers of the gate's proxies only."""
    address = request.remote or ""
    if not _is_proxy(address, gate):
        return address
    proto = request.headers.get("X-Forwarded-Proto", "").rpartition(",")[2].strip().lower()
    if proto in ("http", "https"):
        request[SCHEME] = proto
    hops = ",".join(request.headers.getall("X-Forwarded-For", [])).split(",")
    for hop in reversed([hop.strip() for hop in hops]):
        if not is_address(hop):
            break
        address = hop
        if not _is_proxy(hop, gate):
            break
    return address


def _is_proxy(address: str, gate: Gate) -> bool:
    if not gate.proxies or not is_address(address):
        return False
    found = ip_address(address)
    return any(found.version == net.version and found in net for net in gate.proxies)


def is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def check_host(request: web.Request, gate: Gate) -> None:
    hosts = request.headers.getall("Host", [])
    if len(hosts) != 1 or hosts[0].lower() not in gate.hosts:
        raise Refused(421)
    target = request.raw_path
    if not target.startswith("/") and target != "*":
        url = URL(target)
        if not url.absolute or url.authority.lower() not in gate.hosts:
            raise Refused(421)


def check_content_type(request: web.Request, gate: Gate) -> None:
    if request.method not in WITH_BODY or not _has_body(request):
        return
    # Any page can send a form without preflight. An Origin was checked; a key needs a preflight.
    named = not request.headers.keys().isdisjoint({"Origin", "Authorization"})
    if named and request.content_type == FORM and request.path in gate.forms:
        return
    if request.content_type == "application/json":
        return
    # Programs often send no type, or curl's default. A page that does the same is refused.
    if request.content_type == FORM or has_browser_signs(request):
        raise Refused(415, "unsupported_media_type", Sentence("Send application/json."))


def has_browser_signs(request: web.Request) -> bool:
    """Whether the request may come from a browser. One sign is enough; programs show none.

    Browsers since 2020 send Origin and Sec-Fetch-* when a page posts. Older browsers and text
    browsers show the other signs.
    """
    headers = request.headers
    agent = headers.get("User-Agent", "").lower()
    return (
        any(sign in headers for sign in SIGNS_OF_A_BROWSER)
        or any(name.lower().startswith("sec-") for name in headers)
        or "text/html" in headers.get("Accept", "").lower()
        or (any(name in agent for name in BROWSER_NAMES) and SHELL not in agent)
    )


def _has_body(request: web.Request) -> bool:
    """Whether the request has a body, or a type for one."""
    return request.body_exists or "Content-Type" in request.headers


def find_holder(request: web.Request, gate: Gate) -> str:
    """Returns the name of the request's key; empty if no key is needed and no known key was sent.

    If a key is needed, every key that was sent must be valid, and all must be the same key.
    """
    if request.path in OPEN_PATHS:
        return ""
    sent = [_bearer(value) for value in request.headers.getall("Authorization", [])]
    sent += request.headers.getall("X-API-Key", [])
    names = {_name_of(key, gate) for key in sent}
    if gate.key is None:
        return (names.pop() or "") if len(names) == 1 else ""
    if len(names) != 1 or None in names:
        message = Sentence("Send Moat's access key as a bearer token. The Connect page shows it.")
        raise Refused(401, "invalid_api_key", message)
    return names.pop() or ""


def _name_of(sent: str, gate: Gate) -> str | None:
    given = sent.encode("utf-8", "surrogateescape")
    if gate.key is not None and hmac.compare_digest(given, gate.key.encode()):
        return ACCESS_KEY
    return gate.name_of(sent)


def _bearer(value: str) -> str:
    scheme, token = read_credentials(value)
    return token if scheme == "bearer" else ""


def read_credentials(value: str) -> tuple[str, str]:
    """Returns the scheme in lower case, and the rest. RFC 9110 allows any case and many spaces."""
    scheme, _, rest = value.partition(" ")
    return scheme.lower(), rest.lstrip(" ")


def _preflight(request: web.Request) -> web.Response:
    if "Origin" not in request.headers:
        return web.Response(status=204, headers={"Allow": "GET, POST, OPTIONS"})
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE, OPTIONS",
        "Access-Control-Max-Age": PREFLIGHT_S,
    }
    asked = request.headers.get("Access-Control-Request-Headers")
    if asked:
        headers["Access-Control-Allow-Headers"] = asked
    if request.headers.get("Access-Control-Request-Private-Network") == "true":
        headers["Access-Control-Allow-Private-Network"] = "true"
    return web.Response(status=204, headers=headers)


def _refusal(
    refused: Refused | KeyRefused, words: Callable[[Exception], Reply] | None
) -> web.Response:
    if not refused.code:
        return web.Response(status=refused.status)
    headers = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else {}
    if words is None:
        return web.json_response(describe_error(refused), status=refused.status, headers=headers)
    body = as_json(words(refused).body)
    return web.Response(
        body=body, status=refused.status, headers=headers, content_type="application/json"
    )


def describe_error(error: AppError) -> dict[str, Any]:
    """Formats an error like OpenAI, for paths that belong to no protocol."""
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    kind = "authentication_error" if error.status == 401 else kind
    found = {"message": str(error), "type": kind, "param": error.param, "code": error.code}
    return {"error": found}
