"""Whose turn it is: running answers decode, waiting prompts are read.

An answer under way must not feel a prompt that came later: the prompt is read in chunks between its
tokens, cut so that the gap stays near the usual one. Prompts that were there before an answer began
are its equals: while little of them is left they are read first, at full speed, because every
answer then runs in a wider batch and the last first token comes soonest.
"""

from time import perf_counter

from server.engine.worker.schedule.answer import Answer
from server.engine.worker.schedule.pace import Pace

STRETCH = 2.1
SHORTEST_GAP_S = 0.015
YOUNG_CHUNK_S = 0.5
LONGEST_HOLD_S = 5.0
SHORT_PROMPT_TOKENS = 512


class Turns:
    def __init__(self, pace: Pace, most: int) -> None:
        self._pace = pace
        self._most = most
        self._has_read = False

    def chunk_tokens(self, running: list[Answer], reading: list[Answer]) -> int:
        """How many prompt tokens to read now; 0 when the running answers decode."""
        if not reading:
            return 0
        if not running:
            return self._most
        earliest = min(answer.first_at for answer in running)
        later = any(answer.request.submitted_at > earliest for answer in reading)
        if not later and self._is_soon_read(reading):
            return self._most
        self._has_read = not self._has_read
        if not self._has_read:
            return 0
        if not later:
            return self._pace.chunk_tokens(YOUNG_CHUNK_S, self._most)
        usual_s = self._pace.decode_s(len(running))
        gap_s = max(STRETCH * usual_s, SHORTEST_GAP_S)
        return self._pace.chunk_tokens(gap_s - usual_s, self._most)

    def in_order(self, reading: list[Answer]) -> list[Answer]:
        """The shortest prompt first, but waiting earns priority."""
        now = perf_counter()

        def left_s(answer: Answer) -> float:
            waited_s = now - answer.request.submitted_at
            return self._pace.reading_s(len(answer.todo)) - waited_s

        return sorted(reading, key=left_s)

    def _is_soon_read(self, reading: list[Answer]) -> bool:
        """A burst of short prompts, or not much in all."""
        left = [len(answer.todo) for answer in reading]
        return max(left) <= SHORT_PROMPT_TOKENS or self._pace.reading_s(sum(left)) <= LONGEST_HOLD_S
