"""The candidate set always holds the best tokens."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from server.engine.worker.decode.candidates import Logits, Threshold

LOGITS = arrays(np.float32, 200, elements=st.floats(-80, 80, width=32))


@given(st.lists(LOGITS, min_size=1, max_size=4), st.integers(1, 60))
def test_the_best_are_always_among_them(rows: list[Logits], least: int) -> None:
    threshold = Threshold(least)
    for row in rows:
        found = threshold.find(row)
        assert len(found) >= least
        bound = np.sort(row)[-least]
        assert set(np.flatnonzero(row > bound)) <= set(found.tolist())


def test_forbidden_tokens_are_left_out() -> None:
    row = np.full(100, -np.inf, np.float32)
    row[[3, 50]] = (1.0, -30.0)
    assert Threshold(40).find(row).tolist() == [3, 50]


def test_the_margin_follows_the_answer() -> None:
    row = np.linspace(0, 10, 10_000, dtype=np.float32)
    threshold = Threshold(10)
    sizes = [len(threshold.find(row)) for _ in range(40)]
    assert sizes[-1] <= 80 < sizes[0]
