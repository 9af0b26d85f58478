"""S14 and S16 to S18: bodies that are made to reach elsewhere, overflow, or bypass a schema."""

import base64
import itertools
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any

import jsonschema

from tests.prove.rows import Figure, Measure, Row
from tests.prove.stage import Stage, Target
from tests.prove.wire import Answer, chat, post, say_hello, send

CHAT = "/v1/chat/completions"
NUMBERS = (
    "max_tokens", "temperature", "top_p", "top_k", "min_p", "n", "seed", "logprobs",
    "presence_penalty", "frequency_penalty", "repeat_penalty", "n_predict", "n_keep", "n_discard",
    "id_slot", "n_probs", "min_keep", "mirostat", "dry_multiplier", "typical_p", "t_max_predict_ms",
)  # fmt: skip
ODD: tuple[str, ...] = (
    "-1", "-2147483648", "9223372036854775808", "1e308", "NaN", "Infinity", '"5"', "null", "[]",
    "true", "{}",
)  # fmt: skip


class Canary:
    """A listener that nobody may ever reach. It counts the connections."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.seen = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        with suppress(OSError):
            while True:
                self._socket.accept()[0].close()
                self.seen += 1

    def close(self) -> None:
        self._socket.close()


@contextmanager
def canary() -> Iterator[Canary]:
    watching = Canary()
    try:
        yield watching
    finally:
        watching.close()


def worker_pid(stage: Stage) -> int:
    return stage.moat.worker().pid


def foreign_pictures(stage: Stage) -> Figure:
    port = stage.ours.port
    with canary() as watching:
        urls = _picture_urls(watching.port)
        asked = [(path, body) for url in urls for path, body in _picture_requests(url)]
        statuses = Counter(post(port, path, body).status for path, body in asked)
    refused = sum(
        count for status, count in statuses.items() if 400 <= status < 500 or status == 501
    )
    text = f"{refused} of {len(asked)} refused; {watching.seen} connections to a canary"
    return Figure(text, refused == len(asked) and watching.seen == 0 and say_hello(port))


def _picture_urls(port: int) -> list[str]:
    bomb = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(3_000_000)).decode()
    return [
        "file:///etc/hostname",
        f"http://127.0.0.1:{port}/x.png",
        f"http://[::ffff:127.0.0.1]:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        f"http://user@127.0.0.1:{port}/",
        f"ftp://127.0.0.1:{port}/x",
        f"gopher://127.0.0.1:{port}/",
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/png;base64,@@@",
        f"data:image/svg+xml;base64,{bomb[:400]}",
        "/etc/passwd",
        "",
    ]


def _picture_requests(url: str) -> list[tuple[str, dict[str, Any]]]:
    part = [{"type": "image_url", "image_url": {"url": url}}]
    item = [{"type": "input_image", "image_url": url}]
    source = [{"type": "image", "source": {"type": "url", "url": url}}]
    user = {"role": "user"}
    return [
        (CHAT, {"messages": [{**user, "content": part}], "max_tokens": 1}),
        ("/v1/responses", {"input": [{**user, "content": item}], "max_output_tokens": 1}),
        ("/v1/messages", {"messages": [{**user, "content": source}], "max_tokens": 1}),
    ]


def odd_numbers(stage: Stage) -> Figure:
    port, pid = stage.ours.port, worker_pid(stage)
    statuses: Counter[str] = Counter()
    for name, odd in itertools.product(NUMBERS, ODD):
        body = json.dumps(chat("Hi")).replace(
            '"max_tokens": 1', f'"max_tokens": 1, "{name}": {odd}'
        )
        statuses[_kind(_raw(port, CHAT, body.encode()))] += 1
    same = worker_pid(stage) == pid and say_hello(port)
    total = statuses.total()
    text = f"{total} bodies: {statuses['refused']} refused by name, {statuses['answered']} answered"
    return Figure(
        f"{text}, {statuses['broken']} errors of ours; the worker {'lives' if same else 'DIED'}",
        statuses["broken"] == 0 and same and statuses["refused"] > total / 3,
    )


def _raw(port: int, path: str, body: bytes) -> Answer:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return send(port, head.encode() + body)


def _kind(answer: Answer) -> str:
    if answer.status == 200:
        return "answered"
    return "refused" if answer.status in (400, 422) else "broken"


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def bombs() -> dict[str, bytes]:
    """Returns bodies whose schema, expression or tools are meant to exhaust the compiler."""
    tools = [{"type": "function", "function": _tool(number)} for number in range(200)]
    cycle = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    schemas: dict[str, Any] = {
        "400 levels": nested(200),
        "a cycle": cycle,
        "a billion characters": {"type": "string", "minLength": 10**9, "maxLength": 10**9},
        "an expression": {"type": "string", "pattern": "^(((a{1,100}){1,100}){1,100}){1,100}$"},
        "a billion entries": {"type": "array", "items": {}, "minItems": 10**9},
        "a choice of 20000": {"enum": [f"choice {n}" for n in range(20_000)]},
    }
    made = {name: json.dumps(strict(schema, 2)).encode() for name, schema in schemas.items()}
    made["10000 levels"] = (
        b'{"messages":[],"response_format":' + b'{"a":' * 10_000 + b"1" + (b"}" * 10_001)
    )
    made["200 tools"] = json.dumps(chat("Hi", tools=tools)).encode()
    return made


def _tool(number: int) -> dict[str, Any]:
    fields = {f"field_{n}": {"type": "string", "description": "words " * 20} for n in range(5)}
    return {"name": f"tool_{number}", "parameters": {"type": "object", "properties": fields}}


def strict(schema: dict[str, Any], tokens: int = 24) -> dict[str, Any]:
    form = {"name": "x", "strict": True, "schema": schema}
    return chat("Hi", tokens, response_format={"type": "json_schema", "json_schema": form})


def schema_bombs(stage: Stage) -> Figure:
    port, pid = stage.ours.port, worker_pid(stage)
    # The first schema of all waits until the vocabulary is read, which must not count here.
    post(port, CHAT, strict({"type": "boolean"}, 2))
    slowest, longest_s, broken = "", 0.0, []
    for name, body in bombs().items():
        began = perf_counter()
        answer = _raw(port, CHAT, body)
        took = perf_counter() - began
        if took > longest_s:
            slowest, longest_s = name, took
        if answer.status not in (200, 400, 422):
            broken.append(f"{name}: {answer.status}")
    same = worker_pid(stage) == pid and say_hello(port)
    text = f"{len(bombs())} bombs, the slowest ({slowest}) took {longest_s:.2f} s"
    if broken:
        text += f"; {', '.join(broken)}"
    return Figure(
        f"{text}; the worker {'lives' if same else 'DIED'}", not broken and same and longest_s < 2
    )


REFUSED, FITS, CUT, IGNORED, BROKEN = "refused", "kept", "cut off", "ignored", "broken otherwise"
UNCOMPILABLE: tuple[dict[str, Any], ...] = (
    {"type": "object", "properties": {"a": {"type": "nonsense"}}},
    {"type": "string", "pattern": "(?<=x)y"},
    {"type": "object", "patternProperties": {"(": {}}},
    {"$ref": "#/$defs/missing"},
    {"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
    {"not": {"type": "string"}},
    {"type": "integer", "minimum": 10, "maximum": 1},
    {"type": 7},
)


def uncompilable(target: Target) -> Figure:
    """Counts schemas that cannot be enforced. Each must be refused or kept, never ignored."""
    ends = Counter(ending(post(target.port, CHAT, strict(one)), one) for one in UNCOMPILABLE)
    text = ", ".join(f"{ends[end]} {end}" for end in (REFUSED, FITS, CUT, IGNORED, BROKEN))
    held = ends[REFUSED] + ends[FITS] == len(UNCOMPILABLE)
    return Figure(f"of {len(UNCOMPILABLE)} schemas {text}", held)


def ending(answer: Answer, schema: dict[str, Any]) -> str:
    """Returns what became of an answer that had to fit a schema."""
    if answer.status in (400, 422):
        return REFUSED
    if answer.status != 200:
        return BROKEN
    choice = answer.json()["choices"][0]
    try:
        jsonschema.validate(json.loads(choice["message"]["content"]), schema)
    except (ValueError, jsonschema.ValidationError, jsonschema.SchemaError):
        return CUT if choice["finish_reason"] == "length" else IGNORED
    return FITS


def _both(script: Any) -> tuple[Measure, Measure]:
    return (lambda stage: script(stage.ours)), (lambda stage: script(stage.theirs))


ROWS = (
    Row(
        "S14",
        "An address in a picture field is never opened: no file read, no request made",
        "all refused, 0 connections",
        foreign_pictures,
    ),
    Row(
        "S16",
        "Numbers out of range and fields of the engine do no harm",
        "0 errors of ours, the worker lives",
        odd_numbers,
    ),
    Row("S17", "A schema cannot exhaust the server", "each < 2 s, worker lives", schema_bombs),
    Row(
        "S18",
        "A schema that cannot be enforced is refused, never ignored",
        "0 answered without it",
        *_both(uncompilable),
    ),
)
