"""A fuzzer for time: bodies grown from repeated fragments, over every route, up to the limit.

While the server works on one of them, `/health` is asked beside it: nobody else may wait.
"""

import copy
import json
import random
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.prove.askable import BODIES
from tests.prove.rows import Figure, Row
from tests.prove.stage import Stage
from tests.prove.wire import ask, post, request, say_hello

SLOWEST_S = 0.25
SIZES = (1_000, 32_000, 1_000_000, 12_000_000, 46_000_000)
"""In bytes; the last is just below what the server takes."""
QUICK_BODIES, QUICK_SIZE = 60, 12_000_000
PATIENCE_S = 10.0
"""After that the client leaves, and the server must stop working for it."""
ASK_EVERY_S = 0.01
WORST = 10
HERE = "\ue000here\ue000"
FRAGMENTS = (
    "a", " ", "\n", "0", "a b ", "how much ", "<|start_artifact_id|>", "<|im_start|>user\n", "é",
    '"', "{", "[[", "}", "\\", "<", "</think>", "<tool_call>", "```\n", "|a|b|\n", "a,b\n",
    "2024-01-01 ", "https://a.b/c?d ", "@", "$", "((", "$AAPL ", '{"a": 1}', "data:image/png,",
)  # fmt: skip
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks something up.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "^a+$"}},
            "required": ["a"],
        },
    },
}
CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"a": "b"}'},
}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "1"},
    {"role": "user", "content": [{"type": "text", "text": "And?"}]},
]
WIDGET = {
    "uuid": "91ae1153-7b4d-451c-adc5-49856e90a0e6", "origin": "o", "widget_id": "prices",
    "name": "Prices", "description": "Of a share", "metadata": {},
    "params": [{"name": "symbol", "type": "ticker", "description": "d", "current_value": "AAPL"}],
}  # fmt: skip
DATA = {
    "role": "tool", "function": "get_widget_data",
    "input_arguments": {"data_sources": [{"origin": "o", "id": "prices", "input_args": {}}]},
    "data": [{"items": [{"content": '[{"a": 1}]', "data_format": {"data_type": "object"}}]}],
    "extra_state": {},
}  # fmt: skip
QUERY: dict[str, Any] = {
    "messages": [
        {"role": "human", "content": "What is the sum of a?"},
        {"role": "ai", "content": '{"function": "get_widget_data", "input_arguments": {}}'},
        DATA,
    ],
    "widgets": {"primary": [WIDGET], "secondary": [], "extra": []},
    "context": [{"uuid": "x", "name": "n", "description": "d", "data": {"items": []}}],
}
RICH: dict[str, Any] = {
    "/v1/chat/completions": {
        "messages": TALK, "max_tokens": 1, "tools": [TOOL], "stop": ["x"],
        "metadata": {"a": "b"}, "logit_bias": {"1": 1},
    },
    "/v1/responses": {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "function_call", "call_id": "c", "name": "look_up", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
        ],
        "instructions": "Be brief.", "max_output_tokens": 1,
        "tools": [{"type": "function", **TOOL["function"]}],  # type: ignore[dict-item]
    },
    "/v1/messages": {
        "max_tokens": 1, "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Hm"},
                {"type": "tool_use", "id": "c", "name": "look_up", "input": {"a": "b"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "1"},
            ]},
        ],
        "tools": [{"name": "look_up", "description": "d", "input_schema": {"type": "object"}}],
    },
    "/v1/query": QUERY,
    "/v1/agent/query": QUERY,
    "/infill": {"input_prefix": "def f():", "input_suffix": "\n", "n_predict": 1,
                "input_extra": [{"filename": "a.py", "text": "x"}]},
    "/v1/rerank": {"query": "a", "documents": ["b", "c"]},
    "/rerank": {"query": "a", "documents": ["b", "c"]},
    "/v1/completions": {"prompt": ["Hi", "Ho"], "max_tokens": 1, "stop": ["x"]},
    "/v1/embeddings": {"input": ["Hi", "Ho"]},
    "/v1/responses/input_tokens": {"input": "Hi"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Grown:
    """A body with one place of it made large."""

    path: str
    what: str
    size: int
    head: bytes
    part: bytes
    tail: bytes

    def body(self) -> bytes:
        room = max(1, (self.size - len(self.head) - len(self.tail)) // len(self.part))
        whole = self.head + self.part * room
        # The last of a repeated list has no comma behind it.
        return (whole[:-1] if self.part.endswith(b",") else whole) + self.tail


@dataclass(frozen=True, slots=True)
class Seen:
    grown: Grown
    waited_s: float
    status: int

    def __str__(self) -> str:
        grown = self.grown
        return (
            f"{self.waited_s * 1000:6.0f} ms  {grown.size / 1000:8.0f} kB  "
            f"{self.status or 'left'}  {grown.path}  {grown.what}"
        )


def bodies(paths: list[str], sizes: tuple[int, ...]) -> Iterator[Grown]:
    for path in paths:
        sample = RICH.get(path, BODIES.get(path, {"a": "b"}))
        for what, head, part, tail in _places(sample):
            for size in sizes:
                yield Grown(path, what, size, head, part, tail)


def _places(sample: Any) -> Iterator[tuple[str, bytes, bytes, bytes]]:
    """Every text grown by every fragment, every list by its entries, every object by keys."""
    for path in _paths(sample):
        name = ".".join(map(str, path)) or "all"
        value = _at(sample, path)
        if isinstance(value, str):
            head, tail = _around(sample, path, HERE)
            for fragment in FRAGMENTS:
                part = json.dumps(fragment)[1:-1].encode()
                yield f"{name} of {fragment!r}", head, part, tail
        elif isinstance(value, list) and value:
            head, tail = _around(sample, path, [HERE])
            parts = [json.dumps(entry).encode() + b"," for entry in value]
            for at, part in enumerate(parts):
                yield f"{name} of entry {at}", head[:-1], part, tail[1:]
            yield f"{name} of all its entries", head[:-1], b"".join(parts), tail[1:]
            yield f"{name} of zeros", head[:-1], b"0,", tail[1:]
            yield f"{name} of texts", head[:-1], b'"a",', tail[1:]
            yield f"{name} of objects", head[:-1], b"{},", tail[1:]
        elif isinstance(value, dict):
            head, tail = _around(sample, path, {**value, HERE: 0})
            # The key stands for all that is grown: what is before it, and what is behind it.
            before, after = head[:-1], tail.removeprefix(b'":0')
            yield f"{name} of one key", before, b'"a":0,', after
            yield f"{name} of nothing known", before, b'"z":[{"z":[]}],', after


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, part in inner:
        yield from _paths(part, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _around(sample: Any, path: tuple[Any, ...], instead: Any) -> tuple[bytes, bytes]:
    """What stands before and behind a place in the text of a body."""
    changed = {"whole": copy.deepcopy(sample)}
    *outer, last = ("whole", *path)
    _at(changed, tuple(outer))[last] = instead
    text = json.dumps(changed["whole"], separators=(",", ":")).encode()
    head, _, tail = text.partition(json.dumps(HERE)[1:-1].encode())
    return head, tail


def watch(port: int, grown: Grown) -> Seen:
    """Sends one body, and asks `/health` until it is answered or left."""
    status: list[int] = []
    sender = threading.Thread(target=lambda: status.append(_send(port, grown)), daemon=True)
    longest = 0.0
    sender.start()
    while sender.is_alive():
        began = time.perf_counter()
        ask(port, "GET", "/health")
        longest = max(longest, time.perf_counter() - began)
        sender.join(ASK_EVERY_S)
    return Seen(grown, longest, status[0])


def _send(port: int, grown: Grown) -> int:
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as wire:
            wire.sendall(request(port, "POST", grown.path, [], grown.body()))
            answer = wire.recv(64)
    except (ConnectionError, TimeoutError):
        return 0
    parts = answer.split(b" ")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def chosen(stage: Stage) -> list[Grown]:
    paths = sorted({path for method, path in stage.ours.routes if method == "POST"})
    if not stage.quick:
        return list(bodies(paths, SIZES))
    chance = random.Random(3)
    some = list(bodies(paths, (QUICK_SIZE,)))
    return chance.sample(some, min(len(some), QUICK_BODIES))


def growing(stage: Stage) -> Figure:
    port = stage.ours.port
    post(port, "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]})
    seen = [watch(port, grown) for grown in chosen(stage)]
    worst = sorted(seen, key=lambda one: -one.waited_s)[:WORST]
    sys.stdout.write("".join(f"{one}\n" for one in worst))
    late = [one for one in seen if one.waited_s > SLOWEST_S]
    text = (
        f"{len(seen)} bodies; /health took {worst[0].waited_s * 1000:.0f} ms at most "
        f"({worst[0].grown.path}, {worst[0].grown.what}, {worst[0].grown.size / 1000:.0f} kB); "
        f"{len(late)} above the limit"
    )
    return Figure(text, not late and say_hello(port))


ROWS = (
    Row(
        "S40",
        "No body, however it is grown, makes others wait",
        f"/health within {SLOWEST_S * 1000:.0f} ms, always",
        growing,
        alone=True,
    ),
)
