"""Guessing ahead from the text itself: what followed the last time these tokens occurred."""

import numpy as np

from server.engine.worker.batch import Tokens

LONGEST_MATCH = 16
SHORTEST_MATCH = 3
FIRST_PAUSE = 32
LONGEST_PAUSE = 512


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


class Payoff:
    """Whether guessing is worth its time: it pauses, longer each time, when it is not."""

    def __init__(self) -> None:
        self._gain = 1.0
        self._pause = FIRST_PAUSE
        self._wait = 0

    def wants_draft(self) -> bool:
        if self._wait > 0:
            self._wait -= 1
            return False
        return True

    def note(self, gained: int, seconds: float, usual_s: float) -> None:
        """After a step with a guess: tokens gained, the step's time, and a usual step's time."""
        if usual_s <= 0:
            return
        worth = gained * usual_s / seconds
        self._gain = 0.7 * self._gain + 0.3 * worth
        if self._gain < 1.0:
            self._wait = self._pause
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
            self._gain = 1.0
        elif self._gain > 1.3:
            self._pause = FIRST_PAUSE
