"""Guessing ahead from the text itself: what followed the last time these tokens occurred."""

import numpy as np

from server.engine.worker.batch import Tokens

LONGEST_MATCH = 16
SHORTEST_MATCH = 3
FIRST_PAUSE = 32
LONGEST_PAUSE = 512
MOST_SKIPPED = 31


def lookup(tokens: Tokens, most: int) -> list[int]:
    """What followed the longest earlier match of the text's end: more of it, the longer it is."""
    size = len(tokens)
    if size <= SHORTEST_MATCH:
        return []
    places = np.flatnonzero(tokens[: size - 1] == tokens[size - 1])
    matched = 1
    while len(places) and matched < LONGEST_MATCH:
        further = places[places >= matched]
        further = further[tokens[further - matched] == tokens[size - 1 - matched]]
        if not len(further):
            break
        places = further
        matched += 1
    if matched < SHORTEST_MATCH or not len(places):
        return []
    begin = int(places[-1]) + 1
    drafted: list[int] = tokens[begin : begin + min(most, 2 * matched - 3)].tolist()
    return drafted


class Lessons:
    """What earlier answers taught: where guesses did not pay, only every so many answers try."""

    def __init__(self) -> None:
        self._skips = 0
        self._left = 0

    def may_try(self) -> bool:
        if self._left:
            self._left -= 1
            return False
        return True

    def note_loss(self) -> None:
        self._skips = min(MOST_SKIPPED, 2 * self._skips + 1)
        self._left = self._skips

    def note_gain(self) -> None:
        self._skips = self._left = 0


class Payoff:
    """Whether guessing is worth its time: it pauses, longer each time, when it is not."""

    def __init__(self, lessons: Lessons) -> None:
        self._lessons = lessons
        self._gain = 1.0
        self._pause = FIRST_PAUSE
        self._wait = 0 if lessons.may_try() else LONGEST_PAUSE

    def wants_draft(self) -> bool:
        if self._wait > 0:
            self._wait -= 1
            return False
        return True

    def note(self, gained: int, seconds: float, usual_s: float) -> None:
        """After a guess: tokens gained, the time they took, and what one usually takes."""
        if usual_s <= 0:
            return
        worth = gained * usual_s / seconds
        self._gain = 0.7 * self._gain + 0.3 * worth
        if self._gain < 1.0:
            self._wait = self._pause
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
            self._gain = 1.0
            self._lessons.note_loss()
        elif self._gain > 1.3:
            self._pause = FIRST_PAUSE
            self._lessons.note_gain()
