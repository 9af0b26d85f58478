"""Guessing ahead from the text itself: what followed the last time these tokens occurred."""

import numpy as np

from server.engine.worker.decode.batch import Tokens

LONGEST_MATCH = 16
SHORTEST_MATCH = 3
TRIAL_MATCH = 6
"""As long as nothing shows that the text repeats itself."""
FIRST_PAUSE = 32
LONGEST_PAUSE = 512
TRIAL_SHARE = 0.02
FIRST_STAKE_S = 0.05
LARGEST_STAKE_S = 0.1
LARGEST_DEBT_S = 0.5
"""One guess that was held up, by whatever, must not end guessing for minutes."""


def lookup(tokens: Tokens, most: int, shortest: int = SHORTEST_MATCH) -> list[int]:
    """What followed the longest earlier match of the text's end: more of it, the longer it is."""
    size = len(tokens)
    if size <= shortest:
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
    if matched < shortest or not len(places):
        return []
    begin = int(places[-1]) + 1
    drafted: list[int] = tokens[begin : begin + min(most, 2 * matched - 3)].tolist()
    return drafted


class Purse:
    """What guessing may lose on trials, all answers together: a small share of the time."""

    def __init__(self) -> None:
        self._left_s = FIRST_STAKE_S

    @property
    def has_some(self) -> bool:
        return self._left_s > 0

    @property
    def is_full(self) -> bool:
        return self._left_s >= LARGEST_STAKE_S

    def earn(self, token_s: float) -> None:
        """After a step that gave each answer one token, which took this long for each."""
        self._add(TRIAL_SHARE * token_s)

    def settle(self, won_s: float) -> None:
        self._add(won_s)

    def _add(self, seconds: float) -> None:
        self._left_s = max(-LARGEST_DEBT_S, min(LARGEST_STAKE_S, self._left_s + seconds))


class Payoff:
    """Whether guessing is worth its time: it pauses, longer each time, when it is not."""

    def __init__(self, purse: Purse) -> None:
        self._purse = purse
        self._gain = 1.0
        self._pause = FIRST_PAUSE
        self._wait = 0

    @property
    def has_paid(self) -> bool:
        """Its last guesses were worth more than they took; without that, a guess is a trial."""
        return self._gain > 1.0

    def wants_draft(self) -> bool:
        if self._wait > 0:
            self._wait -= 1
            return False
        return self.has_paid or self._purse.has_some

    def note(self, gained: int, seconds: float, usual_s: float) -> None:
        """After a guess: tokens gained, the time they took, and what one usually takes."""
        if usual_s <= 0:
            return
        self._purse.settle(gained * usual_s - seconds)
        worth = gained * usual_s / seconds
        self._gain = 0.7 * self._gain + 0.3 * worth
        if self._gain < 1.0:
            self._wait = self._pause
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
            self._gain = 1.0
        elif self._gain > 1.3:
            self._pause = FIRST_PAUSE
