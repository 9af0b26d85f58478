"""Whether a worker is alive and getting on, judged by what is heard from it between ticks."""

from dataclasses import dataclass

import psutil

HALTED = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
"""The second is how it looks while a tracer watches."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a worker may be silent before it counts as hung.

    Counted in ticks of our own loop: a machine that slept, or a loop that was late, is not held
    against the worker.
    """

    tick_s: float = 0.5
    halted_s: float = 1.5
    silent_s: float = 15.0
    step_s: float = 120.0
    load_s: float = 60.0
    quit_s: float = 0.9


class Pulse:
    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid = pid
        self._limits = limits
        self._loaded = False
        self._progress = -1.0
        self._steps = -1
        self._quiet_ticks = 0
        self._stuck_ticks = 0

    def loaded(self) -> None:
        self._loaded = True
        self._quiet_ticks = self._stuck_ticks = 0

    def loading(self, done: float) -> bool:
        """Whether this is progress: saying the same again is none."""
        if done <= self._progress:
            return False
        self._progress = done
        self._quiet_ticks = 0
        return True

    def heard(self) -> None:
        if self._loaded:
            self._quiet_ticks = 0

    def stepped(self) -> None:
        self._stuck_ticks = 0

    def pong(self, steps: int, running: int) -> None:
        """The answer to the ping of one tick."""
        self._stuck_ticks = self._stuck_ticks + 1 if running and steps == self._steps else 0
        self._steps = steps

    def tick(self) -> str:
        """What is wrong, as a clause; empty if nothing is."""
        self._quiet_ticks += 1
        limits = self._limits
        quiet_s = self._quiet_ticks * limits.tick_s
        if quiet_s >= limits.halted_s and _is_halted(self._pid):
            return "it was halted by a signal and did not go on"
        if not self._loaded:
            late = quiet_s >= limits.load_s
            return f"loading made no progress for {limits.load_s:g} s" if late else ""
        if quiet_s >= limits.silent_s:
            return f"it did not respond for {limits.silent_s:g} s"
        if self._stuck_ticks * limits.tick_s >= limits.step_s:
            return f"it made no progress on an answer for {limits.step_s:g} s"
        return ""


def _is_halted(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() in HALTED
    except psutil.Error:
        return False
