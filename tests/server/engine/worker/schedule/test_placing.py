"""Answers that run together stand side by side: only neighbours are evaluated together."""

from typing import Any

import numpy as np

from server.engine.worker.prompt.prepare import Request
from server.engine.worker.schedule.admission import Admission
from server.engine.worker.schedule.pace import Copying, StepPace
from server.engine.worker.schedule.prefix import HostCache, Slot, make_slots


class Memory:
    """As much of a context as placing needs."""

    def __init__(self, *long: int) -> None:
        self._long = long

    def cut(self, _sequence: int, _start: int) -> bool:
        return True

    def saved_bytes(self, sequence: int) -> int:
        return 1 << 30 if sequence in self._long else 1


def place(
    slots: list[Slot],
    prompts: int,
    long: tuple[int, ...] = (),
    room_bytes: int = 1 << 31,
    step_s: float = 0,
) -> list[int]:
    """Where so many unlike prompts are put, one after the other."""
    pace = StepPace()
    if step_s:
        pace.note_decode(1, step_s)
    memory: Any = Memory(*long)
    cache = HostCache(room_bytes)
    admission = Admission(memory, slots, cache, None, Copying(memory, pace))
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


def test_a_long_neighbour_is_put_away_if_an_answer_apart_would_cost_more() -> None:
    """A gigabyte takes half a second; 200 steps of 3 ms are 0.6 s."""
    assert sorted(place(used(0, 2, 3), 6, long=(0, 2, 3), step_s=0.003)) == [2, 3, 4, 5, 6, 7]
    assert sorted(place(used(0, 2, 3), 5, long=(3,), step_s=0.002)) == [1, 4, 5, 6, 7]


def test_where_nothing_is_put_away_a_long_neighbour_costs_nobody_time() -> None:
    assert sorted(place(used(0, 2, 3), 6, long=(2, 3), room_bytes=0)) == [2, 3, 4, 5, 6, 7]


def test_where_none_is_empty_the_longest_unused_begins() -> None:
    assert sorted(place(used(5, 6, 4, 0, 1, 2, 3, 7), 3)) == [4, 5, 6]


class Reach(Memory):
    """How far each sequence's state goes; a copy takes all of it and always pays."""

    def __init__(self, reach: dict[int, int]) -> None:
        super().__init__()
        self.reach = reach

    def cut(self, sequence: int, start: int) -> bool:
        self.reach[sequence] = min(self.reach.get(sequence, 0), start)
        return True

    def pays(self, _sequence: int, _gained: int, *, is_waited_for: bool) -> bool:
        return is_waited_for

    def is_felt(self, _sequence: int) -> bool:
        return False

    def copy(self, holder: int, to: int) -> bool:
        self.reach[to] = self.reach[holder]
        return True


def test_a_copy_leaves_out_the_picture_that_is_just_being_looked_at() -> None:
    slots = used(0)
    slots[0].busy = True
    memory: Any = Reach({0: 50})
    admission = Admission(memory, slots, HostCache(0), None, memory)
    prompt = np.array([0] * 40 + [9] * 80, np.int32)
    slot = admission.place(Request(1, prompt))
    assert slot
    assert slot.count == 40
    assert memory.reach == {0: 50, slot.sequence: 40}
