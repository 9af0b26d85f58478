"""An MCP server that requires a sign-in, and its authorisation server, on this machine."""

import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from tests.kit import sdk_mcp


@dataclass
class Provider:
    """Registers every client and signs everybody in. Its tokens are valid for `life_s` seconds."""

    life_s: int = 3600
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    tokens: dict[str, AccessToken] = field(default_factory=dict)
    renewals: dict[str, RefreshToken] = field(default_factory=dict)
    renewed: int = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.renewals.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.renewals[refresh_token.token]
        self.renewed += 1
        return self._issue(client, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    def _issue(self, client: Any, scopes: list[str], resource: str | None) -> OAuthToken:
        token, renewal = f"canary-{secrets.token_hex(8)}", f"canary-{secrets.token_hex(8)}"
        about = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.tokens[token] = AccessToken(token=token, **about)
        self.renewals[renewal] = RefreshToken(token=renewal, **about)
        return OAuthToken(access_token=token, expires_in=self.life_s, refresh_token=renewal)


@asynccontextmanager
async def protected(provider: Provider) -> AsyncIterator[str]:
    """Yields the address of an MCP server whose sign-in is on another port."""

    def authority(url: str) -> Any:
        options = ClientRegistrationOptions(enabled=True)
        routes = create_auth_routes(provider, AnyHttpUrl(url), client_registration_options=options)
        return Starlette(routes=routes)

    async with sdk_mcp.serving(authority) as issuer:

        def site(url: str) -> Any:
            settings = AuthSettings(
                issuer_url=AnyHttpUrl(issuer),
                resource_server_url=AnyHttpUrl(f"{url}/mcp"),
                validate_token_resource=True,
            )
            verifier = ProviderTokenVerifier(provider)
            return sdk_mcp.made(auth=settings, token_verifier=verifier).streamable_http_app()

        async with sdk_mcp.serving(site) as url:
            yield f"{url}/mcp"
