"""While nothing has been said, OpenBB's clients get hidden events over HTTP, not comments."""

import asyncio

import pytest
from aiohttp.test_utils import TestClient, TestServer
from openbb_ai.testing import CopilotResponse

from server.events import Events, Finished, TextDelta
from server.face.core import About
from server.protocols import openbb
from server.protocols.base import Ask, Facts, Look, Reply
from server.protocols.openbb.discovery import QUERY
from server.web import app, stream
from server.web.app import create_app
from server.web.guard import Gate, Guard
from tests.kit.sites import make_site

BODY = {"messages": [{"role": "human", "content": "Hi"}]}


class Patience:
    """Says nothing, then a word, then nothing again, each until it is let go on."""

    def __init__(self) -> None:
        self.first, self.second = asyncio.Event(), asyncio.Event()

    async def converse(self, _run: object, _about: About) -> Events:
        await self.first.wait()
        yield TextDelta("Hello")
        await self.second.wait()
        yield TextDelta(" there")
        yield Finished("stop")


async def no_answer(_asked: Ask | Look) -> Reply:
    raise NotImplementedError


async def test_the_sdk_reads_an_answer_that_was_long_in_coming(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.02)
    monkeypatch.setattr(app, "FIRST_EVENT_S", 0.01)
    patience, hosts = Patience(), set[str]()
    site = make_site(
        patience.converse,
        no_answer,
        lambda host: Facts(f"http://{host}"),
        lambda: 9,
        look=no_answer,
    )
    guard = Guard(lambda: Gate(frozenset(hosts)), lambda _origin, _method: None)
    served = create_app(openbb.ENDPOINTS, site, guard, 100_000)
    async with TestClient(TestServer(served)) as client:
        hosts.add(f"{client.host}:{client.port}")
        async with client.post(QUERY, json=BODY) as answer:
            assert answer.status == 200
            first = await answer.content.readuntil(b"\n\n")
            patience.first.set()
            told = first + await answer.content.readuntil(b": still here\n\n")
            patience.second.set()
            told += await answer.content.read()
    assert first.startswith(b"event: copilotStatusUpdate\n")
    assert b'"hidden": true' in first
    assert told.count(b"copilotStatusUpdate", told.index(b"copilotMessageChunk")) == 0
    assert CopilotResponse(told.decode()).text == "Hello there"
