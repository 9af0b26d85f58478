"""Where an answer may send us on to, with what; and what is written down when none comes."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.egress import Egress, is_address
from server.errors import EgressRefused
from server.settings import NetworkSettings

Start = Callable[[web.Application], Awaitable[TestServer]]
REASON = "a test"
Seen = list[tuple[str, str, str]]


class Moving:
    """/CODE answers with that status and leads to `to`; what else is asked for is there."""

    def __init__(self) -> None:
        self.seen: Seen = []
        self.to = "/there"

    async def answer(self, request: web.Request) -> web.Response:
        kind = request.headers.get("Content-Type", "") if request.can_read_body else ""
        self.seen.append((request.method, request.path, await request.text() + kind))
        name = request.path.strip("/")
        if name.isdigit():
            return web.Response(status=int(name), headers={"Location": self.to})
        if name == "drop":
            assert request.transport
            request.transport.close()
        return web.Response()

    def app(self) -> web.Application:
        made = web.Application()
        made.router.add_route("*", "/{path:.*}", self.answer)
        return made


@pytest.fixture
async def door() -> AsyncIterator[Egress]:
    made = Egress(NetworkSettings)
    yield made
    await made.close()


async def ask(door: Egress, server: TestServer, method: str, path: str) -> int:
    headers = {"Content-Type": "x/y"}
    url = str(server.make_url(path))
    async with door.request(method, url, REASON, headers=headers, data=b"body") as response:
        return response.status


@pytest.mark.parametrize(("method", "code"), [("POST", 301), ("POST", 302), ("PUT", 303)])
@pytest.mark.parametrize("stays", [False, True])
async def test_a_change_goes_on_as_reading(
    aiohttp_server: Start, door: Egress, method: str, code: int, stays: bool
) -> None:
    moving = Moving()
    server = await aiohttp_server(moving.app())
    door.allow(str(server.make_url("/")), REASON, stays=stays)
    assert await ask(door, server, method, f"/{code}") == 200
    assert moving.seen == [(method, f"/{code}", "bodyx/y"), ("GET", "/there", "")]


@pytest.mark.parametrize(("method", "code"), [("POST", 307), ("POST", 308), ("DELETE", 302)])
async def test_who_stays_never_sends_a_change_twice(
    aiohttp_server: Start, door: Egress, method: str, code: int
) -> None:
    moving = Moving()
    server = await aiohttp_server(moving.app())
    door.allow(str(server.make_url("/")), REASON, stays=True)
    with pytest.raises(EgressRefused, match="second time"):
        await ask(door, server, method, f"/{code}")
    assert [one[:2] for one in moving.seen] == [(method, f"/{code}")]
    door.forget(REASON)
    door.allow(str(server.make_url("/")), REASON)
    assert await ask(door, server, method, f"/{code}") == 200


async def test_who_stays_is_not_led_to_another_host(aiohttp_server: Start, door: Egress) -> None:
    moving, other = Moving(), Moving()
    server, elsewhere = await aiohttp_server(moving.app()), await aiohttp_server(other.app())
    moving.to = str(elsewhere.make_url("/there"))
    for one in (server, elsewhere):
        door.allow(str(one.make_url("/")), REASON, stays=True)
    with pytest.raises(EgressRefused, match="another host"):
        await ask(door, server, "GET", "/302")
    assert other.seen == []


@pytest.mark.parametrize(("stays", "times"), [(True, 4), (False, 6)])
async def test_who_stays_is_led_on_three_times(
    aiohttp_server: Start, door: Egress, stays: bool, times: int
) -> None:
    moving = Moving()
    moving.to = "/302"
    server = await aiohttp_server(moving.app())
    door.allow(str(server.make_url("/")), REASON, stays=stays)
    with pytest.raises(EgressRefused, match="without end"):
        await ask(door, server, "GET", "/302")
    assert len(moving.seen) == times


@pytest.mark.parametrize("to", ["http://[oops", "http://127.0.0.1:99999/", "http://@[]"])
async def test_a_redirect_to_what_is_no_address_is_refused(
    aiohttp_server: Start, door: Egress, to: str
) -> None:
    moving = Moving()
    moving.to = to
    server = await aiohttp_server(moving.app())
    door.allow(str(server.make_url("/")), REASON)
    with pytest.raises(EgressRefused, match="cannot be read"):
        await ask(door, server, "GET", "/302")


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/", "http://[oops", "http://@[]"])
async def test_what_is_no_address_is_never_opened(door: Egress, url: str) -> None:
    assert not is_address(url)
    with pytest.raises(EgressRefused, match="cannot be read"):
        door.allow(url, REASON)
    with pytest.raises(EgressRefused, match="cannot be read"):
        async with door.request("GET", url, REASON):
            pass


async def test_a_header_with_a_line_break_is_never_sent(
    aiohttp_server: Start, door: Egress
) -> None:
    moving = Moving()
    server = await aiohttp_server(moving.app())
    url = str(server.make_url("/"))
    door.allow(url, REASON)
    with pytest.raises(EgressRefused, match="never sent"):
        async with door.request("GET", url, REASON, headers={"Authorization": "Bearer x\n"}):
            pass
    assert moving.seen == []


async def test_what_was_sent_is_recorded_without_an_answer(
    aiohttp_server: Start, door: Egress
) -> None:
    moving = Moving()
    server = await aiohttp_server(moving.app())
    door.allow(str(server.make_url("/")), REASON)
    with pytest.raises(door.failures):
        await ask(door, server, "POST", "/drop")
    assert moving.seen == [("POST", "/drop", "bodyx/y")]
    (use,) = door.uses.get()
    assert (use.host, use.reason, use.status) == (f"127.0.0.1:{server.port}", REASON, 0)


async def test_without_a_connection_nothing_has_left(aiohttp_server: Start, door: Egress) -> None:
    server = await aiohttp_server(Moving().app())
    door.allow(str(server.make_url("/")), REASON)
    url = str(server.make_url("/"))
    await server.close()
    with pytest.raises(door.failures):
        async with door.request("GET", url, REASON):
            pass
    assert door.uses.get() == ()
