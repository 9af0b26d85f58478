"""How long steps and copies take: how much may be read between two steps, and when to copy."""

from math import exp, log
from time import perf_counter

import numpy as np

from server.engine.worker.load.context import Context

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
NEWER = 0.3
MOSTLY_RIGHT = 0.65
EFFICIENT_TOKENS = 128
"""A chunk of this size is efficient on any device; a larger one only where it was seen to be."""
CHEAPER = 0.8
BARGAIN_TOKENS = 64
BARGAIN = 1.6
"""Twice as many tokens for so much more time: what is left of them would cost more later."""


class Pace:
    """Learns the time of a decode step by its tokens, and of reading a chunk by its size."""

    def __init__(self) -> None:
        self._decode_s: dict[int, float] = {}
        self._chunk_s: dict[int, float] = {}
        self._token_s = 0.0

    def note_decode(self, tokens: int, seconds: float) -> None:
        self._decode_s[tokens] = _blend(self._decode_s.get(tokens), seconds)

    def note_read(self, tokens: int, seconds: float) -> None:
        size = next((size for size in SIZES if size >= tokens), SIZES[-1])
        before = self._chunk_s.get(size)
        usual_s = self._between_s(tokens)
        share = usual_s / before if before and usual_s else tokens / size
        now = _blend(before, seconds / share)
        if before:
            # Reading slows down with depth: what was not tried for a while has slowed down too.
            self._chunk_s = {tokens: took * now / before for tokens, took in self._chunk_s.items()}
        self._chunk_s[size] = now
        if tokens >= 64 or not self._token_s:
            self._token_s = _blend(self._token_s or None, seconds / tokens)

    def decode_s(self, tokens: int) -> float:
        """The usual time of a decode step; where it is not known, from what lies around it."""
        known = self._decode_s.get(tokens)
        if known is not None or not self._decode_s:
            return known or 0.0
        below = max((width for width in self._decode_s if width < tokens), default=None)
        above = min((width for width in self._decode_s if width > tokens), default=None)
        if below is None:
            return self._decode_s[above or 0]
        if above is None:
            return max(self._beyond_s(tokens, below), self.reading_s(tokens))
        part = (tokens - below) / (above - below)
        return self._decode_s[below] * (1 - part) + self._decode_s[above] * part

    def _beyond_s(self, tokens: int, widest: int) -> float:
        """A step wider than any known one: each token more costs what the last ones did."""
        before = max((width for width in self._decode_s if width < widest), default=None)
        last_s = self._decode_s[widest]
        if before is None:
            return last_s
        more_s = max(0.0, last_s - self._decode_s[before]) / (widest - before)
        return last_s + (tokens - widest) * more_s

    def spare_tokens(self, tokens: int, most: int) -> int:
        """How many more a decode step may have until it takes twice its usual time."""
        usual_s = self.decode_s(tokens)
        within = (n for n in range(most, 0, -1) if self.decode_s(tokens + n) <= 2 * usual_s)
        return next(within, 0)

    def pays(self, tokens: int, answers: int, guesses: int) -> bool:
        """Whether guesses that are mostly right take less time than saying them one by one."""
        extra_s = self.decode_s(tokens + guesses) - self.decode_s(tokens)
        return extra_s < MOSTLY_RIGHT * guesses * self.decode_s(answers) / answers

    def chunk_tokens(self, budget_s: float, most: int) -> int:
        """The largest chunk expected to fit the time; never nothing."""
        fitting = (s for s in SIZES if s <= most and self.expected_s(s) <= budget_s)
        return max(fitting, default=SIZES[0])

    def efficient_tokens(self, most: int) -> int:
        """The size of a chunk beyond which a token gets hardly cheaper, as far as that was seen."""
        size = EFFICIENT_TOKENS
        for larger in self._seen_beyond(size, most):
            price = self.expected_s(larger) / larger * size / max(self.expected_s(size), 1e-9)
            if price > CHEAPER:
                break
            size = larger
        return size

    def bargain_tokens(self, size: int, most: int, longest_s: float) -> int:
        """A larger chunk than would fit, where so many more tokens cost little more time."""
        if size < BARGAIN_TOKENS:
            return size
        for larger in self._seen_beyond(size, most):
            took_s = self.expected_s(larger)
            if took_s > min(longest_s, BARGAIN * self.expected_s(size)):
                break
            size = larger
        return size

    def _seen_beyond(self, size: int, most: int) -> list[int]:
        return [larger for larger in SIZES if size < larger <= most and larger in self._chunk_s]

    def reading_s(self, tokens: int) -> float:
        return tokens * self._token_s

    def expected_s(self, size: int) -> float:
        """Reading is bound by memory for few tokens, by computing for many."""
        return self._between_s(size) or max(self.decode_s(1), self.reading_s(size))

    def _between_s(self, tokens: int) -> float | None:
        """From the sizes known on both sides, where there are such."""
        below = max((size for size in self._chunk_s if size <= tokens), default=None)
        above = min((size for size in self._chunk_s if size >= tokens), default=None)
        if not below or not above:
            return None
        least_s, most_s = self._chunk_s[below], self._chunk_s[above]
        if below == above:
            return least_s
        return least_s * exp(log(most_s / least_s) * log(tokens / below) / log(above / below))


def _blend(old: float | None, new: float) -> float:
    return new if old is None else (1 - NEWER) * old + NEWER * new


FIRST_GUESS_S = 1e-9
"""For a byte, there and back; a copy through the memory of a computer is several times faster."""
LONGEST_PAUSE_S = 0.02
"""A copy is made in one go: running answers must not feel it."""
NEWER_COPY = 0.5
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
        self._byte_s = (1 - NEWER_COPY) * self._byte_s + NEWER_COPY * seconds / max(1, size_bytes)

    def _takes_s(self, sequence: int) -> float:
        return self._context.saved_bytes(sequence) * self._byte_s
