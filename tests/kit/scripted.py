"""The scripted worker as an engine, with limits short enough for tests."""

import asyncio
import sys
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from server.chat import ChatRequest, Message
from server.engine.base import LoadState, ModelFacts
from server.engine.process import PlainText, WorkerProcess
from server.engine.styles.base import Format, Prepared
from server.engine.watch import WatchLimits
from server.events import Piece, Pieces, TextDelta

SCRIPTED = (sys.executable, str(Path(__file__).with_name("scripted_worker.py")))
QUICK = WatchLimits(
    tick_s=0.05, rest_s=0.1, halted_s=0.15, silent_s=2, step_s=1, load_s=5, quit_s=0.4
)
IMPATIENT = replace(QUICK, load_s=1)


def scripted(name: str | Path = "model.gguf", limits: WatchLimits = QUICK) -> WorkerProcess:
    return WorkerProcess(Path(name), choose=choose, command=SCRIPTED, limits=limits)


def prepare(request: ChatRequest, _facts: ModelFacts) -> Prepared:
    messages = tuple({"role": m.role, "content": m.content} for m in request.messages)
    return Prepared(messages, PlainText(), constraint=request.constraint, stop=request.stop)


def choose(_facts: ModelFacts) -> Format:
    return Format("test", lambda _facts: True, prepare)


def says(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),))


async def pieces(engine: WorkerProcess, text: str) -> list[Piece]:
    async with aclosing(engine.generate(says(text))) as stream:
        return [piece async for piece in stream]


async def text_of(engine: WorkerProcess, text: str) -> str:
    return "".join(p.text for p in await pieces(engine, text) if isinstance(p, TextDelta))


async def until(engine: WorkerProcess, phase: str) -> LoadState:
    reached = asyncio.Event()

    def look(state: LoadState) -> None:
        if state.phase == phase:
            reached.set()

    disconnect = engine.state.connect(look)
    async with asyncio.timeout(30):
        await reached.wait()
    disconnect()
    return engine.state.get()


async def drain(stream: Pieces) -> None:
    async for _ in stream:
        continue


async def collect(engine: WorkerProcess, text: str, seen: list[Piece]) -> None:
    """Collects pieces like `pieces`, but keeps those before an exception in `seen`."""
    async with aclosing(engine.generate(says(text))) as stream:
        async for piece in stream:
            seen.append(piece)
