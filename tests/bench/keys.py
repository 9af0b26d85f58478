"""Measures what named keys with limits cost under load: `python -m tests.bench.keys`.

Three Moats stand before one far server that answers at once: without keys, with one key and with a
hundred, each limited to models, requests at a time and tokens a day. Every round asks all three, in
a different order each time, so that other load on the machine affects all of them. On a busy
machine these ratios differ by more than a hundredth from round to round, those of the clock even
more than those of the processor. So the work of the keys for a request is also timed alone, and
judged by that.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

from aiohttp import web

from server.core.keys import Keys
from server.face.core import KeyLimits
from tests.bench.servers import Server, free_port, started

MODEL = "far"
ROUNDS = 12
REQUESTS = 150
AT_ONCE = 16
TOKENS = 24
LIMITS = KeyLimits((MODEL,), at_once=AT_ONCE, tokens_per_day=10**12)
MOST_COST = 0.01
ALONE = 20_000
BODY = json.dumps(
    {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Say something short about markets."}],
        "max_tokens": TOKENS,
        "stream": True,
    }
).encode()


@dataclass(slots=True)
class Contender:
    """A Moat with some keys, and the figures of its rounds."""

    keys: list[str]
    server: Server
    per_s: list[float] = field(default_factory=list)
    used_ms: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{len(self.keys) or 'no'} key{'' if len(self.keys) == 1 else 's'}"

    async def run_round(self, requests: int) -> None:
        wanted = iter(range(requests))
        key = cycle(self.keys or [""])
        before, began = self.server.used_s(), perf_counter()

        async def work() -> None:
            for _ in wanted:
                await ask(self.server.port, next(key))

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        self.per_s.append(requests / (perf_counter() - began))
        self.used_ms.append((self.server.used_s() - before) * 1000 / requests)


async def ask(port: int, key: str) -> None:
    lines = [
        "POST /v1/chat/completions HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Connection: close",
        f"Content-Length: {len(BODY)}",
        *([f"Authorization: Bearer {key}"] if key else []),
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode() + BODY)
        answer = await reader.read(-1)
    finally:
        writer.close()
    if b" 200 " not in answer[:40] or b"[DONE]" not in answer:
        raise RuntimeError(answer[:500].decode(errors="replace"))


def serve_far(port: int) -> None:
    """Runs a far server that costs little: its answer is prepared once and sent unchanged."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    pieces = [{**head, "choices": [{"index": 0, "delta": {"content": "word "}}]}] * TOKENS
    last = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 20, "completion_tokens": TOKENS, "total_tokens": 20 + TOKENS}
    frames = [*pieces, last, {**head, "choices": [], "usage": usage}]
    text = "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames) + "data: [DONE]\n\n"

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=text, content_type="text/event-stream")

    async def models(_request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": MODEL, "max_model_len": 8192}]})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


@contextmanager
def far_server() -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.keys", "--far", str(port)]
    with subprocess.Popen(command) as process:
        try:
            yield port
        finally:
            process.terminate()


@contextmanager
def contender(count: int, far_port: int) -> Iterator[Contender]:
    with tempfile.TemporaryDirectory() as home:
        config = Path(home) / "config"
        config.mkdir()
        made = Keys(config)
        keys = [made.add(f"person {number}", LIMITS) for number in range(count)]
        port = free_port()
        engine = f"{MODEL}=http://127.0.0.1:{far_port}"
        command = [sys.executable, "-m", "app", "serve", "--port", str(port), "--engine", engine]
        environment = {**os.environ, "MOAT_HOME": home}
        with started("moat", port, command, environment) as server:
            yield Contender(keys, server)


async def time_alone(count: int) -> float:
    """Returns the milliseconds of processor time that only the keys take for one request."""
    with tempfile.TemporaryDirectory() as folder:
        made = Keys(Path(folder))
        keys = cycle([made.add(f"person {number}", LIMITS) for number in range(count)])
        began = process_time()
        for _ in range(ALONE):
            name = made.name_of(next(keys))
            assert name
            assert made.find_refusal(name, (MODEL,)) is None
            with made.count(name) as spend:
                spend(TOKENS)
        await made.close()
        return (process_time() - began) * 1000 / ALONE


def row(one: Contender, plain: Contender) -> str:
    wall = [mine / base for mine, base in zip(one.per_s, plain.per_s, strict=True)]
    used = [mine / base for mine, base in zip(one.used_ms, plain.used_ms, strict=True)]
    low, _, high = quantiles(used, n=4)
    return (
        f"{one.name:>9} {median(one.per_s):11.1f} {median(wall):9.3f}"
        f" {median(one.used_ms):12.2f} {median(used):9.3f}   {low:.3f} to {high:.3f}\n"
    )


async def measure(contenders: list[Contender], rounds: int, requests: int) -> None:
    for one in contenders:
        await one.run_round(requests // 2)
        one.per_s.clear()
        one.used_ms.clear()
    for number in range(rounds):
        shift = number % len(contenders)
        for one in (*contenders[shift:], *contenders[:shift]):
            await one.run_round(requests)
        sys.stderr.write(f"round {number + 1} of {rounds}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each Moat in a round")
    parser.add_argument("--far", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.far:
        serve_far(options.far)
        return 0
    with ExitStack() as stack:
        far_port = stack.enter_context(far_server())
        found = [stack.enter_context(contender(count, far_port)) for count in (0, 1, 100)]
        asyncio.run(measure(found, options.rounds, options.requests))
    plain, _, many = found
    sys.stdout.write("          requests/s     ratio  processor ms     ratio   middle half\n")
    sys.stdout.writelines(row(one, plain) for one in found)
    alone = asyncio.run(time_alone(len(many.keys)))
    cost = alone / median(plain.used_ms)
    word = "cost" if cost <= MOST_COST else "cost TOO MUCH:"
    told = f"{alone * 1000:.1f} µs of the processor a request, {cost:.2%} of what it takes"
    sys.stdout.write(f"A hundred keys {word} {told}.\n")
    return int(cost > MOST_COST)


if __name__ == "__main__":
    sys.exit(main())
