"""Answers that run together stand side by side: only neighbours are evaluated together."""

from typing import Any

import numpy as np

from server.engine.worker.admission import Admission
from server.engine.worker.copying import Copying
from server.engine.worker.pace import Pace
from server.engine.worker.prefix import HostCache
from server.engine.worker.request import Request
from server.engine.worker.slots import Slot, make_slots


class Memory:
    """As much of a context as placing needs."""

    def __init__(self, *long: int) -> None:
        self._long = long

    def cut(self, _sequence: int, _start: int) -> bool:
        return True

    def saved_bytes(self, sequence: int) -> int:
        return 1 << 30 if sequence in self._long else 1


def place(slots: list[Slot], prompts: int, long: tuple[int, ...] = ()) -> list[int]:
    """Where so many unlike prompts are put, one after the other."""
    memory: Any = Memory(*long)
    admission = Admission(memory, slots, HostCache(0), None, Copying(memory, Pace()))
    found = []
    for number in range(prompts):
        slot = admission.place(Request(number, np.full(40, 100 + number, np.int32)))
        assert slot
        found.append(slot.sequence)
    return found


def used(*sequences: int) -> list[Slot]:
    slots = make_slots(8, 64)
    for at, sequence in enumerate(sequences):
        slots[sequence].append([at] * 40)
        slots[sequence].used_at = 10.0 + at
    return slots


def test_a_burst_begins_where_most_room_is_and_stays_together() -> None:
    assert place(used(0, 2, 3), 4) == [4, 5, 6, 7]


def test_a_neighbour_that_rests_is_better_than_an_empty_slot_apart() -> None:
    assert sorted(place(used(0, 2, 3), 6)) == [2, 3, 4, 5, 6, 7]


def test_nobody_waits_until_a_long_neighbour_is_put_away() -> None:
    assert sorted(place(used(0, 2, 3), 5, long=(3,))) == [1, 4, 5, 6, 7]


def test_where_none_is_empty_the_longest_unused_begins() -> None:
    assert sorted(place(used(5, 6, 4, 0, 1, 2, 3, 7), 3)) == [4, 5, 6]
