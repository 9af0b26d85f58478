"""llama_batch over numpy arrays, so that a chunk of a prompt is added by a few slice writes."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.load.native import FLOAT_P, INT_P, lib, pointer

Tokens = NDArray[np.int32]


class Batch:
    def __init__(self, capacity: int, sequences: int, positions: int) -> None:
        self.capacity = capacity
        self.count = 0
        self.outputs = 0
        self.token = np.zeros(capacity, np.int32)
        self.position = np.zeros(capacity, np.int32)
        self._sequence = np.zeros(capacity, np.uintp)
        self._output = np.zeros(capacity, np.int8)
        self.places: list[int] = []
        """The index of each token that gives logits."""
        self._ones = np.ones(capacity, np.int32)
        self._ids = np.arange(sequences, dtype=np.int32)
        self._addresses = [self._ids.ctypes.data + 4 * i for i in range(sequences)]
        self._positions = np.arange(positions + capacity, dtype=np.int32)
        self.native = self._struct()

    def clear(self) -> None:
        self.count = 0
        self.outputs = 0
        self.places = []

    def add(self, tokens: Sequence[int] | Tokens, sequence: int, start: int, outputs: int) -> int:
        """Appends tokens of a sequence. The last `outputs` give logits; returns their first row."""
        begin, end = self.count, self.count + len(tokens)
        self.token[begin:end] = tokens
        self.position[begin:end] = self._positions[start : start + len(tokens)]
        self._sequence[begin:end] = self._addresses[sequence]
        self._output[begin : end - outputs] = 0
        self._output[end - outputs : end] = 1
        self.count = end
        row = self.outputs
        self.outputs += outputs
        self.places.extend(range(end - outputs, end))
        return row

    def advance(self, tokens: list[int]) -> None:
        """Replaces the last batch, which had one token per sequence, by the tokens that follow."""
        count = len(tokens)
        self.token[:count] = tokens
        self.position[:count] += 1
        self.count = self.outputs = count

    def _struct(self) -> Any:
        struct = lib.llama_batch()
        struct.token = pointer(self.token, INT_P)
        struct.pos = pointer(self.position, INT_P)
        struct.n_seq_id = pointer(self._ones, INT_P)
        struct.seq_id = pointer(self._sequence, ctypes.POINTER(INT_P))
        struct.logits = pointer(self._output, ctypes.POINTER(ctypes.c_int8))
        return struct


class RowBatch:
    """A batch of embedding rows of one sequence, not tokens. `places` has a line for each axis."""

    def __init__(self, rows: NDArray[np.float32], places: NDArray[np.int32], sequence: int) -> None:
        self.count = len(rows)
        self._rows = np.ascontiguousarray(rows)
        self._places = np.ascontiguousarray(places)
        self._ids = np.array([sequence], np.int32)
        self._sequence = np.full(self.count, self._ids.ctypes.data, np.uintp)
        self._ones = np.ones(self.count, np.int32)
        self._output = np.zeros(self.count, np.int8)
        self.native = lib.llama_batch()
        self.native.embd = pointer(self._rows, FLOAT_P)
        self.native.pos = pointer(self._places, INT_P)
        self.native.n_seq_id = pointer(self._ones, INT_P)
        self.native.seq_id = pointer(self._sequence, ctypes.POINTER(INT_P))
        self.native.logits = pointer(self._output, ctypes.POINTER(ctypes.c_int8))
