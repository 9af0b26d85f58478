"""Guessing from the text, and knowing when it does not pay."""

import numpy as np

from server.engine.worker.speculate import FIRST_PAUSE, Lessons, Payoff, lookup


def guess(*ids: int, most: int = 12) -> list[int]:
    return lookup(np.array(ids, np.int32), most)


def test_what_followed_the_same_words_is_the_guess() -> None:
    assert guess(1, 2, 3, 4, 5, 9, 1, 2, 3) == [4, 5, 9]
    assert guess(1, 2, 3, 4, 5, 9, 1, 2, 3, most=2) == [4, 5]


def test_a_longer_match_guesses_further() -> None:
    row = list(range(10, 30))
    assert len(guess(*row, *row[:4])) == 5
    assert len(guess(*row, *row[:8])) == 12


def test_the_latest_match_wins() -> None:
    assert guess(1, 2, 3, 7, 1, 2, 3, 8, 1, 2, 3)[0] == 8


def test_too_short_a_match_is_no_guess() -> None:
    assert guess(1, 2, 9, 1, 2) == []
    assert guess(1) == []
    assert guess(1, 2, 3, 4, 5, 6) == []


def test_guessing_pauses_when_it_costs_more_than_it_brings() -> None:
    payoff = Payoff(Lessons())
    assert payoff.wants_draft()
    payoff.note(gained=1, seconds=2.0, usual_s=1.0)
    assert [payoff.wants_draft() for _ in range(FIRST_PAUSE + 1)].count(True) == 1


def test_guessing_goes_on_while_it_pays() -> None:
    payoff = Payoff(Lessons())
    for _ in range(5):
        payoff.note(gained=6, seconds=2.0, usual_s=1.0)
        assert payoff.wants_draft()


def test_what_did_not_pay_is_tried_by_ever_fewer_answers() -> None:
    lessons = Lessons()
    tried = []
    for _ in range(40):
        payoff = Payoff(lessons)
        tried.append(payoff.wants_draft())
        if tried[-1]:
            payoff.note(gained=1, seconds=2.0, usual_s=1.0)
    assert [number for number, hit in enumerate(tried) if hit] == [0, 2, 6, 14, 30]
    Payoff(lessons).note(gained=6, seconds=2.0, usual_s=1.0)
    assert Payoff(lessons).wants_draft()
