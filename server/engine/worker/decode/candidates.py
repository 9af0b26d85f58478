"""The few tokens worth sampling from: always a superset of the best ones, found by a threshold."""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.load.native import lib, pointer

Logits = NDArray[np.float32]
Ids = NDArray[np.intp]
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
WIDEST_MARGIN = 64.0


class Threshold:
    """Finds at least `least` tokens; its margin below the best logit follows the answer."""

    def __init__(self, least: int) -> None:
        self.least = least
        self._margin = 8.0

    def find(self, logits: Logits) -> Ids:
        best = logits.max()
        margin = self._margin
        found = np.flatnonzero(logits > best - margin)
        while len(found) < self.least and margin < WIDEST_MARGIN:
            margin *= 1.6
            found = np.flatnonzero(logits > best - margin)
        if len(found) < self.least:
            return np.flatnonzero(logits > -np.inf)
        if len(found) > 8 * self.least:
            self._margin = margin * (0.5 if len(found) > 64 * self.least else 0.8)
        elif len(found) < 2 * self.least:
            self._margin = margin * 1.15
        else:
            self._margin = margin
        return found


class CandidateArray:
    """A llama_token_data_array over a numpy array that grows as needed; shared by all answers."""

    def __init__(self, capacity: int = 4096) -> None:
        self._array = lib.llama_token_data_array()
        self.reference = ctypes.byref(self._array)
        self._grow(capacity)

    def fill(self, ids: Ids, logits: Logits) -> None:
        count = len(ids)
        if count > len(self._entries):
            self._grow(2 * count)
        entries = self._entries
        entries["id"][:count] = ids
        entries["logit"][:count] = logits
        # Some samplers drop tokens by moving the pointer.
        self._array.data = self._start
        self._array.size = count
        self._array.selected = -1
        self._array.sorted = False

    def get_selected(self) -> int:
        return int(self._array.data[self._array.selected].id)

    def _grow(self, capacity: int) -> None:
        self._entries: Any = np.zeros(capacity, CANDIDATE)
        self._start = pointer(self._entries, lib.llama_token_data_p)
