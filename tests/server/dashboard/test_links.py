"""Files behind links, fetched from a real server by the real door."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.dashboard import links
from server.dashboard.links import AllowedFiles, NotFetched, with_files
from server.dashboard.materials import gather
from server.dashboard.query import Element, Item, Query, Result, Source
from server.egress import Egress
from server.settings import NetworkSettings
from tests.kit.office_files import pdf

Start = Callable[[web.Application], Awaitable[TestServer]]
PAPER = pdf("Revenue was 61 billion.")
CSV = b"day,close\n2025-01-01,5\n"


async def paper(request: web.Request) -> web.StreamResponse:
    match request.query.get("as"):
        case "moved":
            raise web.HTTPFound(request.query["to"])
        case "gone":
            raise web.HTTPForbidden
        case "page":
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        case "csv":
            return web.Response(body=CSV)
        case "silent":
            await asyncio.Event().wait()
        case "stream":  # no length is told before
            answer = web.StreamResponse()
            await answer.prepare(request)
            await answer.write(PAPER)
            return answer
    return web.Response(body=PAPER)


def app() -> web.Application:
    made = web.Application()
    made.router.add_get("/file", paper)
    return made


@asynccontextmanager
async def door_of(network: dict[str, object]) -> AsyncIterator[tuple[AllowedFiles, Egress]]:
    """`network` may change while it is open, as settings do."""
    read = lambda: NetworkSettings.model_validate(network)  # noqa: E731
    egress = Egress(read)
    try:
        yield AllowedFiles(egress, read), egress
    finally:
        await egress.close()


def origin(server: TestServer) -> str:
    return f"http://127.0.0.1:{server.port}"


def link(server: TestServer, how: str = "", kind: str = "pdf", **more: str) -> Item:
    query = "&".join(f"{key}={value}" for key, value in {"as": how, **more}.items())
    return Item(kind=kind, filename=f"report.{kind}", url=f"{origin(server)}/file?{query}")


def brought(*items: Item) -> Query:
    result = Result("get_widget_data", {}, (Source("o", "file-1"),), (Element(items),), 1)
    return Query((), "What was the revenue?", 1, results=(result,))


async def test_nothing_is_fetched_before_its_host_is_allowed(aiohttp_server: Start):
    server, network = await aiohttp_server(app()), dict[str, object]()
    async with door_of(network) as (files, egress):
        asked = brought(link(server))
        found = await with_files(asked, files)
        assert egress.uses.get() == ()
        (problem,) = found.missing_files
        assert f"moat allow --files {origin(server)}" in problem
        assert "Hosts files may be downloaded from" in problem
        network["file_hosts"] = (origin(server),)
        found = await with_files(asked, files)
        assert found.missing_files == ()
        assert gather(found)[0].documents[0].pages == ("Revenue was 61 billion.",)
        (use,) = egress.uses.get()
        assert (use.reason, use.status) == (links.REASON, 200)
        network["file_hosts"] = ()
        assert (await with_files(asked, files)).missing_files == (problem,)


async def test_another_port_is_another_host(aiohttp_server: Start):
    server, other = await aiohttp_server(app()), await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, egress):
        with pytest.raises(NotFetched, match=f"{other.port}`, which is not allowed"):
            await files.fetch(link(other))
        assert egress.uses.get() == ()


async def test_a_file_is_fetched_once_for_the_requests_of_a_question(aiohttp_server: Start):
    server = await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, egress):
        for _ in range(3):
            assert await files.fetch(link(server)) == PAPER
        assert len(egress.uses.get()) == 1


async def test_offline_nothing_is_fetched(aiohttp_server: Start):
    server = await aiohttp_server(app())
    network = {"file_hosts": (origin(server),), "offline": True}
    async with door_of(network) as (files, egress):
        with pytest.raises(NotFetched, match="offline"):
            await files.fetch(link(server))
        assert egress.uses.get() == ()


async def test_a_redirect_to_another_host_is_not_followed(aiohttp_server: Start):
    server, other = await aiohttp_server(app()), await aiohttp_server(app())
    hosts = (origin(server), origin(other))
    async with door_of({"file_hosts": hosts}) as (files, egress):
        with pytest.raises(NotFetched, match="redirects to another host"):
            await files.fetch(link(server, "moved", to=f"{origin(other)}/file"))
        assert [use.host for use in egress.uses.get()] == [f"127.0.0.1:{server.port}"]
        assert await files.fetch(link(server, "moved", to="/file")) == PAPER


@pytest.mark.parametrize("how", ["", "stream"])
async def test_a_file_that_is_too_big_is_not_read(aiohttp_server: Start, how: str):
    server = await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, _):
        with pytest.raises(NotFetched, match="too big"):
            await files.fetch(link(server, how), room=len(PAPER) - 1)
        assert await files.fetch(link(server, how), room=len(PAPER)) == PAPER


@pytest.mark.parametrize(
    ("how", "kind", "told"),
    [
        ("gone", "pdf", "answered with 403"),
        ("page", "pdf", "is not of the kind pdf"),
        ("csv", "xlsx", "is not of the kind xlsx"),
        ("", "exe", "a kind of file that Moat does not read"),
    ],
)
async def test_what_is_no_such_file_is_not_read(
    aiohttp_server: Start, how: str, kind: str, told: str
):
    server = await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, _):
        with pytest.raises(NotFetched, match=told):
            await files.fetch(link(server, how, kind))


async def test_a_host_that_stays_silent_is_left(
    aiohttp_server: Start, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(links, "PATIENCE_S", 0.2)
    server = await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, _):
        found = await with_files(brought(link(server, "silent")), files)
        assert found.missing_files == ("A file that came as a link took too long.",)


async def test_a_table_behind_a_link_is_a_table(aiohttp_server: Start):
    server = await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, _):
        found = await with_files(brought(link(server, "csv", "csv")), files)
        (table,) = gather(found)[0].tables
        assert table.records() == [{"day": "2025-01-01", "close": 5}]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://127.0.0.1/a", "https://user:pass@127.0.0.1/a", "//host/a",
        "https://", "http://[::1/a", "javascript:alert(1)", "https://a b/c",
    ],
)  # fmt: skip
async def test_odd_links_are_never_opened(url: str):
    async with door_of({"file_hosts": ("https://127.0.0.1",)}) as (files, egress):
        with pytest.raises(NotFetched):
            await files.fetch(Item(kind="pdf", url=url))
        assert egress.uses.get() == ()


async def test_a_public_name_of_a_private_address_is_not_reached(
    aiohttp_server: Start, monkeypatch: pytest.MonkeyPatch
):
    server = await aiohttp_server(app())
    name = f"http://files.example.com:{server.port}"
    async with door_of({"file_hosts": (name,)}) as (files, _):
        session_door = files._door
        session = await session_door._open()
        resolver = session.connector._resolver._system  # type: ignore[union-attr]

        async def to_this_machine(host: str, port: int, _family: object) -> list[dict[str, object]]:
            told = {"hostname": host, "host": "127.0.0.1", "port": port}
            return [{**told, "family": 2, "proto": 0, "flags": 0}]

        monkeypatch.setattr(resolver, "resolve", to_this_machine)
        with pytest.raises(NotFetched, match="private address"):
            await files.fetch(Item(kind="pdf", url=f"{name}/file"))


async def test_a_name_from_outside_makes_no_link_of_its_own():
    async with door_of({}) as (files, _):
        item = Item(kind="pdf", filename="[a](https://b/c)**", url="https://files.example.com/a")
        with pytest.raises(NotFetched) as raised:
            await files.fetch(item)
        assert str(raised.value).startswith("_a_(https___b_c)__ came as a link")


async def test_only_so_many_links_are_opened(aiohttp_server: Start):
    server = await aiohttp_server(app())
    async with door_of({"file_hosts": (origin(server),)}) as (files, egress):
        many = [link(server, "", n=str(number)) for number in range(links.MOST_LINKS + 2)]
        found = await with_files(brought(*many), files)
        assert len(egress.uses.get()) == links.MOST_LINKS
        assert len(found.missing_files) == 1
