"""llm: the model writes text from a prompt with the data put in."""

import asyncio
from contextlib import aclosing
from typing import Any

from server.chat import ChatRequest, Sampling
from server.events import TextDelta
from server.flows.asking import fitted, stream
from server.flows.base import FlowFailed, Output, Signs, Step, Work
from server.flows.templates import NOTE, render

SYSTEM = "You are a helpful assistant. Answer from the data given, briefly and truthfully."
USER = "{context}\n{data}\nQuestion: {question}"
USUAL_TEMPERATURE = 0.3
USUAL_S = 300.0
USUAL_TOKENS = 1024


async def run(step: Step, work: Work) -> Signs:
    system = str(step.params.get("system_prompt") or SYSTEM)
    user = str(step.params.get("user_prompt") or USER)
    share = max(len(user.split("{")) - 1, 1)

    def prompt(room: int) -> tuple[str, str]:
        each = room // share
        return f"{render(system, work, each)}\n{NOTE}", render(user, work, each)

    messages = await fitted(work.engine, prompt)
    request = ChatRequest(
        messages,
        sampling=Sampling(temperature=_number(step.params.get("temperature"), USUAL_TEMPERATURE)),
        max_tokens=_room(work, messages_chars=sum(len(one.content) for one in messages)),
        client=work.client,
    )
    parts: list[str] = []
    limit_s = min(_number(step.params.get("timeout"), USUAL_S), USUAL_S)
    try:
        async with asyncio.timeout(limit_s), aclosing(stream(work.engine, request)) as texts:
            async for text in texts:
                parts.append(text)
                yield TextDelta(text)
    except TimeoutError:
        raise FlowFailed("timeout", f"The model took longer than {limit_s:.0f} s.") from None
    written = "".join(parts).strip()
    yield Output(written, written, is_answer=True)


def _room(work: Work, messages_chars: int) -> int:
    context = work.engine.facts.context_tokens
    return min(USUAL_TOKENS, max(context - messages_chars, context // 5)) if context else 512


def _number(given: Any, usual: float) -> float:
    return float(given) if isinstance(given, int | float) and given >= 0 else usual
