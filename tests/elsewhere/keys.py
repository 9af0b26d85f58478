"""Measures what 100 limited keys cost under load, compared to the one access key.

The engine is a server that answers at once, so that only Moat's own work is measured. Even so the
pairs differ by more than a hundredth from round to round, on a busy machine by far more. So the
work of the keys for a request is also timed alone, and judged by its share of the whole request.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

import aiohttp
from aiohttp import web

from server.core.keys import Keys
from server.face.core import KeyLimits
from tests.bench.servers import free_port
from tests.elsewhere.stage import ALIAS, LOOPBACK, Placed, keep, moat_before, show
from tests.kit.running import SERVES

KEYS = 100
AT_ONCE = 16
WORDS = 32
LIMITS = KeyLimits((ALIAS,), at_once=50, tokens_per_day=1_000_000_000)
ACCESS_KEY = "the-one-access-key-of-this-trial"
ASKED = {"model": ALIAS, "stream": True, "messages": [{"role": "user", "content": "Say hello."}]}
ALONE = 20_000
"""How many requests the keys' work is timed for."""
MOST_COST = 0.01
"""The most that the keys may take of a request's processor time."""
Cost = tuple[float, float]
"""The seconds of processor time that a request takes in Moat, and the seconds until it is done."""
Json = dict[str, Any]


async def _list(_request: web.Request) -> web.Response:
    return web.json_response({"data": [{"id": ALIAS, "max_model_len": 4096}]})


async def _answer(request: web.Request) -> web.StreamResponse:
    reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await reply.prepare(request)
    usage = {"prompt_tokens": 12, "completion_tokens": WORDS}
    pieces: list[Json] = [{"delta": {"content": f"word{n} "}} for n in range(WORDS)]
    pieces.append({"delta": {}, "finish_reason": "stop"})
    for piece in pieces:
        await reply.write(f"data: {json.dumps({'choices': [piece]})}\n\n".encode())
    await reply.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode())
    await reply.write(b"data: [DONE]\n\n")
    return reply


@asynccontextmanager
async def answering(port: int) -> AsyncIterator[None]:
    app = web.Application()
    app.router.add_get("/v1/models", _list)
    app.router.add_post("/v1/chat/completions", _answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, port).start()
    try:
        yield
    finally:
        await runner.cleanup()


async def measure(moat: Placed, keys: Sequence[str], requests: int) -> Cost:
    left = list(range(requests))
    before, began = moat.used_s(), perf_counter()
    async with aiohttp.ClientSession() as session:

        async def work() -> None:
            while left:
                key = keys[left.pop() % len(keys)]
                headers = {"Authorization": f"Bearer {key}"}
                url = f"{moat.address}/v1/chat/completions"
                async with session.post(url, json=ASKED, headers=headers) as reply:
                    text = await reply.text()
                    if reply.status != 200 or "[DONE]" not in text:
                        raise RuntimeError(text[:300])

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return (moat.used_s() - before) / requests, (perf_counter() - began) / requests


async def time_alone(count: int) -> float:
    """Returns the seconds of processor time that the keys themselves take for one request."""
    with tempfile.TemporaryDirectory() as folder:
        made = Keys(Path(folder))
        keys = cycle([made.add(f"person {number}", LIMITS) for number in range(count)])
        began = process_time()
        for _ in range(ALONE):
            name = made.name_of(next(keys))
            assert name
            assert made.find_refusal(name, (ALIAS,)) is None
            with made.count(name) as spend:
                spend(WORDS)
        await made.close()
        return (process_time() - began) / ALONE


def run_keys(requests: int, rounds: int) -> int:
    port = free_port()
    required = {"MOAT_SERVER__REQUIRE_KEY": "true", "MOAT_SECRET_ACCESS_KEY": ACCESS_KEY}
    engine = f"{ALIAS}=http://{LOOPBACK}:{port}"
    with ExitStack() as stack:
        moats = [
            stack.enter_context(moat_before(engine, wait_for=SERVES, **required)) for _ in range(2)
        ]
        costs = asyncio.run(_alternate(port, moats, requests // rounds, rounds))
    (one_s, one_took), (many_s, many_took) = (zip(*each, strict=True) for each in costs)
    alone_s = asyncio.run(time_alone(KEYS))
    found = {
        "requests each": requests // rounds * rounds,
        "processor ms with one key": 1000 * median(one_s),
        f"processor ms with {KEYS} keys": 1000 * median(many_s),
        **_compare("processor time", many_s, one_s),
        **_compare("throughput", one_took, many_took),
        "processor ms of the keys alone": 1000 * alone_s,
        "their share of a request": alone_s / median(one_s),
    }
    show(found)
    keep("keys.json", found)
    return int(alone_s / median(one_s) >= MOST_COST)


def _compare(what: str, figures: Sequence[float], others: Sequence[float]) -> Json:
    ratios = [figure / other for figure, other in zip(figures, others, strict=True)]
    return {f"{what}, ratio (median)": median(ratios), f"{what}, quartiles": quantiles(ratios)}


async def _alternate(
    port: int, moats: Sequence[Placed], requests: int, rounds: int
) -> list[list[Cost]]:
    named = [await moats[1].make_key(f"person {n}", LIMITS) for n in range(KEYS)]
    keys = ([ACCESS_KEY], named)
    costs: list[list[Cost]] = [[], []]
    async with answering(port):
        for which in (0, 1):
            await measure(moats[which], keys[which], 2 * AT_ONCE)
        for turn in range(rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                costs[which].append(await measure(moats[which], keys[which], requests))
    return costs
