"""Measures how a model is computed fastest on this machine: attention, batch size, threads.

It takes some seconds, in a small context of its own beside the one that answers, and gives up as
soon as it is not wanted any more.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from server.engine.worker.decode.batch import Batch
from server.engine.worker.load.context import Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import lib
from server.engine.worker.load.plan import Plan, used_by_others_s
from server.engine.worker.prompt.vocabulary import Unwanted
from server.engine.worker.refusals import Refused

ROUND_S = 0.5
"""About how long the reading of one trial takes."""
BUDGET_S = 12.0
"""After so long no further comparison is begun."""
LEAST_TOKENS, MOST_TOKENS = 128, 2048
LEAST_BATCH = 64
PROBE_TOKENS = 32
WRITTEN = 8
ROUNDS = 2
TURN = (512, 128)
"""Tokens read and written in a usual turn: what the choices are weighed by."""
BETTER = 0.97
"""The share of the usual choice's time below which another one takes its place."""
LOOK_S = 0.02
LEAST_MEMORY = 1 << 30
"""A context of its own takes some hundred MB with a large vocabulary."""
IsWanted = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Way:
    flash_attention: bool
    batch_tokens: int
    threads: int


@dataclass(slots=True)
class Speed:
    """Seconds for a token; the best of all rounds."""

    read_s: float = float("inf")
    write_s: float = float("inf")

    @property
    def turn_s(self) -> float:
        return TURN[0] * self.read_s + TURN[1] * self.write_s


class Calibration:
    def __init__(self, model: Model, plan: Plan, is_wanted: IsWanted) -> None:
        self._model = model
        self._plan = plan
        self._is_wanted = is_wanted
        self._known: dict[Way, Speed] = {}
        self._depth = LEAST_TOKENS

    def run(self) -> dict[str, Any]:
        """Returns the fastest way, and what each trial took."""
        if psutil.virtual_memory().available < LEAST_MEMORY:
            raise Refused("out_of_memory", "There is too little free memory to measure the speed.")
        began, others_s = perf_counter(), used_by_others_s()
        plan = self._plan
        usual = Way(plan.flash_attention != 0, plan.part_tokens, plan.threads)
        self._depth = self._choose_depth(usual)
        best = self._compare([usual, *self._other_attention(usual)])
        for others in (self._smaller_batches, self._other_threads):
            if perf_counter() - began < BUDGET_S:
                best = self._compare([best, *others(best)])
        trials = [
            {**asdict(way), "read": round(1 / took.read_s, 1), "write": round(1 / took.write_s, 1)}
            for way, took in self._known.items()
        ]
        took_s = perf_counter() - began
        found = {"took_s": round(took_s, 1), "depth": self._depth, "trials": trials}
        return {**asdict(best), **found, "others": (used_by_others_s() - others_s) / took_s}

    def _other_attention(self, usual: Way) -> list[Way]:
        """A quantised cache needs flash attention."""
        if self._plan.kv_type != lib.GGML_TYPE_F16:
            return []
        return [replace(usual, flash_attention=not usual.flash_attention)]

    def _smaller_batches(self, best: Way) -> list[Way]:
        """A larger one would take more memory than was planned."""
        half = best.batch_tokens // 2
        return [replace(best, batch_tokens=half)] if half >= LEAST_BATCH else []

    def _other_threads(self, best: Way) -> list[Way]:
        if self._plan.on_card:
            return []
        counts = {max(1, best.threads // 2), os.cpu_count() or 1} - {best.threads}
        return [replace(best, threads=count) for count in sorted(counts)]

    def _choose_depth(self, usual: Way) -> int:
        with self._context(usual, LEAST_TOKENS) as context:
            self._read(context, usual, PROBE_TOKENS)  # pages of the file come in, threads start
            context.cut(0, 0)
            token_s = self._read(context, usual, PROBE_TOKENS) / PROBE_TOKENS
        most = min(MOST_TOKENS, self._model.trained_tokens - WRITTEN)
        return max(LEAST_TOKENS, min(most, int(ROUND_S / token_s) // 64 * 64))

    def _compare(self, ways: list[Way]) -> Way:
        """Returns the fastest; the first one, unless another is clearly better."""
        for _ in range(ROUNDS):
            for way in ways:
                try:
                    self._measure(way)
                except Refused:
                    # This model, or this card, cannot be computed so.
                    if ways[0] not in self._known:
                        raise
        usual = self._known[ways[0]].turn_s
        best = min((way for way in ways if way in self._known), key=self._turn_s)
        return best if self._turn_s(best) < BETTER * usual else ways[0]

    def _turn_s(self, way: Way) -> float:
        return self._known[way].turn_s

    def _measure(self, way: Way) -> None:
        with self._context(way, self._depth + WRITTEN) as context:
            read_s = self._read(context, way, self._depth) / self._depth
            write_s = self._write(context) / WRITTEN
        speed = self._known.setdefault(way, Speed())
        speed.read_s, speed.write_s = min(speed.read_s, read_s), min(speed.write_s, write_s)

    @contextmanager
    def _context(self, way: Way, tokens: int) -> Iterator[Context]:
        plan = replace(
            self._plan,
            context_tokens=tokens,
            slots=1,
            batch_tokens=way.batch_tokens,
            part_tokens=way.batch_tokens,
            threads=way.threads,
            flash_attention=int(way.flash_attention),
            kv_unified=False,
        )
        context = Context(self._model, plan)
        ended = threading.Event()
        watching = threading.Thread(target=self._watch, args=(context, ended), daemon=True)
        watching.start()
        try:
            yield context
        finally:
            ended.set()
            watching.join()
            context.close()

    def _watch(self, context: Context, ended: threading.Event) -> None:
        while not ended.wait(LOOK_S):
            if not self._is_wanted():
                context.abort()
                return

    def _read(self, context: Context, way: Way, count: int) -> float:
        tokens = np.arange(count, dtype=np.int32) % self._model.vocabulary.size
        size = min(count, way.batch_tokens)
        batch = Batch(size, 1, count)
        began = perf_counter()
        for start in range(0, count, size):
            batch.clear()
            batch.add(tokens[start : start + size], 0, start, 1)
            self._decode(context, batch)
        return perf_counter() - began

    def _write(self, context: Context) -> float:
        batch = Batch(1, 1, self._depth + WRITTEN)
        began = perf_counter()
        for place in range(self._depth, self._depth + WRITTEN):
            batch.clear()
            batch.add([1], 0, place, 1)
            self._decode(context, batch)
        return perf_counter() - began

    def _decode(self, context: Context, batch: Batch) -> None:
        code = context.decode(batch)
        if not self._is_wanted():
            raise Unwanted
        if code:
            raise Refused("engine_crashed", f"A trial of the speed failed with code {code}.")
