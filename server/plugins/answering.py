"""Questions that plugins answer: chosen, run, paused for an answer, gone on with."""

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from server.chat import ChatRequest, Json, Message
from server.engine.base import Engine
from server.events import Event, Finished, Interrupted, StatusNote, StepChanged, TextDelta
from server.flows.arguments import ASKING
from server.flows.base import Flow, Kit, Work
from server.flows.runner import Paused, Run, resume, resume_with_text
from server.plugins.approvals import chat_key
from server.plugins.choosing import choose, mentioned, named_in
from server.plugins.kit import lent_to

KEPT_S = 600.0
LONGEST_CONTEXT = 4000
EARLIER_TURNS = 6
MOST_NAMED = 8
Stream = AsyncGenerator[Event, None]


@dataclass(frozen=True, slots=True)
class Said:
    """What was said in a chat, the question last, and who said it."""

    messages: tuple[Message, ...]
    client: str = ""
    chat: str = field(default_factory=lambda: chat_key(is_own=False))
    """What is allowed once holds for it."""
    is_by_model: bool = False
    """A model has put the question in words of its own: nothing in it was said by the person."""

    @property
    def question(self) -> str:
        last = self.messages[-1] if self.messages else None
        return last.content if last is not None and last.role == "user" else ""

    @property
    def context(self) -> str:
        """What was said before. What we asked for is left out: nobody said it."""
        earlier = [
            one
            for one in self.messages[:-1]
            if one.role in ("user", "assistant") and ASKING not in one.content
        ]
        lines = [f"{one.role}: {one.content}" for one in earlier[-EARLIER_TURNS:]]
        return "\n".join(lines)[-LONGEST_CONTEXT:]


Flows = Callable[[], Awaitable[Sequence[Flow]]]
MakeKit = Callable[[Flow, str], Kit]
Explain = Callable[[str, str | None], Awaitable[str]]
"""Why a plugin, or a flow of it, cannot be used; empty where there is no such plugin at all."""


async def _unexplained(_plugin: str, _flow: str | None) -> str:
    return ""


class PluginTalk:
    def __init__(
        self,
        flows: Flows,
        make_kit: MakeKit,
        is_automatic: Callable[[], bool],
        explain: Explain = _unexplained,
    ) -> None:
        self._flows = flows
        self._make_kit = make_kit
        self._is_automatic = is_automatic
        self._explain = explain
        self._paused: dict[str, tuple[float, Paused]] = {}

    async def take(self, engine: Engine, request: ChatRequest) -> Stream | None:
        """The events of a flow that answers this request; None: the model answers by itself."""
        said = Said(request.messages, request.client)
        if request.chat:
            said = replace(said, chat=request.chat)
        if request.constraint is not None or request.is_raw or not said.question:
            return None
        paused = self._resumed(_pause_key(said))
        if paused is not None:
            return self._told(said, resume_with_text(paused, said.question), paused)
        wanted = await self._choose(engine, said, by_itself=not request.tools)
        if wanted is None:
            return None
        if isinstance(wanted, str):
            return _notice(wanted)
        flow, question = wanted
        return self._told(said, self._begin(engine, flow, said, question), None)

    async def run(
        self, engine: Engine, flow: Flow, said: Said, *, thread: str, answer: object = None
    ) -> Stream:
        """One flow by name, for a client that has threads and can answer a form."""
        key = f"thread {flow.key} {thread}"
        paused = self._resumed(key)
        if paused is not None:
            # A page without a form for it answers by what is said next.
            answer = said.question if answer is None else answer
            given = answer if isinstance(answer, dict) else _as_object(str(answer))
            run = resume(paused, given) if given else resume_with_text(paused, str(answer))
        else:
            run = self._begin(engine, flow, said, said.question)
        async with aclosing(run.events(paused.step if paused else None)) as events:
            async for event in events:
                yield event
        if run.paused is not None:
            self._keep(key, run.paused)
            yield Finished("stop")

    async def _choose(
        self, engine: Engine, said: Said, *, by_itself: bool
    ) -> tuple[Flow, str] | str | None:
        """A flow and the question for it, or why the plugin that was named cannot answer."""
        flows = [flow for flow in await self._flows() if flow.is_usable]
        named = mentioned(said.question, flows)
        if named is not None:
            return await self._of_named(engine, named, said)
        if unknown := named_in(said.question):
            return await self._explain(unknown[0], unknown[1]) or None
        if not by_itself or not self._is_automatic():
            return None
        flow = await choose(engine, said.question, flows, said.client)
        return (flow, said.question) if flow is not None else None

    async def _of_named(
        self, engine: Engine, named: tuple[list[Flow], str], said: Said
    ) -> tuple[Flow, str] | str:
        meant, question = named
        if len(meant) == 1:
            return meant[0], question
        flow = await choose(engine, question, meant, said.client, is_named=True)
        if flow is not None:
            return flow, question
        plugin = meant[0].plugin
        names = ", ".join(f"@{one.key}" for one in meant[:MOST_NAMED])
        unfit = f"Nothing that {plugin} can do fits this. Name what you want: {names}."
        return await self._explain(plugin, None) or unfit

    def _begin(self, engine: Engine, flow: Flow, said: Said, question: str) -> Run:
        kit = lent_to(said.client, self._make_kit(flow, said.chat))
        kit.note(f"run {flow.name}")
        asked = [question] if said.is_by_model else []
        return Run(Work(flow, question, engine, kit, said.context, asked=asked, client=said.client))

    async def _told(self, said: Said, run: Run, paused: Paused | None) -> Stream:
        """For clients that know no forms: what is missing is asked as text."""
        yield StatusNote(f"Using {run.work.flow.key}", details={"flow": run.work.flow.key})
        async with aclosing(run.events(paused.step if paused else None)) as events:
            async for event in events:
                if isinstance(event, StepChanged) and event.active:
                    yield StatusNote(f"Step {event.name}")
                if not isinstance(event, Interrupted):
                    yield event
        run.work.kit.note(f"run {run.work.flow.name} ended: {run.status}")
        if run.paused is not None:
            asked = (*said.messages, Message("assistant", run.paused.question), Message("user", ""))
            self._keep(_pause_key(Said(asked, said.client)), run.paused)
            yield Finished("stop")

    def _keep(self, key: str, paused: Paused) -> None:
        now = time.monotonic()
        self._paused = {k: v for k, v in self._paused.items() if now - v[0] < KEPT_S}
        self._paused[key] = (now, paused)

    def _resumed(self, key: str) -> Paused | None:
        at, paused = self._paused.pop(key, (0.0, None))
        return paused if paused is not None and time.monotonic() - at < KEPT_S else None


async def _notice(text: str) -> Stream:
    """An answer that no model wrote."""
    yield StatusNote(text, "error")
    yield TextDelta(text)
    yield Finished("stop")


def _pause_key(said: Said) -> str:
    """The same for the chat that was asked and the chat that answers."""
    earlier = said.messages[:-1]
    users = [one.content.strip() for one in earlier if one.role == "user"]
    last = earlier[-1].content.strip() if earlier and earlier[-1].role == "assistant" else ""
    text = json.dumps([said.client, users, last], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _as_object(text: str) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
