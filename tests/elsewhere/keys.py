"""Measures the processor time per request with 100 limited keys, compared to the one access key.

The engine is a server that answers at once, so that only Moat's own work is measured.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from statistics import median, quantiles
from typing import Any

import aiohttp
from aiohttp import web

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


async def measure(moat: Placed, keys: Sequence[str], requests: int) -> float:
    """Returns the seconds of processor time that a request takes in Moat."""
    left = list(range(requests))
    before = moat.used_s()
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
    return (moat.used_s() - before) / requests


def run_keys(requests: int, rounds: int) -> int:
    port = free_port()
    required = {"MOAT_SERVER__REQUIRE_KEY": "true", "MOAT_SECRET_ACCESS_KEY": ACCESS_KEY}
    engine = f"{ALIAS}=http://{LOOPBACK}:{port}"
    with ExitStack() as stack:
        moats = [
            stack.enter_context(moat_before(engine, wait_for=SERVES, **required)) for _ in range(2)
        ]
        costs = asyncio.run(_alternate(port, moats, requests // rounds, rounds))
    ratios = [many / one for one, many in zip(*costs, strict=True)]
    found = {
        "requests each": requests,
        "processor time with one key, ms": 1000 * median(costs[0]),
        f"processor time with {KEYS} keys, ms": 1000 * median(costs[1]),
        "ratio, median of pairs": median(ratios),
        "ratio, quartiles": quantiles(ratios),
    }
    show(found)
    keep("keys.json", found)
    return 0


async def _alternate(
    port: int, moats: Sequence[Placed], requests: int, rounds: int
) -> list[list[float]]:
    named = [await moats[1].make_key(f"person {n}", LIMITS) for n in range(KEYS)]
    keys = ([ACCESS_KEY], named)
    costs: list[list[float]] = [[], []]
    async with answering(port):
        for which in (0, 1):
            await measure(moats[which], keys[which], 2 * AT_ONCE)
        for turn in range(rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                costs[which].append(await measure(moats[which], keys[which], requests))
    return costs
