"""Whether the check of a key takes longer the more of the key is right.

Timed beside the check itself: over a connection the noise hides even a careless comparison.
"""

import random
from contextlib import suppress
from time import perf_counter_ns

from aiohttp.test_utils import make_mocked_request

from server.web.guard import Gate, Refused, find_holder

KEY = "moat-" + "k7Qz" * 10


REPEATS = 20
"""Of each guess; the fastest counts, which keeps the machine's noise out."""


def timing(guesses: int) -> float:
    """The rank correlation: 0 but for chance where nothing can be learnt from the time."""
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
