"""When a worker counts as hung."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from time import process_time

import psutil
import pytest

from server.engine.watch import HALTED, Pulse, WatchLimits
from tests.kit.until import until

LIMITS = WatchLimits(tick_s=1, halted_s=2, silent_s=5, step_s=8, load_s=6)


def ticks(pulse: Pulse, count: int) -> list[str]:
    return [pulse.tick() for _ in range(count)]


def test_a_load_may_take_as_long_as_it_gets_on() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    for done in (0.1, 0.2, 0.3):
        assert pulse.loading(done)
        assert ticks(pulse, 5) == [""] * 5
    assert not pulse.loading(0.3)
    assert pulse.tick() == "loading made no progress for 6 s"


def test_trials_before_a_load_are_no_hang_and_after_it_began_they_say_nothing() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    for _ in range(3):
        pulse.trying()
        assert ticks(pulse, 5) == [""] * 5
    pulse.loading(0.1)
    for _ in range(5):
        pulse.trying()
        assert pulse.tick() == ""
    assert pulse.tick() == "loading made no progress for 6 s"


def test_a_load_that_computes_on_a_busy_machine_may_be_silent_for_longer() -> None:
    pulse = Pulse(os.getpid(), WatchLimits(tick_s=0.1, load_s=0.8, computing_s=2))
    assert pulse.loading(0.9)
    assert ticks(pulse, 2) == [""] * 2
    compute(0.1)
    assert ticks(pulse, 7) == [""] * 7
    compute(0.1)
    assert ticks(pulse, 11) == [*[""] * 10, "loading made no progress for 2 s"]
    assert pulse.loading(1.0)
    assert ticks(pulse, 7) == [""] * 7


def test_what_a_load_computed_before_it_got_stuck_does_not_keep_it() -> None:
    pulse = Pulse(os.getpid(), WatchLimits(tick_s=0.1, load_s=0.8, computing_s=900))
    assert ticks(pulse, 2) == [""] * 2
    compute(0.1)
    found = ticks(pulse, 30)
    assert found[:8] == [""] * 8
    assert "loading made no progress for 0.8 s" in found


def test_silence_is_a_hang_and_any_word_ends_it() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    pulse.loaded()
    assert ticks(pulse, 4) == [""] * 4
    pulse.heard()
    assert ticks(pulse, 5) == [""] * 4 + ["it did not respond for 5 s"]


def test_a_worker_that_answers_but_does_not_step_is_stuck() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    pulse.loaded()
    complaints = []
    for _ in range(10):
        pulse.heard()
        pulse.pong(7, 1)
        complaints.append(pulse.tick())
    assert complaints == [""] * 8 + ["it made no progress on an answer for 8 s"] * 2


def test_an_idle_worker_is_never_stuck() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    pulse.loaded()
    for _ in range(20):
        pulse.heard()
        pulse.pong(7, 0)
        assert pulse.tick() == ""


def test_a_worker_stuck_outside_of_a_step_is_noticed_though_its_steps_get_on() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    pulse.loaded()
    complaints = []
    for steps in range(9):
        pulse.heard()
        pulse.pong(steps, 1, [(2, 3)])
        complaints.append(pulse.tick())
    assert complaints == [""] * 8 + ["it made no progress on an answer for 8 s"]


def test_many_errands_one_after_the_other_are_no_hang() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    pulse.loaded()
    for done in range(20):
        pulse.heard()
        pulse.pong(7, 0, [(2, done)])
        assert pulse.tick() == ""


LONG_STEP = WatchLimits(tick_s=0.1, step_s=0.8, computing_s=2)


def told_without_a_step(pulse: Pulse, count: int) -> list[str]:
    """It answers each ping, but the answer under way does not get on."""
    complaints = []
    for _ in range(count):
        pulse.pong(7, 1)
        complaints.append(pulse.tick())
    return complaints


def compute(seconds: float) -> None:
    """The test's own process stands for the worker."""
    until_s = process_time() + seconds
    while process_time() < until_s:
        pass


def test_a_worker_that_computes_one_long_step_is_stuck_only_when_it_is_very_long() -> None:
    """A large picture, or many tokens of a large model, on a slow processor."""
    pulse = Pulse(os.getpid(), LONG_STEP)
    pulse.loaded()
    assert told_without_a_step(pulse, 2) == [""] * 2
    compute(0.3)
    told = told_without_a_step(pulse, 19)
    assert told == [""] * 18 + ["it made no progress on an answer for 2 s"]


def test_what_it_computed_before_the_step_does_not_count() -> None:
    pulse = Pulse(os.getpid(), LONG_STEP)
    pulse.loaded()
    compute(0.3)
    told = told_without_a_step(pulse, 9)
    assert told == [""] * 8 + ["it made no progress on an answer for 0.8 s"]


def test_a_step_that_spins_is_stuck_however_much_it_computes() -> None:
    pulse = Pulse(os.getpid(), LONG_STEP)
    pulse.loaded()
    complaints = []
    for _ in range(9):
        compute(0.02)
        pulse.pong(7, 1, beats=40)
        complaints.append(pulse.tick())
    assert complaints == [""] * 8 + ["it made no progress on an answer for 0.8 s"]


def test_a_slow_step_whose_operations_get_on_is_never_stuck() -> None:
    pulse = Pulse(os.getpid(), LONG_STEP)
    pulse.loaded()
    for beats in range(40):
        pulse.pong(7, 1, beats=beats)
        assert pulse.tick() == ""


def test_a_picture_that_is_encoded_may_take_long_while_it_computes() -> None:
    pulse = Pulse(os.getpid(), LONG_STEP)
    pulse.loaded()
    complaints = []
    for _ in range(20):
        compute(0.02)
        pulse.pong(7, 1, beats=40, is_unseen=True)
        complaints.append(pulse.tick())
    assert complaints == [""] * 20


def test_each_lane_is_watched_by_itself() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    pulse.loaded()
    complaints = []
    for done in range(9):
        pulse.heard()
        pulse.pong(done, 1, [(1, done), (1, 4), (0, 2)])
        complaints.append(pulse.tick())
    assert complaints == [""] * 8 + ["it made no progress on an answer for 8 s"]
    assert pulse.health == "busy"


def test_it_is_told_soon_that_a_worker_does_not_answer() -> None:
    pulse = Pulse(os.getpid(), WatchLimits(tick_s=1))
    pulse.loaded()
    ticks(pulse, 4)
    assert pulse.health == "ok"
    ticks(pulse, 1)
    assert pulse.health == "not answering"
    pulse.heard()
    assert pulse.health == "ok"


HALTED_BY_A_SIGNAL = "it was halted by a signal and did not go on"


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """Runs as often as it gets a line."""
    command = [sys.executable, "-c", "while True: input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


async def test_a_worker_counts_as_halted_if_it_did_not_run_since_the_last_look(
    child: "subprocess.Popen[bytes]",
) -> None:
    """Under a tracer a worker is halted at each of its calls, and runs in between."""
    process, pulse = psutil.Process(child.pid), Pulse(child.pid, WatchLimits(tick_s=1, halted_s=2))
    assert child.stdin
    for _ in range(4):
        ran = process.num_ctx_switches()
        child.stdin.write(b"\n")
        child.stdin.flush()
        await until(partial(has_run_since, process, ran))
        child.send_signal(signal.SIGSTOP)
        await until(lambda: process.status() in HALTED)
        assert pulse.tick() == ""
        child.send_signal(signal.SIGCONT)
        await until(lambda: process.status() not in HALTED)
    child.send_signal(signal.SIGSTOP)
    await until(lambda: process.status() in HALTED)
    assert ticks(pulse, 2) == ["", HALTED_BY_A_SIGNAL]


def has_run_since(process: psutil.Process, switches: object) -> bool:
    return process.num_ctx_switches() != switches
