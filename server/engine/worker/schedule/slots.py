"""A slot: one sequence of the cache, and the tokens whose state it holds."""

from dataclasses import dataclass

import numpy as np

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
