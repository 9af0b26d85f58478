import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from server.chat import ChatRequest, Message
from server.core.answering import Answering
from server.core.keys import Keys
from server.core.running_requests import Requests
from server.engine.base import Engine
from server.errors import KeyBusy
from server.events import Event, Finished
from server.face.core import About, KeyLimits
from server.protocols.base import Ask, Reply
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine
from tests.kit.until import until

ASKED = ChatRequest((Message("user", "Hello"),))


class Talk:
    """Takes every question; the chats it was asked in are kept."""

    def __init__(self) -> None:
        self.chats: list[str] = []

    async def take(self, _engine: Engine, request: ChatRequest, _can_plan: Any) -> Any:
        self.chats.append(request.chat)

        async def events() -> Any:
            yield Finished("stop")

        return events()


async def chats(*asked: About) -> list[str]:
    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    talk = Talk()
    house: Any = SimpleNamespace(talk_for=lambda **_of: talk)
    agents: Any = None
    requests = Requests(lambda: None)
    answering = Answering(engine, lambda: "m", house, agents, requests)
    for about in asked:
        events: list[Event] = [one async for one in answering.chat(ASKED, about)]  # type: ignore[misc]
        assert events == [Finished("stop")]
    await requests.close()
    return talk.chats


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (About("/c", "page", chat="c1"), About("/c", "page", chat="c1"), True),
        (About("/c", "page", chat="c1"), About("/c", "page", chat="c2"), False),
        (About("/c", "page", chat="c1"), About("/c", "other", chat="c1"), False),
        (About("/c", "page", chat="c1"), About("/c", "page", chat="c1", is_own=True), False),
        (About("/c", "page"), About("/c", "page"), False),
    ],
)
async def test_a_chat_is_what_its_client_names_as_one(
    one: About, other: About, is_same: bool
) -> None:
    first, second = await chats(one, other)
    assert (first == second) is is_same


async def test_a_request_counts_for_its_key_while_its_model_loads(tmp_path: Path) -> None:
    keys, loaded = Keys(tmp_path), asyncio.Event()
    keys.add("anna", KeyLimits(at_once=1))

    async def engine(_name: str | None) -> Engine:
        await loaded.wait()
        return ScriptedEngine()

    nothing: Any = None
    requests = Requests(lambda: None)
    answering = Answering(engine, lambda: "m", nothing, nothing, requests, keys=keys)
    ask = Ask("tokenize", "m", {"text": "hi"}, Reply, by=About("/tokenize", key="anna"))
    first = spawn(answering.ask(ask), "load")
    await until(lambda: keys._running["anna"] == 1)
    with pytest.raises(KeyBusy):
        await answering.ask(ask)
    loaded.set()
    await first
    assert not keys._running["anna"]
