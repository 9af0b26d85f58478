"""A proxy on loopback that requires a name and a password, and records the requests."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

OWN = ("proxy-authorization", "proxy-connection", "host", "content-length", "transfer-encoding")


@dataclass
class FakeProxy:
    user: str
    password: str
    port: int = 0
    let_through: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["FakeProxy"]:
        async with aiohttp.ClientSession(auto_decompress=False) as session:

            async def forward(request: web.BaseRequest) -> web.StreamResponse:
                return await self._forward(request, session)

            runner = web.ServerRunner(web.Server(forward))
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.port = runner.addresses[0][1]
            try:
                yield self
            finally:
                await runner.cleanup()

    async def _forward(
        self, request: web.BaseRequest, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        known = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if request.headers.get("Proxy-Authorization") != f"Basic {known}":
            self.refused.append(str(request.url))
            return web.Response(status=407)
        self.let_through.append(str(request.url))
        headers = {key: text for key, text in request.headers.items() if key.lower() not in OWN}
        async with session.get(request.url, headers=headers, allow_redirects=False) as answer:
            kept = {key: text for key, text in answer.headers.items() if key.lower() not in OWN}
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)
