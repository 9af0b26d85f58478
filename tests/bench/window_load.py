"""Load on the window from outside: clients that stream, or a core that floods its log.

python -m tests.bench.window_load clients ADDRESS SECONDS
python -m tests.bench.window_load flood     as a window's child
"""

import asyncio
import json
import sys
import time

import aiohttp

from server.face.core import LogLine
from tests.kit.fake_core import FakeCore
from tests.kit.served_core import serve_core

STREAMS = 16
LINES_PER_S = 10_000
TICK_S = 0.02
QUESTION = "Count from one to five hundred in words, one number per line. Client {number}."


async def clients(address: str, seconds: float) -> None:
    """Runs STREAMS clients at once. Each asks again as soon as it has its answer."""
    end = time.monotonic() + seconds + 5
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(_client(session, address, number, end) for number in range(STREAMS)))


async def _client(session: aiohttp.ClientSession, address: str, number: int, end: float) -> None:
    message = {"role": "user", "content": QUESTION.format(number=number)}
    body = {"messages": [message], "stream": True, "max_tokens": 200, "ignore_eos": True}
    while time.monotonic() < end:
        async with session.post(f"{address}/v1/chat/completions", json=body) as response:
            async for _ in response.content:
                if time.monotonic() > end:
                    break


async def flood() -> None:
    secret = sys.stdin.readline().strip()
    core = FakeCore.ready()
    async with serve_core(core, secret) as address:
        sys.stdout.write(json.dumps({"control": address}) + "\n")
        sys.stdout.flush()
        ending = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        began, sent = time.monotonic(), 0
        while not ending.done():
            due = int((time.monotonic() - began) * LINES_PER_S)
            for number in range(sent, due):
                text = f"request {number} took {number % 977} ms and wrote {number % 499} tokens"
                core.logged.emit(LogLine(time.time(), "info", "server.core.running_requests", text))
            sent = due
            await asyncio.sleep(TICK_S)


if __name__ == "__main__":
    if sys.argv[1] == "clients":
        asyncio.run(clients(sys.argv[2], float(sys.argv[3])))
    else:
        asyncio.run(flood())
