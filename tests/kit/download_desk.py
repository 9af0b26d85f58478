"""Helpers of tests of downloads: a queue against a fake hub, and functions that wait for states."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from server.egress import Egress
from server.face.models import Download
from server.models.downloads.download import TransferLimits
from server.models.downloads.queue import Downloads
from server.models.hub import Hub
from server.settings import NetworkSettings
from tests.kit.fake_hub import FakeHub

Token = Callable[[str], Awaitable[str | None]]
REPO = "maker/tiny-GGUF"
SHORT_S, PATIENCE_S = 0.4, 180.0
PIECE = 64 * 1024
FAST = TransferLimits(
    connections=3,
    piece_bytes=PIECE,
    pieces_per_request=4,
    tries=6,
    first_wait_s=0.01,
    longest_wait_s=0.05,
)
FILE = "tiny-Q4_K_M.gguf"
CONTENT = random.Random(1).randbytes(20 * PIECE + 123)


@asynccontextmanager
async def desk(
    fake: FakeHub,
    models: Path,
    limit: float = 0,
    proxy: Callable[[], str] = str,
    token: Token | None = None,
) -> AsyncIterator[Downloads]:
    models.mkdir(exist_ok=True)
    egress = Egress(lambda: NetworkSettings(proxy=proxy()))
    made = Downloads(client(fake, egress, token), models, lambda: limit, lambda: None, FAST)
    made.restore()
    try:
        yield made
    finally:
        await made.close()
        await egress.close()


def client(fake: FakeHub, egress: Egress, token: Token | None = None) -> Hub:
    """Makes a client, impatient only if the hub will stall: a busy machine may answer slowly."""

    async def usual(_host: str) -> str | None:
        return fake.token or None

    network = NetworkSettings(hub=fake.address, hub_storage=("localhost",))
    will_stall = any(fault.kind == "stall" for fault in fake.faults)
    return Hub(egress, lambda: network, token or usual, SHORT_S if will_stall else PATIENCE_S)


async def begin(fake: FakeHub, downloads: Downloads, *paths: str) -> str:
    egress = Egress(lambda: NetworkSettings())
    try:
        asked = client(fake, egress)
        asked._stall_s = PATIENCE_S
        repository = await asked.repository(REPO)
    finally:
        await egress.close()
    wanted = paths or ("tiny-Q4_K_M.gguf",)
    return downloads.start(repository, tuple(one for one in repository.files if one.path in wanted))


async def until(downloads: Any, done: Callable[[Download], bool]) -> Download:
    """Waits for a state of the first download that satisfies `done`; fails after 30 seconds."""
    found: asyncio.Future[Download] = asyncio.get_running_loop().create_future()

    def look(all_: tuple[Download, ...]) -> None:
        if all_ and done(all_[0]) and not found.done():
            found.set_result(all_[0])

    value = downloads.all if isinstance(downloads, Downloads) else downloads.downloads
    disconnect = value.connect(look)
    try:
        async with asyncio.timeout(30):
            return await found
    finally:
        disconnect()


def ended(download: Download) -> bool:
    return download.phase in ("done", "failed")


def installed(models: Path) -> list[Path]:
    return sorted(models.rglob("*.gguf"))
