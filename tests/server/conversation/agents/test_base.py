from collections.abc import Sequence

import pytest

from server.chat import Message
from server.conversation.agents.base import (
    Agent,
    AgentCard,
    AgentNotFound,
    AgentRequest,
    Agents,
    ThreadState,
    TopicRefused,
    Topics,
)
from server.conversation.threads import ThreadMessage
from server.errors import AppError, EngineCrashed
from server.events import (
    Event,
    Events,
    Failed,
    Finished,
    MessageOpened,
    TextDelta,
    ToolCallFinished,
)
from tests.kit.threads import make_threads

ASK = AgentRequest("echo", "t", "r", (ThreadMessage("u1", Message("user", "hi")),))


class Scripted:
    def __init__(self, *events: Event | AppError, name: str = "echo") -> None:
        self.card = AgentCard(name, "Says what it was told to.")
        self._events = events

    async def run(self, _request: AgentRequest) -> Events:
        for event in self._events:
            if isinstance(event, AppError):
                raise event
            yield event

    async def recall(self, _thread_id: str) -> ThreadState | None:
        return None


class Here:
    def __init__(self, *found: Agent | AppError) -> None:
        self._found: Sequence[Agent | AppError] = found

    async def agents(self) -> tuple[Agent, ...]:
        for one in self._found:
            if isinstance(one, AppError):
                raise one
        return tuple(one for one in self._found if not isinstance(one, AppError))


async def run(agent: Agent, request: AgentRequest, agents: Agents | None = None) -> list[Event]:
    house = agents or Agents(lambda: (Here(agent),), make_threads())
    return [event async for event in house.run(agent, request)]


async def test_agents_of_all_sources_are_known_and_a_broken_source_is_left_out():
    one, other = Scripted(name="one"), Scripted(name="other")
    sources = (Here(one), Here(EngineCrashed("gone")), Here(other, Scripted(name="one")))
    agents = Agents(lambda: sources, make_threads())
    assert [card.name for card in await agents.cards()] == ["one", "other"]
    assert await agents.find("one") is one
    with pytest.raises(AgentNotFound, match="Available agents: one, other"):
        await agents.find("nobody")


async def test_every_message_gets_an_id_before_its_first_word():
    agent = Scripted(TextDelta("a"), TextDelta("b"), ToolCallFinished("c", "1"), TextDelta("d"))
    events = await run(agent, ASK)
    kinds = [type(event) for event in events]
    assert kinds == [
        MessageOpened, TextDelta, TextDelta, ToolCallFinished, MessageOpened, TextDelta, Finished,
    ]  # fmt: skip
    assert events[0] != events[4]


async def test_an_agents_own_id_is_kept():
    events = await run(Scripted(MessageOpened("mine"), TextDelta("a"), Finished("stop")), ASK)
    assert events == [MessageOpened("mine"), TextDelta("a"), Finished("stop")]


async def test_a_failure_is_the_last_event():
    events = await run(Scripted(TextDelta("a"), EngineCrashed("broken")), ASK)
    assert isinstance(events[-1], Failed)
    assert str(events[-1].error) == "broken"


async def test_a_refused_topic_never_reaches_the_agent():
    request = AgentRequest("echo", "t", "r", ASK.messages, topics=Topics(denied=("hi",)))
    (event,) = await run(Scripted(TextDelta("never")), request)
    assert isinstance(event, Failed)
    assert isinstance(event.error, TopicRefused)


async def test_a_run_is_kept_unless_it_is_a_passing_one():
    agent = Scripted(TextDelta("a"), Finished("stop"))
    agents = Agents(lambda: (Here(agent),), make_threads())
    await run(agent, AgentRequest("echo", "passing", "r", ASK.messages, is_kept=False), agents)
    assert agents.threads.find("passing") is None
    await run(agent, ASK, agents)
    assert agents.threads.find("t")
