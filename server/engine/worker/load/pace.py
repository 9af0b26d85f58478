"""How fast this machine reads weights and multiplies: measured by the engine's own kernels.

A model writes a word by reading each of its weights once, and reads a prompt by multiplying many
words with them. So matrices of the usual formats are multiplied, once with a single column and
once with many. It takes a second or two and needs no model.
"""

import ctypes
import json
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from server.engine.worker.load import backends, selftest
from server.engine.worker.load.plan import usable_cores, used_by_others_s

FLAG = "--pace"
FORMATS = {"Q4_K": 12, "Q5_0": 6, "Q4_1": 3, "Q6_K": 14, "Q8_0": 8, "F16": 1}
COLUMNS, ROWS = 2048, 4096
"""The size of a matrix: that of a model of one or two billion parameters."""
WEIGHT_BYTES = 64 << 20
"""More than the caches of usual processors hold."""
WORDS = 32
"""Words that are multiplied at once, as when a prompt is read; one matrix is enough for it."""
ROUNDS = 4
STEPS = 512
"""Tiny products in one graph: each costs what the engine needs to begin an operation."""
TINY = 32
F32, CPU, OK = 0, 0, 0
P, SIZE, INT, LONG = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int64
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "ggml_free": (None, P),
    "ggml_new_tensor_2d": (P, P, INT, LONG, LONG),
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
    """ggml_init_params: room for the descriptions of tensors, not for their data."""

    _fields_ = (("bytes", SIZE), ("place", P), ("no_data", ctypes.c_bool))


class Engine:
    """The functions of ggml that are used here, and the processor as its device."""

    def __init__(self) -> None:
        self.ggml = backends.functions({**SIGNATURES, "ggml_init": (P, _Room)})
        self.device = self.ggml.backend_dev_by_type(CPU)
        self.backend = self.ggml.backend_dev_init(self.device, None)
        self.plain = self.ggml.backend_dev_buffer_type(self.device)
        self.use_threads(usable_cores())

    def use_threads(self, count: int) -> None:
        self._call("ggml_backend_set_n_threads", None, (P, INT), self.backend, count)

    def memories(self) -> Iterator[Any]:
        """The kinds of memory for weights: those that reorder them for the processor first."""
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

    def time(self, graph: Any) -> float:
        """Returns the seconds of the quickest round: others can only make it slower."""
        best = float("inf")
        for _ in range(ROUNDS):
            began = perf_counter()
            if self.ggml.backend_graph_compute(self.backend, graph) != OK:
                raise OSError("The engine could not multiply.")
            best = min(best, perf_counter() - began)
        return best


class Weights:
    """Matrices of one format, in the memory that a model's would be in."""

    def __init__(self, engine: Engine, kind: int, shape: tuple[int, int], most_bytes: int) -> None:
        self._engine = engine
        for memory in engine.memories():
            self._room = engine.open_room()
            self.tensors = [engine.ggml.new_tensor_2d(self._room, kind, *shape)]
            each = engine.ggml.nbytes(self.tensors[0])
            for _ in range(most_bytes // each - 1):
                self.tensors.append(engine.ggml.new_tensor_2d(self._room, kind, *shape))
            self._buffer = engine.ggml.backend_alloc_ctx_tensors_from_buft(self._room, memory)
            if self._buffer and (memory == engine.plain or self._is_computable(shape[0])):
                break
            self.close()
        self.size_bytes = each * len(self.tensors)
        data = np.full(each, 0x11, np.uint8)  # numbers that are neither tiny nor huge
        for tensor in self.tensors:
            engine.ggml.backend_tensor_set(tensor, data.ctypes.data, 0, each)

    def close(self) -> None:
        if self._buffer:
            self._engine.ggml.backend_buffer_free(self._buffer)
        self._engine.ggml.free(self._room)

    def multiply(self, columns: int, words: int, matrices: int) -> float:
        """Returns the seconds that this many matrices take, each with this many words."""
        engine, room = self._engine, self._engine.open_room()
        given = engine.ggml.new_tensor_2d(room, F32, columns, words)
        graph = engine.ggml.new_graph(room)
        for tensor in self.tensors[:matrices]:
            engine.ggml.build_forward_expand(graph, engine.ggml.mul_mat(room, tensor, given))
        buffer = engine.ggml.backend_alloc_ctx_tensors_from_buft(room, engine.plain)
        data = np.ones((words, columns), np.float32)
        engine.ggml.backend_tensor_set(given, data.ctypes.data, 0, data.nbytes)
        try:
            return engine.time(graph)
        finally:
            engine.ggml.backend_buffer_free(buffer)
            engine.ggml.free(room)

    def _is_computable(self, columns: int) -> bool:
        engine, room = self._engine, self._engine.open_room()
        given = engine.ggml.new_tensor_2d(room, F32, columns, 1)
        product = engine.ggml.mul_mat(room, self.tensors[0], given)
        able = bool(engine.ggml.backend_dev_supports_op(engine.device, product))
        engine.ggml.free(room)
        return able


def measure(engine: Engine) -> dict[str, Any]:
    began, others_s = perf_counter(), used_by_others_s()
    rates = []
    for name, kind in FORMATS.items():
        weights = Weights(engine, kind, (COLUMNS, ROWS), WEIGHT_BYTES)
        once_s = weights.multiply(COLUMNS, 1, len(weights.tensors))
        many_s = weights.multiply(COLUMNS, WORDS, 1)
        weights.close()
        products = COLUMNS * ROWS * WORDS
        per_s = {"bytes_per_s": weights.size_bytes / once_s, "values_per_s": products / many_s}
        rates.append({"form": name, **per_s})
    engine.use_threads(1)  # how quick a single core is
    tiny = Weights(engine, F32, (TINY, TINY), TINY * TINY * 4 * STEPS)
    step_s = tiny.multiply(TINY, 1, STEPS) / STEPS
    tiny.close()
    took_s = perf_counter() - began
    others = (used_by_others_s() - others_s) / took_s
    return {"rates": rates, "step_s": step_s, "others": others}


def main() -> None:
    backends.load(selftest.usual())
    sys.stdout.write(json.dumps(measure(Engine())))
