"""A server of release files on loopback over HTTPS: a signed list, archives, and faults."""

import asyncio
import base64
import hashlib
import io
import json
import os
import ssl
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from server.core.graphics import PREFIX, list_name
from server.settings import NetworkSettings, Settings, UpdateSettings
from server.system import backends, hardware
from server.web.certificates import Pair

SECRET = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = base64.b64encode(SECRET.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
NAME = "moat-backend-cuda-9.9.9-test.tar.xz"
CARD = "NVIDIA Test 4090"
SMI = f"#!/bin/sh\necho '{CARD}, 24564, 20000'\n"


def archive(*files: str, size: int = 400_000) -> bytes:
    """Returns an archive as `make package-graphics` makes it. Random content keeps its size."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:xz", preset=0) as packed:
        for name in files or (f"libggml-cuda-{backends.engine_version()}.so", "libcudart.so.12"):
            content = os.urandom(size)
            entry = tarfile.TarInfo(f"moat-backend-cuda/{name}")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return held.getvalue()


@dataclass
class ReleaseServer:
    """The server. The first `broken` requests for the archive end early.

    If `held` is given, requests after the next `passes` wait for that event.
    """

    body: bytes = field(default_factory=archive)
    secret: Ed25519PrivateKey = SECRET
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of the list's entry that differ from the truth."""
    broken: int = 0
    held: asyncio.Event | None = None
    passes: int = 1
    served: int = 0
    asked: list[str] = field(default_factory=list)
    address: str = ""
    authority: str = ""

    @asynccontextmanager
    async def running(self, pair: Pair) -> AsyncIterator["ReleaseServer"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.chain, pair.key)
        app = web.Application()
        app.router.add_get("/moat/{name}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        self.address = f"https://localhost:{runner.addresses[0][1]}/moat"
        self.authority = str(pair.authority)
        try:
            yield self
        finally:
            if self.held:
                self.held.set()
            await runner.cleanup()

    def settings(self, **updates: Any) -> Settings:
        chosen = {"address": f"{self.address}/moat.json", "key": KEY, **updates}
        network = NetworkSettings(extra_ca=self.authority)
        return Settings(updates=UpdateSettings(**chosen), network=network)

    def listing(self) -> bytes:
        entry = {
            "kind": "cuda",
            "system": "linux",
            "machine": hardware.read().architecture,
            "name": NAME,
            "size_bytes": len(self.body),
            "sha256": hashlib.sha256(self.body).hexdigest(),
            "times_vulkan": 1.6,
            "measured_on": "RTX 4090",
            **self.changes,
        }
        text = json.dumps({"engine": backends.engine_version(), "files": [entry]})
        mark = base64.b64encode(self.secret.sign(PREFIX + text.encode())).decode()
        return json.dumps({"announcement": text, "signature": mark}).encode()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        self.asked.append(name)
        if name == list_name(backends.engine_version()):
            return web.Response(body=self.listing())
        if name != NAME:
            raise web.HTTPNotFound
        return await self._send(request)

    async def _send(self, request: web.Request) -> web.StreamResponse:
        wanted = request.http_range
        part = self.body[wanted]
        start = wanted.start or 0
        reply = web.StreamResponse(status=206)
        reply.headers["Content-Range"] = f"bytes {start}-{start + len(part) - 1}/{len(self.body)}"
        reply.content_length = len(part)
        await reply.prepare(request)
        if self.broken:
            self.broken -= 1
            await reply.write(part[: len(part) // 2])
            self.served += len(part) // 2
            assert request.transport
            request.transport.abort()
            return reply
        if self.held and self.passes < 1:
            await self.held.wait()
        self.passes -= 1
        self.served += len(part)
        await reply.write(part)
        return reply


def put_card(folder: Path) -> str:
    """Puts an nvidia-smi that reports a card into the folder. Returns a PATH with it first."""
    folder.mkdir(exist_ok=True)
    tool = folder / "nvidia-smi"
    tool.write_text(SMI)
    tool.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
