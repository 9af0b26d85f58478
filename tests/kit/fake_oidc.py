"""An OpenID provider on loopback. It signs anybody in at once, and checks what it receives."""

import base64
import hashlib
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.kit.slow_network import in_halves


@dataclass
class Provider:
    """The provider. `life_s` is the lifetime of its tokens; `refuses` makes exchanges fail.

    With `in_halves` it sends its description as over a slow network.
    """

    issuer: str = ""
    life_s: int = 3600
    refuses: bool = False
    in_halves: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    exchanged: list[dict[str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    async def describe(self, request: web.Request) -> web.StreamResponse:
        told = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
        }
        if not self.in_halves:
            return web.json_response(told)
        stream = web.StreamResponse()
        await stream.prepare(request)
        await in_halves(stream, json.dumps(told).encode())
        return stream

    async def authorize(self, request: web.Request) -> web.Response:
        code = secrets.token_urlsafe(8)
        self.codes[code] = dict(request.query)
        back = {"code": code, "state": request.query["state"], "iss": self.issuer}
        raise web.HTTPFound(f"{request.query['redirect_uri']}?{urlencode(back)}")

    async def token(self, request: web.Request) -> web.Response:
        sent = {name: str(value) for name, value in (await request.post()).items()}
        self.exchanged.append(sent)
        if self.refuses or not self._is_right(sent):
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.tokens.append(f"access-{secrets.token_hex(8)}")
        return web.json_response(
            {
                "access_token": self.tokens[-1],
                "token_type": "Bearer",
                "expires_in": self.life_s,
                "refresh_token": f"refresh-{secrets.token_hex(8)}",
            }
        )

    def _is_right(self, sent: dict[str, str]) -> bool:
        if sent["grant_type"] == "refresh_token":
            return sent["refresh_token"].startswith("refresh-")
        asked = self.codes.pop(sent["code"], None)
        if asked is None or asked["redirect_uri"] != sent["redirect_uri"]:
            return False
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        made = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return asked["code_challenge_method"] == "S256" and asked["code_challenge"] == made


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", made.describe)
    app.router.add_get("/authorize", made.authorize)
    app.router.add_post("/token", made.token)
    async with TestServer(app, host="127.0.0.1") as server:
        made.issuer = str(server.make_url("")).rstrip("/")
        yield made
