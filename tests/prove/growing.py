"""A fuzzer for time: bodies grown from repeated fragments, for every route and up to the limit.

While the server works on a body, `/health` is requested: nobody else may have to wait. The time in
which a thread waits for a core is subtracted, by the kernel's count for every thread of the server
and for the one that asks: it says nothing about the server's code.
"""

import copy
import json
import random
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.prove.askable import BODIES
from tests.prove.rows import Figure, Row
from tests.prove.stage import NO_HUB, SHARED, Stage, Target, moat_at, target_of
from tests.prove.wire import ask, post, request, say_hello

SLOWEST_S = 0.25
"""The longest that `/health` may take, without the machine's own delays."""
AGAIN = 2
"""How often a body that made others wait is sent again."""
SIZES = (1_000, 32_000, 1_000_000, 12_000_000, 46_000_000)
"""In bytes. The last is just below the server's limit."""
QUICK_BODIES, QUICK_SIZE = 30, 12_000_000
MORE_BODIES = 300
"""More bodies of random size and fragment, after one at the limit for each place of each route."""
PATIENCE_S = 5.0
"""In seconds. Then the client leaves, and the server must stop working for it."""
ASK_EVERY_S = 0.01
ALONE_ASKS = 100
"""How often `/health` is requested without a body, for comparison."""
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
    "/v1/completions": {"prompt": ["Hi", "Ho"], "max_tokens": 1, "stop": ["x"]},
    "/v1/embeddings": {"input": ["Hi", "Ho"]},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Grown:
    """A body with one of its places made large."""

    method: str
    path: str
    place: str
    what: str
    size: int
    head: bytes
    part: bytes
    tail: bytes

    def body(self) -> bytes:
        room = max(1, (self.size - len(self.head) - len(self.tail)) // len(self.part))
        whole = self.head + self.part * room
        # The last entry of a repeated list is not followed by a comma.
        return (whole[:-1] if self.part.endswith(b",") else whole) + self.tail


@dataclass(frozen=True, slots=True)
class Wait:
    """How long `/health` took, and how much of that was for lack of a core."""

    waited_s: float = 0.0
    late_s: float = 0.0

    @property
    def own_s(self) -> float:
        """The part of the time that the server itself caused."""
        return max(0.0, self.waited_s - self.late_s)


@dataclass(frozen=True, slots=True)
class Seen:
    grown: Grown
    longest: Wait
    """The wait of which the server itself caused most."""
    status: int
    asked: int

    def __str__(self) -> str:
        grown, longest = self.grown, self.longest
        return (
            f"{longest.own_s * 1000:6.0f} ms of {longest.waited_s * 1000:6.0f} ms  "
            f"{grown.size / 1000:8.0f} kB  {self.status or 'left'}  {grown.method} {grown.path}  "
            f"{grown.place} of {grown.what}"
        )


def bodies(routes: Iterable[tuple[str, str]], sizes: Sequence[int]) -> Iterator[Grown]:
    for method, path in routes:
        for place, what, head, part, tail in _places(sample_for(path)):
            for size in sizes:
                yield Grown(method, path, place, what, size, head, part, tail)


def sample_for(path: str) -> Any:
    usual = BODIES.get(path, {"a": "b"})
    return RICH.get(path, RICH.get(f"/v1{path}", usual))


def _places(sample: Any) -> Iterator[tuple[str, str, bytes, bytes, bytes]]:
    """Yields every text grown by each fragment, every list by its entries, every object by keys."""
    for path in _paths(sample):
        name = ".".join(map(str, path)) or "all"
        value = _at(sample, path)
        if isinstance(value, str):
            head, tail = _around(sample, path, HERE)
            for fragment in FRAGMENTS:
                part = json.dumps(fragment)[1:-1].encode()
                yield name, repr(fragment), head, part, tail
        elif isinstance(value, list) and value:
            head, tail = _around(sample, path, [HERE])
            parts = [json.dumps(entry).encode() + b"," for entry in value]
            for at, part in enumerate(parts):
                yield name, f"entry {at}", head[:-1], part, tail[1:]
            yield name, "all its entries", head[:-1], b"".join(parts), tail[1:]
            yield name, "zeros", head[:-1], b"0,", tail[1:]
            yield name, "texts", head[:-1], b'"a",', tail[1:]
            yield name, "objects", head[:-1], b"{},", tail[1:]
        elif isinstance(value, dict):
            head, tail = _around(sample, path, {**value, HERE: 0})
            # The key divides the text before the grown part from the text after it.
            before, after = head[:-1], tail.removeprefix(b'":0')
            yield name, "one key", before, b'"a":0,', after
            yield name, "nothing known", before, b'"z":[{"z":[]}],', after
            yield name, "one long key", head, b"a\\n", tail


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
    """Returns the text of a body before and after a place."""
    changed = {"whole": copy.deepcopy(sample)}
    *outer, last = ("whole", *path)
    _at(changed, tuple(outer))[last] = instead
    text = json.dumps(changed["whole"], separators=(",", ":")).encode()
    head, _, tail = text.partition(json.dumps(HERE)[1:-1].encode())
    return head, tail


def watch(target: Target, grown: Grown) -> Seen:
    """Sends a body, and requests `/health` until the body is answered or the client leaves."""
    status: list[int] = []
    sender = threading.Thread(target=lambda: status.append(_send(target.port, grown)), daemon=True)
    waits: list[Wait] = []
    sender.start()
    while sender.is_alive():
        waits.append(ask_health(target))
        sender.join(ASK_EVERY_S)
    return Seen(grown, longest(waits), status[0], len(waits))


def longest(waits: list[Wait]) -> Wait:
    return max(waits, key=lambda wait: wait.own_s, default=Wait())


def ask_health(target: Target) -> Wait:
    before, began = _late(target.pid), time.perf_counter()
    answer = ask(target.port, "GET", "/health")
    waited_s = time.perf_counter() - began
    if not answer.status:
        return Wait(waited_s)
    after = _late(target.pid)
    late = {thread: after[thread] - before.get(thread, 0.0) for thread in after}
    own = [late.pop(thread, 0.0) for thread in ("asking", str(target.pid))]
    return Wait(waited_s, sum(own) + max(late.values(), default=0.0))


def _late(pid: int) -> dict[str, float]:
    """Returns how long each thread has waited for a core: the one that asks, and the server's.

    The server's first thread serves. It may wait for another one that holds the interpreter and
    itself waits for a core.
    """
    threads = {path.name: path / "schedstat" for path in Path(f"/proc/{pid}/task").glob("*")}
    threads["asking"] = Path("/proc/thread-self/schedstat")
    return {name: _run_delay_s(path) for name, path in threads.items()}


def _run_delay_s(schedstat: Path) -> float:
    """Returns 0 if the thread has ended, or if the kernel does not count."""
    try:
        return int(schedstat.read_text().split()[1]) / 1e9
    except (OSError, LookupError):
        return 0.0


def _send(port: int, grown: Grown) -> int:
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as wire:
            wire.sendall(request(port, grown.method, grown.path, [], grown.body()))
            answer = wire.recv(64)
    except (ConnectionError, TimeoutError):
        return 0
    parts = answer.split(b" ")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def chosen(stage: Stage, target: Target) -> list[Grown]:
    """Returns bodies for every place of every route at the limit, and some random ones."""
    chance = random.Random(3)
    if stage.quick:
        some = list(bodies(target.routes, (QUICK_SIZE,)))
        return chance.sample(some, min(len(some), QUICK_BODIES))
    places: dict[tuple[str, str, str], list[Grown]] = {}
    for grown in bodies(target.routes, SIZES[-1:]):
        places.setdefault((grown.method, grown.path, grown.place), []).append(grown)
    more = list(bodies(target.routes, SIZES))
    return [*map(chance.choice, places.values()), *chance.sample(more, MORE_BODIES)]


def _is_late_again(target: Target, seen: Seen) -> bool:
    """Whether the body makes others wait again. Pauses of the machine do not repeat."""
    return all(watch(target, seen.grown).longest.own_s > SLOWEST_S for _ in range(AGAIN))


def growing(stage: Stage) -> Figure:
    with moat_at(stage.scratch("growing"), SHARED, environment=NO_HUB) as own:
        return _measured(stage, target_of(own))


def _measured(stage: Stage, target: Target) -> Figure:
    post(target.port, "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]})
    alone = longest([ask_health(target) for _ in range(ALONE_ASKS)])
    seen = [watch(target, grown) for grown in chosen(stage, target)]
    worst = sorted(seen, key=lambda one: -one.longest.own_s)[:WORST]
    sys.stdout.write("".join(f"{one}\n" for one in worst))
    late = [one for one in seen if one.longest.own_s > SLOWEST_S and _is_late_again(target, one)]
    first, slowest = worst[0], max(one.longest.waited_s for one in seen)
    routes = len({(one.grown.method, one.grown.path) for one in seen})
    asked = sum(one.asked for one in seen)
    text = (
        f"{len(seen)} bodies to {routes} routes, /health asked {asked} times beside them: it took "
        f"{first.longest.own_s * 1000:.0f} ms at most ({first.grown.path}, {first.grown.place} of "
        f"{first.grown.what}, {first.grown.size / 1000:.0f} kB), "
        f"with no body {alone.own_s * 1000:.0f} ms, with the "
        f"machine's own lateness {slowest * 1000:.0f} ms; {len(late)} above the limit"
    )
    return Figure(text, not late and say_hello(target.port))


ROWS = (
    Row(
        "S40",
        "No body, however it is grown, makes others wait",
        f"/health within {SLOWEST_S * 1000:.0f} ms, always",
        growing,
        beside="apart",
    ),
)
