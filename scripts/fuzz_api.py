"""Sends odd and broken bodies to every route of a running Moat, which must neither fail nor crash.

python -m scripts.fuzz_api http://127.0.0.1:7777 --count 20000
"""

import argparse
import asyncio
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from time import monotonic

import aiohttp

from scripts import fuzz_api_bodies as bodies

AT_ONCE = 16
LEFT = 0
"""Stands for a status if the answer took too long and the client disconnected."""
JSON = {"Content-Type": "application/json"}
ROUTES: dict[str, bodies.Make] = {
    "/v1/chat/completions": bodies.chat,
    "/v1/completions": bodies.completion,
    "/v1/responses": bodies.response,
    "/v1/embeddings": bodies.embedding,
    "/v1/messages": bodies.anthropic,
    "/v1/messages/count_tokens": bodies.anthropic,
    "/api/chat": bodies.ollama_chat,
    "/api/generate": bodies.ollama_generate,
    "/api/show": bodies.fixed({"model": "x"}),
    "/tokenize": bodies.fixed({"content": "Hi"}),
    "/detokenize": bodies.fixed({"tokens": [1, 2]}),
    "/apply-template": bodies.chat,
}
WEIGHTS = (8, 3, 4, 1, 3, 1, 3, 2, 1, 1, 1, 1)
Body = tuple[str, bytes]
Told = Counter[tuple[str, int]]
MISSING = 503
"""A service is unavailable or full. That is a proper answer if it states the reason."""
ASKS_HUB, HUB_FAILED = "/api/pull", 502
"""The only route that may answer 502, if the hub fails. On other routes it means a dead worker."""
BROKEN = 0.25
"""The share of bodies that are broken."""
NOISE = 0.02
"""The share of bodies that are random bytes, and of bodies that are cut off."""


def payload(rng: random.Random, make: bodies.Make) -> bytes:
    if rng.random() < NOISE:
        return rng.randbytes(rng.randint(0, 40))
    body = make(rng)
    text = json.dumps(bodies.broken(rng, body) if rng.random() < BROKEN else body)
    return (text[: rng.randint(0, len(text))] if rng.random() < NOISE else text).encode()


async def fuzz(address: str, bodies_: Iterator[Body], patience_s: float) -> tuple[Told, list[str]]:
    """Returns how often each route gave each status, and a line for each fault of Moat's."""
    told: Told = Counter()
    broke: list[str] = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=patience_s)) as session:

        async def send_all() -> None:
            for route, body in bodies_:
                status, answer = await _ask(session, address + route, body)
                told[route, status] += 1
                if is_ours(route, status, answer):
                    broke.append(f"{status} from {route}: {body[:300]!r}")

        await asyncio.gather(*(send_all() for _ in range(AT_ONCE)))
    return told, broke


def is_ours(route: str, status: int, answer: bytes) -> bool:
    """Whether the fault is Moat's: a 5xx that does not name a service as unavailable."""
    if status == MISSING or (route, status) == (ASKS_HUB, HUB_FAILED):
        return not _states_reason(answer)
    return status >= 500


def _states_reason(answer: bytes) -> bool:
    """Whether the answer contains an error message in the form of any protocol."""
    try:
        told = json.loads(answer)
    except ValueError:
        return False
    if not isinstance(told, dict):
        return False
    error = told.get("error")
    inner = error.get("message") if isinstance(error, dict) else error
    texts = (told.get("message"), told.get("detail"), inner)
    return any(isinstance(text, str) and text.strip() for text in texts)


async def _ask(session: aiohttp.ClientSession, address: str, body: bytes) -> tuple[int, bytes]:
    try:
        async with session.post(address, data=body, headers=JSON) as reply:
            return reply.status, await reply.read()
    except TimeoutError:
        return LEFT, b""


def made(seed: int, count: int, seconds: float) -> Iterator[Body]:
    """Yields bodies until the count or the time is reached."""
    rng = random.Random(seed)
    end = monotonic() + seconds
    for _ in range(count):
        if monotonic() > end:
            return
        (route,) = rng.choices(list(ROUTES), WEIGHTS)
        yield route, payload(rng, ROUTES[route])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--patience", type=float, default=5, metavar="SECONDS")
    given = parser.parse_args()
    sent = made(given.seed, given.count, given.seconds)
    told, broke = asyncio.run(fuzz(given.address, sent, given.patience))
    for (route, status), number in sorted(told.items()):
        sys.stdout.write(f"{number:6d}  {status}  {route}\n")
    done = sum(number for (_, status), number in told.items() if status == 200)
    sys.stdout.write(f"{told.total()} bodies, {done} of them answered.\n")
    sys.stdout.writelines(f"{line}\n" for line in broke)
    sys.exit(bool(broke))


if __name__ == "__main__":
    main()
