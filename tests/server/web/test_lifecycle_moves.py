"""Starts, stops and changes that come while another is under way: never open without the key."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

from server.chat import ChatRequest
from server.errors import AppError
from server.events import Event, TextDelta
from server.protocols import health
from server.protocols.base import Endpoint, Facts, Frames, Reply
from server.settings import ServerSettings
from server.system.keychain import KeyringFailed
from server.tasks import spawn
from server.web import lifecycle as module
from server.web.lifecycle import Serving
from tests.kit.sites import make_site

ENDPOINTS = (
    *health.ENDPOINTS,
    Endpoint("GET", "/guarded", lambda _body, _facts: Reply({})),
)
RIGHT = {"Authorization": "Bearer the-key"}


async def one_event(_request: object, _about: object) -> AsyncIterator[Event]:
    yield TextDelta("begun")


async def no_answer(_ask: object) -> None:
    raise AssertionError


class Desk:
    """A server, its settings, and a keyring that can be locked or wait for a person."""

    def __init__(self, folder: Path) -> None:
        site = make_site(one_event, no_answer, lambda host: Facts(f"http://{host}"), lambda: 10)  # type: ignore[arg-type]
        self.settings = ServerSettings(port=_free_port())
        slow = Endpoint("GET", "/slow", lambda _body, _facts: ChatRequest(), self._slowly)
        endpoints = (*ENDPOINTS, slow)
        self.serving = Serving(endpoints, site, lambda: self.settings, self._key, folder / "https")
        self.may_end = asyncio.Event()
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.locked = False
        self._before = _listening()

    async def _slowly(self, _events: object, _body: object, _facts: Facts) -> Frames:
        yield b"data: begun\n\n"
        await self.may_end.wait()
        yield b"data: ended\n\n"

    async def _key(self) -> str:
        self.asked.set()
        await self.may_answer.wait()
        if self.locked:
            raise KeyringFailed(TimeoutError())
        return "the-key"

    def choose(self, **changes: Any) -> None:
        self.settings = self.settings.model_copy(update=changes)

    async def change(self, **changes: Any) -> None:
        self.choose(**changes)
        await self.serving.follow()

    def bound(self) -> set[tuple[str, int]]:
        return _listening() - self._before

    def reached_from_elsewhere(self) -> bool:
        return any(host in ("0.0.0.0", "::") for host, _ in self.bound())

    async def get(self, headers: dict[str, str] | None = None) -> int:
        address = self.serving.status.get().address
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{address}/guarded", headers=headers) as reply,
        ):
            return reply.status


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.may_answer.set()
    await made.serving.stop()


class Looking:
    """Holds up the search for the program that has the wanted port."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self, _port: int) -> str:
        self.begun.set()
        self.may_end.wait(60)
        return ""


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> Looking:
    made = Looking()
    monkeypatch.setattr(module, "who_listens", made)
    return made


async def test_a_stop_ends_a_start_that_waits_for_the_keyring(desk: Desk):
    desk.choose(require_key=True)
    desk.may_answer.clear()
    starting = spawn(desk.serving.start(), "start")
    await desk.asked.wait()
    waiting = spawn(desk.serving.start(), "start again")
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await desk.serving.stop()
        await asyncio.gather(starting, waiting)
    assert (desk.serving.status.get().phase, desk.bound()) == ("stopped", set())


async def test_a_stop_while_it_starts_leaves_nothing_open(desk: Desk, looking: Looking):
    desk.choose(https=True, https_port=_free_port())
    with socket.create_server(("127.0.0.1", desk.settings.port)):
        starting = spawn(desk.serving.start(), "start")
        await _until(looking.begun.is_set)
        await asyncio.gather(desk.serving.stop(), desk.serving.stop())
        looking.may_end.set()
        await starting
        assert desk.serving.status.get().phase == "stopped"
        assert desk.bound() == {("127.0.0.1", desk.settings.port)}


async def test_a_start_whose_client_leaves_is_undone(desk: Desk):
    desk.choose(require_key=True)
    desk.may_answer.clear()
    starting = spawn(desk.serving.start(), "start")
    await desk.asked.wait()
    starting.cancel()
    await asyncio.wait([starting])
    assert desk.serving.status.get().phase == "stopped"
    desk.may_answer.set()
    await desk.serving.start()
    assert desk.serving.status.get().phase == "ready"


async def test_two_starts_open_one_port(desk: Desk):
    desk.choose(require_key=True)
    desk.may_answer.clear()
    both = asyncio.gather(desk.serving.start(), desk.serving.start())
    await desk.asked.wait()
    desk.may_answer.set()
    await both
    assert {port for _, port in desk.bound()} == {desk.settings.port}
    await desk.serving.stop()
    assert desk.bound() == set()


async def test_the_network_is_left_when_that_is_chosen_while_it_starts(
    desk: Desk, looking: Looking
):
    desk.choose(listen="network", plain_network=True)
    with socket.create_server(("127.0.0.1", desk.settings.port)):
        starting = spawn(desk.serving.start(), "start")
        await _until(looking.begun.is_set)
        assert desk.reached_from_elsewhere()
        changing = spawn(desk.change(listen="loopback"), "change")
        await asyncio.sleep(0)
        assert desk.serving._gate().key == "the-key"
        looking.may_end.set()
        await asyncio.gather(starting, changing)
    assert not desk.reached_from_elsewhere()
    assert await desk.get() == 200


async def test_it_never_goes_there_when_that_is_chosen_while_the_keyring_asks(desk: Desk):
    desk.choose(listen="network", plain_network=True)
    desk.may_answer.clear()
    starting = spawn(desk.serving.start(), "start")
    await desk.asked.wait()
    changing = spawn(desk.change(listen="loopback"), "change")
    await asyncio.sleep(0)
    desk.may_answer.set()
    await asyncio.gather(starting, changing)
    assert not desk.reached_from_elsewhere()


async def test_as_long_as_others_can_connect_the_key_is_asked_for(desk: Desk):
    desk.choose(listen="network", plain_network=True)
    await desk.serving.start()
    desk.choose(listen="loopback")
    assert (await desk.get(), await desk.get(RIGHT)) == (401, 200)
    await desk.serving.follow()
    assert await desk.get() == 200


async def test_a_key_that_cannot_be_had_lets_nobody_in(desk: Desk):
    await desk.serving.start()
    desk.locked = True
    for _ in range(2):
        with pytest.raises(AppError, match="keyring"):
            await desk.change(require_key=True)
    assert (await desk.get(), await desk.get(RIGHT)) == (401, 401)
    desk.locked = False
    await desk.change(require_key=True)
    assert (await desk.get(), await desk.get(RIGHT)) == (401, 200)


async def test_without_the_keyring_it_does_not_go_to_the_network_but_comes_back(desk: Desk):
    await desk.serving.start()
    desk.locked = True
    with pytest.raises(AppError, match="keyring"):
        await desk.change(listen="network", plain_network=True)
    assert not desk.reached_from_elsewhere()
    assert await desk.get() == 200
    desk.locked = False
    await desk.change(listen="network", plain_network=True)
    assert desk.reached_from_elsewhere()
    desk.locked = True
    await desk.change(listen="loopback")
    assert not desk.reached_from_elsewhere()
    assert await desk.get() == 200


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port: int = door.getsockname()[1]
        return port


def _listening() -> set[tuple[str, int]]:
    found = psutil.Process().net_connections("inet")
    return {(one.laddr.ip, one.laddr.port) for one in found if one.status == psutil.CONN_LISTEN}


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "change",
    [
        {"max_body_mb": 7},
        {"https": True, "https_port": 0},
        {"listen": "network", "plain_network": True},
    ],
)
async def test_an_answer_under_way_goes_on_when_the_server_moves(
    desk: Desk, change: dict[str, Any]
) -> None:
    await desk.serving.start()
    address = desk.serving.status.get().address
    async with aiohttp.ClientSession() as client, client.get(f"{address}/slow") as reply:
        assert await reply.content.readline() == b"data: begun\n"
        await desk.change(**change)
        assert desk.serving.status.get().address == address
        assert await desk.get(headers=RIGHT) == 200
        desk.may_end.set()
        assert b"data: ended" in await reply.content.read()


async def test_a_stop_ends_answers_that_outlived_a_move(desk: Desk) -> None:
    await desk.serving.start()
    address = desk.serving.status.get().address
    async with aiohttp.ClientSession() as client, client.get(f"{address}/slow") as reply:
        await reply.content.readline()
        await desk.change(max_body_mb=9)
        await desk.serving.stop()
        with pytest.raises(aiohttp.ClientPayloadError):
            await reply.content.read()


async def test_a_port_that_was_asked_for_stays(desk: Desk) -> None:
    port = _free_port()
    await desk.serving.start(port)
    await desk.change(max_body_mb=7)
    assert desk.serving.status.get().address == f"http://127.0.0.1:{port}"
    await desk.change(port=_free_port())
    assert desk.serving.status.get().address == f"http://127.0.0.1:{port}"


async def test_any_free_port_stays_the_one_that_was_found(desk: Desk) -> None:
    await desk.serving.start(0)
    address = desk.serving.status.get().address
    await desk.change(max_body_mb=7)
    assert desk.serving.status.get().address == address


async def test_any_free_port_is_left_for_one_that_is_set(desk: Desk) -> None:
    await desk.serving.start(0)
    await desk.change(max_body_mb=7)
    port = _free_port()
    await desk.change(port=port)
    assert desk.serving.status.get().address == f"http://127.0.0.1:{port}"
    await desk.change(max_body_mb=9)
    assert desk.serving.status.get().address == f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("start_port", [None, 0])
async def test_a_port_set_while_the_keyring_asks_holds(desk: Desk, start_port: int | None) -> None:
    desk.choose(require_key=True)
    await desk.serving.start(start_port)
    desk.asked.clear()
    desk.may_answer.clear()
    moving = spawn(desk.change(max_body_mb=7), "move")
    await desk.asked.wait()
    port = _free_port()
    changing = spawn(desk.change(port=port), "change")
    await asyncio.sleep(0)
    desk.may_answer.set()
    await asyncio.gather(moving, changing)
    assert desk.serving.status.get().address == f"http://127.0.0.1:{port}"
