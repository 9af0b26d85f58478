import os
from time import perf_counter, process_time

import pytest

from server.engine.worker.load.plan import LOOK_EVERY_S, ThreadCount, used_by_others_s


class Machine:
    """Its other programs keep `busy` cores busy; time passes by looking."""

    def __init__(self, cores: int) -> None:
        self.busy = 0.0
        self.applied: list[int] = []
        self._used_s = 1000.0
        self._now = 50.0
        self.threads = ThreadCount(cores, self.applied.append, lambda: self._used_s)

    def pass_by(self, seconds: float = LOOK_EVERY_S) -> int:
        self._now += seconds
        self._used_s += self.busy * seconds
        self.threads.look(self._now)
        return self.threads.current


@pytest.mark.parametrize(
    ("busy", "left"), [(0.0, 4), (0.3, 4), (0.7, 3), (1.0, 3), (1.8, 2), (4.0, 1), (9.0, 1)]
)
def test_as_many_threads_are_left_out_as_cores_are_busy(busy: float, left: int) -> None:
    machine = Machine(4)
    machine.pass_by()
    machine.busy = busy
    assert machine.pass_by() == left


def test_all_threads_are_back_as_soon_as_the_cores_are_free() -> None:
    machine = Machine(2)
    machine.pass_by()
    machine.busy = 2.0
    machine.pass_by()
    machine.busy = 0.0
    machine.pass_by()
    assert machine.applied == [1, 2]


def test_what_others_did_while_we_were_idle_does_not_count() -> None:
    machine = Machine(2)
    machine.pass_by()
    machine.busy = 2.0
    machine.threads.forget()
    assert machine.pass_by() == 2
    assert machine.pass_by() == 1


def test_it_looks_only_now_and_then() -> None:
    machine = Machine(2)
    machine.pass_by()
    machine.busy = 2.0
    assert machine.pass_by(LOOK_EVERY_S / 3) == 2


def test_our_own_work_is_not_that_of_others() -> None:
    began, before, own = perf_counter(), used_by_others_s(), process_time()
    while process_time() - own < 0.5:
        pass
    used_s = used_by_others_s() - before
    left_for_others_s = (perf_counter() - began) * (os.cpu_count() or 1) - 0.5
    assert used_s <= left_for_others_s + 0.2
