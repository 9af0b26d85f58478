"""A speed is predicted from the weights a token needs and the pace of each number format."""

from dataclasses import replace

import pytest

from server.face.models import Machine, Pace, Setup
from server.models import catalogue
from server.models.fit import _between, judge, predict
from server.models.gguf.header import Header
from server.models.gguf.parse import parse
from tests.kit.fake_shelf import rate
from tests.kit.gguf_files import Q4_K, Q6_K, Shape, head, metadata_of, tensors_of

GB = 1 << 30
DENSE = Shape(4096, 36, 32, 8, 12288, 1000, 40960, Q4_K, Q6_K, "qwen3", 128)
PACE = Pace((rate("Q4_K", 1e10, 4e10), rate("Q6_K", 5e9, 4e10), rate("F16", 2e10, 2e10)))
HERE = Machine(64 * GB, 56 * GB, 8, pace=PACE)
SETUP = Setup(4096, 1, gpu_layers=0)


def header(shape: Shape = DENSE) -> Header:
    return parse(bytes(head(metadata_of(shape), tensors_of(shape)).data), 1 << 40, "a.gguf")


def test_it_writes_as_fast_as_its_weights_are_read() -> None:
    model = header()
    _, writes = predict(model, SETUP, HERE, model.weight_bytes)
    assert writes == pytest.approx(1e10 / model.weight_bytes, rel=0.15)
    slow = replace(HERE, pace=replace(PACE, rates=(rate("Q4_K", 5e9, 4e10), *PACE.rates[1:])))
    assert predict(model, SETUP, slow, model.weight_bytes)[1] == pytest.approx(writes / 2, rel=0.1)


def test_it_reads_as_fast_as_it_multiplies() -> None:
    model = header()
    reads, _ = predict(model, SETUP, HERE, model.weight_bytes)
    assert reads == pytest.approx(4e10 / model.parameters, rel=0.2)


def test_short_rows_take_longer_for_their_values() -> None:
    """On x86-64, the rows of a small model take a third longer than their values alone."""
    model = header()
    dear = replace(PACE, rates=tuple(rate(form, 1e10, 4e10, 1e-7) for form in ("Q4_K", "F16")))
    free = replace(PACE, rates=tuple(rate(form, 1e10, 4e10) for form in ("Q4_K", "F16")))
    for at in (0, 1):
        slow, quick = (
            predict(model, SETUP, replace(HERE, pace=pace), model.weight_bytes)[at]
            for pace in (dear, free)
        )
        assert slow < 0.9 * quick


def test_other_rows_count_as_the_measured_ones_say() -> None:
    measured = rate("Q4_K", 1e10, 4e10)
    seconds = [_between(measured, values, 1.0, 4.5) for values in (512, 2304, 4096, 7680)]
    assert seconds == [1.0, 2.75, 4.5, pytest.approx(8.4375)]


def test_a_short_row_takes_its_share_of_a_long_one_even_if_measured_otherwise() -> None:
    measured = rate("Q4_K", 1e10, 4e10)
    assert _between(measured, 64, 0.1, 8.0) == pytest.approx(8.0 / 64)


def test_nothing_is_predicted_without_a_pace_or_on_a_card() -> None:
    model = header()
    unknown = replace(HERE, pace=Pace())
    assert predict(model, SETUP, unknown, model.weight_bytes) == (0.0, 0.0)
    on_card = replace(SETUP, gpu_layers=37)
    assert predict(model, on_card, HERE, model.weight_bytes) == (0.0, 0.0)


def test_a_file_of_another_size_is_predicted_by_its_bits() -> None:
    """A listing has the header of its smallest file only."""
    model = header()
    own = judge(model, SETUP, HERE)
    twice = judge(model, SETUP, HERE, 2 * model.weight_bytes)
    assert own.writes > twice.writes > 0


def test_a_mixture_reads_only_the_experts_it_uses() -> None:
    entries = {entry.title: entry for entry in catalogue.read().models}
    mixture, dense = entries["Qwen3 30B A3B"], entries["Qwen3 14B"]
    assert mixture.size_bytes > dense.size_bytes
    assert mixture.fit(HERE, SETUP).writes > 2 * dense.fit(HERE, SETUP).writes


def test_a_machine_known_to_be_quick_is_not_called_slow() -> None:
    """By its size alone the model would be; where the pace was measured, that counts."""
    entries = {entry.title: entry for entry in catalogue.read().models}
    large = entries["gpt-oss 120B"]
    machine = Machine(256 * GB, 248 * GB, 32, pace=Pace((rate("Q4_K", 9e10, 4e10),)))
    quick, unknown = large.fit(machine, SETUP), large.fit(replace(machine, pace=Pace()), SETUP)
    assert (quick.verdict, unknown.verdict) == ("runs well", "tight")
    assert ("slowly" in quick.why, "slowly" in unknown.why) == (False, True)
