"""make bench-gpu: Moat, llama-server and llama-batched-bench on one graphics card, in one run.

Both servers are loaded at the same time and asked in turn over HTTP, with prompts that are new each
time; the order changes each round. "tuned" is llama-server with -bs (it samples on the card) and
the caches of both off; "plain" is both with their defaults. It prints tables with ratios and spread
and writes build/bench-gpu.json. The models are synthetic: only their shape matters.

LLAMA_CPP_LIB_PATH names the folder with the GPU build of the libraries, and MOAT_LLAMA_TOOLS that
with llama-server and llama-batched-bench, if it is another one.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from server.chat import ChatRequest, Sampling
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.events import Finished, Pieces
from tests.bench import synthetic
from tests.bench.load import Burst, ask, figures, filler
from tests.bench.servers import ROOT, Server, Shape, llama_server, moat

PROMPT_TOKENS = 128
ANSWER_TOKENS = 256
CONTEXT_TOKENS = 512
ALL = 999
OPEN = {"seed": None}
SAMPLINGS: dict[str, dict[str, Any]] = {
    "greedy": {**OPEN, "temperature": 0.0},
    "default": {**OPEN, "temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05},
}
KINDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "tuned": ({"prompt_cache_mb": 0}, ("-no-kvu", "-bs", "--cache-ram", "0")),
    "plain": ({}, ()),
}
SPREAD = "{:.0f} ({:.0f} to {:.0f})"


@dataclass(slots=True)
class Given:
    models: list[str]
    kinds: list[str]
    streams: list[int]
    samplings: list[str]
    rounds: int
    deadline: float
    folder: Path
    tools: Path
    ours: dict[str, Any]
    layers: int = ALL
    answer_tokens: int = ANSWER_TOKENS
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def note(self, **row: Any) -> None:
        """Saves a row at once, so that an interrupted run keeps its results."""
        self.rows.append(row)
        result = ROOT / "build" / "bench-gpu.json"
        result.parent.mkdir(exist_ok=True)
        result.write_text(json.dumps(self.rows, indent=1), encoding="utf-8")


def prompt(seed: int) -> str:
    """Returns a prompt with a token per letter. It begins with its number, so it is unique."""
    return f"{seed:08d} {filler(PROMPT_TOKENS, seed)}"[: PROMPT_TOKENS - 1]


# -------------------------------------------------------------------------- without HTTP


def compare_engine(given: Given, name: str, model: Path) -> None:
    peer = batched_bench(given, model)
    found = asyncio.run(engine_speeds(given, model))
    say("\n| answers | engine tokens/s | llama-batched-bench | ratio |\n|---|---|---|---|")
    for streams, speeds in found.items():
        given.note(kind="engine", model=name, streams=streams, ours=speeds, theirs=peer[streams])
        ratio = median(speeds) / peer[streams]
        say(f"| {streams} | {spread(speeds)} | {peer[streams]:.0f} | {ratio:.2f} |")


async def engine_speeds(given: Given, model: Path) -> dict[int, list[float]]:
    """Returns the tokens per second of all answers together once all prompts are read.

    llama-batched-bench times it so as well. Prompts are not cached between them, as it does not do
    that either.
    """
    most = max(given.streams)
    options = EngineOptions(
        CONTEXT_TOKENS,
        most,
        gpu_layers=given.layers,
        device_sampling={"on": True, "off": False}.get(given.ours.get("device_sampling", "")),
        prompt_cache_mb=0,
        speculate=False,
    )
    engine = WorkerProcess(model, options)
    await engine.load()
    found: dict[int, list[float]] = {streams: [] for streams in given.streams}
    try:
        say(f"engine on {engine.facts.device}")
        await _round(engine, most, 0, 16)
        for number in range(given.rounds):
            for streams in given.streams:
                if number and given.is_late:
                    continue
                seed = (number + 1) * 1000 + streams
                speed = await _round(engine, streams, seed, given.answer_tokens)
                found[streams].append(speed)
        counted = await engine.stats()
        spent = {one: round(counted[one], 2) for one in counted if one.endswith("_s")}
        chosen = counted["chosen_on_device"]
        say(f"    {counted['steps']} steps, {chosen} tokens chosen on it, {spent}")
    finally:
        await engine.close()
    return found


async def _round(engine: WorkerProcess, streams: int, seed: int, tokens: int) -> float:
    sampling = Sampling(temperature=0.0, ignore_eos=True)
    requests = [
        ChatRequest(prompt=prompt(seed * 100 + stream), sampling=sampling, max_tokens=tokens)
        for stream in range(streams)
    ]
    spans = await asyncio.gather(*(_span(engine.generate(one)) for one in requests))
    all_begun = max(times[0] for times, _ended, _tokens in spans)
    later = sum(
        tokens * sum(at > all_begun for at in times) / len(times) for times, _ended, tokens in spans
    )
    return later / (max(ended for _times, ended, _tokens in spans) - all_begun)


async def _span(pieces: Pieces) -> tuple[list[float], float, int]:
    """Returns the times of the pieces of text, the time of the end, and the number of tokens."""
    times: list[float] = []
    tokens = 0
    async for piece in pieces:
        if isinstance(piece, Finished):
            tokens = piece.usage.completion_tokens
        elif type(piece).__name__ == "TextDelta":
            times.append(time.perf_counter())
    return times, time.perf_counter(), tokens


def batched_bench(given: Given, model: Path) -> dict[int, float]:
    """Returns the generation speed for each number of sequences in one batch."""
    context = (PROMPT_TOKENS + given.answer_tokens) * max(given.streams)
    command = [given.tools / "llama-batched-bench", "-m", model, "-ngl", given.layers]
    command += ["-c", context, "-npp", PROMPT_TOKENS, "-ntg", given.answer_tokens]
    command += ["-npl", ",".join(map(str, given.streams)), "--output-format", "jsonl"]
    ran = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    if ran.returncode or not rows:
        sys.exit(f"llama-batched-bench ended with {ran.returncode}: {ran.stderr[-1500:]}")
    return {row["pl"]: row["speed_tg"] for row in rows}


# -------------------------------------------------------------------------- over HTTP


@dataclass(slots=True)
class Found:
    """The figures of one server at one point."""

    bursts: list[Burst] = field(default_factory=list)
    used_ms: list[float] = field(default_factory=list)
    """Processor time for each token."""

    def of(self, name: str) -> list[float]:
        return [getattr(one, name) for one in self.bursts]


def compare_servers(given: Given, name: str, model: Path, kind: str) -> None:
    with both(given, model, kind) as pair:
        for server in pair:
            for sampling in given.samplings:  # kernels, graphs and learned paces are then warm
                asyncio.run(burst(server, max(given.streams), SAMPLINGS[sampling], 1, 32))
        points = [(streams, one) for streams in given.streams for one in given.samplings]
        found = {(point, server.name): Found() for point in points for server in pair}
        for number in range(given.rounds):
            for streams, sampling in points:
                if number and given.is_late:
                    continue
                seed = 1_000_000 * (number + 1) + 1000 * streams + 100 * len(sampling)
                for server in pair if number % 2 == 0 else pair[::-1]:
                    measure(given, server, streams, sampling, seed, found)
    show(given, name, kind, points, found)


@contextmanager
def both(given: Given, model: Path, kind: str) -> Iterator[list[Server]]:
    ours, theirs = KINDS[kind]
    shape = Shape(
        *(model, max(given.streams), CONTEXT_TOKENS, os.cpu_count() or 1, given.layers),
        ours={**ours, **given.ours, "queue_limit": 1024},
        theirs=theirs,
    )
    with ExitStack() as stack:
        program = given.tools / "llama-server"
        yield [
            stack.enter_context(moat(shape)),
            stack.enter_context(llama_server(program, shape)),
        ]


def measure(
    given: Given,
    server: Server,
    streams: int,
    sampling: str,
    seed: int,
    found: dict[Any, Found],
) -> None:
    before = server.used_s()
    one = asyncio.run(burst(server, streams, SAMPLINGS[sampling], seed, given.answer_tokens))
    into = found[(streams, sampling), server.name]
    into.bursts.append(one)
    tokens = streams * given.answer_tokens
    into.used_ms.append(1000 * (server.used_s() - before) / tokens)
    say(f"    {server.name:13}{streams:3} {sampling:8}{one.tokens_per_s:9.1f} tokens/s")


async def burst(
    server: Server, streams: int, sampling: dict[str, Any], seed: int, tokens: int
) -> Burst:
    began = time.perf_counter()
    asked = (
        ask(server.port, [{"role": "user", "content": prompt(seed + n)}], tokens, **sampling)
        for n in range(streams)
    )
    return figures(await asyncio.gather(*asked), began)


def show(
    given: Given,
    model: str,
    kind: str,
    points: list[tuple[int, str]],
    found: dict[Any, Found],
) -> None:
    rounds = sorted({len(one.bursts) for one in found.values()})
    counted = " to ".join(map(str, dict.fromkeys((rounds[0], rounds[-1]))))
    say(f"\n{model}, llama-server {kind}; median of {counted} rounds (least to most)\n")
    say(
        "| answers | sampling | Moat tokens/s | llama-server | ratio | first p50 ms | ratio "
        "| first p95 ms | ratio | processor ms a token |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for point in points:
        ours, theirs = found[point, "moat"], found[point, "llama-server"]
        cells = [str(point[0]), point[1], *versus(ours, theirs, "tokens_per_s", 1, spread)]
        for name in ("first_p50_s", "first_p95_s"):
            left, right, ratio = versus(ours, theirs, name, 1000, brief)
            cells += [f"{left} / {right}", ratio]
        cells.append(f"{median(ours.used_ms):.2f} / {median(theirs.used_ms):.2f}")
        say("| " + " | ".join(cells) + " |")
        names = ("tokens_per_s", "first_p50_s", "first_p95_s", "gap_p50_s", "gap_p95_s")
        for server, one in (("moat", ours), ("llama-server", theirs)):
            kept = {name: one.of(name) for name in names}
            row = {"model": model, "kind": kind, "streams": point[0], "sampling": point[1]}
            given.note(**row, server=server, used_ms=one.used_ms, **kept)


def versus(
    ours: Found, theirs: Found, name: str, scale: float, text: Callable[[list[float]], str]
) -> list[str]:
    left, right = ([scale * value for value in one.of(name)] for one in (ours, theirs))
    return [text(left), text(right), f"{median(left) / median(right):.2f}"]


def spread(values: list[float]) -> str:
    return SPREAD.format(median(values), min(values), max(values))


def brief(values: list[float]) -> str:
    return f"{median(values):.0f}"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def read_arguments() -> Given:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="8b,1b")
    parser.add_argument("--kinds", default="engine,tuned,plain")
    parser.add_argument("--streams", default="1,8,32,64")
    parser.add_argument("--samplings", default="greedy,default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3600.0, help="then only what is due")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "models")
    parser.add_argument("--layers", type=int, default=ALL)
    parser.add_argument("--tokens", type=int, default=ANSWER_TOKENS)
    parser.add_argument("--guess", action="store_true", help="ours guesses ahead, as it starts")
    parser.add_argument("--ours", default="{}", help="further settings of our model, as JSON")
    read = parser.parse_args()
    tools = os.environ.get("MOAT_LLAMA_TOOLS") or os.environ.get("LLAMA_CPP_LIB_PATH")
    if not tools:
        sys.exit("MOAT_LLAMA_TOOLS must name the folder with llama-server.")
    return Given(
        models=read.models.split(","),
        kinds=read.kinds.split(","),
        streams=[int(part) for part in read.streams.split(",")],
        samplings=read.samplings.split(","),
        rounds=read.rounds,
        deadline=time.monotonic() + read.seconds,
        folder=read.folder,
        tools=Path(tools),
        ours={"speculate": read.guess, **json.loads(read.ours)},
        layers=read.layers,
        answer_tokens=read.tokens,
    )


def main() -> None:
    given = read_arguments()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.models:
        model = given.folder / f"synthetic-{name}.gguf"
        if not model.exists():
            part = model.with_suffix(".part")
            synthetic.write(part, synthetic.SHAPES[name])
            part.rename(model)
        for kind in given.kinds:
            if kind == "engine":
                compare_engine(given, name, model)
            else:
                compare_servers(given, name, model, kind)


if __name__ == "__main__":
    main()
