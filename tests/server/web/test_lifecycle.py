"""Who knocked: what the Connect page is told about pages and clients at the gate."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from server.face.core import Knock
from server.protocols import health
from server.protocols.base import Facts
from server.settings import ServerSettings
from server.web.lifecycle import Serving
from tests.kit.sites import make_site

OPENBB = "https://pro.openbb.co"
STRANGER = "https://stranger.example"


async def no_answer(_ask: object) -> None:
    raise AssertionError


async def key() -> str:
    return "the-key"


@pytest.fixture
async def serving(tmp_path: Path) -> AsyncIterator[Serving]:
    site = make_site(no_answer, no_answer, lambda host: Facts(f"http://{host}"), lambda: 10)  # type: ignore[arg-type]
    settings = ServerSettings(require_key=True)
    made = Serving(health.ENDPOINTS, site, lambda: settings, key, tmp_path / "https")
    await made.start(0)
    yield made
    await made.stop()


async def knock(serving: Serving, method: str, path: str, headers: dict[str, str]) -> int:
    address = serving.status.get().address
    async with aiohttp.ClientSession() as session:
        given = {"User-Agent": "Firefox/1", **headers}
        async with session.request(method, f"{address}{path}", headers=given) as response:
            return response.status


async def told(serving: Serving, count: int) -> list[tuple[str, str, str]]:
    async with asyncio.timeout(30):
        while len(serving.knocks.get()) < count:
            await asyncio.sleep(0.01)
    return [(one.origin, one.method, one.outcome) for one in serving.knocks.get()]


async def test_strange_pages_missing_keys_and_guests_are_told_apart(serving: Serving):
    assert await knock(serving, "OPTIONS", "/health", {"Origin": STRANGER}) == 403
    assert await knock(serving, "OPTIONS", "/health", {"Origin": OPENBB}) == 204
    assert await knock(serving, "GET", "/health", {"Origin": OPENBB}) == 200
    assert await knock(serving, "GET", "/v1/models", {}) == 401
    assert await told(serving, 4) == [
        (STRANGER, "OPTIONS", "origin"),
        (OPENBB, "OPTIONS", "let in"),
        (OPENBB, "GET", "let in"),
        ("", "GET", "key"),
    ]
    assert serving.knocks.get()[0].client == "Firefox"


async def test_a_program_with_the_key_does_not_knock(serving: Serving):
    await knock(serving, "GET", "/health", {"Authorization": "Bearer the-key"})
    await knock(serving, "GET", "/health", {"Origin": OPENBB})
    assert await told(serving, 1) == [(OPENBB, "GET", "let in")]
    assert isinstance(serving.knocks.get()[0], Knock)


async def test_a_header_that_is_no_text_is_told_as_text(
    serving: Serving, caplog: pytest.LogCaptureFixture
):
    host, port = serving.status.get().address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    request = f"GET /health HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n".encode()
    writer.write(request + b"Origin: https://\xff.example\r\nUser-Agent: Fire\xff/1\r\n\r\n")
    assert (await reader.readline()).split()[1] == b"403"
    writer.close()
    await told(serving, 1)
    (one,) = serving.knocks.get()
    assert (one.origin, one.client) == ("https://?.example", "Fire?")
    assert "https://?.example was turned away" in caplog.text
