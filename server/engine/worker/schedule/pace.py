"""Learns how long steps and copies take, to decide how much to read and when to copy."""

from math import exp, log
from time import perf_counter

import numpy as np

from server.engine.worker.load.context import Context

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
NEWER = 0.3
"""The weight of a new measurement."""
MOSTLY_RIGHT = 0.65
EFFICIENT_TOKENS = 128
"""A chunk of this size is efficient on any device, a larger chunk only if it proved to be."""
CHEAPER = 0.8
BARGAIN_TOKENS = 64
BARGAIN = 1.6
"""Twice as many tokens may take this many times as long: later, they would take longer."""


class StepPace:
    """Learns the time of a decode step by its width, and of reading a chunk by its size."""

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
            # Reading slows down with depth, also for sizes that were not measured for a while.
            self._chunk_s = {tokens: took * now / before for tokens, took in self._chunk_s.items()}
        self._chunk_s[size] = now
        if tokens >= 64 or not self._token_s:
            self._token_s = _blend(self._token_s or None, seconds / tokens)

    def decode_s(self, tokens: int) -> float:
        """Returns the usual seconds of a decode step, interpolated if this width is unknown."""
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
        """Extrapolates to a wider step: each further token costs what the last ones did."""
        before = max((width for width in self._decode_s if width < widest), default=None)
        last_s = self._decode_s[widest]
        if before is None:
            return last_s
        more_s = max(0.0, last_s - self._decode_s[before]) / (widest - before)
        return last_s + (tokens - widest) * more_s

    def spare_tokens(self, tokens: int, most: int) -> int:
        """Returns how many more tokens a decode step may have until its time doubles."""
        usual_s = self.decode_s(tokens)
        within = (n for n in range(most, 0, -1) if self.decode_s(tokens + n) <= 2 * usual_s)
        return next(within, 0)

    def pays(self, tokens: int, answers: int, guesses: int) -> bool:
        """Whether guesses that are mostly right take less time than decoding token by token."""
        extra_s = self.decode_s(tokens + guesses) - self.decode_s(tokens)
        return extra_s < MOSTLY_RIGHT * guesses * self.decode_s(answers) / answers

    def chunk_tokens(self, budget_s: float, most: int) -> int:
        """Returns the largest chunk that is expected to fit into the time; at least 1."""
        fitting = (s for s in SIZES if s <= most and self.expected_s(s) <= budget_s)
        return max(fitting, default=SIZES[0])

    def efficient_tokens(self, most: int) -> int:
        """Returns the chunk size beyond which tokens hardly get cheaper, as far as measured."""
        size = EFFICIENT_TOKENS
        for larger in self._seen_beyond(size, most):
            price = self.expected_s(larger) / larger * size / max(self.expected_s(size), 1e-9)
            if price > CHEAPER:
                break
            size = larger
        return size

    def bargain_tokens(self, size: int, most: int, longest_s: float) -> int:
        """Returns a larger size if its additional tokens take little more time, else `size`."""
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
        """Returns the seconds of a chunk. Few tokens are bound by memory, many by computing."""
        return self._between_s(size) or max(self.decode_s(1), self.reading_s(size))

    def _between_s(self, tokens: int) -> float | None:
        """Interpolates between known sizes; None if one side has no known size."""
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
"""Seconds per byte, there and back. Copies within main memory are several times faster."""
LONGEST_PAUSE_S = 0.02
"""In seconds. A copy cannot be interrupted, and running answers must not notice it."""
USUAL_ANSWER = 200
"""How many tokens an answer is expected to have when it gets its slot."""
NEWER_COPY = 0.5
FORGIVING = 0.98
"""What the time of a copy still counts for after each one that did not pay: it was slow once."""
SCRATCH_BYTES = 16 << 20
"""A buffer up to this size is reused: allocating it takes longer than copying."""


class Copying:
    """Copies sequences between slots, and learns how long that takes."""

    def __init__(self, context: Context, pace: StepPace) -> None:
        self._context = context
        self._pace = pace
        self._byte_s = FIRST_GUESS_S
        self._has_saved = False
        self._scratch = np.empty(0, np.uint8)

    def pays(self, source: int, gained_tokens: int, *, is_waited_for: bool) -> bool:
        """Whether copying is faster than reading these tokens and, if others wait, unnoticed."""
        if is_waited_for and self.is_felt(source):
            return False
        return self._takes_s(source) < self._pace.reading_s(gained_tokens)

    def is_felt(self, sequence: int) -> bool:
        """Whether the sequence is so large that others would notice a copy."""
        return self._takes_s(sequence) > LONGEST_PAUSE_S

    def is_long_to_save(self, sequence: int) -> bool:
        """Whether saving it takes longer than what an answer apart from the others costs.

        That is about a step of its own for each token.
        """
        apart_s = USUAL_ANSWER * self._pace.decode_s(1)
        return self._takes_s(sequence) / 2 > max(LONGEST_PAUSE_S, apart_s)

    def copy(self, source: int, target: int) -> bool:
        """Copies a whole sequence. Returns False if the model's memory does not accept it."""
        began = perf_counter()
        state = self._context.save(source, self._scratch)
        if len(self._scratch) < len(state) <= SCRATCH_BYTES:
            self._scratch = state
        if not self._context.restore(target, state):
            return False
        self._note(state.nbytes, perf_counter() - began)
        return True

    def is_worth_saving(self, sequence: int, tokens: int) -> bool:
        """Whether to save a sequence and restore it takes less time than to read it again.

        On a card that reads fast it may take longer. Until both times are known, it is worth it.
        """
        reading_s = self._pace.reading_s(tokens)
        return not (self._has_saved and reading_s) or self._takes_s(sequence) < reading_s

    def note_unsaved(self) -> None:
        """Notes that a save did not seem worth its time. After many, one is tried again."""
        self._byte_s *= FORGIVING

    def note_save(self, size_bytes: int, seconds: float) -> None:
        """Notes the time of a save, which is half of a copy."""
        self._has_saved = True
        self._note(size_bytes, 2 * seconds)

    def _note(self, size_bytes: int, seconds: float) -> None:
        self._byte_s = (1 - NEWER_COPY) * self._byte_s + NEWER_COPY * seconds / max(1, size_bytes)

    def _takes_s(self, sequence: int) -> float:
        return self._context.saved_bytes(sequence) * self._byte_s
