"""OAuth with an MCP server, by the protocol's own library, whose import is slow.

`sign_in` runs the whole flow with the browser. `Signed` signs requests with the tokens that were
kept. This module is imported when it is first used.
"""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeVar

from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.exceptions import OAuthTokenError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from server import door
from server.chat import Json
from server.errors import AppError
from server.plugins.mcp.sign_in import McpSignIn
from server.plugins.sign_in import EARLY_S, REPLY_S, OpenSignIn, SignInFailed
from server.sentences import Sentence
from server.sizes import MB

M = TypeVar("M", bound=BaseModel)
NOWHERE = "http://127.0.0.1/callback"
PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
"""A harmless request, to which the server answers that a sign-in is needed."""
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


class Keyring:
    """The library's token storage in the system's keyring, with one entry per server."""

    def __init__(self, sign_in: McpSignIn) -> None:
        self._sign_in = sign_in

    async def read(self) -> Json:
        try:
            found = json.loads(await self._sign_in.sealed.get(self._sign_in.kept[0]) or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    async def write(self, **parts: Any) -> None:
        entry = {**await self.read(), **parts}
        for token in _texts(entry.get("tokens")):
            self._sign_in.sealed.hide(token)
        await self._sign_in.sealed.keep(self._sign_in.kept[0], json.dumps(entry))

    async def get_tokens(self) -> OAuthToken | None:
        """Returns the tokens. An expired access token is empty, so that the library renews it."""
        entry = await self.read()
        try:
            tokens = OAuthToken.model_validate(entry["tokens"])
        except (KeyError, ValidationError):
            return None
        for token in _texts(entry["tokens"]):
            self._sign_in.sealed.hide(token)
        ends = entry.get("ends")
        if isinstance(ends, int | float) and ends - EARLY_S < time.time():
            return tokens.model_copy(update={"access_token": ""})
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        ends = time.time() + tokens.expires_in if tokens.expires_in else None
        await self.write(tokens=tokens.model_dump(mode="json"), ends=ends)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _valid(OAuthClientInformationFull, (await self.read()).get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self.write(client=client_info.model_dump(mode="json"))

    async def metadata(self) -> OAuthMetadata | None:
        return _valid(OAuthMetadata, (await self.read()).get("metadata"))


class _Nothing:
    """A storage that keeps nothing, for use before the sign-in is done."""

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None: ...

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None: ...


class Signed(OAuthClientProvider):
    """Signs requests with the tokens in the keyring. Raises SignInNeeded instead of signing in."""

    def __init__(self, sign_in: McpSignIn) -> None:
        self._sign_in = sign_in
        self._keyring = Keyring(sign_in)
        super().__init__(sign_in.server.url, _about_us(NOWHERE), self._keyring)

    async def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        context = self.context
        async with context.lock:
            if not self._initialized:
                await self._initialize()
                context.oauth_metadata = await self._keyring.metadata()
            context.protocol_version = request.headers.get("mcp-protocol-version")
            if not context.is_token_valid() and context.can_refresh_token():
                renewal = await self._refresh_token()
                self._sign_in.allow(str(renewal.url))
                await self._handle_refresh_response((yield renewal))
            if context.is_token_valid():
                self._add_auth_header(request)
        response = yield request
        if response.status_code == 401:
            self._initialized = False
            raise self._sign_in.need()


class _SigningIn(OAuthClientProvider):
    """The whole flow: discovery, registration, the browser, the tokens. Allows each address."""

    def __init__(self, sign_in: McpSignIn, *given: Any) -> None:
        super().__init__(sign_in.server.url, *given)
        self._sign_in = sign_in

    async def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        flow = super().async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                self._sign_in.allow(str(outgoing.url))
                outgoing = await flow.asend((yield outgoing))
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()


async def sign_in(
    at: McpSignIn, opened: OpenSignIn, show: Callable[[str], Awaitable[None]]
) -> None:
    async def wait() -> AuthorizationCodeResult:
        code = await opened.code
        return AuthorizationCodeResult(code=code, state=opened.state, iss=opened.issuer or None)

    # The browser returns to another port each time, so each sign-in registers again.
    provider = _SigningIn(at, _about_us(opened.redirect), _Nothing(), show, wait)
    pass_ = door.Pass(at.door, at.reason, REPLY_S, most_bytes=4 * MB)
    try:
        async with door.async_client(pass_, auth=provider, timeout=None) as http:
            await http.post(at.server.url, json=PROBE, headers=HEADERS, follow_redirects=False)
    except AppError:
        raise
    except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError) as error:
        raise SignInFailed(
            Sentence("{0} did not sign you in: {1}", at.server.name, str(error)[:300])
        ) from None
    except Exception as error:
        raise SignInFailed(Sentence("The provider could not be reached to sign in.")) from error
    context = provider.context
    if context.current_tokens is None or context.client_info is None:
        raise SignInFailed(Sentence("{0} did not ask for a sign-in.", at.server.name))
    keyring, metadata = Keyring(at), context.oauth_metadata
    about = metadata.model_dump(mode="json", exclude_none=True) if metadata else None
    await keyring.write(client=context.client_info.model_dump(mode="json"), metadata=about)
    await keyring.set_tokens(context.current_tokens)


def _about_us(redirect: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(client_name="Moat", redirect_uris=[AnyUrl(redirect)])


def _texts(tokens: Any) -> list[str]:
    names = ("access_token", "refresh_token")
    found = [tokens.get(name) for name in names] if isinstance(tokens, dict) else []
    return [text for text in found if isinstance(text, str) and text]


def _valid(model: type[M], found: Any) -> M | None:
    try:
        return model.model_validate(found)
    except ValidationError:
        return None
