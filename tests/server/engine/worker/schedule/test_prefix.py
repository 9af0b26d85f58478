"""Common prefixes and the memory of evicted conversations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.engine.worker.decode.batch import Tokens
from server.engine.worker.schedule.prefix import HostCache, Kept, common_prefix


def tokens(*ids: int) -> Tokens:
    return np.array(ids, np.int32)


def state(size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.zeros(size, np.uint8)


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_the_common_prefix_is_where_they_first_differ(left: list[int], right: list[int]) -> None:
    size = common_prefix(tokens(*left), tokens(*right))
    assert left[:size] == right[:size]
    assert left[size : size + 1] != right[size : size + 1] or size == len(left) == len(right)


def test_the_conversation_that_shares_most_is_found() -> None:
    cache = HostCache(100)
    cache.put(Kept(tokens(1, 2, 3), state(10)))
    cache.put(Kept(tokens(1, 2, 9, 9), state(10)))
    key, shared = cache.best(tokens(1, 2, 3, 4))
    assert shared == 3
    assert cache.take(key).tokens.tolist() == [1, 2, 3]
    assert cache.size_bytes == 10
    assert cache.best(tokens(7)) == (max(cache.best(tokens(7))[0], -1), 0)


def test_the_least_used_goes_first_when_memory_is_short() -> None:
    cache = HostCache(25)
    cache.put(Kept(tokens(1), state(10)))
    cache.put(Kept(tokens(2), state(10)))
    assert cache.holds(tokens(1))
    cache.put(Kept(tokens(3), state(10)))
    assert not cache.holds(tokens(2))
    assert cache.holds(tokens(1))
    assert cache.size_bytes == 20


def test_a_longer_conversation_replaces_its_own_beginning() -> None:
    cache = HostCache(100)
    cache.put(Kept(tokens(1, 2), state(10)))
    cache.put(Kept(tokens(1, 2, 3), state(15)))
    assert len(cache) == 1
    assert cache.size_bytes == 15
    assert cache.holds(tokens(1, 2))
