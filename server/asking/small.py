"""A small question to the model whose answer is bound to a schema: a choice, not prose."""

import json
from contextlib import aclosing

from server.asking.means import Means
from server.chat import ChatRequest, Constraint, Json, Message, Sampling
from server.errors import AppError
from server.events import TextDelta

CERTAIN = Sampling(temperature=0.0, top_k=1)


async def ask_json(
    means: Means, system: str, question: str, schema: Json, max_tokens: int = 128
) -> Json | None:
    """None when the model cannot answer: whoever asks goes on without it."""
    request = ChatRequest(
        (Message("system", system), Message("user", question)),
        sampling=CERTAIN,
        max_tokens=max_tokens,
        constraint=Constraint("json_schema", json.dumps(schema)),
        client=means.client,
    )
    try:
        return _object("".join(await _texts(means, request)))
    except AppError:
        return None


async def ask_text(means: Means, system: str, question: str, max_tokens: int) -> str:
    """A short text; empty when the model cannot answer."""
    messages = (Message("system", system), Message("user", question))
    request = ChatRequest(messages, sampling=CERTAIN, max_tokens=max_tokens, client=means.client)
    try:
        return "".join(await _texts(means, request)).strip()
    except AppError:
        return ""


async def _texts(means: Means, request: ChatRequest) -> list[str]:
    async with aclosing(means.engine.generate(request)) as pieces:
        return [piece.text async for piece in pieces if isinstance(piece, TextDelta)]


def _object(text: str) -> Json | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
