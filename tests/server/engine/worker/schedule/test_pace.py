"""Chunks that fit the time of a step."""

import numpy as np
import pytest
from numpy.typing import NDArray

from server.engine.worker.schedule.pace import SCRATCH_BYTES, Copying, StepPace


def learned() -> StepPace:
    pace = StepPace()
    pace.note_decode(1, 0.010)
    pace.note_read(512, 1.024)
    return pace


def test_a_chunk_fits_the_time_given() -> None:
    pace = learned()
    assert pace.chunk_tokens(0.3, most=512) == 128
    assert pace.chunk_tokens(0.3, most=64) == 64
    assert pace.chunk_tokens(0.010, most=512) == 4
    assert pace.chunk_tokens(0.001, most=512) == 1


def test_a_size_that_was_measured_is_not_guessed() -> None:
    pace = learned()
    pace.note_read(16, 0.010)
    assert pace.chunk_tokens(0.011, most=512) == 16


def test_an_unknown_width_is_guessed_from_those_around_it() -> None:
    pace = learned()
    assert pace.decode_s(4) == 0.010
    assert abs(pace.decode_s(20) - 0.040) < 1e-9
    pace.note_decode(9, 0.030)
    assert abs(pace.decode_s(5) - 0.020) < 1e-9
    assert StepPace().decode_s(4) == 0.0


def test_a_step_wider_than_any_known_one_costs_what_the_last_tokens_did() -> None:
    pace = learned()
    pace.note_decode(4, 0.040)
    assert abs(pace.decode_s(10) - 0.100) < 1e-9
    assert not pace.pays(4, answers=4, guesses=6)
    pace.note_decode(5, 0.040)
    assert abs(pace.decode_s(10) - 0.040) < 1e-9
    assert pace.pays(4, answers=4, guesses=6)


def test_guesses_are_spared_only_as_much_as_a_step_takes() -> None:
    pace = learned()
    pace.note_decode(8, 0.080)
    assert pace.spare_tokens(1, 7) == 1
    pace.note_decode(8, 0.010)
    assert pace.spare_tokens(8, 7) == 7


def test_the_time_to_read_is_known_from_long_chunks() -> None:
    assert abs(learned().reading_s(1000) - 2.0) < 1e-9


def test_a_size_between_two_known_ones_is_guessed_from_both() -> None:
    pace = learned()
    pace.note_read(2, 0.040)
    pace.note_read(8, 0.160)
    assert pace.chunk_tokens(0.079, most=512) == 2
    assert pace.chunk_tokens(0.081, most=512) == 4


def test_what_was_not_tried_for_a_while_slows_down_with_the_rest() -> None:
    pace = learned()
    pace.note_read(4, 0.020)
    pace.note_read(1, 0.010)
    assert pace.chunk_tokens(0.021, most=512) == 4
    for _ in range(40):
        pace.note_read(1, 0.020)
    assert pace.chunk_tokens(0.021, most=512) == 1
    assert pace.chunk_tokens(0.041, most=512) == 4


def test_guesses_pay_only_where_a_longer_step_is_cheap() -> None:
    cheap, dear = StepPace(), StepPace()
    for pace, longer_s in ((cheap, 0.012), (dear, 0.066)):
        pace.note_decode(1, 0.01)
        pace.note_decode(7, longer_s)
    assert cheap.pays(1, 1, 6)
    assert not dear.pays(1, 1, 6)


MB = 1 << 20


class Memory:
    """As much of a context as a copy needs."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.takes = True
        self.fresh = 0

    def saved_bytes(self, _sequence: int) -> int:
        return self.size

    def save(self, _sequence: int, scratch: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if len(scratch) >= self.size:
            return scratch[: self.size]
        self.fresh += 1
        return np.zeros(self.size, np.uint8)

    def restore(self, _sequence: int, _state: NDArray[np.uint8]) -> bool:
        return self.takes


def copying(size: int, token_s: float) -> tuple[Copying, Memory]:
    pace = StepPace()
    pace.note_read(64, 64 * token_s)
    memory = Memory(size)
    return Copying(memory, pace), memory  # type: ignore[arg-type]


@pytest.mark.parametrize(("gained", "pays"), [(1, False), (3, True)])
def test_it_must_be_sooner_done_than_reading(gained: int, pays: bool) -> None:
    copies, _ = copying(10 * MB, token_s=0.005)
    assert copies.pays(0, gained, is_waited_for=False) is pays


def test_nobody_waits_for_a_long_copy() -> None:
    copies, _ = copying(100 * MB, token_s=0.005)
    assert copies.pays(0, 1000, is_waited_for=False)
    assert not copies.pays(0, 1000, is_waited_for=True)


def test_nothing_pays_while_reading_is_not_known() -> None:
    assert not Copying(Memory(1), StepPace()).pays(0, 1000, is_waited_for=False)  # type: ignore[arg-type]


def test_what_is_sooner_read_again_is_not_worth_saving() -> None:
    copies, _ = copying(50 * MB, token_s=0.00005)
    assert copies.is_worth_saving(0, 384)  # nothing was saved yet
    copies.note_save(50 * MB, 0.1)
    assert not copies.is_worth_saving(0, 384)
    assert copies.is_worth_saving(0, 20_000)
    refused = 0
    while not copies.is_worth_saving(0, 384):
        copies.note_unsaved()
        refused += 1
    assert refused > 20


def test_saving_is_worth_it_while_reading_is_not_known() -> None:
    copies = Copying(Memory(50 * MB), StepPace())  # type: ignore[arg-type]
    copies.note_save(50 * MB, 10)
    assert copies.is_worth_saving(0, 384)


def test_its_time_is_learned() -> None:
    copies, memory = copying(64 * MB, token_s=0.0005)
    assert not copies.pays(0, 100, is_waited_for=False)
    for _ in range(20):
        assert copies.copy(0, 1)
    assert copies.pays(0, 100, is_waited_for=False)
    memory.takes = False
    assert not copies.copy(0, 1)


@pytest.mark.parametrize(("size", "fresh"), [(SCRATCH_BYTES, 1), (SCRATCH_BYTES + 1, 5)])
def test_memory_of_a_fair_size_is_used_again(size: int, fresh: int) -> None:
    copies, memory = copying(size, token_s=0.005)
    for _ in range(5):
        copies.copy(0, 1)
    assert memory.fresh == fresh
