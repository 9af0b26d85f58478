"""What fits a model: a prompt's share of its context."""

from collections.abc import Callable

from server.chat import Message
from server.engine.base import Engine, ModelFacts
from server.errors import FlowFailed, NotSupported

CHARACTERS_PER_TOKEN = 2.4
"""A low estimate. Where the number of tokens matters, the model's own tokenizer counts them."""
USUAL_CONTEXT = 4096
"""The context of a model that does not report its own."""
PROMPT_SHARE = 0.8
ROUNDS = 4

Texts = tuple[str, str]
"""System and user text."""
Prompt = Texts | Callable[[int], Texts]
"""Texts to send as they are, or a function that makes them with so many characters of data."""


def context_tokens(facts: ModelFacts) -> int:
    return facts.context_tokens or USUAL_CONTEXT


async def count_tokens(engine: Engine, text: str) -> int:
    """Estimates where a server elsewhere does not count."""
    try:
        return len(await engine.tokenize(text))
    except NotSupported:
        return int(len(text) / CHARACTERS_PER_TOKEN) + 1


async def fit_prompt(
    engine: Engine, prompt: Prompt, most_tokens: int | None = None
) -> tuple[Message, ...]:
    """Returns the prompt, with its data cut until it takes at most its share of the context.

    `most_tokens`: a lower limit, for an answer that is wanted quickly.
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
    message = f"This step is too large for the model's context ({used} of {limit} tokens)."
    raise FlowFailed("too_large", message)


def _messages(system: str, user: str) -> tuple[Message, ...]:
    messages = (Message("system", system), Message("user", user))
    return tuple(message for message in messages if message.content)
