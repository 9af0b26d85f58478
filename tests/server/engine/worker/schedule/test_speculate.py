"""Guessing from the text, and knowing when it does not pay."""

import numpy as np

from server.engine.worker.schedule.draft import (
    FIRST_PAUSE,
    FIRST_STAKE_S,
    LARGEST_DEBT_S,
    TRIAL_MATCH,
    TRIAL_SHARE,
    Payoff,
    Purse,
    lookup,
)


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


def test_without_proof_only_a_long_match_is_a_guess() -> None:
    row = list(range(10, 30))
    assert lookup(np.array([*row, *row[:5]], np.int32), 12, TRIAL_MATCH) == []
    assert lookup(np.array([*row, *row[:6]], np.int32), 12, TRIAL_MATCH) == row[6:15]


def test_guessing_pauses_when_it_costs_more_than_it_brings() -> None:
    payoff = Payoff(Purse())
    assert payoff.wants_draft()
    payoff.note(gained=1, seconds=0.002, usual_s=0.001)
    assert [payoff.wants_draft() for _ in range(FIRST_PAUSE + 1)].count(True) == 1


def test_guessing_goes_on_while_it_pays() -> None:
    payoff = Payoff(Purse())
    for _ in range(5):
        payoff.note(gained=6, seconds=2.0, usual_s=1.0)
        assert payoff.wants_draft()
        assert payoff.has_paid


def test_trials_of_all_answers_together_cost_a_small_share_of_the_time() -> None:
    purse = Purse()
    spent_s = lost_s = 0.0
    for _ in range(50):
        payoff = Payoff(purse)
        for _ in range(200):
            purse.earn(0.01)
            spent_s += 0.01
            if payoff.wants_draft():
                payoff.note(gained=1, seconds=0.06, usual_s=0.01)
                lost_s += 0.05
    assert lost_s > 0.1
    assert lost_s < FIRST_STAKE_S + TRIAL_SHARE * spent_s + 0.05


def test_an_answer_whose_guesses_pay_needs_no_purse() -> None:
    purse = Purse()
    good, other = Payoff(purse), Payoff(purse)
    good.note(gained=6, seconds=0.2, usual_s=0.1)
    other.note(gained=1, seconds=9.0, usual_s=0.1)
    assert good.wants_draft()
    assert not Payoff(purse).wants_draft()


def test_a_full_purse_tries_what_is_not_expected_to_pay() -> None:
    purse = Purse()
    assert not purse.is_full
    for _ in range(1000):
        purse.earn(0.01)
    assert purse.is_full


def test_one_guess_that_was_held_up_does_not_end_guessing_for_minutes() -> None:
    purse = Purse()
    Payoff(purse).note(gained=1, seconds=600.0, usual_s=0.1)
    assert not purse.has_some
    purse.earn((LARGEST_DEBT_S + 0.01) / TRIAL_SHARE)
    assert purse.has_some
