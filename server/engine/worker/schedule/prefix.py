"""Slots, and what they computed before and may use again: prefixes, evicted conversations."""

import itertools
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.decode.batch import Tokens
from server.engine.worker.load.context import Context


@dataclass(eq=False, slots=True)
class Slot:
    sequence: int
    buffer: Tokens
    count: int = 0
    busy: bool = False
    used_at: float = 0.0

    @property
    def tokens(self) -> Tokens:
        return self.buffer[: self.count]

    def append(self, tokens: list[int] | Tokens) -> None:
        end = self.count + len(tokens)
        self.buffer[self.count : end] = tokens
        self.count = end

    def cut(self, count: int, context: Context) -> None:
        """Keeps only the first `count` tokens, or none where the model cannot go back."""
        if not context.cut(self.sequence, count):
            context.cut(self.sequence, 0)
            count = 0
        self.count = count


def make_slots(count: int, tokens: int) -> list[Slot]:
    return [Slot(sequence, np.zeros(tokens + 1, np.int32)) for sequence in range(count)]


def common_prefix(left: Tokens, right: Tokens) -> int:
    """How many tokens two sequences share from their start."""
    size = min(len(left), len(right))
    if size == 0 or left[0] != right[0]:
        return 0
    differing = left[:size] != right[:size]
    first = int(differing.argmax())
    return first if differing[first] else size


@dataclass(frozen=True, slots=True)
class Kept:
    tokens: Tokens
    state: NDArray[np.uint8]
    checksum: int | None = None
    """Where the state comes from a file."""

    def is_whole(self) -> bool:
        return self.checksum is None or zlib.crc32(self.state.data) == self.checksum


class HostCache:
    """The computed state of evicted conversations in host memory, the least used dropped first."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.size_bytes = 0
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._keys = itertools.count()

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._kept.values())

    def holds(self, tokens: Tokens) -> bool:
        """Whether a kept conversation begins with all of these; if so it counts as used now."""
        for key, kept in self._kept.items():
            if common_prefix(kept.tokens, tokens) == len(tokens):
                self._kept.move_to_end(key)
                return True
        return False

    def put(self, new: Kept) -> None:
        superseded = [
            key
            for key, kept in self._kept.items()
            if common_prefix(kept.tokens, new.tokens) == len(kept.tokens)
        ]
        for key in superseded:
            self._drop(key)
        self._kept[next(self._keys)] = new
        self.size_bytes += new.state.nbytes
        while self.size_bytes > self.capacity_bytes:
            self._drop(next(iter(self._kept)))

    def best(self, tokens: Tokens) -> tuple[int, int]:
        """The key of the conversation that shares most with `tokens`, and how much it shares."""
        shared = ((common_prefix(kept.tokens, tokens), key) for key, kept in self._kept.items())
        size, key = max(shared, default=(0, -1))
        return key, size

    def take(self, key: int) -> Kept:
        kept = self._kept[key]
        self._drop(key)
        return kept

    def _drop(self, key: int) -> None:
        self.size_bytes -= self._kept.pop(key).state.nbytes
