"""Questions that plugins answer: a flow is chosen, run, paused for an answer, continued."""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from server.asking.ask import Means, pick
from server.chat import ChatRequest, Json, Message
from server.data.shorten import shorten
from server.engine.base import Engine
from server.errors import FlowFailed
from server.events import Event, Finished, Interrupted, StatusNote, StepChanged, TextDelta
from server.flows.arguments import ASKING
from server.flows.base import Flow, Kit, Work
from server.flows.runner import Paused, Run, resume, resume_with_text
from server.language.ranking import bm25
from server.language.words import terms
from server.plugins.approvals import chat_key
from server.plugins.kit import lent_to

MOST = 12
B = 0.75
MOST_TOKENS = 600
"""Of the question to the model: reading more takes long on a machine without a graphics card."""
SHORTEST_LINE = 20
SHORTEST_QUESTION = 60
FAR = 0.2
"""The share of the best score below which a flow does not fit at all."""
NONE = "none"
SYSTEM = (
    "You decide which tool helps with the user's message. Answer with its number, or with 'none' "
    "when no tool fits and it should simply be answered."
)
MENTION = re.compile(r"\s*@([A-Za-z0-9_.-]{1,64})(?:/(\S{1,128}))?(?:\s+|$)(.*)", re.DOTALL)


def rank(question: str, texts: Sequence[str]) -> list[int]:
    """Places of the texts that share words with the question, best first."""
    scores = _scores(question, texts)
    order = sorted(range(len(texts)), key=lambda place: -scores[place])
    return [place for place in order if scores[place] > 0]


def best_of(question: str, flows: Sequence[Flow], most: int = MOST) -> list[Flow]:
    """The flows that fit the question best, without those that are far behind the first."""
    texts = [_told(flow) for flow in flows]
    scores = _scores(question, texts)
    least = FAR * max(scores, default=0.0)
    return [flows[place] for place in rank(question, texts)[:most] if scores[place] >= least]


def _told(flow: Flow) -> str:
    return f"{flow.name} {flow.description}"


def _scores(question: str, texts: Sequence[str]) -> list[float]:
    """BM25 over words, and over pairs of characters where words are not written apart."""
    counts = [Counter(terms(text)) for text in texts]
    return bm25(dict.fromkeys(terms(question), 1.0), counts, B)


async def choose(
    engine: Engine, question: str, flows: Sequence[Flow], client: str, *, is_named: bool = False
) -> Flow | None:
    """The flow that answers the question; None for a plain answer.

    `is_named`: the person named their plugin, so each of them may be meant, in any language.
    """
    best = best_of(question, flows)
    if is_named:
        best = [*best, *(flow for flow in flows if flow not in best)][:MOST]
    while best:
        try:
            return await _pick(engine, question, best, client)
        except FlowFailed as error:
            if error.fault != "too_large":
                raise
            best = best[: len(best) // 2]
    return None


async def _pick(engine: Engine, question: str, best: Sequence[Flow], client: str) -> Flow | None:
    """One question to the model, which may say none; FlowFailed when even this is too long."""

    def prompt(room: int) -> tuple[str, str]:
        each = max(room // (2 * len(best)), SHORTEST_LINE)
        lines = "\n".join(
            f"{number}. {shorten(f'{flow.name}: {flow.description}', each)}"
            for number, flow in enumerate(best, 1)
        )
        asked = shorten(question, max(room // 3, SHORTEST_QUESTION))
        return SYSTEM, f"Tools:\n{lines}\nMessage: {asked}\nNumber or none:"

    names = [NONE, *(str(number) for number in range(1, len(best) + 1))]
    answer = await pick(Means(engine, client), prompt, names, MOST_TOKENS)
    return None if answer == NONE else best[int(answer) - 1]


def mentioned(question: str, flows: Sequence[Flow]) -> tuple[list[Flow], str] | None:
    """'@plugin …' or '@plugin/flow …': the flows meant, and the question without the mention."""
    named = named_in(question)
    if named is None:
        return None
    plugin, name, rest = named
    meant = [flow for flow in flows if flow.plugin == plugin and name in (None, flow.name)]
    return (meant, rest) if meant else None


def named_in(question: str) -> tuple[str, str | None, str] | None:
    """The plugin and the flow that a question begins with, and what follows them."""
    match = MENTION.match(question)
    return (match[1], match[2], match[3].strip()) if match else None


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
