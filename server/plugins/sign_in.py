"""Sign-in with a plugin's provider: OpenID Connect, authorization code with PKCE (RFC 8252).

The person signs in with their own browser, which the provider sends back to a port of this machine
that is open for this one answer. The tokens go into the keyring, and are renewed before they
expire.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from server.chat import Json
from server.egress import Egress, read_up_to
from server.errors import AppError
from server.plugins.manifest import ACCESS, EXPIRES, REFRESH, TOKENS, Provider, is_safe
from server.plugins.secrets import Sealed
from server.sentences import Sentence
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

State = Literal["", "needed", "open", "done"]
Work = Callable[[], Awaitable[None]]
PATIENCE_S = 300.0
REPLY_S = 20.0
EARLY_S = 60.0
"""Seconds before its end at which a token is renewed."""
USUAL_LIFE_S = 3600.0
LARGEST_REPLY = 256 * 1024
LONGEST_LINE = 16 * 1024
PAGE = (
    '<!doctype html><meta charset="utf-8"><title>Moat</title>'
    '<body style="font-family:sans-serif;margin:4em auto;max-width:30em"><h1>{title}</h1>'
    "<p>{text}</p>"
)


class SignInFailed(AppError):
    code = "sign_in_failed"
    status = 502


@dataclass(frozen=True, slots=True)
class Endpoints:
    authorization: str
    token: str
    issuer: str = ""


@dataclass(slots=True)
class OpenSignIn:
    """A sign-in that is open in the browser."""

    endpoints: Endpoints
    state: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    redirect: str = ""
    issuer: str = ""
    """The issuer that the answer names; empty if it names none."""
    code: asyncio.Future[str] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    async def listen(self) -> asyncio.Server:
        """Opens the port that the browser returns to."""
        server = await asyncio.start_server(
            lambda reader, writer: _answer(self, reader, writer),
            "127.0.0.1", 0, limit=LONGEST_LINE,
        )  # fmt: skip
        port = server.sockets[0].getsockname()[1]
        self.redirect = f"http://127.0.0.1:{port}/callback"
        return server


class BrowserSignIn:
    """A sign-in with the person's browser. `changed` is called when it begins or ends."""

    kept: tuple[str, ...] = ()
    """The names of its tokens in the keyring. The sign-in is done if the first one is there."""

    def __init__(
        self,
        door: tuple[Egress, str],
        sealed: Sealed,
        changed: Callable[[], None],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.door, self.reason = door
        self.sealed = sealed
        self._changed = changed
        self._patience_s = patience_s
        self._task: asyncio.Task[None] | None = None
        self.is_open = False
        self.problem = ""
        """Why the last sign-in failed; empty if it did not."""

    def _open(
        self, server: asyncio.Server, work: Callable[[], Awaitable[None]]
    ) -> asyncio.Task[None]:
        """Starts the work in a task. The port for the browser stays open until it ends."""
        self.problem = ""
        self._show(is_open=True)
        self._task = spawn(self._finish(server, work), "sign in")
        return self._task

    async def _finish(self, server: asyncio.Server, work: Work) -> None:
        try:
            async with server, asyncio.timeout(self._patience_s):
                await work()
        except TimeoutError:
            self.problem = Sentence("Nobody signed in within {0:.0f} s.", self._patience_s)
        except AppError as error:
            self.problem = str(error)
            log.warning("A sign-in failed: %s", error)
        finally:
            self._show(is_open=False)

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await stop(task)
        if self.is_open:
            self._show(is_open=False)

    async def is_done(self) -> bool:
        return await self.sealed.has(self.kept[0])

    async def forget(self) -> None:
        await self.close()
        for name in self.kept:
            await self.sealed.forget(name)
        self._changed()

    def _show(self, *, is_open: bool) -> None:
        self.is_open = is_open
        self._changed()


class SignIn(BrowserSignIn):
    """A plugin's sign-in with its provider."""

    kept = TOKENS

    def __init__(
        self,
        provider: Provider,
        door: tuple[Egress, str],
        sealed: Sealed,
        changed: Callable[[], None],
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(door, sealed, changed, patience_s)
        self.provider = provider
        self._renewing = asyncio.Lock()

    async def begin(self) -> str:
        """Returns the address for the browser. Cancels a sign-in that is still open."""
        await self.close()
        opened = OpenSignIn(await self._endpoints())
        self._open(await opened.listen(), partial(self._redeem, opened))
        return _address(self.provider, opened)

    @property
    def state(self) -> State:
        if self.is_open:
            return "open"
        return "done" if self.sealed.is_kept(ACCESS) else "needed"

    async def renew(self) -> None:
        """Renews a token that is about to expire. Raises SignInFailed if that is impossible."""
        async with self._renewing:
            ends = await self.sealed.get(EXPIRES)
            if not ends or float(ends) - EARLY_S > time.time():
                return
            token = await self.sealed.get(REFRESH)
            if not token:
                await self.forget()
                raise SignInFailed(
                    Sentence("The sign-in has expired. Sign in again under Plugins.")
                )
            fields = {"grant_type": "refresh_token", "refresh_token": token}
            try:
                await self._exchange(await self._endpoints(), fields)
            except SignInFailed as error:
                if error.status == 401:
                    await self.forget()
                raise

    async def _redeem(self, opened: OpenSignIn) -> None:
        fields = {
            "grant_type": "authorization_code",
            "code": await opened.code,
            "redirect_uri": opened.redirect,
            "code_verifier": opened.verifier,
        }
        await self._exchange(opened.endpoints, fields)

    async def _endpoints(self) -> Endpoints:
        provider = self.provider
        if not provider.issuer:
            return Endpoints(provider.authorization_url, provider.token_url)
        base = provider.issuer.rstrip("/")
        answer = await self._ask("GET", f"{base}/.well-known/openid-configuration")
        if str(answer.get("issuer", "")).rstrip("/") != base:
            raise SignInFailed(Sentence("The provider's identity does not match."))
        page, token = (
            str(answer.get(f"{name}_endpoint", "")) for name in ("authorization", "token")
        )
        if not (is_safe(page) and is_safe(token)):
            raise SignInFailed(Sentence("The provider gives no safe address to sign in at."))
        return Endpoints(page, token, base)

    async def _exchange(self, endpoints: Endpoints, fields: dict[str, str]) -> None:
        body = urlencode({**fields, "client_id": self.provider.client_id}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await self._ask("POST", endpoints.token, headers=headers, data=body)
        token = answer.get("access_token")
        if not isinstance(token, str) or str(answer.get("token_type", "")).lower() != "bearer":
            raise SignInFailed(Sentence("The provider gave no usable token."))
        life = answer.get("expires_in")
        life_s = float(life) if isinstance(life, int | float) else USUAL_LIFE_S
        await self.sealed.keep(ACCESS, token)
        await self.sealed.keep(EXPIRES, str(time.time() + life_s))
        if isinstance(answer.get("refresh_token"), str):
            await self.sealed.keep(REFRESH, answer["refresh_token"])
        self._changed()

    async def _ask(self, method: str, url: str, **options: Any) -> Json:
        try:
            async with (
                asyncio.timeout(REPLY_S),
                self.door.request(method, url, self.reason, **options) as reply,
            ):
                raw = await read_up_to(reply, LARGEST_REPLY)
                status = reply.status
            answer = json.loads(raw)
        except (*self.door.failures, ValueError) as error:
            raise SignInFailed(Sentence("The provider could not be reached to sign in.")) from error
        if status != 200 or not isinstance(answer, dict):
            refused = SignInFailed(
                Sentence("The provider refused the sign-in (status {0}).", status)
            )
            refused.status = 401 if status in (400, 401) else 502
            raise refused
        return answer


def _address(provider: Provider, opened: OpenSignIn) -> str:
    digest = hashlib.sha256(opened.verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": opened.redirect,
        "scope": provider.scope,
        "state": opened.state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    joint = "&" if "?" in opened.endpoints.authorization else "?"
    return f"{opened.endpoints.authorization}{joint}{urlencode(query)}"


async def _answer(
    opened: OpenSignIn, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Handles the browser's return. Other visitors get a 404."""
    try:
        async with asyncio.timeout(REPLY_S):
            line = (await reader.readline()).decode("latin-1")
        status, title, text = _read_return(opened, line)
        body = PAGE.format(title=title, text=text).encode()
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\n"
            "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
    except (OSError, ValueError, TimeoutError):
        log.debug("A visitor at the sign-in port was not understood")
    finally:
        writer.close()


def _read_return(opened: OpenSignIn, line: str) -> tuple[str, str, str]:
    method, _, rest = line.partition(" ")
    target = urlsplit(rest.split(" ")[0])
    query = {name: values[0] for name, values in parse_qs(target.query).items()}
    sent = query.get("state", "").encode("utf-8", "replace")
    is_ours = method == "GET" and target.path == "/callback"
    if not is_ours or not hmac.compare_digest(sent, opened.state.encode()):
        return "404 Not Found", "Not found", "There is nothing here."
    issuer = query.get("iss", "").rstrip("/")
    if opened.endpoints.issuer and issuer not in ("", opened.endpoints.issuer):
        return "400 Bad Request", "Not signed in", "The answer came from another provider."
    if not opened.code.done():
        opened.issuer = query.get("iss", "")
        if "code" in query:
            opened.code.set_result(query["code"])
        else:
            opened.code.set_exception(SignInFailed(Sentence("The provider did not sign you in.")))
    if "code" not in query:
        return "200 OK", "Not signed in", "The provider did not sign you in. Close this page."
    return "200 OK", "Signed in", "You can close this page and go back to Moat."
