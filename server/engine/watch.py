"""Judges whether a worker is alive and makes progress, and says what is wrong if not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import psutil

from server.sentences import Sentence
from server.system.processes import processor_s

HALTED = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
"""The states of a process that a signal has stopped; the second one is under a tracer."""
Health = Literal["ok", "busy", "not answering"]
COMPUTING_SHARE = 0.1
"""A share of a core. A worker that computes uses more; a worker that is stuck uses far less."""
LOADING_SHARE = 0.002
"""A share of a core for loads: one may get very little of a busy machine, but a load that is stuck
uses next to nothing."""


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """How long a worker may be silent before it counts as hung.

    It is counted in ticks of our own loop, so that neither a sleeping machine nor a late loop is
    held against the worker.
    """

    tick_s: float = 0.5
    rest_s: float = 30.0
    """The time between two pings while the worker has nothing to do."""
    halted_s: float = 1.5
    """After this silence, the process is halted if it was so a tick before: a signal may have
    stopped it."""
    noticed_s: float = 5.0
    """After this time without an answer or progress, `health` shows it."""
    silent_s: float = 15.0
    step_s: float = 90.0
    """How long a step may take for one operation, or an errand for one part."""
    computing_s: float = 900.0
    """Replaces `step_s` during work that reports no progress, such as a large picture, and `load_s`
    while a load still computes, as on a machine that is busy with other things."""
    load_s: float = 60.0
    quit_s: float = 0.9


class Stall:
    """Counts the ticks in which one kind of work made no progress."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._done = -1
        self._since_s = 0.0
        self.ticks = 0
        self.is_unseen = False
        """Whether it may make progress that is not reported."""

    def hear(self, done: int, in_hand: int, *, is_unseen: bool = False) -> None:
        self.ticks = self.ticks + 1 if in_hand and done == self._done else 0
        self._done = done
        self.is_unseen = is_unseen
        if self.ticks == 1:
            self._since_s = processor_s(self._pid)

    def may_take(self, stuck_s: float, limits: WatchLimits) -> float:
        """Returns how many seconds it may go without progress, after `stuck_s` without any."""
        if not self.is_unseen or stuck_s < limits.step_s:
            return limits.step_s
        used_s = processor_s(self._pid) - self._since_s
        return limits.computing_s if used_s >= COMPUTING_SHARE * stuck_s else limits.step_s


class Pulse:
    """The signs of life of a worker, as its link reports them, and the verdict at each tick."""

    def __init__(self, pid: int, limits: WatchLimits) -> None:
        self._pid = pid
        self._limits = limits
        self._loaded = False
        self._progress = -1.0
        self._quiet_ticks = 0
        self._used_s = 0.0
        """The processor time that the worker had used when it was last asked for while loading."""
        self._asked_s = 0.0
        self._halted_after: tuple[int, int] | None = None
        """How often it had run when it was found halted; None if it was not."""
        self._steps = Stall(pid)
        self._lanes: list[Stall] = []
        self._in_hand = 0

    def loaded(self) -> None:
        self._loaded = True
        self._quiet_ticks = self._steps.ticks = 0
        self._lanes = []

    def trying(self) -> None:
        """Notes that the worker tries its backends, in processes that it ends by itself."""
        if self._progress < 0:
            self._quiet_ticks = 0

    def loading(self, done: float) -> bool:
        """Notes how far a load is. Returns whether it has advanced since the last call."""
        if done <= self._progress:
            return False
        self._progress = done
        self._quiet_ticks = 0
        return True

    def heard(self) -> None:
        if self._loaded:
            self._quiet_ticks = 0

    @property
    def is_calm(self) -> bool:
        """Whether the worker was heard since the last tick and has no work."""
        return not (self._quiet_ticks or self._in_hand)

    def stepped(self) -> None:
        self._steps.ticks = 0

    @property
    def health(self) -> Health:
        """The state to display. It changes long before the worker counts as hung."""
        noticed = self._limits.noticed_s / self._limits.tick_s
        if self._quiet_ticks >= noticed:
            return "not answering"
        is_stuck = any(work.ticks >= noticed for work in (self._steps, *self._lanes))
        return "busy" if is_stuck else "ok"

    def pong(
        self,
        steps: int,
        running: int,
        lanes: Sequence[tuple[int, int]] = (),
        *,
        beats: int | None = None,
        is_unseen: bool = False,
    ) -> None:
        """Takes the answer to a ping.

        `beats` counts the progress inside steps; None if that is not visible. `lanes` holds, for
        work outside of steps, how much is in hand and how much was done.
        """
        self._in_hand = running + sum(in_hand for in_hand, _ in lanes)
        is_unseen = is_unseen or beats is None
        self._steps.hear(steps + (beats or 0), running, is_unseen=is_unseen)
        self._lanes += [Stall(self._pid) for _ in lanes[len(self._lanes) :]]
        for stall, (in_hand, done) in zip(self._lanes, lanes, strict=False):
            stall.hear(done, in_hand)

    def _may_load_s(self, quiet_s: float) -> float:
        """Returns how many seconds a load may make no progress, after `quiet_s` without any.

        Whether it still computes is asked again after each `load_s`: what it used before it got
        stuck, as for imports, does not count for long.
        """
        limits = self._limits
        if self._quiet_ticks == 1:
            self._used_s, self._asked_s = processor_s(self._pid), 0.0
        since_s = quiet_s - self._asked_s
        if since_s < limits.load_s:
            return limits.computing_s
        used_s = processor_s(self._pid)
        is_computing = used_s - self._used_s >= LOADING_SHARE * since_s
        self._used_s, self._asked_s = used_s, quiet_s
        return limits.computing_s if is_computing else limits.load_s

    def tick(self) -> str:
        """Counts a tick. Returns what is wrong, as a clause; empty if nothing is."""
        self._quiet_ticks += 1
        limits = self._limits
        quiet_s = self._quiet_ticks * limits.tick_s
        is_looked_at = quiet_s >= limits.halted_s - limits.tick_s
        if is_looked_at and self._stays_halted():
            return Sentence("it was halted by a signal and did not go on")
        if not self._loaded:
            most_s = self._may_load_s(quiet_s)
            late = quiet_s >= most_s
            return Sentence("loading made no progress for {0:g} s", most_s) if late else ""
        if quiet_s >= limits.silent_s:
            return Sentence("it did not respond for {0:g} s", limits.silent_s)
        for work in (self._steps, *self._lanes):
            stuck_s = work.ticks * limits.tick_s
            most_s = work.may_take(stuck_s, limits)
            if stuck_s >= most_s:
                return Sentence("it made no progress on an answer for {0:g} s", most_s)
        return ""

    def _stays_halted(self) -> bool:
        """Whether the process is halted as it was at the last look, and did not run in between.

        One that a tracer follows is halted for a moment at each of its calls.
        """
        before = self._halted_after
        try:
            process = psutil.Process(self._pid)
            is_halted = process.status() in HALTED
            self._halted_after = process.num_ctx_switches() if is_halted else None
        except psutil.Error:
            self._halted_after = None
        return self._halted_after is not None and self._halted_after == before
