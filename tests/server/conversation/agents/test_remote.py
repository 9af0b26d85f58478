from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.conversation.agents.copilotkit import CopilotKitEndpoint
from server.conversation.agents.langgraph import LangGraphServer
from server.conversation.agents.remote import REASON, Elsewhere, Peer, RemoteAgentFailed
from server.egress import Egress
from server.errors import EgressRefused
from server.settings import NetworkSettings

KINDS = {"copilotkit": CopilotKitEndpoint, "langgraph": LangGraphServer}


@pytest.fixture
async def door() -> AsyncIterator[Egress]:
    door = Egress(NetworkSettings)
    yield door
    await door.close()


@pytest.fixture
async def place() -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        text = {
            "/broken": '{"error": "it broke\\n  File \\"/home/x.py\\""}',
            "/html": "<html>",
            "/lines": "one\r\ntwo\nlast",
        }[request.path]
        return web.Response(text=text, status=500 if request.path == "/broken" else 200)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}"


async def test_listing_a_place_opens_the_door_to_it_and_unlisting_closes_it(
    door: Egress, place: str
):
    listed: tuple[str, ...] = (f"copilotkit {place}",)
    elsewhere = Elsewhere(door, KINDS, lambda: listed)
    (source,) = elsewhere.sources()
    assert isinstance(source, CopilotKitEndpoint)
    assert elsewhere.sources() == (source,)
    assert [line async for line in Peer(door, place).lines("/lines", {})] == ["one", "two", "last"]
    listed = ()
    assert elsewhere.sources() == ()
    with pytest.raises(EgressRefused):
        await Peer(door, place).ask("GET", "/html")


async def test_a_failure_is_one_sentence_without_the_others_files(door: Egress, place: str):
    door.allow(place, REASON)
    with pytest.raises(RemoteAgentFailed, match=r"refused with 500: it broke$"):
        await Peer(door, place).ask("POST", "/broken", {})
    with pytest.raises(RemoteAgentFailed, match="is not JSON"):
        await Peer(door, place).ask("GET", "/html")


async def test_a_place_that_is_not_there_is_named(door: Egress):
    door.allow("http://127.0.0.1:9", REASON)
    with pytest.raises(RemoteAgentFailed, match=r"127\.0\.0\.1:9 cannot be reached"):
        await Peer(door, "http://127.0.0.1:9").ask("GET", "/")


@pytest.mark.parametrize(
    "entry",
    ["http://x", "smtp http://x", "langgraph x", "langgraph file:///x", "langgraph http://["],
)
async def test_an_entry_that_names_no_place_is_told_and_offers_nothing(door: Egress, entry: str):
    elsewhere = Elsewhere(door, KINDS, lambda: (entry,))
    (source,) = elsewhere.sources()
    with pytest.raises(RemoteAgentFailed, match="is not an address of agents"):
        await source.agents()
    assert await elsewhere.tools() == ()
