"""Answers questions with plugins: chooses a flow, runs it, and pauses it until a person replies."""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from server.asking.ask import CanPlan, Means, Offer, pick
from server.chat import ChatRequest, Message
from server.data.markdown import shorten
from server.engine.base import Engine
from server.errors import FlowFailed
from server.events import Event, Finished, Interrupted, StatusNote, StepChanged, TextDelta
from server.flows.base import Flow, Kit, Work
from server.flows.calling import ASKING
from server.flows.runner import Paused, Run, resume, resume_with_text
from server.language.ranking import bm25
from server.language.words import terms
from server.plugins.approvals import chat_key
from server.plugins.kit import lent_to
from server.sentences import Sentence
from server.system.limits import try_json

MOST = 12
B = 0.75
"""BM25's `b`: how much longer texts are penalised."""
MOST_TOKENS = 600
"""The most tokens in the prompt for a choice: more takes long without a graphics card."""
LEAST_WORDS = 2
"""The fewest words of a question that the model matches by meaning. A greeting has fewer."""
SHORTEST_LINE = 20
SHORTEST_QUESTION = 60
FAR = 0.2
"""Flows that score below this share of the best score do not fit."""
NONE = "none"
SYSTEM = (
    "You decide which tool helps with the user's message. Answer with its number, or with 'none' "
    "when no tool fits and it should simply be answered."
)
MENTION = re.compile(r"\s*@([A-Za-z0-9_.-]{1,64})(?:/(\S{1,128}))?(?:\s+|$)(.*)", re.DOTALL)


def rank(question: str, texts: Sequence[str]) -> list[int]:
    """Returns the indices of the texts that share words with the question, best first."""
    return _best_first(_scores(question, texts))


def best_of(question: str, flows: Sequence[Flow], most: int = MOST) -> list[Flow]:
    """Returns the best-fitting flows, without those that score far below the first."""
    texts = [f"{flow.name} {flow.description}" for flow in flows]
    scores = _scores(question, texts)
    least = FAR * max(scores, default=0.0)
    return [flows[place] for place in _best_first(scores)[:most] if scores[place] >= least]


def _best_first(scores: Sequence[float]) -> list[int]:
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [place for place in order if scores[place] > 0]


def _scores(question: str, texts: Sequence[str]) -> list[float]:
    """Scores each text by BM25 over words, or pairs of characters in scripts without spaces."""
    counts = [Counter(terms(text)) for text in texts]
    return bm25(dict.fromkeys(terms(question), 1.0), counts, B)


async def choose(
    engine: Engine,
    question: str,
    flows: Sequence[Flow],
    client: str,
    *,
    is_named: bool = False,
    can_plan: CanPlan | None = None,
) -> Flow | None:
    """Returns the flow that answers the question; None if the model should answer itself.

    `is_named`: the person named the plugin, so all of its flows are offered, in any language.
    `can_plan`: tests whether the model can choose by meaning if no word matches.
    """
    best = best_of(question, flows)
    if not best and flows and can_plan and len(terms(question)) >= LEAST_WORDS:
        is_named = await can_plan(engine, client)
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
    """Asks the model for one of the flows; None if it rejects them all.

    Raises FlowFailed `too_large` if even this prompt is too long.
    """

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


def find_mention(question: str, flows: Sequence[Flow]) -> tuple[list[Flow], str] | None:
    """Returns the flows named by '@plugin …' or '@plugin/flow …', and the rest of the question.

    Returns None if no such flow is named.
    """
    named = named_in(question)
    if named is None:
        return None
    plugin, name, rest = named
    meant = [flow for flow in flows if flow.plugin == plugin and name in (None, flow.name)]
    return (meant, rest) if meant else None


def named_in(question: str) -> tuple[str, str | None, str] | None:
    """Returns the plugin and the flow named at the beginning of the question, and the rest."""
    match = MENTION.match(question)
    return (match[1], match[2], match[3].strip()) if match else None


KEPT_S = 600.0
"""Seconds that a paused flow waits for the person's reply."""
LONGEST_CONTEXT = 4000
EARLIER_TURNS = 6
MOST_NAMED = 8
LONGEST_OFFER = 160
Stream = AsyncGenerator[Event, None]


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """The messages of a chat, with the question last, and the client that asks."""

    messages: tuple[Message, ...]
    client: str = ""
    chat: str = field(default_factory=lambda: chat_key(is_own=False))
    """Identifies the chat. A permission that is given once holds for this chat."""
    is_by_model: bool = False
    """Whether a model wrote the question, so that none of it comes from the person."""

    @property
    def question(self) -> str:
        last = self.messages[-1] if self.messages else None
        return last.content if last is not None and last.role == "user" else ""

    @property
    def context(self) -> str:
        """The last messages before the question, without the questions that Moat itself asked."""
        earlier = [
            message
            for message in self.messages[:-1]
            if message.role in ("user", "assistant") and ASKING not in message.content
        ]
        lines = [f"{message.role}: {message.content}" for message in earlier[-EARLIER_TURNS:]]
        return "\n".join(lines)[-LONGEST_CONTEXT:]


Flows = Callable[[], Awaitable[Sequence[Flow]]]
MakeKit = Callable[[Flow, str], Kit]
Explain = Callable[[str, str | None], Awaitable[str]]
"""Returns why a plugin or its flow cannot be used; empty if it can, or if it is unknown."""


Prepare = Callable[[], AsyncGenerator[str, None]]


async def _explain_nothing(_plugin: str, _flow: str | None) -> str:
    return ""


async def _prepare_nothing() -> AsyncGenerator[str, None]:
    nothing: tuple[str, ...] = ()
    for words in nothing:
        yield words


class PluginTalk:
    """Answers questions with the flows of plugins, and keeps the flows that wait for a reply."""

    def __init__(
        self,
        flows: Flows,
        make_kit: MakeKit,
        is_automatic: Callable[[], bool],
        explain: Explain = _explain_nothing,
        prepare: Prepare = _prepare_nothing,
    ) -> None:
        self._flows = flows
        self._make_kit = make_kit
        self._is_automatic = is_automatic
        self._explain = explain
        self._prepare = prepare
        self._paused: dict[str, tuple[float, Paused]] = {}

    async def offers(self, question: str) -> list[Offer]:
        """Returns at most MOST flows that a model may choose by itself, those that fit best."""
        if not self._is_automatic():
            return []
        flows = [flow for flow in await self._flows() if flow.is_usable]
        best = best_of(question, flows)
        order = [*best, *(flow for flow in flows if flow not in best)][:MOST]
        kept = [flow for flow in flows if flow in order]
        return [Offer(flow.key, shorten(flow.description, LONGEST_OFFER)) for flow in kept]

    async def prepare(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        """Yields progress lines while plugins that may answer fetch their packages."""
        if _is_for_model(UserQuestion(request.messages), request):
            return
        async with aclosing(self._prepare()) as preparing:
            async for words in preparing:
                yield words

    async def take(
        self, engine: Engine, request: ChatRequest, can_plan: CanPlan | None = None
    ) -> Stream | None:
        """Returns the events of a flow that answers; None if the model should answer."""
        asked = UserQuestion(request.messages, request.client)
        if request.chat:
            asked = replace(asked, chat=request.chat)
        if _is_for_model(asked, request):
            return None
        paused = self._take_paused(_pause_key(asked))
        if paused is not None:
            return self._run_in_text(asked, resume_with_text(paused, asked.question), paused)
        wanted = await self._choose(engine, asked, by_itself=not request.tools, can_plan=can_plan)
        if wanted is None:
            return None
        if isinstance(wanted, str):
            return _notice(wanted)
        flow, question = wanted
        return self._run_in_text(asked, self._begin(engine, flow, asked, question), None)

    async def run(
        self, engine: Engine, flow: Flow, asked: UserQuestion, *, thread: str, answer: object = None
    ) -> Stream:
        """Runs a given flow, for a client that has threads and can show a form."""
        key = f"thread {flow.key} {thread}"
        paused = self._take_paused(key)
        if paused is not None:
            # A page without a form sends the answer as its next message.
            answer = asked.question if answer is None else answer
            given = answer if isinstance(answer, dict) else try_json(str(answer))
            has_values = isinstance(given, dict) and given
            run = resume(paused, given) if has_values else resume_with_text(paused, str(answer))
        else:
            run = self._begin(engine, flow, asked, asked.question)
        async with aclosing(run.events(paused.step if paused else None)) as events:
            async for event in events:
                yield event
        if run.paused is not None:
            self._keep(key, run.paused)
            yield Finished("stop")

    async def _choose(
        self, engine: Engine, asked: UserQuestion, *, by_itself: bool, can_plan: CanPlan | None
    ) -> tuple[Flow, str] | str | None:
        """Returns a flow and its question, or the reason why the named plugin cannot answer."""
        flows = [flow for flow in await self._flows() if flow.is_usable]
        named = find_mention(asked.question, flows)
        if named is not None:
            return await self._of_named(engine, named, asked)
        if unknown := named_in(asked.question):
            return await self._explain(unknown[0], unknown[1]) or None
        if not by_itself or not self._is_automatic():
            return None
        flow = await choose(engine, asked.question, flows, asked.client, can_plan=can_plan)
        return (flow, asked.question) if flow is not None else None

    async def _of_named(
        self, engine: Engine, named: tuple[list[Flow], str], asked: UserQuestion
    ) -> tuple[Flow, str] | str:
        meant, question = named
        if len(meant) == 1:
            return meant[0], question
        flow = await choose(engine, question, meant, asked.client, is_named=True)
        if flow is not None:
            return flow, question
        plugin = meant[0].plugin
        names = ", ".join(f"@{flow.key}" for flow in meant[:MOST_NAMED])
        unfit = f"{plugin} has nothing that fits this. Name what you want: {names}."
        return await self._explain(plugin, None) or unfit

    def _begin(self, engine: Engine, flow: Flow, asked: UserQuestion, question: str) -> Run:
        kit = lent_to(asked.client, self._make_kit(flow, asked.chat))
        kit.note(f"run {flow.name}")
        own_words = [question] if asked.is_by_model else []
        return Run(
            Work(flow, question, engine, kit, asked.context, asked=own_words, client=asked.client)
        )

    async def _run_in_text(self, asked: UserQuestion, run: Run, paused: Paused | None) -> Stream:
        """Runs the flow. Missing arguments are asked for as text, for clients without forms."""
        yield StatusNote(
            Sentence("Using {0}", run.work.flow.key), details={"flow": run.work.flow.key}
        )
        async with aclosing(run.events(paused.step if paused else None)) as events:
            async for event in events:
                if isinstance(event, StepChanged) and event.active:
                    yield StatusNote(Sentence("Step {0}", event.name))
                if not isinstance(event, Interrupted):
                    yield event
        run.work.kit.note(f"run {run.work.flow.name} ended: {run.status}")
        if run.paused is not None:
            conversation = (
                *asked.messages,
                Message("assistant", run.paused.question),
                Message("user", ""),
            )
            self._keep(_pause_key(UserQuestion(conversation, asked.client)), run.paused)
            yield Finished("stop")

    def _keep(self, key: str, paused: Paused) -> None:
        now = time.monotonic()
        self._paused = {k: v for k, v in self._paused.items() if now - v[0] < KEPT_S}
        self._paused[key] = (now, paused)

    def _take_paused(self, key: str) -> Paused | None:
        at, paused = self._paused.pop(key, (0.0, None))
        return paused if paused is not None and time.monotonic() - at < KEPT_S else None


def _is_for_model(asked: UserQuestion, request: ChatRequest) -> bool:
    """Whether only the model can answer: the output has a fixed form, or no person asks."""
    return request.constraint is not None or request.is_raw or not asked.question


async def _notice(text: str) -> Stream:
    """Yields a fixed text as the answer, without a model."""
    yield StatusNote(text, "error")
    yield TextDelta(text)
    yield Finished("stop")


def _pause_key(asked: UserQuestion) -> str:
    """Returns a key that is the same when a flow pauses and when the person's reply arrives."""
    earlier = asked.messages[:-1]
    users = [message.content.strip() for message in earlier if message.role == "user"]
    last = earlier[-1].content.strip() if earlier and earlier[-1].role == "assistant" else ""
    text = json.dumps([asked.client, users, last], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
