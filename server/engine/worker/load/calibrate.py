"""Measures how a model is computed fastest on this machine: attention, batch size, threads.

This takes some seconds, in a small context beside the one that answers, and ends as soon as it is
cancelled.

The pace of the machine is measured without a model: how fast it reads weights and multiplies, with
the engine's own kernels, in a second or two. A model writes a word by reading each weight once,
and reads a prompt by multiplying many words with them. So matrices of the usual formats are
multiplied, once with a single word and once with many. Rows of two lengths tell what a row costs
by itself and what each of its values adds: models have short rows and long ones.
"""

import ctypes
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from server.engine.causes import JobRefused
from server.engine.worker.decode.batch import Batch
from server.engine.worker.load import backends, selftest
from server.engine.worker.load.context import Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import lib
from server.engine.worker.load.plan import Plan, usable_cores, used_by_others_s
from server.engine.worker.prompt.vocabulary import Unwanted

ROUND_S = 0.5
"""About how many seconds the reading of one trial takes."""
BUDGET_S = 12.0
"""In seconds. After this time, no further comparison begins."""
LEAST_TOKENS, MOST_TOKENS = 128, 2048
LEAST_BATCH = 64
PROBE_TOKENS = 32
WRITTEN = 8
ROUNDS = 2
TURN = (512, 128)
"""The tokens read and written in a usual turn, by which the ways are compared."""
BETTER = 0.97
"""Another way is chosen if it takes less than this share of the usual way's time."""
LOOK_S = 0.02
LEAST_MEMORY = 1 << 30
"""In bytes. An additional context takes some hundred MB if the vocabulary is large."""
IsWanted = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Way:
    """A combination of the settings that are compared."""

    flash_attention: bool
    batch_tokens: int
    threads: int


@dataclass(slots=True)
class Speed:
    """The seconds per token, in the best of all rounds."""

    read_s: float = float("inf")
    write_s: float = float("inf")

    @property
    def turn_s(self) -> float:
        return TURN[0] * self.read_s + TURN[1] * self.write_s


class CalibrationRun:
    def __init__(self, model: Model, plan: Plan, is_wanted: IsWanted) -> None:
        self._model = model
        self._plan = plan
        self._is_wanted = is_wanted
        self._known: dict[Way, Speed] = {}
        self._depth = LEAST_TOKENS

    def run(self) -> dict[str, Any]:
        """Returns the fastest way and the speed of each trial. Raises Refused or Unwanted."""
        if psutil.virtual_memory().available < LEAST_MEMORY:
            raise JobRefused(
                "out_of_memory", "There is too little free memory to measure the speed."
            )
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
        """Returns the other kind of attention. A quantised cache needs flash attention."""
        if self._plan.kv_type != lib.GGML_TYPE_F16:
            return []
        return [replace(usual, flash_attention=not usual.flash_attention)]

    def _smaller_batches(self, best: Way) -> list[Way]:
        """Returns half the batch. A larger batch would take more memory than planned."""
        half = best.batch_tokens // 2
        return [replace(best, batch_tokens=half)] if half >= LEAST_BATCH else []

    def _other_threads(self, best: Way) -> list[Way]:
        if self._plan.on_card:
            return []
        counts = {max(1, best.threads // 2), os.cpu_count() or 1} - {best.threads}
        return [replace(best, threads=count) for count in sorted(counts)]

    def _choose_depth(self, usual: Way) -> int:
        with self._context(usual, LEAST_TOKENS) as context:
            self._read(context, usual, PROBE_TOKENS)  # loads pages of the file, starts threads
            context.cut(0, 0)
            token_s = self._read(context, usual, PROBE_TOKENS) / PROBE_TOKENS
        most = min(MOST_TOKENS, self._model.trained_tokens - WRITTEN)
        return max(LEAST_TOKENS, min(most, int(ROUND_S / token_s) // 64 * 64))

    def _compare(self, ways: list[Way]) -> Way:
        """Returns the fastest way; the first one, unless another is clearly better."""
        for _ in range(ROUNDS):
            for way in ways:
                try:
                    self._measure(way)
                except JobRefused:
                    # This model or this card cannot be computed in this way.
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
                context.operations.abort()
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
            raise JobRefused("engine_crashed", f"A trial of the speed failed with code {code}.")


PACE_FLAG = "--pace"
FORMATS = {"Q4_K": 12, "Q5_0": 6, "Q4_1": 3, "Q6_K": 14, "Q8_0": 8, "F16": 1}
SHORT, LONG = 512, 4096
"""The lengths of the rows, as in models of a hundred million to some billion parameters."""
HEAD_WIDTH = 64
"""The length of short rows in F16: that of a head's keys, which attention multiplies."""
WEIGHT_BYTES, PART_BYTES = 64 << 20, 8 << 20
"""All weights, more than the caches of usual processors hold, so that memory is measured, and a
matrix of them, which is timed by itself: a short time is more often undisturbed than a long one."""
WORDS, FEW_ROWS = 32, 512
"""Words and rows that are multiplied at once, as when a prompt is read."""
PACE_ROUNDS, MOST_ROUNDS, PACE_S = 8, 64, 0.04
"""Rounds of a measurement: more of short graphs, of which one hiccup would spoil all of a few."""
STEPS = 512
"""Tiny products in one graph. Each takes the time that the engine needs to begin an operation."""
TINY = 32
F32, CPU, OK = 0, 0, 0
P, SIZE, INT, INT64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int64
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "ggml_free": (None, P),
    "ggml_new_tensor_2d": (P, P, INT, INT64, INT64),
    "ggml_mul_mat": (P, P, P, P),
    "ggml_nbytes": (SIZE, P),
    "ggml_new_graph": (P, P),
    "ggml_build_forward_expand": (None, P, P),
    "ggml_backend_alloc_ctx_tensors_from_buft": (P, P, P),
    "ggml_backend_buffer_free": (None, P),
    "ggml_backend_tensor_set": (None, P, P, SIZE, SIZE),
    "ggml_backend_graph_compute": (INT, P, P),
    "ggml_backend_dev_by_type": (P, INT),
    "ggml_backend_dev_init": (P, P, ctypes.c_char_p),
    "ggml_backend_dev_buffer_type": (P, P),
    "ggml_backend_dev_backend_reg": (P, P),
    "ggml_backend_dev_supports_op": (ctypes.c_bool, P, P),
    "ggml_backend_reg_get_proc_address": (P, P, ctypes.c_char_p),
    "ggml_backend_free": (None, P),
}


class _Room(ctypes.Structure):
    """ggml_init_params: memory for the descriptions of tensors, not for their data."""

    _fields_ = (("bytes", SIZE), ("place", P), ("no_data", ctypes.c_bool))


class Kernels:
    """The functions of ggml that are used here, with the processor as the device."""

    def __init__(self) -> None:
        self.ggml = backends.functions({**SIGNATURES, "ggml_init": (P, _Room)})
        self.device = self.ggml.backend_dev_by_type(CPU)
        self.backend = self.ggml.backend_dev_init(self.device, None)
        self.plain = self.ggml.backend_dev_buffer_type(self.device)
        self.use_threads(usable_cores())

    def use_threads(self, count: int) -> None:
        self._call("ggml_backend_set_n_threads", None, (P, INT), self.backend, count)

    def memories(self) -> Iterator[Any]:
        """Yields kinds of memory for weights, first those that reorder them for the processor."""
        kinds = ctypes.POINTER(P)
        found = self._call("ggml_backend_dev_get_extra_bufts", kinds, (P,), self.device)
        number = 0
        while found and found[number]:
            yield found[number]
            number += 1
        yield self.plain

    def _call(self, name: str, result: Any, arguments: tuple[Any, ...], *given: Any) -> Any:
        registry = self.ggml.backend_dev_backend_reg(self.device)
        address = self.ggml.backend_reg_get_proc_address(registry, name.encode())
        return ctypes.CFUNCTYPE(result, *arguments)(address)(*given) if address else None

    def open_room(self) -> Any:
        return self.ggml.init(_Room(4 << 20, None, True))  # noqa: FBT003

    def time(self, graphs: list[Any]) -> float:
        """Returns the seconds that the graphs usually take one after the other.

        The median counts: the best moments of a core that others use as well are not usual, and the
        very quickest round may be one whose weights were still in a cache.
        """
        rounds: list[list[float]] = [[] for _ in graphs]
        until = perf_counter() + PACE_S
        for number in range(MOST_ROUNDS):
            if number >= PACE_ROUNDS and perf_counter() > until:
                break
            for graph, taken in zip(graphs, rounds, strict=True):
                began = perf_counter()
                if self.ggml.backend_graph_compute(self.backend, graph) != OK:
                    raise OSError("The engine could not multiply.")
                taken.append(perf_counter() - began)
        return sum(median(taken) for taken in rounds)


class Weights:
    """Matrices of one format, in the kind of memory that a model's weights use."""

    def __init__(self, engine: Kernels, kind: int, shape: tuple[int, int], count: int = 1) -> None:
        self._engine = engine
        self._columns = shape[0]
        for memory in engine.memories():
            self._room = engine.open_room()
            self._tensors = [
                engine.ggml.new_tensor_2d(self._room, kind, *shape) for _ in range(count)
            ]
            self._buffer = engine.ggml.backend_alloc_ctx_tensors_from_buft(self._room, memory)
            if self._buffer and (memory == engine.plain or self._is_computable(shape[0])):
                break
            self.close()
        else:
            raise OSError("There is no memory for the measurement.")
        each = engine.ggml.nbytes(self._tensors[0])
        self.row_bytes = each / shape[1]
        data = np.full(each, 0x11, np.uint8)  # numbers that are neither tiny nor huge
        for tensor in self._tensors:
            engine.ggml.backend_tensor_set(tensor, data.ctypes.data, 0, each)

    def close(self) -> None:
        if self._buffer:
            self._engine.ggml.backend_buffer_free(self._buffer)
        self._engine.ggml.free(self._room)

    def multiply(self, words: int, *, in_one: bool = False) -> float:
        """Returns the seconds to multiply all matrices, in a graph each or in one."""
        engine, room = self._engine, self._engine.open_room()
        given = engine.ggml.new_tensor_2d(room, F32, self._columns, words)
        graphs = [engine.ggml.new_graph(room)]
        for tensor in self._tensors:
            engine.ggml.build_forward_expand(graphs[-1], engine.ggml.mul_mat(room, tensor, given))
            if not in_one and tensor is not self._tensors[-1]:
                graphs.append(engine.ggml.new_graph(room))
        buffer = engine.ggml.backend_alloc_ctx_tensors_from_buft(room, engine.plain)
        data = np.ones((words, self._columns), np.float32)
        engine.ggml.backend_tensor_set(given, data.ctypes.data, 0, data.nbytes)
        try:
            return engine.time(graphs)
        finally:
            engine.ggml.backend_buffer_free(buffer)
            engine.ggml.free(room)

    def _is_computable(self, columns: int) -> bool:
        engine, room = self._engine, self._engine.open_room()
        given = engine.ggml.new_tensor_2d(room, F32, columns, 1)
        product = engine.ggml.mul_mat(room, self._tensors[0], given)
        able = bool(engine.ggml.backend_dev_supports_op(engine.device, product))
        engine.ggml.free(room)
        return able


def measure_pace(engine: Kernels) -> dict[str, Any]:
    """Returns the time of rows of each format and of an operation, and the load by others."""
    began, others_s = perf_counter(), used_by_others_s()
    rates = [_rate(engine, form) for form in FORMATS]
    tiny = Weights(engine, F32, (TINY, TINY), STEPS)
    step_s = tiny.multiply(1, in_one=True) / STEPS
    tiny.close()
    took_s = perf_counter() - began
    others = (used_by_others_s() - others_s) / took_s
    return {"rates": rates, "step_s": step_s, "others": others}


def _rate(engine: Kernels, form: str) -> dict[str, Any]:
    short = HEAD_WIDTH if form == "F16" else SHORT
    return {
        "form": form,
        "short": _row(engine, FORMATS[form], short),
        "long": _row(engine, FORMATS[form], LONG),
    }


def _row(engine: Kernels, kind: int, values: int) -> dict[str, float]:
    """Returns the seconds that a row takes to be multiplied with one word, and each of many."""
    few = Weights(engine, kind, (values, FEW_ROWS))
    each_s = few.multiply(WORDS) / FEW_ROWS / WORDS
    row_bytes = few.row_bytes
    few.close()
    rows = int(PART_BYTES / row_bytes) // 8 * 8  # reordered formats take eight rows together
    count = WEIGHT_BYTES // PART_BYTES
    weights = Weights(engine, kind, (values, rows), count)
    once_s = weights.multiply(1) / (rows * count)
    weights.close()
    return {"values": values, "bytes": row_bytes, "once_s": once_s, "each_s": each_s}


def print_pace() -> None:
    backends.load(selftest.usual())
    sys.stdout.write(json.dumps(measure_pace(Kernels())))
