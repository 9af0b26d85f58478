"""Asks the model: for JSON that follows a schema, for one of several names, or for a short text.

The prompt of a question is cut to its share of the model's context.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from server.chat import ChatRequest, Constraint, Json, Message, Sampling
from server.engine.base import Engine, ModelFacts
from server.errors import AppError, FlowFailed, NotSupported
from server.events import Event, ReasoningDelta, StatusNote, TextDelta
from server.sentences import Sentence

CHARACTERS_PER_TOKEN = 2.4
"""A low estimate. Where the number matters, the model's own tokenizer counts the tokens."""
USUAL_CONTEXT = 4096
"""The context that is assumed for a model that does not report its own, in tokens."""
PROMPT_SHARE = 0.8
"""The share of the context that a prompt may take. The rest is for the answer."""
ROUNDS = 4
"""How often a prompt is made shorter before the question fails."""

Texts = tuple[str, str]
"""The system message and the user message."""
Prompt = Texts | Callable[[int], Texts]
"""Texts to send as they are, or a function that makes them with at most N characters of data."""
CERTAIN = Sampling(temperature=0.0, top_k=1)
"""Always takes the likeliest token."""
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&~/-]")


class LinkedFiles(Protocol):
    """Fetches files that came as links. Reads at most `room` bytes."""

    async def fetch(self, item: Any, room: int) -> bytes: ...


TRYING_OUT = "Trying out what this model can do; this happens once"


class CanPlan(Protocol):
    """Finds out by a trial whether a model can make plans. Takes the client's name."""

    async def __call__(self, engine: Engine, client: str, /) -> bool: ...

    def is_known(self, engine: Engine, /) -> bool:
        """Whether the trial is done, so that a call returns at once."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """A flow of a plugin that a model may choose."""

    key: str
    description: str


class Answering(Protocol):
    """Plugins, which may answer a request instead of the model."""

    async def take(
        self, engine: Engine, request: ChatRequest, can_plan: CanPlan | None = None
    ) -> AsyncGenerator[Event, None] | None:
        """Returns the events of a flow that answers; None if the model should answer."""
        ...

    def prepare(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        """Yields status texts while plugins fetch what they need before they can answer."""
        ...

    async def offers(self, question: str) -> Sequence[Offer]:
        """Returns the flows that a model may choose from, the best match for the question first."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What a conversation can use: a model, plugins, linked files, and what the client shows."""

    engine: Engine
    client: str = ""
    plugins: Answering | None = None
    """Asked before the model, because a flow may answer. None: the model answers."""
    text_only: bool = False
    """Whether the client shows only text, so that tables and charts become part of it."""
    files: LinkedFiles | None = None
    """Fetches files that come as links. None: no link is opened."""
    can_plan: CanPlan | None = None
    """None: no model is asked to make a plan."""

    @property
    def is_untried(self) -> bool:
        """Whether a call of `is_able` would have to wait for the trial."""
        return self.can_plan is not None and not self.can_plan.is_known(self.engine)

    async def is_able(self) -> bool:
        """Whether the model passes the trial of making plans; false if there is no trial."""
        return self.can_plan is not None and await self.can_plan(self.engine, self.client)


class _TrialNeeded(Exception):
    """Raised when a decision needs the trial of the model."""


class _NoTrial:
    """Raises `_TrialNeeded` instead of making the trial."""

    async def __call__(self, _engine: Engine, _client: str, /) -> bool:
        raise _TrialNeeded

    def is_known(self, _engine: Engine, /) -> bool:
        return False


@dataclass(slots=True)
class PluginChoice:
    """Finds out whether a flow of a plugin answers a request."""

    means: Means
    request: ChatRequest
    taken: AsyncGenerator[Event, None] | None = None
    """The events of the flow, after `look` has ended; None if the model should answer."""

    async def look(self) -> AsyncGenerator[StatusNote, None]:
        """Sets `taken`. Yields notes while it waits for packages or for the trial of the model."""
        means = self.means
        if means.plugins is None:
            return
        async with aclosing(means.plugins.prepare(self.request)) as preparing:
            async for words in preparing:
                yield StatusNote(words)
        if means.is_untried:
            try:
                self.taken = await means.plugins.take(means.engine, self.request, _NoTrial())
            except _TrialNeeded:
                yield StatusNote(TRYING_OUT)
            else:
                return
        self.taken = await means.plugins.take(means.engine, self.request, means.can_plan)


class Asker(Protocol):
    """What a question needs. `Means` and a flow's `Work` have it."""

    @property
    def engine(self) -> Engine: ...
    @property
    def client(self) -> str: ...


async def ask_json(
    asker: Asker, prompt: Prompt, schema: Json, max_tokens: int = 128, *, must: bool = False
) -> Json | None:
    """Returns an object that follows the schema; None if it was cut off or the model failed.

    `must`: raises the model's error instead.
    """
    try:
        return _as_object(await _write(asker, prompt, _bound_to(schema), max_tokens))
    except AppError:
        if must:
            raise
        return None


async def ask_json_in_chat(
    asker: Asker,
    messages: Sequence[Message],
    schema: Json,
    max_tokens: int,
    *,
    must: bool = False,
) -> tuple[Json | None, str]:
    """Continues a conversation with an object. Returns it as `ask_json` does, and the reasoning.

    Thinking is switched off in the template, but some models think all the same.
    """
    request = ChatRequest(
        tuple(messages),
        sampling=CERTAIN,
        max_tokens=max_tokens,
        constraint=_bound_to(schema),
        template_options=(("enable_thinking", False),),
        client=asker.client,
    )
    text, thought = "", ""
    try:
        async with aclosing(asker.engine.generate(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    text += piece.text
                elif isinstance(piece, ReasoningDelta):
                    thought += piece.text
    except AppError:
        if must:
            raise
        return None, ""
    return _as_object(text), thought


def _bound_to(schema: Json) -> Constraint:
    return Constraint("json_schema", json.dumps(schema))


def _as_object(text: str) -> Json | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


async def ask_text(asker: Asker, prompt: Prompt, max_tokens: int) -> str:
    """Returns a short text; empty if the model failed."""
    try:
        return (await _write(asker, prompt, None, max_tokens)).strip()
    except AppError:
        return ""


async def pick(
    asker: Asker,
    prompt: Prompt,
    names: Sequence[str],
    most_tokens: int | None = None,
    sampling: Sampling = CERTAIN,
) -> str:
    """Returns one of the names. `most_tokens` limits the prompt. Raises the model's error."""
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(_SPECIAL.sub(r"\\\g<0>", name) for name in longest_first)
    text = await _write(asker, prompt, Constraint("regex", pattern), 200, most_tokens, sampling)
    return text.strip() if text.strip() in names else names[0]


async def write(asker: Asker, prompt: Prompt, pattern: str, max_tokens: int) -> str:
    """Returns a text that matches a regular expression. Raises the model's error."""
    return await _write(asker, prompt, Constraint("regex", pattern), max_tokens)


async def stream(engine: Engine, request: ChatRequest) -> AsyncGenerator[str, None]:
    async with aclosing(engine.generate(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextDelta):
                yield piece.text


async def _write(
    asker: Asker,
    prompt: Prompt,
    constraint: Constraint | None,
    max_tokens: int,
    prompt_tokens: int | None = None,
    sampling: Sampling = CERTAIN,
) -> str:
    request = ChatRequest(
        await fit_prompt(asker.engine, prompt, prompt_tokens),
        sampling=sampling,
        max_tokens=max_tokens,
        constraint=constraint,
        client=asker.client,
    )
    async with aclosing(stream(asker.engine, request)) as texts:
        return "".join([text async for text in texts])


def context_tokens(facts: ModelFacts) -> int:
    return facts.context_tokens or USUAL_CONTEXT


async def count_tokens(engine: Engine, text: str) -> int:
    """Counts the tokens of a text. Estimates them if the model's server cannot count."""
    try:
        return len(await engine.tokenize(text))
    except NotSupported:
        return int(len(text) / CHARACTERS_PER_TOKEN) + 1


async def fit_prompt(
    engine: Engine, prompt: Prompt, most_tokens: int | None = None
) -> tuple[Message, ...]:
    """Returns the prompt as messages, with data cut until it fits its share of the context.

    `most_tokens` is a lower limit, for a quick answer. Raises FlowFailed if it does not fit.
    """
    if isinstance(prompt, tuple):
        return _messages(*prompt)
    context = context_tokens(engine.facts)
    limit = min(int(context * PROMPT_SHARE), most_tokens or context)
    room = int(limit * CHARACTERS_PER_TOKEN)
    for _ in range(ROUNDS):
        system, user = prompt(room)
        used = await count_tokens(engine, system + user)
        if used <= limit:
            return _messages(system, user)
        room = max(int(room * limit / used * 0.8) - 50, 100)
    message = Sentence(
        "This step is too large for the model's context ({0} of {1} tokens).", used, limit
    )
    raise FlowFailed("too_large", message)


def _messages(system: str, user: str) -> tuple[Message, ...]:
    messages = (Message("system", system), Message("user", user))
    return tuple(message for message in messages if message.content)
