"""The thread count follows what steps take."""

from server.engine.worker.threads import ThreadCount


class Machine:
    """Steps take as long as this says for each thread count, and threads wait on busy cores."""

    def __init__(self, most: int, seconds: dict[int, float], free: int) -> None:
        self.seconds = seconds
        self.free = free
        self.used = most
        self.count = ThreadCount(most, self.use)
        self.now = 0.0

    def use(self, count: int) -> None:
        self.used = count

    def work(self, steps: int, kind: object = "decode") -> None:
        for _ in range(steps):
            step_s = self.seconds[self.used]
            self.now += step_s
            self.count.note(kind, step_s, step_s * min(self.used, self.free), self.now)


def test_fewer_threads_are_kept_when_they_are_faster() -> None:
    machine = Machine(2, {1: 0.1, 2: 0.4}, free=1)
    machine.work(60)
    assert machine.count.current == 1


def test_a_trial_that_is_slower_is_taken_back() -> None:
    machine = Machine(2, {1: 0.4, 2: 0.1}, free=1)
    machine.work(60)
    assert machine.count.current == 2


def test_the_count_comes_back_when_the_machine_is_free_again() -> None:
    machine = Machine(4, {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}, free=1)
    machine.work(200)
    assert machine.count.current == 1
    machine.seconds = {1: 0.4, 2: 0.2, 3: 0.15, 4: 0.1}
    machine.free = 4
    machine.work(600)
    assert machine.count.current == 4


def test_nothing_is_tried_while_all_threads_are_busy() -> None:
    machine = Machine(2, {1: 0.1, 2: 0.2}, free=2)
    machine.work(60)
    assert machine.used == machine.count.current == 2


def test_another_kind_of_step_ends_a_trial() -> None:
    machine = Machine(2, {1: 0.1, 2: 0.4}, free=1)
    machine.work(3)
    assert machine.used == 1
    machine.work(1, kind="prompt")
    assert machine.used == 2


def test_one_thread_is_never_changed() -> None:
    machine = Machine(1, {1: 0.1}, free=1)
    machine.work(50)
    assert machine.used == 1
