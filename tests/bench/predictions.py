"""Compares predicted with real tokens per second: python -m tests.bench.predictions [MODEL.gguf …].

The starter is always measured. Each model reads a prompt of some hundred tokens and writes 48, in
several rounds. The pace of the machine is measured before and after each round, so that both sides
meet the same disturbances; medians count. The exit status is 1 if a prediction is more than
30 % off.

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
from statistics import median

import psutil
from pydantic import TypeAdapter

from server.chat import ChatRequest, Sampling
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.engine.worker.load import backends, calibrate, selftest
from server.events import Finished
from server.face.models import Fit, Pace, Row, Setup
from server.models import library
from server.models.fit import judge
from server.models.gguf.files import check
from server.models.machine import Surveyor

ROUNDS, LEAST_S = 4, 20.0
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


async def measure(path: Path, clock: Clock) -> tuple[float, float, list[Pace]]:
    """Returns the tokens read and written per second, and the pace before and after each round.

    A repeated prompt is not read again.
    """
    # Without guesses: how many are right depends on the text, and these prompts are easy to guess.
    options = EngineOptions(
        context_tokens=2048, slots=1, gpu_layers=0, threads=clock.threads, speculate=False
    )
    engine = WorkerProcess(path, options)
    reads, writes, paces = [], [], [clock.measure_pace()]
    try:
        await answer(engine, "warm up", 2)
        number, until = 0, time.perf_counter() + LEAST_S
        while number < ROUNDS or time.perf_counter() < until:
            number += 1
            words = " ".join(f"{number}.{place}" for place in range(WORDS // 3))
            began = clock.now(engine)
            fresh = await answer(engine, words, 1)
            middle = clock.now(engine)
            await answer(engine, words, 1)
            short = clock.now(engine)
            await answer(engine, words, WRITTEN + 1)
            writes.append(WRITTEN / (clock.now(engine) - short - (short - middle)))
            reads.append(fresh / (middle - began))
            paces.append(clock.measure_pace())
    finally:
        await engine.close()
    return median(reads), median(writes), paces


async def compare(paths: list[Path], clock: Clock) -> int:
    rows, worst = [], 0.0
    for path in paths:
        reads, writes, paces = await measure(path, clock)
        fit = predict(path, usual_pace(paces))
        for what, predicted, actual in (
            ("reads", fit.reads, reads),
            ("writes", fit.writes, writes),
        ):
            off = predicted / actual - 1
            worst = max(worst, abs(off))
            rows.append(
                f"{path.name[:43]:<44}{what:>8}{predicted:>11.1f}{actual:>9.1f}{off:>+7.0%}"
            )
    sys.stdout.write("\n".join((HEAD, *rows, f"worst: {worst:.0%}\n")))
    return int(worst > CLOSE)


def usual_pace(paces: list[Pace]) -> Pace:
    """Returns the pace with the median of each time."""
    rates = tuple(
        replace(
            rate,
            short=_usual_row([pace.rates[at].short for pace in paces]),
            long=_usual_row([pace.rates[at].long for pace in paces]),
        )
        for at, rate in enumerate(paces[0].rates)
    )
    return replace(paces[0], rates=rates, step_s=median(pace.step_s for pace in paces))


def _usual_row(rows: list[Row]) -> Row:
    once_s, each_s = median(row.once_s for row in rows), median(row.each_s for row in rows)
    return replace(rows[0], once_s=once_s, each_s=each_s)


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
