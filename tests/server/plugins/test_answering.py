from collections.abc import Sequence

import pytest

from server.chat import ChatRequest, Message
from server.conversation.agents.base import AgentRequest
from server.flows.base import Flow, Kit, Step
from server.plugins.answering import PluginTalk
from tests.kit.engines import ScriptedEngine
from tests.kit.plugin_kits import PlainKit

FLOW = Flow("wx", "now", "The weather", (Step("start", "none"),))
HELLO = Message("user", "@wx hello")


class Chats:
    """The chats for which kits were lent."""

    def __init__(self) -> None:
        self.lent: list[str] = []
        self.talk = PluginTalk(self.flows, self.kit, lambda: True)

    async def flows(self) -> Sequence[Flow]:
        return (FLOW,)

    def kit(self, _flow: Flow, chat: str) -> Kit:
        self.lent.append(chat)
        return PlainKit()

    async def ask(self, *messages: Message, chat: str = "") -> None:
        asked = ChatRequest(messages, client="page", chat=chat)
        taken = await self.talk.take(ScriptedEngine(), asked)
        assert taken is not None
        assert [event async for event in taken]


@pytest.mark.parametrize(
    "later", [(HELLO,), (HELLO, Message("assistant", "Hi"), Message("user", "@wx other"))]
)
async def test_chats_that_begin_alike_are_not_the_same(later: tuple[Message, ...]) -> None:
    chats = Chats()
    await chats.ask(HELLO)
    await chats.ask(*later)
    assert len(set(chats.lent)) == 2


async def test_a_chat_that_its_client_names_stays_the_same() -> None:
    chats = Chats()
    await chats.ask(HELLO, chat="c1")
    await chats.ask(HELLO, Message("assistant", "Hi"), Message("user", "@wx more"), chat="c1")
    await chats.ask(HELLO, chat="c2")
    assert chats.lent == ["c1", "c1", "c2"]


def test_an_agents_thread_is_a_chat() -> None:
    one = AgentRequest("default", "t1", "r1", (), client="page")
    assert one.chat == AgentRequest("default", "t1", "r2", (), client="page").chat
    assert one.chat != AgentRequest("default", "t2", "r1", (), client="page").chat
    assert one.chat != AgentRequest("default", "t1", "r1", (), client="page", is_own=True).chat
