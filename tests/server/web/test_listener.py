import asyncio
import socket
from contextlib import closing

import psutil
import pytest
from aiohttp import ClientSession, web

from server.web.listener import Listener, bind


async def hello(_request: web.Request) -> web.Response:
    return web.Response(text="hello")


def app() -> web.Application:
    made = web.Application()
    made.router.add_get("/", hello)
    return made


async def test_both_loopback_addresses_answer():
    listener = Listener(app())
    listening = await listener.open(0)
    try:
        async with ClientSession() as session:
            for host in listening.hosts:
                async with session.get(f"http://{host}/") as reply:
                    assert await reply.text() == "hello"
    finally:
        await listener.close()


def test_a_taken_port_gives_the_next_free_one():
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        sockets = bind(taken, everywhere=False)
        try:
            assert sockets[0].getsockname()[1] != taken
        finally:
            for one in sockets:
                one.close()


def test_nothing_listens_beyond_loopback():
    sockets = bind(0, everywhere=False)
    try:
        assert {one.getsockname()[0] for one in sockets} <= {"127.0.0.1", "::1"}
    finally:
        for one in sockets:
            one.close()


async def test_a_closed_listener_frees_its_port():
    listener = Listener(app())
    port = (await listener.open(0)).port
    await listener.close()
    again = Listener(app())
    assert (await again.open(port)).port == port
    await again.close()


@pytest.mark.parametrize("everywhere", [True, False])
def test_both_families_share_a_port(everywhere: bool):
    sockets = bind(0, everywhere=everywhere)
    try:
        assert len({one.getsockname()[1] for one in sockets}) == 1
    finally:
        for one in sockets:
            one.close()


async def test_a_head_that_never_ends_is_shown_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("server.web.listener.IDLE_S", 0.1)
    listener = Listener(web.Application())
    listening = await listener.open(0)
    reader, writer = await asyncio.open_connection("127.0.0.1", listening.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: ")
    async with asyncio.timeout(30):
        assert await reader.read() == b""
    writer.close()
    await listener.close()


async def test_on_the_network_it_answers_to_every_address_of_the_machine():
    listener = Listener(web.Application())
    listening = await listener.open(0, everywhere=True)
    own = [one for entries in psutil.net_if_addrs().values() for one in entries]
    wanted = {f"{one.address}:{listening.port}" for one in own if one.family == socket.AF_INET}
    await listener.close()
    assert wanted <= listening.hosts
