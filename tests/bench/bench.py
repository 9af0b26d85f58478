"""make bench: Moat against llama.cpp's own server, with the same build, model, prompts and load.

Both run at the same time and are asked in turn, so that a busy machine slows both. It prints one
table with ratios and writes build/bench.json. QUICK=1 asks less and takes under four minutes.
"""

import asyncio
import json
import os
import sys
from dataclasses import asdict, dataclass
from statistics import median
from time import time
from typing import Any

from scripts.build_llama_server import llama_server as built_llama_server
from server.engine.worker.load.plan import usable_cores
from server.models import library
from tests.bench.inside import measure, raw_tokens_per_s
from tests.bench.load import Burst, alternate, burst
from tests.bench.servers import ROOT, Server, Shape, llama_server, moat
from tests.kit.programs import read_arguments

RESULT = ROOT / "build" / "bench.json"
STREAMS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount of work in a run: rounds, and the lengths of prompts and answers."""

    rounds: int
    words: int
    tokens: int
    talk_words: int
    turns: int
    long_words: int


FULL = Amount(rounds=3, words=170, tokens=64, talk_words=1700, turns=5, long_words=3300)
QUICK = Amount(rounds=1, words=40, tokens=24, talk_words=200, turns=3, long_words=300)


def main() -> None:
    model = library.find_starter()
    if model is None:
        sys.exit("The starter model is not installed; 'make setup' brings it.")
    amount = QUICK if os.environ.get("QUICK") else FULL
    shape = Shape(model, slots=max(STREAMS), context_tokens=4096, threads=usable_cores())
    say(f"{'':26}{'moat':>12}{'llama-server':>14}{'ratio':>8}")
    figures: dict[str, Any] = {}
    ratios: dict[str, float] = {}
    # This comes first: the end of the servers disturbs the next half minute.
    look_inside(Shape(model, 2, 8192, shape.threads), amount, figures, ratios)
    with moat(shape) as ours, llama_server(built_llama_server(), shape) as theirs:
        compare_streams(ours, theirs, amount, figures, ratios)
        compare_talks(ours, theirs, amount, figures, ratios)
        memory = {server.name: server.rss_mb() for server in (ours, theirs)}
        row("memory, MB", memory["moat"], memory["llama-server"], ratios, "memory")
        figures["memory_mb"] = memory
    RESULT.parent.mkdir(exist_ok=True)
    result = {"quick": amount is QUICK, "ratios": ratios, "figures": figures}
    RESULT.write_text(json.dumps(result, indent=2), encoding="utf-8")
    say(f"written to {RESULT.relative_to(ROOT)}")


def compare_streams(
    ours: Server, theirs: Server, amount: Amount, figures: dict[str, Any], ratios: dict[str, float]
) -> None:
    seed = int(time()) % 100_000 * 1000
    for streams in STREAMS:
        found: dict[str, list[Burst]] = {ours.name: [], theirs.name: []}
        for turn in range(amount.rounds):
            seed += 100
            for server in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
                load = burst(server.port, streams, amount.words, amount.tokens, seed)
                found[server.name].append(asyncio.run(load))
        figures[f"streams_{streams}"] = {
            name: [asdict(one) for one in bursts] for name, bursts in found.items()
        }
        for title, field, key in (
            ("tokens/s", "tokens_per_s", "throughput"),
            ("first token p50, s", "first_p50_s", "ttft_p50"),
            ("first token p95, s", "first_p95_s", "ttft_p95"),
            ("gap p50, s", "gap_p50_s", "gap_p50"),
            ("gap p95, s", "gap_p95_s", "gap_p95"),
        ):
            left, right = (
                median(getattr(one, field) for one in found[server.name])
                for server in (ours, theirs)
            )
            row(f"{streams:2} streams, {title}", left, right, ratios, f"{key}_{streams}")


def compare_talks(
    ours: Server, theirs: Server, amount: Amount, figures: dict[str, Any], ratios: dict[str, float]
) -> None:
    for talks in (2, 6):
        seed = int(time()) % 100_000 * 1000 + talks
        found = {
            server.name: asyncio.run(
                alternate(server.port, talks, amount.talk_words, amount.turns, seed)
            )
            for server in (ours, theirs)
        }
        figures[f"alternating_{talks}"] = found
        left, right = median(found[ours.name]), median(found[theirs.name])
        row(f"{talks} talks, first token, s", left, right, ratios, f"alternating_{talks}")


def look_inside(
    shape: Shape, amount: Amount, figures: dict[str, Any], ratios: dict[str, float]
) -> None:
    inside = measure(shape, amount.words, amount.tokens, long_words=amount.long_words)
    inside["raw_tokens_per_s"] = raw_tokens_per_s(shape, 200, amount.tokens)
    figures["inside"] = inside
    for title, left, right, key in (
        (
            "constrained / free, tok/s",
            "constrained_tokens_per_s",
            "free_tokens_per_s",
            "constrained_vs_free",
        ),
        ("one stream / bare loop", "worker_tokens_per_s", "raw_tokens_per_s", "single_vs_raw"),
        ("own time / step, ms", "step_overhead_ms", "step_decode_ms", "step_overhead"),
        ("longest / usual gap, ms", "longest_gap_ms", "usual_gap_ms", "gap_while_reading"),
    ):
        row(title, inside[left], inside[right], ratios, key)
    for title, key in (
        ("  p99 of these gaps", "gap_p99"),
        ("  longest with no reader", "gap_alone"),
    ):
        ratios[key] = inside[key]
        say(f"{title:52}{inside[key]:8.2f}")


def row(title: str, left: float, right: float, ratios: dict[str, float], key: str) -> None:
    ratios[key] = left / right if right else 0.0
    say(f"{title:26}{left:12.3f}{right:14.3f}{ratios[key]:8.2f}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    read_arguments(__doc__)
    main()
