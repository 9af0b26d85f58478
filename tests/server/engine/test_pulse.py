"""When a worker counts as hung."""

import os

from server.engine.pulse import Limits, Pulse

LIMITS = Limits(tick_s=1, halted_s=2, silent_s=5, step_s=8, load_s=6)


def ticks(pulse: Pulse, count: int) -> list[str]:
    return [pulse.tick() for _ in range(count)]


def test_a_load_may_take_as_long_as_it_gets_on() -> None:
    pulse = Pulse(os.getpid(), LIMITS)
    for done in (0.1, 0.2, 0.3):
        assert pulse.loading(done)
        assert ticks(pulse, 5) == [""] * 5
    assert not pulse.loading(0.3)
    assert pulse.tick() == "loading made no progress for 6 s"


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
