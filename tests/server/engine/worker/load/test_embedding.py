"""Many texts as vectors, by the real model: nobody else is held up, and leaving ends it."""

from contextlib import aclosing
from pathlib import Path

from server.chat import ChatRequest, Message
from server.engine.base import EngineOptions
from server.engine.process import EMBEDDED_AT_ONCE, WorkerProcess
from server.events import Finished
from server.tasks import spawn, stop

HELLO = ChatRequest((Message("user", "Say hello."),), max_tokens=2)


async def test_a_chat_comes_in_between_and_whoever_leaves_ends_it(quick_starter: Path) -> None:
    engine = WorkerProcess(quick_starter, EngineOptions(slots=1, context_tokens=512))
    few = await engine.embed([f"text {number}" for number in range(2 * EMBEDDED_AT_ONCE + 1)])
    assert len(few.vectors) == 2 * EMBEDDED_AT_ONCE + 1
    assert few.tokens > len(few.vectors)
    many = spawn(engine.embed(["a text of some words"] * 1000), "embed")
    async with aclosing(engine.generate(HELLO)) as pieces:
        assert isinstance([piece async for piece in pieces][-1], Finished)
    assert not many.done()
    await stop(many)
    assert await engine.tokenize("soon")
    await engine.close()
