"""What copying a conversation into another slot costs, learned from doing it."""

from time import perf_counter

import numpy as np

from server.engine.worker.load.context import Context
from server.engine.worker.schedule.pace import Pace

FIRST_GUESS_S = 1e-9
"""For a byte, there and back; a copy through the memory of a computer is several times faster."""
LONGEST_PAUSE_S = 0.02
"""A copy is made in one go: running answers must not feel it."""
NEWER = 0.5
SCRATCH_BYTES = 16 << 20
"""So much memory is used again: the system takes longer to give it than a copy takes."""


class Copying:
    def __init__(self, context: Context, pace: Pace) -> None:
        self._context = context
        self._pace = pace
        self._byte_s = FIRST_GUESS_S
        self._scratch = np.empty(0, np.uint8)

    def pays(self, source: int, gained_tokens: int, *, is_waited_for: bool) -> bool:
        """Whether it is sooner done than reading so many tokens."""
        if is_waited_for and self.is_felt(source):
            return False
        return self._takes_s(source) < self._pace.reading_s(gained_tokens)

    def is_felt(self, sequence: int) -> bool:
        """Whether it holds so much that others would wait while it is saved."""
        return self._takes_s(sequence) > LONGEST_PAUSE_S

    def copy(self, source: int, target: int) -> bool:
        """The whole sequence; False where the model's memory does not take it."""
        began = perf_counter()
        state = self._context.save(source, self._scratch)
        if len(self._scratch) < len(state) <= SCRATCH_BYTES:
            self._scratch = state
        if not self._context.restore(target, state):
            return False
        self._note(state.nbytes, perf_counter() - began)
        return True

    def note_save(self, size_bytes: int, seconds: float) -> None:
        """Half of a copy."""
        self._note(size_bytes, 2 * seconds)

    def _note(self, size_bytes: int, seconds: float) -> None:
        self._byte_s = (1 - NEWER) * self._byte_s + NEWER * seconds / max(1, size_bytes)

    def _takes_s(self, sequence: int) -> float:
        return self._context.saved_bytes(sequence) * self._byte_s
