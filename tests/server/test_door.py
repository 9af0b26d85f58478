"""Libraries go out through our door, within its limits, and by no other way."""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import metadata, util

import httpx2
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server import QUIET, door, egress
from server.door import Pass, WayBroken
from server.egress import Egress
from server.errors import AnswerTooLong, EgressRefused
from server.settings import NetworkSettings

Start = Callable[[web.Application], Awaitable[TestServer]]
REASON = "a test"
LINE = b"x" * 1000


@asynccontextmanager
async def way_out(server: TestServer, **network: object) -> AsyncIterator[Egress]:
    out = Egress(lambda: NetworkSettings.model_validate(network))
    out.allow(str(server.make_url("/")), REASON)
    try:
        yield out
    finally:
        await out.close()


class Site:
    """A server of everything a library may meet."""

    def __init__(self) -> None:
        self.seen: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.gone = asyncio.Event()
        self.app = web.Application()
        self.app.router.add_route("*", "/{kind}", self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        self.bodies.append(await request.read())
        kind = request.match_info["kind"]
        if kind == "moved":
            raise web.HTTPFound("/plain")
        if kind == "away":
            raise web.HTTPFound("http://127.0.0.2:9/")
        if kind == "packed":
            packed = gzip.compress(LINE)
            return web.Response(body=packed, headers={"Content-Encoding": "gzip"})
        if kind in ("endless", "silent"):
            return await self._stream(request, kind)
        return web.Response(body=LINE, headers={"X-Own": "1"})

    async def _stream(self, request: web.Request, kind: str) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            await response.write(LINE)
            while kind == "endless":
                await response.write(LINE)
            await asyncio.Event().wait()
        finally:
            self.gone.set()
        return response


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
async def server(site: Site, aiohttp_server: Start) -> TestServer:
    return await aiohttp_server(site.app)


def blocking(url: str, method: str = "GET", **given: object) -> Callable[[], httpx2.Response]:
    def work() -> httpx2.Response:
        with door.client(lambda _response: None) as client:
            return client.request(method, url, **given)  # type: ignore[arg-type]

    return work


async def ask(out: Egress, url: str, way: str, **limits: object) -> httpx2.Response:
    """The same request by a library that blocks, and by one that waits."""
    given = Pass(out, REASON, **limits)  # type: ignore[arg-type]
    if way == "blocking":
        return await door.call(given, blocking(url))
    async with door.async_client(given) as client:
        return await client.get(url)


both = pytest.mark.parametrize("way", ["blocking", "waiting"])


@both
@pytest.mark.parametrize("kind", ["plain", "packed", "moved"])
async def test_an_answer_comes_whole_and_is_recorded(server: TestServer, way: str, kind: str):
    async with way_out(server) as out:
        response = await ask(out, str(server.make_url(f"/{kind}")), way)
        assert (response.status_code, response.content) == (200, LINE)
        assert {use.reason for use in out.uses.get()} == {REASON}


@both
async def test_a_host_that_is_not_allowed_is_not_reached(server: TestServer, site: Site, way: str):
    async with way_out(server) as out:
        for url in (f"http://localhost:{server.port}/plain", str(server.make_url("/away"))):
            with pytest.raises(EgressRefused):
                await ask(out, url, way)
    assert [request.path for request in site.seen] == ["/away"]


@both
async def test_offline_keeps_libraries_in_too(server: TestServer, site: Site, way: str):
    async with way_out(server, offline=True) as out:
        with pytest.raises(EgressRefused, match="Offline mode"):
            await ask(out, str(server.make_url("/plain")), way)
    assert site.seen == []


@both
async def test_an_answer_without_end_is_given_up(server: TestServer, site: Site, way: str):
    async with way_out(server) as out:
        with pytest.raises(AnswerTooLong):
            await ask(out, str(server.make_url("/endless")), way, most_bytes=50_000)
        await asyncio.wait_for(site.gone.wait(), 60)


@both
async def test_silence_is_a_broken_way(server: TestServer, way: str):
    async with way_out(server) as out:
        with pytest.raises(WayBroken) as caught:
            await ask(out, str(server.make_url("/silent")), way, stall_s=0.2)
        assert isinstance(caught.value.__cause__, Egress.failures)


@both
async def test_who_is_cancelled_closes_the_connection(server: TestServer, site: Site, way: str):
    async with way_out(server) as out:
        asking = asyncio.ensure_future(ask(out, str(server.make_url("/silent")), way))  # noqa: TID251
        while not site.seen:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(site.gone.wait(), 60)


async def test_a_body_and_headers_arrive(server: TestServer, site: Site):
    async with way_out(server) as out:
        given = Pass(out, REASON, headers={"user-agent": "moat"})
        url = str(server.make_url("/plain"))
        answer = await door.call(given, blocking(url, "POST", json={"a": 1}, headers={"X-A": "b"}))
    assert answer.headers["x-own"] == "1"
    assert site.bodies == [b'{"a":1}']
    sent = site.seen[0].headers
    assert (sent["User-Agent"], sent["X-A"]) == ("moat", "b")


async def test_a_stream_is_read_as_it_comes(server: TestServer):
    async with way_out(server) as out:
        client = door.async_client(Pass(out, REASON, most_bytes=0))
        async with client, client.stream("GET", str(server.make_url("/endless"))) as response:
            pieces = response.aiter_raw()
            assert set(await anext(pieces)) == {ord("x")}
            await pieces.aclose()


async def test_only_so_many_requests_are_made(server: TestServer, site: Site):
    url = str(server.make_url("/plain"))

    def work() -> None:
        with door.client(lambda _response: None) as client:
            for _ in range(5):
                client.get(url)

    async with way_out(server) as out:
        with pytest.raises(AnswerTooLong, match="pages"):
            await door.call(Pass(out, REASON, most_requests=3), work)
    assert len(site.seen) == 3


async def test_without_a_pass_nothing_leaves(server: TestServer, site: Site):
    with pytest.raises(EgressRefused):
        await asyncio.to_thread(blocking(str(server.make_url("/plain"))))
    assert site.seen == []


async def test_what_goes_on_after_its_end_sends_nothing(server: TestServer, site: Site):
    async with way_out(server) as out:
        given = Pass(out, REASON)
        await door.call(given, lambda: None)
        with pytest.raises(EgressRefused, match="ended"):
            await door.call(given, blocking(str(server.make_url("/plain"))))
    assert site.seen == []


async def test_a_library_that_brings_its_own_client_is_refused(server: TestServer, site: Site):
    url = str(server.make_url("/plain"))
    async with way_out(server) as out:
        with pytest.raises(EgressRefused, match="past the one door"):
            await door.call(Pass(out, REASON), lambda: httpx2.get(url, trust_env=False))
    assert site.seen == []


async def test_a_sealed_process_refuses_every_foreign_client(
    server: TestServer, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(egress, "_sealed", True)
    url = str(server.make_url("/plain"))
    with pytest.raises(EgressRefused):
        await asyncio.to_thread(lambda: httpx2.get(url, trust_env=False))
    async with httpx2.AsyncClient(trust_env=False) as client:
        with pytest.raises(EgressRefused):
            await client.get(url)
    assert site.seen == []


def test_the_libraries_are_quiet_before_they_are_imported() -> None:
    program = """
import server
from huggingface_hub import constants
print(constants.HF_HUB_DISABLE_TELEMETRY, constants.HF_HUB_DISABLE_UPDATE_CHECK,
      constants.HF_HUB_DISABLE_XET, constants.HF_HUB_DISABLE_IMPLICIT_TOKEN)
"""
    run = [sys.executable, "-c", program]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert told.split() == ["True"] * 4
    assert QUIET["DO_NOT_TRACK"] == "1"


def test_the_library_with_sockets_of_its_own_is_not_here() -> None:
    assert util.find_spec("hf_xet") is None
    assert not [line for line in metadata.requires("huggingface_hub") or () if "xet" in line]
