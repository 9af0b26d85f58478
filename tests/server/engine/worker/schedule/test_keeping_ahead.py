"""Short conversations are put away while nobody waits; long ones when they must be."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.schedule.admission import AHEAD_BYTES, WORTH_KEEPING, Admission
from server.engine.worker.schedule.pace import Copying, StepPace
from server.engine.worker.schedule.prefix import HostCache, make_slots

MB = 1 << 20
SHORT, LONG = AHEAD_BYTES, AHEAD_BYTES + 1


class Memory:
    """As much of a context as putting away needs: how large each sequence is."""

    def __init__(self, *sizes: int) -> None:
        self._sizes = sizes
        self.saved: list[int] = []

    def saved_bytes(self, sequence: int) -> int:
        return self._sizes[sequence]

    def save(self, sequence: int) -> NDArray[np.uint8]:
        self.saved.append(sequence)
        return np.zeros(self._sizes[sequence], np.uint8)


def kept_ahead(
    *sizes: int, busy: int | None = None, room: int = 10 * LONG, pace: StepPace | None = None
) -> list[int]:
    """Which of these conversations an idle worker puts away, in which order."""
    memory: Any = Memory(*sizes)
    slots = make_slots(len(sizes), WORTH_KEEPING)
    for slot in slots:
        slot.append([slot.sequence] * WORTH_KEEPING)
        slot.used_at = 10.0 - slot.sequence
        slot.busy = slot.sequence == busy
    copying = Copying(memory, pace or StepPace())
    copying.note_save(MB, 0.1)
    admission = Admission(memory, slots, HostCache(room), None, copying)
    while admission.keep_one():
        pass
    return list(memory.saved)


def test_the_one_that_rests_longest_comes_first() -> None:
    assert kept_ahead(SHORT, SHORT, SHORT) == [2, 1, 0]


def test_neither_a_long_one_nor_one_under_way() -> None:
    assert kept_ahead(SHORT, LONG, SHORT, busy=0) == [2]


def test_what_is_kept_already_does_not_make_way() -> None:
    assert kept_ahead(SHORT, SHORT, SHORT, room=2 * SHORT) == [2, 1]


def test_what_is_sooner_read_again_is_not_put_away() -> None:
    quick, slow = StepPace(), StepPace()
    quick.note_read(512, 0.02)
    slow.note_read(512, 20)
    assert kept_ahead(SHORT, SHORT, pace=quick) == []
    assert kept_ahead(SHORT, SHORT, pace=slow) == [1, 0]
