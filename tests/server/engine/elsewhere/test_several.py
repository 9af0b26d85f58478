"""One model behind several servers, which are processes of their own: some die, some only sleep."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing

import pytest

from server.chat import ChatRequest, Message
from server.egress import Egress
from server.engine.elsewhere.engine import REASON, Remote, RemoteEngine
from server.engine.elsewhere.several import Several
from server.errors import EngineCrashed, ModelLoadFailed
from server.events import TextDelta
from server.settings import NetworkSettings
from server.tasks import spawn
from tests.kit.small_engine import WORDS, SmallEngine, started
from tests.kit.until import until

PROBE_S = 0.2
BROKEN_OFF = "broken off"


@pytest.fixture
def servers() -> Iterator[list[SmallEngine]]:
    with ExitStack() as stack:
        yield [stack.enter_context(started(name)) for name in "abc"]


@pytest.fixture
async def door(servers: list[SmallEngine]) -> AsyncIterator[Egress]:
    egress = Egress(NetworkSettings)
    for server in servers:
        egress.allow(server.address, REASON)
    yield egress
    await egress.close()


@pytest.fixture
async def several(servers: list[SmallEngine], door: Egress) -> AsyncIterator[Several]:
    engines = [RemoteEngine(Remote(f"{server.address}/v1"), door) for server in servers]
    made = Several(engines, probe_s=PROBE_S)
    yield made
    await made.close()


async def ask(several: Several, text: str) -> str:
    """Who answered; the whole answer has come."""
    request = ChatRequest((Message("user", text),))
    said: list[str] = []
    try:
        async with aclosing(several.generate(request)) as pieces:
            async for piece in pieces:
                said += [piece.text] if isinstance(piece, TextDelta) else []
    except EngineCrashed:
        if said:
            return BROKEN_OFF
        raise
    assert len(said) == WORDS
    assert len(set(said)) == 1
    return said[0].strip()


async def test_the_work_is_shared(several: Several) -> None:
    answered = await asyncio.gather(*(ask(several, f"question {n}") for n in range(12)))
    assert Counter(answered) == {"a": 4, "b": 4, "c": 4}


async def test_a_conversation_stays_where_it_began(several: Several) -> None:
    for number in range(3):
        homes = {await ask(several, f"conversation {number}") for _ in range(5)}
        assert len(homes) == 1


async def test_none_is_lost_while_one_is_killed_and_one_is_stopped(
    several: Several, servers: list[SmallEngine]
) -> None:
    turn = asyncio.Semaphore(8)
    begun = asyncio.Event()

    async def one(number: int) -> str:
        async with turn:
            if number == 20:
                begun.set()
            return await ask(several, f"question {number}")

    work = asyncio.gather(*(one(number) for number in range(100)))
    await begun.wait()
    servers[0].process.kill()
    servers[1].process.send_signal(signal.SIGSTOP)
    answered = Counter(await work)
    servers[1].process.send_signal(signal.SIGCONT)
    # What had begun to answer there cannot be asked again: a few words stand already.
    assert answered[BROKEN_OFF] <= 8
    assert answered["c"] > 50
    assert sum(answered.values()) == 100
    host = servers[1].address.removeprefix("http://")
    await until(lambda: host not in several.out.get())


async def test_one_that_sleeps_is_out_and_comes_back(
    several: Several, servers: list[SmallEngine]
) -> None:
    home = await ask(several, "where am I?")
    server = next(one for one in servers if one.name == home)
    server.process.send_signal(signal.SIGSTOP)
    assert await ask(several, "where am I?") != home
    assert several.out.get() == (server.address.removeprefix("http://"),)
    server.process.send_signal(signal.SIGCONT)
    await until(lambda: not several.out.get())


async def test_a_request_waits_for_the_one_that_was_only_slow(
    several: Several, servers: list[SmallEngine]
) -> None:
    await several.load()
    dead, stopped, slow = servers
    dead.process.kill()
    dead.process.wait()
    for server in (stopped, slow):
        server.process.send_signal(signal.SIGSTOP)
    waiting = spawn(ask(several, "anybody?"), "ask")
    hosts = {server.address.removeprefix("http://") for server in (stopped, slow)}
    await until(lambda: hosts <= set(several.out.get()))
    slow.process.send_signal(signal.SIGCONT)
    assert await waiting == slow.name


async def test_a_server_that_hangs_is_noticed_though_more_requests_come(
    several: Several, servers: list[SmallEngine]
) -> None:
    await several.load()
    for server in servers:
        server.process.send_signal(signal.SIGSTOP)
    asking = []
    for number in range(100):
        asking.append(spawn(ask(several, f"question {number}"), "ask"))
        if several.out.get():
            break
        await asyncio.sleep(PROBE_S)
    assert several.out.get()
    for server in servers:
        server.process.send_signal(signal.SIGCONT)
    assert {await answer for answer in asking} <= {"a", "b", "c"}


async def test_all_dead_is_said_and_nobody_hangs(
    several: Several, servers: list[SmallEngine]
) -> None:
    await several.load()
    for server in servers:
        server.process.kill()
        server.process.wait()
    for _ in range(4):
        with pytest.raises((EngineCrashed, ModelLoadFailed), match="cannot be reached"):
            await ask(several, "anybody?")
