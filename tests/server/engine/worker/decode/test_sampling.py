"""The small candidate set changes nothing: the chain chooses as it would from all tokens."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from server.chat import Sampling
from server.engine.base import EngineOptions
from server.engine.worker.decode.sampling import (
    CandidateArray,
    Logits,
    Sampler,
    Threshold,
    make_chain,
    seed_of,
)
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import NativeLog, lib
from server.engine.worker.prompt.vocabulary import Vocabulary

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


ROWS = 25


@pytest.fixture(scope="module")
def vocabulary(starter_model: Path) -> Vocabulary:
    log = NativeLog()
    log.mute_while(lambda: True)
    log.install()
    return Model(starter_model, EngineOptions(), lambda _done: None).vocabulary


def rows(vocabulary: Vocabulary) -> list[Logits]:
    """Like a model's: few tokens stand out, and the same ones again and again."""
    chance = np.random.default_rng(5)
    base = chance.normal(0, 2, vocabulary.size)
    base[chance.integers(0, vocabulary.size, 30)] += 12
    return [(base + chance.normal(0, 1, vocabulary.size)).astype(np.float32) for _ in range(ROWS)]


def picks_from_all(sampling: Sampling, vocabulary: Vocabulary, given: list[Logits]) -> list[int]:
    bias = np.zeros(vocabulary.size, np.float32)
    for token, added in sampling.logit_bias:
        bias[token] = added
    if sampling.ignore_eos:
        bias[sorted(vocabulary.ends)] = -np.inf
    chain, array = make_chain(sampling, vocabulary), CandidateArray()
    picked = []
    for row in given:
        array.fill(np.arange(vocabulary.size), row + bias)
        lib.llama_sampler_apply(chain, array.reference)
        picked.append(array.get_selected())
        lib.llama_sampler_accept(chain, picked[-1])
    lib.llama_sampler_free(chain)
    return picked


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(seed=1),
        Sampling(seed=2, temperature=1.5, top_p=1.0, min_p=0.0),
        Sampling(seed=3, top_k=5, repeat_penalty=1.8),
        Sampling(seed=4, frequency_penalty=1.5, presence_penalty=1.5),
        Sampling(seed=5, frequency_penalty=-2.0, presence_penalty=-2.0),
        Sampling(seed=6, logit_bias=((7, 30.0), (8, -50.0)), ignore_eos=True),
        Sampling(seed=7, xtc_probability=0.9, typical_p=0.8),
        Sampling(temperature=0.0, repeat_penalty=2.0),
        Sampling(temperature=0.0),
        Sampling(seed=8, top_k=0, top_p=0.9),
        Sampling(seed=9, dry_multiplier=0.8),
        Sampling(seed=10, mirostat=2),
    ],
)
def test_the_same_tokens_are_chosen_as_from_the_whole_vocabulary(
    sampling: Sampling, vocabulary: Vocabulary
) -> None:
    given = rows(vocabulary)
    before = [row.copy() for row in given]
    sampler = Sampler(sampling, vocabulary, CandidateArray())
    picked = []
    for row in given:
        picked.append(sampler.pick(row))
        sampler.accept(picked[-1])
    sampler.close()
    assert picked == picks_from_all(sampling, vocabulary, given)
    assert all((row == same).all() for row, same in zip(given, before, strict=True))


def test_a_seed_is_folded_and_a_missing_one_is_fresh() -> None:
    assert seed_of(Sampling(seed=-1)) == seed_of(Sampling(seed=-1)) < 2**32
    assert len({seed_of(Sampling()) for _ in range(5)}) == 5
