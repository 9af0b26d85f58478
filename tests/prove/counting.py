"""A real Moat with a model that counts: numbered pieces at a fixed pace, so that each loss shows.

`python -m tests.prove.counting` prints its address. It answers each line on its input with its
figures. Only the model is replaced: core, protocols and HTTP are the product's own.
"""

import asyncio
import json
import re
import sys
from pathlib import Path
from statistics import quantiles
from typing import Any

from server.chat import ChatRequest
from server.core.core import Core
from server.engine.base import EngineOptions, ModelFacts
from server.events import Finished, Pieces, TextDelta, Usage
from server.system import paths
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine
from tests.kit.programs import read_arguments

ORDER = re.compile(r"count (\d+) every ([\d.]+)|flood")
LAG_EVERY_S = 0.02
QUEUED = Path("/proc/self/schedstat")
FLOOD = ("x" * 10_000,) * 6
"""More than the buffers on the way hold, so that a client that does not read blocks at once."""
PACE_S = 0.1


class CountingEngine(ScriptedEngine):
    running = 0

    def __init__(self, _path: Path, _options: EngineOptions) -> None:
        super().__init__()
        self.facts = ModelFacts(name="counting", context_tokens=8192)

    async def generate(self, request: ChatRequest) -> Pieces:
        order = ORDER.search(" ".join(message.content for message in request.messages))
        CountingEngine.running += 1
        try:
            if order and order[1]:
                for number in range(int(order[1])):
                    yield TextDelta(f"{number} ")
                    await asyncio.sleep(float(order[2]))
            elif order:
                async for piece in _flood():
                    yield piece
            yield Finished("stop", Usage(1, 1))
        finally:
            CountingEngine.running -= 1

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        return list(range(len(text) // 4))


async def _flood() -> Pieces:
    for text in FLOOD:
        yield TextDelta(text)
    while True:
        yield TextDelta("more ")
        await asyncio.sleep(PACE_S)


class Lag:
    """Measures how late the loop wakes a task, and how much of that was not for lack of a core."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._own: list[float] = []

    async def watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            before, queued = loop.time(), _queued_s()
            await asyncio.sleep(LAG_EVERY_S)
            late = loop.time() - before - LAG_EVERY_S
            self._late.append(late)
            self._own.append(max(0.0, late - (_queued_s() - queued)))

    def take(self) -> dict[str, float]:
        late, self._late = self._late or [0.0, 0.0], []
        own, self._own = self._own or [0.0, 0.0], []
        return {"p99_ms": _p99_ms(late), "own_p99_ms": _p99_ms(own)}


def _queued_s() -> float:
    """Returns how long the loop's thread was ready to run while other programs used all cores."""
    return int(QUEUED.read_text().split()[1]) / 1e9 if QUEUED.exists() else 0.0


def _p99_ms(seconds: list[float]) -> float:
    return 1000 * quantiles(seconds, n=100, method="inclusive")[98]


async def figures(lag: Lag) -> None:
    while await asyncio.to_thread(sys.stdin.readline):
        found: dict[str, Any] = {**lag.take(), "running": CountingEngine.running}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


async def main() -> None:
    core = Core(paths.find(), CountingEngine)
    await core.open()
    await core.start_on(0)
    lag = Lag()
    watching = spawn(lag.watch(), "lag")
    sys.stdout.write(core.server.get().address + "\n")
    sys.stdout.flush()
    await figures(lag)
    watching.cancel()
    await core.close()


if __name__ == "__main__":
    read_arguments(__doc__)
    asyncio.run(main())
