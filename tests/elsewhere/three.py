"""Three llama-servers behind one name: conversations go on while one is killed and one is stopped.

A conversation has several turns, each with everything said before: its beginning is in the cache of
the server that has read it. The same load is also sent to the servers directly, in turn with Moat,
so that a busy machine slows both. The servers share one half of the cores; Moat and the load have
the other half, as the servers would be on other machines. Their model has random weights and costs
about a tenth of the starter's time, so that a thousand requests take minutes.
"""

import asyncio
import json
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import aiohttp

from tests.bench import synthetic
from tests.bench.load import SYSTEM, filler
from tests.bench.servers import Server
from tests.elsewhere.stage import (
    ALIAS,
    Placed,
    address_of,
    far,
    keep,
    moat_before,
    on_cores,
    say,
    show,
    split_cores,
)
from tests.kit.gguf_files import Q4_0, Shape

AT_ONCE = 16
TURNS = 4
WORDS, TOKENS = 16, 4
SERVERS = 3
MODEL = Shape(512, 4, 8, 4, 1024, 4096, 8192, Q4_0, Q4_0)
LEAST_THROUGHPUT = 0.97
"""The least that Moat's throughput may be, as a share of that of the servers asked directly."""
PATIENCE = aiohttp.ClientTimeout(total=600)
Json = dict[str, Any]


@dataclass(slots=True)
class Answer:
    """The outcome of one request."""

    turn: int
    begun: bool = False
    text: str = ""
    error: str = ""
    usage: Json = field(default_factory=dict)

    @property
    def cached(self) -> int:
        return int((self.usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)


@dataclass(slots=True)
class Load:
    """Conversations, AT_ONCE at a time. `place` returns the address for a conversation."""

    place: Callable[[int], str]
    on_answer: Callable[[int], None] = lambda _count: None
    answers: list[Answer] = field(default_factory=list)
    took_s: float = 0.0

    async def run(self, seeds: Sequence[int]) -> "Load":
        left = list(reversed(seeds))
        began = perf_counter()
        # llama-server drops kept connections, so that half of the direct requests would fail.
        each_anew = aiohttp.TCPConnector(force_close=True, limit=0)
        async with aiohttp.ClientSession(timeout=PATIENCE, connector=each_anew) as session:

            async def work() -> None:
                while left:
                    await self._talk(session, left.pop())

            await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        self.took_s = perf_counter() - began
        return self

    async def _talk(self, session: aiohttp.ClientSession, seed: int) -> None:
        messages = [{"role": "system", "content": f"{SYSTEM} Case {seed}."}]
        for turn in range(TURNS):
            words = filler(WORDS if turn == 0 else WORDS // 4, seed * TURNS + turn)
            messages.append({"role": "user", "content": words})
            answer = Answer(turn)
            try:
                await self._ask(session, self.place(seed), messages, answer)
            except (aiohttp.ClientError, TimeoutError) as error:
                answer.error = f"{type(error).__name__}: {error}"
            self.answers.append(answer)
            self.on_answer(len(self.answers))
            messages.append({"role": "assistant", "content": answer.text or "?"})

    async def _ask(
        self, session: aiohttp.ClientSession, place: str, messages: list[Json], answer: Answer
    ) -> None:
        body = {"model": ALIAS, "messages": messages, "max_tokens": TOKENS, "temperature": 0}
        body |= {"stream": True, "stream_options": {"include_usage": True}, "ignore_eos": True}
        async with session.post(f"{place}/v1/chat/completions", json=body) as reply:
            if reply.status != 200:
                answer.error = f"{reply.status}: {(await reply.text())[:200]}"
                return
            async for line in reply.content:
                if line.startswith(b"data: {"):
                    _take(json.loads(line[6:]), answer)
        if not answer.usage and not answer.error:
            answer.error = "it ended early"


def _take(chunk: Json, answer: Answer) -> None:
    if chunk.get("error"):
        answer.error = str(chunk["error"])[:200]
    answer.usage = chunk.get("usage") or answer.usage
    for choice in chunk.get("choices", ()):
        if text := choice.get("delta", {}).get("content"):
            answer.begun = True
            answer.text += text


def hit_rate(answers: Sequence[Answer]) -> float:
    """Returns which share of the prompts after the first turn was cached."""
    later = [answer for answer in answers if answer.turn and answer.usage]
    read = sum(int(answer.usage["prompt_tokens"]) for answer in later)
    return sum(answer.cached for answer in later) / read if read else 0.0


@dataclass(slots=True)
class Way:
    """A way to the servers, directly or through Moat, and its figures."""

    place: Callable[[int], str]
    per_s: list[float] = field(default_factory=list)
    """Answers per second, in each round."""
    servers_s: float = 0.0
    """The servers' processor time."""
    answers: list[Answer] = field(default_factory=list)

    def run(self, servers: Sequence[Server], seeds: Sequence[int]) -> None:
        before_s = _used_s(servers)
        load = asyncio.run(Load(self.place).run(seeds))
        self.servers_s += _used_s(servers) - before_s
        self.per_s.append(sum(not answer.error for answer in load.answers) / load.took_s)
        self.answers += load.answers

    def figures(self) -> Json:
        return {
            "requests": len(self.answers),
            "failed": sum(bool(answer.error) for answer in self.answers),
            "requests per s": median(self.per_s),
            "servers' processor ms per request": 1000 * self.servers_s / len(self.answers),
            "hit rate": hit_rate(self.answers),
        }


def _used_s(servers: Sequence[Server]) -> float:
    return sum(server.used_s() for server in servers)


def run_three(requests: int, rounds: int) -> int:
    theirs, ours = split_cores()
    with ExitStack() as stack:
        model = Path(stack.enter_context(TemporaryDirectory())) / "model.gguf"
        synthetic.write(model, MODEL)
        with on_cores(theirs):
            threads = max(1, len(theirs) // SERVERS)
            made = (far(8, 1024, threads=threads, model=model) for _ in range(SERVERS))
            servers = [stack.enter_context(server) for server in made]
        stack.enter_context(on_cores(ours))
        urls = ",".join(map(address_of, servers))
        moat = stack.enter_context(moat_before(f"{ALIAS}={urls}"))
        found: Json = {}
        if rounds:
            found["throughput"] = compare(moat, servers, requests // rounds // TURNS, rounds)
        found["faults"] = disturb(moat, servers, requests // TURNS)
        keep("three.json", found)
        return int(not all(map(_has_held, found.values())))


def compare(moat: Placed, servers: Sequence[Server], talks: int, rounds: int) -> Json:
    """Sends the same load directly and through Moat, in turn, and returns the pairs' ratios."""
    direct = Way(lambda seed: address_of(servers[seed % len(servers)]))
    through = Way(lambda _seed: moat.address)
    moat_s, load_s = 0.0, process_time()
    for turn in range(rounds):
        for way in (direct, through) if turn % 2 else (through, direct):
            first = 100_000 * (2 * turn + (way is through))
            before_s = moat.used_s()
            way.run(servers, range(first, first + talks))
            moat_s += (moat.used_s() - before_s) if way is through else 0.0
        say(f"round {turn + 1} of {rounds}: {through.per_s[-1] / direct.per_s[-1]:.3f}")
    ratios = [ours / theirs for ours, theirs in zip(through.per_s, direct.per_s, strict=True)]
    work = through.servers_s / direct.servers_s
    found = {
        **{f"{name}, direct": figure for name, figure in direct.figures().items()},
        **{f"{name}, Moat": figure for name, figure in through.figures().items()},
        "Moat's processor ms per request": 1000 * moat_s / len(through.answers),
        "load's processor ms per request": 500 * (process_time() - load_s) / len(direct.answers),
        "servers' processor time, ratio": work,
        THROUGHPUT: median(ratios),
        "throughput, quartiles of the pairs": quantiles(ratios) if len(ratios) > 1 else ratios,
    }
    show(found)
    return found


def disturb(moat: Placed, servers: Sequence[Server], talks: int) -> Json:
    """Kills a server after a third of the requests, and stops one from half to near the end."""
    asked = talks * TURNS
    faults = {
        asked // 3: (servers[0], signal.SIGKILL),
        asked // 2: (servers[1], signal.SIGSTOP),
        asked * 9 // 10: (servers[1], signal.SIGCONT),
    }

    def hurt(count: int) -> None:
        if count in faults:
            server, sent = faults[count]
            say(f"request {count}: {sent.name} to the server at port {server.port}")
            server.process.send_signal(sent)

    load = asyncio.run(Load(lambda _seed: moat.address, hurt).run(range(talks)))
    failed = [answer for answer in load.answers if answer.error]
    found = {
        "requests": len(load.answers),
        "answered": len(load.answers) - len(failed),
        LOST: sum(not answer.begun for answer in failed),
        "broken off after they began": sum(answer.begun for answer in failed),
        "errors": sorted({answer.error for answer in failed}),
        "hit rate": hit_rate(load.answers),
        "seconds": load.took_s,
    }
    show(found)
    return found


THROUGHPUT = "throughput, ratio (median of the pairs)"
LOST = "lost before they began"


def _has_held(found: Json) -> bool:
    lost = found.get(LOST, 0) + found.get("failed, Moat", 0)
    return lost == 0 and found.get(THROUGHPUT, 1.0) >= LEAST_THROUGHPUT
