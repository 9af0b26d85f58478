"""A sealed process that uses the libraries of the hub and of MCP, and prints its HTTP clients."""

import asyncio
import gc
import json
import sys
from collections.abc import Iterator
from typing import Any

import aiohttp
import httpx2
from huggingface_hub.utils import send_telemetry

from server import door, egress
from server.egress import Egress
from server.errors import EgressRefused
from server.models.hub import Hub
from server.plugins.mcp.client import McpClient
from server.plugins.mcp.servers import Hear, Remote
from server.settings import NetworkSettings
from tests.kit import sdk_mcp
from tests.kit.fake_hub import FakeHub

REPO = "maker/tiny-GGUF"
LIBRARIES = ("httpx", "requests", "urllib3", "hf_xet")
OURS = (door._Blocking, door._Waiting)


def strangers(out: Egress) -> Iterator[str]:
    """Yields clients that would not send through `Egress`, and libraries that could."""
    for held in gc.get_objects():
        if isinstance(held, httpx2.Client | httpx2.AsyncClient):
            ways = [held._transport, *held._mounts.values()]
            yield from (repr(way) for way in ways if not isinstance(way, OURS))
        elif isinstance(held, aiohttp.ClientSession) and held is not out._session:
            yield repr(held)
    yield from (name for name in LIBRARIES if name in sys.modules)


async def use(fake: FakeHub) -> dict[str, Any]:
    async def token(_host: str) -> None:
        return None

    network = NetworkSettings(hub=fake.address, hub_storage=("localhost",))
    out = Egress(lambda: network)
    hub = Hub(out, lambda: network, token)
    try:
        answers = [await hub.search("tiny"), await hub.repository(REPO), await hub.card(REPO)]
        send_telemetry("a/topic")
        found = await use_mcp(out)
        found["answers"] = len(answers)
        found["refused"] = await refused(f"{fake.address}/api/models")
        paths = [path for _, path, _ in fake.seen]
        found["reports"] = sum("telemetry" in path or "agent" in path for path in paths)
        return found
    finally:
        await out.close()


async def use_mcp(out: Egress) -> dict[str, Any]:
    """Looks for foreign clients while an MCP client is connected."""
    async with sdk_mcp.serving(lambda _url: sdk_mcp.made().streamable_http_app()) as url:
        out.allow(url, "plugin p")

        async def make(_hear: Hear) -> Remote:
            return Remote(f"{url}/mcp", {}, out, "plugin p")

        client = McpClient("sums", make, lambda value: value)
        try:
            answer = await client.call("add", {"a": 2, "b": 3}, 60)
            return {"strangers": list(strangers(out)), "sum": answer["content"][0]["text"]}
        finally:
            await client.close()


async def refused(url: str) -> int:
    """Returns how many of two clients of the library itself are refused."""
    count = 0
    try:
        await asyncio.to_thread(lambda: httpx2.get(url, trust_env=False))
    except EgressRefused:
        count += 1
    async with httpx2.AsyncClient(trust_env=False) as client:
        try:
            await client.get(url)
        except EgressRefused:
            count += 1
    return count


async def main() -> None:
    egress.seal()
    async with FakeHub({REPO: {"a-Q4_K_M.gguf": b"x" * 5000}}).running() as fake:
        fake.cards[REPO] = b"# Tiny"
        sys.stdout.write(json.dumps(await use(fake)))


if __name__ == "__main__":
    asyncio.run(main())
