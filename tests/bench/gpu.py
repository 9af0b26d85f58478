"""Our engine against llama.cpp's own benchmarks on the same GPU, model and build.

python -m tests.bench.gpu MODEL.gguf FOLDER_WITH_LLAMA_BENCH [--streams 1,8,32]
LLAMA_CPP_LIB_PATH names the folder with the GPU build of the libraries.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from server.chat import ChatRequest, Sampling
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.events import Finished, Pieces

PROMPT_TOKENS = 128
ANSWER_TOKENS = 256
ROUNDS = 3


async def ours(model: Path, streams: int) -> float:
    """Tokens per second of all streams together while they decode; the best of the rounds."""
    context = PROMPT_TOKENS + ANSWER_TOKENS + 64
    options = EngineOptions(context_tokens=context, slots=streams, gpu_layers=999, speculate=False)
    engine = WorkerProcess(model, options)
    await engine.load()
    try:
        say(f"    on {engine.facts.device}")
        best = max([await _round(engine, streams, number) for number in range(ROUNDS)])
        counted = await engine.stats()
        spent = {name: round(counted[name], 2) for name in counted if name.endswith("_s")}
        say(f"    {counted['steps']} steps, {spent}")
        return best
    finally:
        await engine.close()


async def _round(engine: WorkerProcess, streams: int, number: int) -> float:
    sampling = Sampling(temperature=0.0, ignore_eos=True)
    requests = [
        ChatRequest(
            prompt=f"{number} {stream} " + "word " * (PROMPT_TOKENS - 8),
            sampling=sampling,
            max_tokens=ANSWER_TOKENS,
        )
        for stream in range(streams)
    ]
    spans = await asyncio.gather(*(_span(engine.generate(one)) for one in requests))
    whole = max(span[1] for span in spans) - min(span[0] for span in spans)
    return sum(span[2] for span in spans) / whole


async def _span(pieces: Pieces) -> tuple[float, float, int]:
    """When the first token came, when the last, and how many."""
    first = 0.0
    tokens = 0
    async for piece in pieces:
        if isinstance(piece, Finished):
            tokens = piece.usage.completion_tokens
        elif not first and type(piece).__name__ == "TextDelta":
            first = time.perf_counter()
    return first, time.perf_counter(), tokens


def theirs(model: Path, tools: Path, streams: list[int]) -> dict[int, float]:
    """llama-batched-bench: generation speed with that many sequences in one batch."""
    most = max(streams)
    context = (PROMPT_TOKENS + ANSWER_TOKENS) * most
    command = [tools / "llama-batched-bench", "-m", model, "-ngl", "99", "-c", context]
    command += ["-npp", PROMPT_TOKENS, "-ntg", ANSWER_TOKENS, "--output-format", "jsonl"]
    command += ["-npl", ",".join(map(str, streams))]
    ran = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True
    )
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return {row["pl"]: row["speed_tg"] for row in rows}


def single(model: Path, tools: Path) -> float:
    """llama-bench: one sequence."""
    command = [tools / "llama-bench", "-m", model, "-ngl", "99", "-p", "0"]
    command += ["-n", ANSWER_TOKENS, "-d", PROMPT_TOKENS, "-o", "json"]
    ran = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True
    )
    speed: float = json.loads(ran.stdout)[0]["avg_ts"]
    return speed


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--streams", default="1,8,32")
    given = parser.parse_args()
    streams = [int(part) for part in given.streams.split(",")]
    say(f"llama-bench, one stream: {single(given.model, given.tools):.1f} tokens/s")
    peer = theirs(given.model, given.tools, streams)
    rows = [(count, asyncio.run(ours(given.model, count)), peer[count]) for count in streams]
    say("\n| streams | ours tokens/s | llama.cpp tokens/s | ratio |\n|---|---|---|---|")
    for count, own, other in rows:
        say(f"| {count} | {own:.1f} | {other:.1f} | {own / other:.2f} |")


if __name__ == "__main__":
    main()
