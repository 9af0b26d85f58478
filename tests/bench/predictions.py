"""Compares predicted with real tokens per second: python -m tests.bench.predictions [MODEL.gguf …].

The starter is always measured. Each model reads a prompt of some hundred tokens and writes 48, in
several rounds; the quickest counts, because other programs can only slow it down. The pace of the
machine is measured before each model, and its quickest figures count. The exit status is 1 if a
prediction is more than 30 % off.

--processor-time is for a busy machine. Both sides use one thread, and the processor time that they
take counts instead of the time that passes.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
from pydantic import TypeAdapter

from server.chat import ChatRequest, Sampling
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.engine.worker.load import backends, calibrate, selftest
from server.events import Finished
from server.face.models import Fit, Pace, Setup
from server.models import library
from server.models.fit import judge
from server.models.gguf.files import check
from server.models.machine import Surveyor, _best

ROUNDS = 2
WORDS, WRITTEN = 300, 48
CLOSE = 0.3
MEASURE = "--measure-pace"
HEAD = f"{'model':<44}{'':>8}{'predicted':>11}{'real':>9}{'off':>7}"
_PACE = TypeAdapter(Pace)


class Clock:
    """Seconds: elapsed time, or the processor time that a worker used."""

    def __init__(self, *, of_processor: bool) -> None:
        self._of_processor = of_processor
        self.threads = 1 if of_processor else 0

    def now(self, engine: WorkerProcess) -> float:
        if not self._of_processor:
            return time.perf_counter()
        times = psutil.Process(engine.pid).cpu_times()
        return float(times.user + times.system)

    def measure_pace(self) -> Pace:
        """Measures the pace in a separate process, which loads the engine."""
        command = [sys.executable, "-m", "tests.bench.predictions", MEASURE]
        command += ["--processor-time"] * self._of_processor
        found = subprocess.run(command, check=True, capture_output=True)
        return _PACE.validate_json(found.stdout)


def print_pace(*, of_processor: bool) -> None:
    if of_processor:
        calibrate.perf_counter, calibrate.usable_cores = time.process_time, lambda: 1
    backends.load(selftest.usual())
    sys.stdout.write(json.dumps(calibrate.measure_pace(calibrate.Kernels())))


async def answer(engine: WorkerProcess, words: str, tokens: int) -> int:
    """Returns how many tokens of the prompt were not cached."""
    sampling = Sampling(temperature=0.0, ignore_eos=True)
    request = ChatRequest(prompt=words, max_tokens=tokens, sampling=sampling)
    async for event in engine.generate(request):
        if isinstance(event, Finished):
            return event.usage.prompt_tokens - event.usage.cached_tokens
    raise RuntimeError("The engine ended without an answer.")


async def measure(path: Path, clock: Clock) -> tuple[float, float]:
    """Returns the tokens read and written per second. A repeated prompt is not read again."""
    # Without guesses: how many are right depends on the text, and these prompts are easy to guess.
    options = EngineOptions(
        context_tokens=2048, slots=1, gpu_layers=0, threads=clock.threads, speculate=False
    )
    engine = WorkerProcess(path, options)
    reads, writes = [], []
    try:
        await answer(engine, "warm up", 2)
        for number in range(ROUNDS):
            words = " ".join(f"{number}.{place}" for place in range(WORDS // 3))
            began = clock.now(engine)
            fresh = await answer(engine, words, 1)
            middle = clock.now(engine)
            await answer(engine, words, 1)
            short = clock.now(engine)
            await answer(engine, words, WRITTEN + 1)
            writes.append(WRITTEN / (clock.now(engine) - short - (short - middle)))
            reads.append(fresh / (middle - began))
    finally:
        await engine.close()
    return max(reads), max(writes)


async def compare(paths: list[Path], clock: Clock) -> int:
    known, rows, worst = Pace(), [], 0.0
    for path in paths:
        known = _best(known, clock.measure_pace())
        reads, writes = await measure(path, clock)
        fit = predict(path, known)
        for what, predicted, real in (("reads", fit.reads, reads), ("writes", fit.writes, writes)):
            off = predicted / real - 1
            worst = max(worst, abs(off))
            rows.append(f"{path.name[:43]:<44}{what:>8}{predicted:>11.1f}{real:>9.1f}{off:>+7.0%}")
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
    sys.stdout.write("\n".join(("", HEAD, *rows, f"worst: {worst:.0%}\n")))
    return int(worst > CLOSE)


def predict(path: Path, known: Pace) -> Fit:
    machine = replace(Surveyor().machine(), pace=known)
    return judge(check(path), Setup(2048, 1, gpu_layers=0), machine)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, nargs="*")
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument(MEASURE, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure_pace:
        print_pace(of_processor=given.processor_time)
        return 0
    starter = library.find_starter()
    assert starter is not None
    clock = Clock(of_processor=given.processor_time)
    return asyncio.run(compare([starter, *given.models], clock))


if __name__ == "__main__":
    sys.exit(main())
