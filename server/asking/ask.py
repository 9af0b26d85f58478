"""Questions to the model: streamed text, JSON bound to a schema, a pick among names."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from server.chat import ChatRequest, Constraint, Json, Message, Sampling
from server.engine.base import Engine
from server.errors import FlowFailed
from server.events import TextDelta

CERTAIN = Sampling(temperature=0.0, top_k=1)
PROMPT_SHARE = 0.8
USUAL_CONTEXT = 4096
CHARS_PER_TOKEN = 2.5
ROUNDS = 4
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&~/-]")

Prompt = Callable[[int], tuple[str, str]]
"""System and user text, with so many characters of room for each piece of data."""


async def fitted(
    engine: Engine, prompt: Prompt, most_tokens: int | None = None
) -> tuple[Message, ...]:
    """The prompt with its data cut until it takes at most its share of the context.

    `most_tokens`: a lower limit, where the answer is wanted quickly.
    """
    context = engine.facts.context_tokens or USUAL_CONTEXT
    limit = min(int(context * PROMPT_SHARE), most_tokens or context)
    room = int(limit * CHARS_PER_TOKEN)
    for _ in range(ROUNDS):
        system, user = prompt(room)
        used = len(await engine.tokenize(system + user))
        if used <= limit:
            return tuple(
                message for message in (Message("system", system), Message("user", user))
                if message.content
            )  # fmt: skip
        room = max(int(room * limit / used * 0.8) - 50, 100)
    message = f"This step is too large for the model's context ({used} of {limit} tokens)."
    raise FlowFailed("too_large", message)


async def stream(engine: Engine, request: ChatRequest) -> AsyncGenerator[str, None]:
    async with aclosing(engine.generate(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextDelta):
                yield piece.text


async def ask_json(
    engine: Engine, prompt: Prompt, schema: Json, max_tokens: int, client: str = ""
) -> Any:
    """What the model wrote under the schema; None when it was cut off."""
    constraint = Constraint("json_schema", json.dumps(schema))
    text = await _whole(engine, prompt, constraint, max_tokens, client)
    try:
        return json.loads(text)
    except ValueError:
        return None


async def pick(
    engine: Engine,
    prompt: Prompt,
    names: Sequence[str],
    client: str = "",
    most_tokens: int | None = None,
) -> str:
    """One of the names; `most_tokens` limits the prompt."""
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(_SPECIAL.sub(r"\\\g<0>", name) for name in longest_first)
    messages = await fitted(engine, prompt, most_tokens)
    text = await _written(engine, messages, Constraint("regex", pattern), 200, client)
    return text.strip() if text.strip() in names else names[0]


async def write(
    engine: Engine, prompt: Prompt, pattern: str, max_tokens: int, client: str = ""
) -> str:
    """Text that matches a regular expression."""
    return await _whole(engine, prompt, Constraint("regex", pattern), max_tokens, client)


async def _whole(
    engine: Engine, prompt: Prompt, constraint: Constraint, max_tokens: int, client: str
) -> str:
    messages = await fitted(engine, prompt)
    return await _written(engine, messages, constraint, max_tokens, client)


async def _written(
    engine: Engine,
    messages: tuple[Message, ...],
    constraint: Constraint,
    max_tokens: int,
    client: str,
) -> str:
    asked = ChatRequest(
        messages, sampling=CERTAIN, max_tokens=max_tokens, constraint=constraint, client=client
    )
    async with aclosing(stream(engine, asked)) as texts:
        return "".join([text async for text in texts])
