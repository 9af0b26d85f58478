"""Figures that only the worker itself can show: its overhead, its longest gap, its constraints."""

import json
import subprocess
import sys
from itertools import pairwise
from statistics import median
from typing import Any

from server.system import processes
from tests.bench.load import filler, percentile
from tests.bench.servers import ROOT, Shape
from tests.kit.worker_client import Outcome, WorkerClient

WARM_UP = 40
NEAR = 20
FREE = {"temperature": 0.8, "seed": 7, "ignore_eos": True}
SCHEMA = {
    "type": "object",
    "properties": {
        "company": {"type": "string", "maxLength": 24},
        "revenue": {"type": "number", "minimum": 0, "maximum": 1000},
        "rating": {"enum": ["buy", "hold", "sell"]},
        "reasons": {
            "type": "array",
            "items": {"type": "string", "maxLength": 40},
            "minItems": 2,
            "maxItems": 2,
        },
    },
    "required": ["company", "revenue", "rating", "reasons"],
    "additionalProperties": False,
}


def measure(shape: Shape, prompt_words: int, tokens: int, *, long_words: int) -> dict[str, float]:
    client = WorkerClient(
        shape.model,
        slots=shape.slots,
        context_tokens=shape.context_tokens,
        threads=shape.threads,
    )
    try:
        return {
            **_overhead(client, prompt_words, tokens),
            **_constrained(client, tokens),
            **_gap(client, long_words),
        }
    finally:
        client.close()


def raw_tokens_per_s(shape: Shape, prompt: int, tokens: int) -> float:
    command = [sys.executable, "-m", "tests.bench.raw_loop", str(shape.model)]
    figures = [str(number) for number in (shape.threads, prompt, tokens)]
    run = subprocess.run(
        [*command, *figures],
        cwd=ROOT,
        env=processes.environment("worker"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return float(json.loads(run.stdout))


def _overhead(client: WorkerClient, words: int, tokens: int) -> dict[str, float]:
    client.generate(prompt=filler(words, 1), max_tokens=4, sampling=FREE)
    before = client.ask("stats")["value"]
    outcome = client.generate(prompt=filler(words, 1), max_tokens=tokens, sampling=FREE)
    after = client.ask("stats")["value"]
    steps = after["steps"] - before["steps"]
    own_s = (after["whole_s"] - before["whole_s"]) - (after["decode_s"] - before["decode_s"])
    usage = outcome.usage
    return {
        "step_overhead_ms": own_s / steps * 1000,
        "step_decode_ms": (after["decode_s"] - before["decode_s"]) / steps * 1000,
        "worker_tokens_per_s": usage["completion_tokens"] / usage["decode_s"],
    }


def _constrained(client: WorkerClient, tokens: int) -> dict[str, float]:
    source = {"kind": "json_schema", "source": json.dumps(SCHEMA)}
    ask = [{"role": "user", "content": "Rate a company as JSON."}]
    job: dict[str, Any] = {"messages": ask, "max_tokens": max(tokens, 100)}
    client.generate(**job, constraint=source, sampling={"seed": 1})
    kept = [client.generate(**job, constraint=source, sampling={"seed": n}) for n in range(3)]
    free = [
        client.generate(**{**job, "max_tokens": one.usage["completion_tokens"]}, sampling=FREE)
        for one in kept
    ]
    return {"constrained_tokens_per_s": _speed(kept), "free_tokens_per_s": _speed(free)}


def _speed(outcomes: list[Outcome]) -> float:
    said = sum(outcome.usage["completion_tokens"] for outcome in outcomes)
    return float(said / sum(outcome.usage["decode_s"] for outcome in outcomes))


def _gap(client: WorkerClient, words: int) -> dict[str, float]:
    """Returns the gaps of a running answer while the long prompt of another request is read.

    Each gap is compared with the usual one at the same place of the same answer when nothing else
    runs, because an answer slows down as it grows. The gaps of that second run show what the
    machine itself adds.
    """
    running = _start_talking(client)
    times = _said(client, running, WARM_UP)
    reading = client.start(prompt="Long. " + filler(words, 3), max_tokens=1)
    while not client.has_ended(reading):
        times += _said(client, running, 1)
    client.send({"op": "cancel", "id": running})
    alone = _start_talking(client)
    quiet = _gaps(_said(client, alone, len(times)))
    usual = _smooth(quiet)
    client.send({"op": "cancel", "id": alone})
    stretched = _stretched(_gaps(times), usual)
    worst = max(range(WARM_UP, len(usual)), key=stretched.__getitem__)
    return {
        "usual_gap_ms": usual[worst] * 1000,
        "longest_gap_ms": usual[worst] * stretched[worst] * 1000,
        "gap_p99": percentile(stretched[WARM_UP:], 0.99),
        "gap_alone": max(_stretched(quiet, usual)[WARM_UP:]),
    }


def _start_talking(client: WorkerClient) -> int:
    return client.start(prompt="One, two, three,", max_tokens=4000, sampling=FREE)


def _gaps(times: list[float]) -> list[float]:
    return [b - a for a, b in pairwise(times)]


def _stretched(gaps: list[float], usual: list[float]) -> list[float]:
    return [gap / by for gap, by in zip(gaps, usual, strict=True)]


def _smooth(gaps: list[float]) -> list[float]:
    return [median(gaps[max(0, at - NEAR) : at + NEAR]) for at in range(len(gaps))]


def _said(client: WorkerClient, request: int, count: int) -> list[float]:
    times: list[float] = []
    while len(times) < count:
        now, item = client.item(request)
        if item[1] == "text":
            times.append(now)
    return times
