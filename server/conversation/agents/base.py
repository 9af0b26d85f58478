"""The types of agents, the list of all agents, and the check of topics.

A page can allow and deny topics. They are checked in the user's question, before a model sees it.
"""

import asyncio
import logging
import re
import unicodedata
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

from server.chat import Json, Tool, ToolChoice
from server.conversation.threads import KeptRun, ThreadMessage, Threads
from server.errors import AppError
from server.events import (
    CallOpened,
    Event,
    Events,
    Failed,
    MessageOpened,
    OfChoice,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.plugins.approvals import chat_key

log = logging.getLogger(__name__)

DEFAULT = "default"
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\U00020000-\U0003ffff"
)
"""Scripts without spaces between words: from Thai to Khmer, and Chinese, Japanese and Korean. Each
character counts as a word, so a topic is found anywhere in the text."""
WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
HISSING = ("ches", "shes", "sses", "xes", "zes")
"""Endings of English words whose plural adds "es"."""


class TopicRefused(AppError):
    code = "topic_refused"
    status = 422


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a page. If some are `allowed`, a question must name one, and none `denied`."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def check(self, text: str) -> None:
        """Raises TopicRefused if the text may not be answered."""
        if not (self.allowed or self.denied):
            return
        words = _words(text)
        denied = _first_in(self.denied, words)
        if denied:
            raise TopicRefused(f"Questions about {denied} are not answered here.")
        if self.allowed and not _first_in(self.allowed, words):
            known = ", ".join(self.allowed)
            raise TopicRefused(f"Only questions about these topics are answered here: {known}.")


def _first_in(topics: Iterable[str], words: list[str]) -> str:
    for topic in topics:
        wanted = _words(topic)
        if wanted and any(
            words[start : start + len(wanted)] == wanted for start in range(len(words))
        ):
            return topic
    return ""


def _words(text: str) -> list[str]:
    """Returns the words of a text in lower case and in the singular, for comparison."""
    plain = unicodedata.normalize("NFKC", text)
    return [_singular(word) for word in WORD.findall(plain.casefold())]


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith(HISSING):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


class AgentNotFound(AppError):
    code = "agent_not_found"
    status = 404

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"Agent '{name}' does not exist. Available agents: {', '.join(known)}.")
        self.name = name


@dataclass(frozen=True, slots=True)
class AgentCard:
    name: str
    description: str
    kind: str = "Moat"


@dataclass(frozen=True, slots=True)
class InterruptAnswer:
    """A person's answer to an interrupt of an agent."""

    value: Any


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """A request to run an agent. `messages` is the whole conversation as the client has it."""

    agent: str
    thread_id: str
    run_id: str
    messages: tuple[ThreadMessage, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)
    context: tuple[tuple[str, str], ...] = ()
    """What the page shows: pairs of description and value."""
    state: Json | None = None
    answer: InterruptAnswer | None = None
    topics: Topics = field(default_factory=Topics)
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    ends_after_tools: bool = False
    """Whether the run ends after our tools' results, because the client then asks again itself."""
    is_kept: bool = True
    """Whether the run becomes part of the thread."""
    client: str = ""
    origin: str = ""
    """The page that asks, and its key's name if it has one. Each has its own threads."""
    is_own: bool = False
    """Whether the request comes from Moat's own window."""

    @property
    def chat(self) -> str:
        """The id of the chat, which differs by thread, page and program."""
        return chat_key(self.client, self.thread_id, is_own=self.is_own)

    @property
    def question(self) -> str:
        """The user's last message."""
        users = [sent.message.content for sent in self.messages if sent.message.role == "user"]
        return users[-1] if users else ""


@dataclass(frozen=True, slots=True)
class ThreadState:
    """The state and the messages of a thread."""

    state: Json
    messages: tuple[ThreadMessage, ...]


class Agent(Protocol):
    @property
    def card(self) -> AgentCard: ...
    def run(self, request: AgentRequest) -> Events: ...
    async def recall(self, thread_id: str) -> ThreadState | None:
        """Returns a thread as the agent itself keeps it; None if it does not keep it."""
        ...


class Source(Protocol):
    """A source of agents: Moat itself, the plugins, or a server elsewhere."""

    async def agents(self) -> tuple[Agent, ...]: ...


class Agents:
    """All agents, and their threads. If two agents have the same name, the first source wins."""

    def __init__(self, sources: Callable[[], tuple[Source, ...]], threads: Threads) -> None:
        self._sources = sources
        self.threads = threads

    async def cards(self) -> tuple[AgentCard, ...]:
        return tuple(agent.card for agent in (await self._all()).values())

    async def find(self, name: str) -> Agent:
        known: dict[str, None] = {}
        for source in self._sources():  # in this order, so that Moat's own agents come first
            for agent in await _agents_of(source):
                if agent.card.name == name:
                    return agent
                known[agent.card.name] = None
        raise AgentNotFound(name, tuple(known))

    def run(self, agent: Agent, request: AgentRequest) -> Events:
        events = _with_ids(_run_with_errors(agent, request))
        if not request.is_kept:
            return events
        thread, origin = request.thread_id, request.origin
        run = KeptRun(request.run_id, self.threads.unknown(thread, request.messages, origin))
        return self.threads.keep(request.agent, thread, run, events, origin)

    async def _all(self) -> dict[str, Agent]:
        found: dict[str, Agent] = {}
        for agents in await asyncio.gather(*map(_agents_of, self._sources())):
            for agent in agents:
                found.setdefault(agent.card.name, agent)
        return found


async def _agents_of(source: Source) -> tuple[Agent, ...]:
    try:
        return await source.agents()
    except AppError as error:
        log.warning("Agents are missing: %s", error)
        return ()


async def _run_with_errors(agent: Agent, request: AgentRequest) -> Events:
    try:
        request.topics.check(request.question)
        async with aclosing(agent.run(request)) as events:
            async for event in events:
                yield event
    except AppError as error:
        yield Failed(error)


async def _with_ids(events: Events) -> AsyncGenerator[Event | OfChoice, None]:
    """Adds MessageOpened before each message without one, so that every replay uses the same id."""
    opened = False
    async with aclosing(events):
        async for event in events:
            if isinstance(event, MessageOpened):
                opened = True
            elif isinstance(event, ToolCallFinished):
                opened = False
            elif isinstance(event, TextDelta | CallOpened | ToolCallStarted) and not opened:
                opened = True
                yield MessageOpened(f"msg-{uuid.uuid4()}")
            yield event
