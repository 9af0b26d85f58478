"""Measures whether the check of a key takes longer if more of the key is right.

The check itself is timed: over a connection the noise would hide even a careless comparison.
"""

import random
from contextlib import suppress
from time import perf_counter_ns

from aiohttp.test_utils import make_mocked_request

from server.web.guard import Gate, Refused, find_holder

KEY = "moat-" + "k7Qz" * 10


REPEATS = 20
"""How often each guess is timed. The fastest counts, which removes the machine's noise."""


def timing(guesses: int) -> float:
    """Returns the rank correlation. It is 0 except for chance if the time reveals nothing."""
    chance = random.Random(5)
    lengths = [chance.randrange(len(KEY)) for _ in range(guesses)]
    times = [_fastest_ns(KEY[:length] + "~" * (len(KEY) - length)) for length in lengths]
    return _correlation(_ranks([float(length) for length in lengths]), _ranks(times))


def _fastest_ns(guess: str) -> float:
    gate = Gate(frozenset(), frozenset(), KEY)
    request = make_mocked_request("GET", "/v1/models", {"Authorization": f"Bearer {guess}"})
    taken = []
    for _ in range(REPEATS):
        began = perf_counter_ns()
        with suppress(Refused):
            find_holder(request, gate)
        taken.append(perf_counter_ns() - began)
    return float(min(taken))


def _ranks(values: list[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = float(rank)
    return ranks


def _correlation(one: list[float], other: list[float]) -> float:
    middle = (len(one) - 1) / 2
    covered = sum((a - middle) * (b - middle) for a, b in zip(one, other, strict=True))
    return covered / sum((a - middle) ** 2 for a in one)
