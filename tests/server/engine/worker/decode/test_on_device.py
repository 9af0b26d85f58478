"""Tokens chosen inside llama.cpp's graph are those the host would have chosen."""

from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from server.chat import Sampling
from server.engine.base import EngineOptions
from server.engine.worker.decode import on_device
from server.engine.worker.decode.batch import Batch
from server.engine.worker.decode.on_device import (
    FEW,
    MOST_CANDIDATES,
    OnDevice,
    can_choose,
    find_least,
)
from server.engine.worker.load.context import Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import NativeLog, lib
from server.engine.worker.load.plan import make_plan
from server.engine.worker.prompt.prepare import Request
from tests.kit import gguf_files
from tests.kit.worker_client import WorkerClient

SLOTS = 32
DRAWS = 10_000
RARE = 1e-5
UNLIKELY = 90.0
"""Chi-squared of forty tokens is above this once in more than ten thousand times."""
GREEDY = Sampling(temperature=0.0)


class Small(NamedTuple):
    model: Model
    context: Context
    batch: Batch

    def evaluate(self, token: int = 3) -> None:
        """The same word in every sequence."""
        self.batch.clear()
        for sequence in range(SLOTS):
            self.batch.add([token], sequence, 0, 1)
        assert self.context.decode(self.batch) == 0
        for sequence in range(SLOTS):
            self.context.cut(sequence, 0)

    def evaluate_each(self, tokens: Iterable[int]) -> list[int]:
        """A word of its own in every sequence; the places of their logits."""
        self.batch.clear()
        for sequence, token in enumerate(tokens):
            self.batch.add([token], sequence, 0, 1)
        assert self.context.decode(self.batch) == 0
        for sequence in range(SLOTS):
            self.context.cut(sequence, 0)
        return list(self.batch.places)


def fill(path: Path, header_bytes: int) -> None:
    """Weights with which no two tokens are equally likely."""
    start = -(-header_bytes // gguf_files.ALIGNMENT) * gguf_files.ALIGNMENT
    weights = np.memmap(path, np.float32, "r+", start)
    weights[:] = np.random.default_rng(7).normal(0, 0.5, len(weights))
    weights.flush()


@pytest.fixture(autouse=True, params=on_device.FORMS, ids=lambda form: form.__name__)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The only way of finding the likeliest tokens that is there to be taken."""
    monkeypatch.setattr(on_device, "FORMS", (request.param,))
    monkeypatch.setattr(on_device, "PART", 90)  # so that rows have several, and a shorter one
    monkeypatch.setattr(on_device, "MOST_BLOCKS", 120)  # so that blocks have several columns
    return request.param


@pytest.fixture(autouse=True)
def unattached(small: Small) -> Iterator[None]:
    """No chain of one test is there in the next: its context is shared."""
    yield
    for sequence in range(SLOTS):
        lib.llama_set_sampler(small.context.native, sequence, None)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    log = NativeLog()
    log.mute_while(lambda: True)
    log.install()
    path = tmp_path_factory.mktemp("model") / "small.gguf"
    header = gguf_files.write_model(path, gguf_files.Shape(tokens=302))  # a rest after the blocks
    fill(path, len(header.data))
    options = EngineOptions(slots=SLOTS, context_tokens=256, threads=1)
    model = Model(path, options, lambda _done: None)
    plan = make_plan(model, model.options)
    context = Context(model, plan)
    return Small(model, context, Batch(plan.batch_tokens, SLOTS, context.sequence_tokens))


def asked(sampling: Sampling) -> Request:
    return Request(1, np.zeros(1, np.int32), sampling=sampling)


def taken(device: OnDevice, small: Small, samplings: list[Sampling]) -> list[int]:
    for sequence, sampling in enumerate(samplings):
        assert device.take(sequence, asked(sampling), SLOTS)
    small.evaluate()
    return chosen(device, small.batch)


def chosen(device: OnDevice, batch: Batch) -> list[int]:
    """One row a sequence, in their order."""
    found = device.tokens(batch, [(row, row) for row in range(batch.outputs)])
    return [found[row] for row in range(batch.outputs)]


@pytest.mark.parametrize("is_all", [True, False], ids=["all on the device", "one on the host"])
def test_results_that_come_in_one_piece_are_those_of_their_rows(
    small: Small, *, is_all: bool
) -> None:
    """llama.cpp keeps its graph for a step with the same rows, whatever was expected."""
    asked_for = (3, 50, 7, 201)
    small.evaluate_each(asked_for)
    likeliest = small.context.rows()[:4].argmax(axis=1).tolist()
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=4, forced=True)
    ours = range(4 if is_all else 3)
    for sequence in ours:
        assert device.take(sequence, asked(GREEDY), 4)
    for first in (0 if is_all else None, None, 0 if is_all else None):
        device.expect(first)
        small.evaluate_each(asked_for)
        found = device.tokens(small.batch, [(number, number) for number in ours])
        assert [found[number] for number in ours] == likeliest[: len(ours)]
        of_first = lib.llama_get_sampled_candidates_count_ith(small.context.native, 0)
        assert of_first == MOST_CANDIDATES * (4 if is_all else 1)


def test_the_likeliest_is_that_of_the_row(small: Small) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    small.evaluate()
    row = small.context.rows()[0].copy()
    best = int(row.argmax())
    assert taken(device, small, [GREEDY] * SLOTS) == [best] * SLOTS
    endless = Sampling(temperature=0.0, ignore_eos=True)
    assert taken(device, small, [endless] * SLOTS) == [best] * SLOTS
    banned = Sampling(temperature=0.0, logit_bias=((best, -100.0),))
    row[best] = -np.inf
    assert taken(device, small, [banned, *[GREEDY] * (SLOTS - 1)])[:2] == [int(row.argmax()), best]


def test_each_row_has_its_own_likeliest(small: Small) -> None:
    """Rows of one batch that differ, with and without their row, beside one with a bias."""
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    places = small.evaluate_each(range(3, 3 + SLOTS))
    rows = small.context.rows()
    expected = [int(rows[place].argmax()) for place in places]
    assert len(set(expected)) > SLOTS // 2
    kinds = [GREEDY, Sampling(temperature=0.0, ignore_eos=True)] * (SLOTS // 2)
    kinds[5] = Sampling(temperature=0.0, logit_bias=((expected[5], 100.0),))
    for sequence, sampling in enumerate(kinds):
        assert device.take(sequence, asked(sampling), SLOTS)
    small.evaluate_each(range(3, 3 + SLOTS))
    assert chosen(device, small.batch) == expected
    small.evaluate_each(range(3, 13))
    assert chosen(device, small.batch) == expected[:10]


def test_each_row_draws_from_its_own(small: Small) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    small.evaluate_each(range(3, 3 + SLOTS))
    best = [int(row.argmax()) for row in small.context.rows()[:SLOTS]]
    for sequence in range(SLOTS):
        sampling = Sampling(temperature=1e-5, top_k=10 + sequence % 3)
        assert device.take(sequence, asked(sampling), SLOTS)
    for _ in range(3):
        small.evaluate_each(range(3, 3 + SLOTS))
        assert chosen(device, small.batch) == best


def test_an_answer_that_ignores_its_end_never_draws_it(small: Small) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    ends = small.model.vocabulary.ends
    assert ends
    few = MOST_CANDIDATES - len(ends)
    flat = Sampling(temperature=100.0, top_k=few, top_p=1.0, min_p=0.0, ignore_eos=True)
    drawn = set(taken(device, small, [flat] * SLOTS))
    for _ in range(30):
        small.evaluate()
        drawn |= set(chosen(device, small.batch))
    assert len(drawn) > few // 2
    assert not drawn & ends


def test_the_likeliest_token_but_the_end(small: Small) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    end = next(iter(small.model.vocabulary.ends))
    ending, second = -1, -1
    for first in range(3, small.model.vocabulary.size - SLOTS, SLOTS):
        small.evaluate_each(range(first, first + SLOTS))
        for number, row in enumerate(small.context.rows()[:SLOTS]):
            best, after = np.argsort(-row)[:2]
            if best == end:
                ending, second = first + number, int(after)
    assert ending >= 0, "no word of this model is followed by its end"
    for ignores, expected in ((False, end), (True, second)):
        sampling = Sampling(temperature=0.0, ignore_eos=ignores)
        assert device.take(0, asked(sampling), SLOTS)
        small.evaluate_each([ending])
        assert chosen(device, small.batch) == [expected]


def chances(row: np.ndarray, sampling: Sampling) -> np.ndarray:
    """By the definitions of top-k, top-p, min-p and temperature."""
    order = np.argsort(-row, kind="stable")[: sampling.top_k]
    kept = row[order].astype(np.float64)
    likely = np.exp(kept - kept.max())
    likely /= likely.sum()
    enough = int(np.searchsorted(np.cumsum(likely), sampling.top_p)) + 1
    kept, order, likely = kept[:enough], order[:enough], likely[:enough]
    good = likely >= sampling.min_p * likely.max()
    heated = np.where(good, np.exp((kept - kept.max()) / sampling.temperature), 0.0)
    found = np.zeros(len(row))
    found[order] = heated / heated.sum()
    return found


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(),
        Sampling(temperature=1.5, top_k=20, top_p=1.0, min_p=0.0),
        Sampling(temperature=0.7, top_k=2 * MOST_CANDIDATES, top_p=0.6, min_p=0.05),
    ],
)
def test_draws_have_the_chances_of_the_settings(small: Small, sampling: Sampling) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    small.evaluate()
    expected = DRAWS * chances(small.context.rows()[0], sampling)
    seeded = [
        Sampling(
            temperature=sampling.temperature,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            min_p=sampling.min_p,
            seed=seed,
        )
        for seed in range(SLOTS)
    ]
    drawn = taken(device, small, seeded)
    while len(drawn) < DRAWS:
        small.evaluate()
        drawn += chosen(device, small.batch)
    counted = np.bincount(drawn[:DRAWS], minlength=len(expected))
    possible = expected > RARE
    assert counted[~possible].sum() == 0
    far = (counted - expected)[possible] ** 2 / expected[possible]
    assert 3 < possible.sum() <= 40
    assert far.sum() < UNLIKELY


def test_the_same_seed_draws_the_same(small: Small) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=SLOTS, forced=True)
    seeds = [Sampling(seed=number // 2, temperature=2.0) for number in range(SLOTS)]
    first = taken(device, small, seeds)
    assert first == taken(device, small, seeds)
    assert first[0::2] == first[1::2]
    assert len(set(first)) > 2


def test_what_it_cannot_do_stays_with_the_host(small: Small) -> None:
    cannot = [
        Sampling(repeat_penalty=1.1),
        Sampling(mirostat=2),
        Sampling(typical_p=0.9),
        Sampling(xtc_probability=0.5),
        Sampling(dry_multiplier=0.8),
    ]
    assert not any(can_choose(asked(sampling)) for sampling in cannot)
    assert can_choose(asked(Sampling(mirostat=2, temperature=0.0)))
    assert not can_choose(Request(1, np.zeros(1, np.int32), top_logprobs=2))
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=8, forced=False)
    device.least = FEW
    assert not device.take(0, asked(GREEDY), FEW - 1)
    assert device.take(0, asked(GREEDY), FEW)
    assert not device.take(1, asked(Sampling(seed=5)), SLOTS)


@pytest.mark.parametrize("columns", [1, 149, 150, 151, 1000, 128_256])
def test_parts_cover_every_column_once(columns: int) -> None:
    found = on_device._parts(columns, 3)
    ends = [part.first + part.width * part.count for part in found]
    assert [part.first for part in found] == [0, *ends[:-1]]
    assert ends[-1] == columns
    assert max(part.width for part in found) <= on_device.PART


def test_which_way_is_quicker_is_timed() -> None:
    """Where it does not pay for all, it pays for none; where it does, as few as it pays for."""
    at_hand = {4: 1.0, 8: 2.0, 16: 4.0, 32: 8.0}
    assert find_least(32, at_hand.__getitem__, lambda _width: 9.0) == inf
    assert find_least(32, at_hand.__getitem__, lambda _width: 3.0) == 16
    assert find_least(32, at_hand.__getitem__, lambda _width: 0.5) == FEW
    assert find_least(FEW - 1, at_hand.__getitem__, lambda _width: 0.0) == inf


def test_timing_both_ways_leaves_nothing_behind(small: Small) -> None:
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=8, forced=False)
    assert small.model.vocabulary.size > 2 * on_device.PART
    assert device.least >= FEW
    assert not device.attached
    small.evaluate()
    assert small.context.rows()[0].argmax() == small.context.rows()[SLOTS - 1].argmax()


def test_chains_at_rest_go_where_a_few_answers_do_not_pay(small: Small) -> None:
    """A single answer after many is chosen for by the host again, with nothing else computed."""
    device = OnDevice(small.context, small.model.vocabulary, small.batch, slots=8, forced=False)
    device.least = 8
    for sequence in range(8):
        assert device.take(sequence, asked(GREEDY), 8)
    for sequence in range(8):
        device.leave(sequence)
    assert device.take(0, asked(GREEDY), 5), "nothing is laid out anew for a few fewer"
    device.leave(0)
    assert not device.take(1, asked(GREEDY), 1)
    assert not device.attached


def test_answers_chosen_on_both_sides_run_together(quick_starter: Path) -> None:
    greedy = {"temperature": 0.0, "ignore_eos": True}
    asks = [{"prompt": f"Count from {n}:", "max_tokens": 8, "sampling": greedy} for n in range(3)]
    asks.append({**asks[0], "top_logprobs": 1})
    texts = []
    for wanted in (False, True):
        worker = WorkerClient(
            quick_starter, slots=4, context_tokens=256, device_sampling=wanted, speculate=False
        )
        started = [worker.start(**ask) for ask in asks]
        texts.append([worker.wait(request).text for request in started])
        stats = worker.ask("stats")["value"]
        assert stats["chosen_on_device"] == (3 * 8 if wanted else 0)
        worker.close()
    assert texts[0] == texts[1]
    assert texts[1][3] == texts[1][0]
