"""An engine that does what the last message says, in the words of the conformance kit."""

import asyncio
import itertools
import json
import re

from server.chat import ChatRequest, ToolCall
from server.errors import EngineCrashed
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Pieces,
    ReasoningDelta,
    TextDelta,
    ToolCallRequested,
)
from tests.kit.engines import ScriptedEngine

PACE_S = 0.015
CALL = re.compile(r"(call|both|twice):([A-Za-z0-9_-]+):(.*)", re.DOTALL)
numbers = itertools.count(1)


class ObedientEngine(ScriptedEngine):
    """An engine that obeys words such as call:TOOL:{json}, which makes that call.

    both: says something first, and twice:TOOL:[{json}, {json}] makes all calls a second time. THINK
    thinks first; LONG, ERR500 and ERRMID do as they are named.
    """

    async def generate(self, request: ChatRequest) -> Pieces:
        last = request.messages[-1]
        wanted = CALL.fullmatch(last.content.strip()) if last.role == "user" else None
        if last.role == "user" and re.search("ERR(401|500)", last.content):
            raise EngineCrashed("The model failed as it was told to.")
        if last.role == "user" and "THINK" in last.content:
            yield ReasoningDelta("I ponder as I was told to.")
        if wanted is None or wanted[1] == "both":
            for word in _words(_text(last.role, last.content)):
                await asyncio.sleep(PACE_S)
                yield TextDelta(word)
        if "ERRMID" in last.content:
            raise EngineCrashed("The model broke off as it was told to.")
        if wanted is not None:
            given = json.loads(wanted[3])
            repeated = (
                [json.dumps(one) for one in given * 2] if wanted[1] == "twice" else [wanted[3]]
            )
            for index, arguments in enumerate(repeated):
                async for piece in _call(index, wanted[2], arguments):
                    yield piece
        yield Finished("tool_calls" if wanted else "stop")


async def _call(index: int, name: str, arguments: str) -> Pieces:
    call_id = f"call_{next(numbers)}"
    yield CallOpened(index, call_id, name)
    for piece in re.findall(r"(?s).{1,6}", arguments):
        await asyncio.sleep(PACE_S)
        yield CallArguments(index, piece)
    yield ToolCallRequested(ToolCall(call_id, name, json.loads(arguments)))


def _text(role: str, content: str) -> str:
    if role == "tool":
        return f"The tool said: {content}"
    if echoed := re.search(r"ECHO \w+", content):
        return f"It was read: {echoed[0]}"
    if content.startswith("both:"):
        return "Let me do that. "
    if "LONG" in content:
        return " ".join(f"word{number}" for number in range(200)) + "."
    return "Hello from the fake model."


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)
