"""A copy is made where it is sooner done than reading, and never so that others feel it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from server.engine.worker.schedule.copying import SCRATCH_BYTES, Copying
from server.engine.worker.schedule.pace import Pace

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
    pace = Pace()
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
    assert not Copying(Memory(1), Pace()).pays(0, 1000, is_waited_for=False)  # type: ignore[arg-type]


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
