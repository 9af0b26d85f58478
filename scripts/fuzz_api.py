"""Sends broken and odd bodies to every route of a running Moat: no 500, and it lives on.

python -m scripts.fuzz_api http://127.0.0.1:7777 --count 20000
"""

import argparse
import asyncio
import copy
import json
import random
import sys
from collections import Counter
from typing import Any

import aiohttp

AT_ONCE = 16
PATIENCE = aiohttp.ClientTimeout(total=3)
LEFT = 0
"""In place of a status: a long answer was begun, and we left."""
JSON = {"Content-Type": "application/json"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CHAT = {
    "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "temperature": 0.5, "n": 1,
    "stop": ["x"], "seed": 1, "stream": False, "tools": [TOOL], "tool_choice": "auto",
    "response_format": {"type": "text"}, "logit_bias": {"5": 1}, "logprobs": True,
    "stream_options": {"include_usage": True}, "chat_template_kwargs": {"a": 1},
}  # fmt: skip
ROUTES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": CHAT,
    "/v1/completions": {"prompt": "Hi", "max_tokens": 1, "echo": True, "logprobs": 1},
    "/v1/responses": {"input": [{"role": "user", "content": "Hi"}], "max_output_tokens": 1,
                      "tools": [{"type": "function", "name": "f", "parameters": {}}],
                      "text": {"format": {"type": "text"}}, "instructions": "x"},
    "/v1/embeddings": {"input": ["a"], "encoding_format": "float", "dimensions": 8},
    "/v1/messages": {"max_tokens": 1, "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Hi"}]}], "tools": [{"name": "f", "input_schema": {}}]},
    "/v1/messages/count_tokens": {"messages": [{"role": "user", "content": "Hi"}]},
    "/api/chat": {"messages": [{"role": "user", "content": "Hi"}], "stream": False,
                  "options": {"num_predict": 1}, "format": "json", "tools": [TOOL]},
    "/api/generate": {"prompt": "Hi", "stream": False, "options": {"num_predict": 1}},
    "/api/show": {"model": "x"},
    "/tokenize": {"content": "Hi"},
    "/detokenize": {"tokens": [1, 2]},
    "/apply-template": {"messages": [{"role": "user", "content": "Hi"}]},
}  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1e308, 0.5, "", "x", "\x00", "\ud800",
    "🌍" * 50, [], [[]], {}, {"type": "object"}, {"$ref": "#"}, {"type": "nonsense"}, "auto",
    [None], [1, "a"], {"": ""}, {"a": {"a": {"a": {}}}}, "data:image/png;base64,AAAA", "assistant",
)  # fmt: skip


def broken(rng: random.Random, body: Any) -> Any:
    """The body with one to three of its places made odd, left out, doubled or nested."""
    body = copy.deepcopy(body)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        holder, key = rng.choice(list(places(body)) or [(None, None)])
        if holder is None:
            return copy.deepcopy(rng.choice(ODD))
        change = rng.random()
        if change < 0.7:
            holder[key] = copy.deepcopy(rng.choice(ODD))
        elif change < 0.85 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = [holder[key], copy.deepcopy(holder[key])]
    return body


def places(node: Any) -> list[tuple[Any, Any]]:
    if isinstance(node, dict):
        found: list[tuple[Any, Any]] = [(node, key) for key in node]
    elif isinstance(node, list):
        found = [(node, at) for at in range(len(node))]
    else:
        return []
    return found + [place for holder, key in found for place in places(holder[key])]


def payload(rng: random.Random, body: Any) -> bytes:
    if rng.random() < 0.03:
        return rng.randbytes(rng.randint(0, 40))
    text = json.dumps(broken(rng, body))
    return text[: rng.randint(0, len(text))].encode() if rng.random() < 0.03 else text.encode()


async def fuzz(address: str, count: int, seed: int) -> Counter[tuple[str, int]]:
    rng = random.Random(seed)
    told: Counter[tuple[str, int]] = Counter()
    free = asyncio.Semaphore(AT_ONCE)
    async with aiohttp.ClientSession(timeout=PATIENCE) as session:

        async def send(route: str, body: bytes) -> None:
            async with free:
                try:
                    async with session.post(address + route, data=body, headers=JSON) as reply:
                        await reply.read()
                        status = reply.status
                except TimeoutError:
                    status = LEFT
            told[route, status] += 1
            if status == 500:
                sys.stdout.write(f"500 from {route}: {body[:300]!r}\n")

        routes = rng.choices(list(ROUTES), k=count)
        jobs = [send(route, payload(rng, ROUTES[route])) for route in routes]
        await asyncio.gather(*jobs)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    told = asyncio.run(fuzz(given.address, given.count, given.seed))
    for (route, status), number in sorted(told.items()):
        sys.stdout.write(f"{number:6d}  {status}  {route}\n")
    sys.exit(any(status == 500 for _, status in told))


if __name__ == "__main__":
    main()
