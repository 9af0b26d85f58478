"""Promises about speed: a prompt that was read before, and a client that leaves."""

import http.client
import json
import re
import socket
import time
from statistics import median
from time import perf_counter

from scripts.build_llama_server import llama_server as built_llama_server
from server.engine.worker.load.plan import usable_cores
from tests.bench.servers import Shape, llama_server
from tests.prove.rows import Figure, Row
from tests.prove.stage import CONTEXT_TOKENS, Stage, Target, moat_at, model, port_of
from tests.prove.streams import OPENAI, asking
from tests.prove.wire import ask, chat, request, send

RUNNING = re.compile(r"^moat_running (\d+)", re.MULTILINE)
LONG_S = 600.0
LONG_TOKENS = 8192
LONG = {"model": {"slots": 1, "context_tokens": LONG_TOKENS, "gpu_layers": 0}}
ROWS_OF_A_FEW, ROWS_OF_8K = CONTEXT_TOKENS // 48, 780


def read_before_here(stage: Stage) -> Figure:
    if stage.quick:
        return read_before(stage.ours, ROWS_OF_A_FEW)
    with moat_at(stage.scratch("long"), LONG) as moat:
        return read_before(Target("Moat", port_of(moat), moat.pid, ()), ROWS_OF_8K)


def read_before_there(stage: Stage) -> Figure:
    if stage.quick:
        return read_before(stage.theirs, ROWS_OF_A_FEW)
    shape = Shape(model(), 1, LONG_TOKENS, usable_cores())
    with llama_server(built_llama_server(), shape) as server:
        return read_before(Target(server.name, server.port, server.process.pid, ()), ROWS_OF_8K)


def read_before(target: Target, rows: int) -> Figure:
    """Sends the same long beginning again and compares the times to the first word."""
    text = " ".join(f"row {n}: {n * 7919 % 1000}" for n in range(rows))
    first = _first_word_s(target.port, f"{text} First?")
    again = median(_first_word_s(target.port, f"{text} Question {n}?") for n in range(3))
    last = json.dumps(chat(f"{text} Last?")).encode()
    asked = request(target.port, "POST", OPENAI.path, [], last)
    usage = send(target.port, asked, LONG_S).json()["usage"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    shown = f"{usage['prompt_tokens']} tokens: first {first:.2f} s, again {again:.2f} s"
    return Figure(
        f"{shown} ({first / again:.0f} times sooner), {cached} reported as cached",
        first / again >= 10 and cached > usage["prompt_tokens"] / 2,
    )


def _first_word_s(port: int, text: str) -> float:
    began = perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG_S)
    headers = {"Content-Type": "application/json"}
    body = json.dumps(chat(text, 2, stream=True))
    connection.request("POST", "/v1/chat/completions", body, headers)
    reply = connection.getresponse()
    while line := reply.readline():
        found = line.replace(b'": ', b'":')
        if b'"content":"' in found and b'"content":""' not in found:
            break
    took = perf_counter() - began
    connection.close()
    return took


def left(target: Target, times: int) -> Figure:
    """Leaves during an answer and measures how long until the slot is free."""
    freed = []
    for number in range(times):
        with socket.create_connection(("127.0.0.1", target.port), 30) as wire:
            body = chat(f"Write about {number}.", 400, stream=True, ignore_eos=True)
            wire.sendall(asking(target.port, OPENAI.path, body))
            seen = b""
            while seen.count(b"data: ") < 3:
                seen += wire.recv(4096)
        gone = perf_counter()
        while _busy(target) and perf_counter() - gone < 30:
            time.sleep(0.01)  # it waits for another process, which cannot signal this one
        freed.append(perf_counter() - gone)
    freed.sort()
    worst = freed[min(len(freed) - 1, int(0.99 * len(freed)))]
    text = f"{times} leavers: place free after {median(freed):.2f} s (p50), {worst:.2f} s (p99)"
    return Figure(text, worst < 0.5 if times >= 1000 else worst < 2)


def _busy(target: Target) -> bool:
    if target.name == "Moat":
        text = ask(target.port, "GET", "/metrics").body.decode()
        return any(int(number) for number in RUNNING.findall(text))
    slots = ask(target.port, "GET", "/slots").json()
    return any(slot["is_processing"] for slot in slots)


ROWS = (
    Row(
        "F4",
        "Whoever leaves frees the place at once",
        "p99 < 0.5 s of 1,000 (quick: < 2 s of 20)",
        lambda stage: left(stage.ours, stage.pick(20, 1000)),
        lambda stage: left(stage.theirs, stage.pick(10, 100)),
    ),
    Row(
        "F16",
        "A beginning that was read before is not read again",
        ">= 10 times sooner, and told",
        read_before_here,
        read_before_there,
    ),
)
