"""How many threads to compute with: the count follows the load of the machine.

With one thread per core, a single busy core elsewhere stalls every barrier of a step, and fewer
threads are faster. Threads that wait for one another use less processor time than they could: then
one fewer is tried, and kept when it is better. One more is tried now and then.
"""

from collections import deque
from collections.abc import Callable
from statistics import median

BETTER = 0.93
MUCH_WORSE = 1.5
FULLY_USED = 0.85
FIRST_PAUSE_S = 2.0
LONGEST_PAUSE_S = 30.0


class ThreadCount:
    def __init__(self, most: int, apply: Callable[[int], None]) -> None:
        self.current = most
        self._most = most
        self._apply = apply
        self._recent: deque[tuple[float, float]] = deque(maxlen=5)
        self._kind: object = None
        self._trial: int | None = None
        self._trial_times: list[float] = []
        self._reference = 0.0
        self._next_at = 0.0
        self._pause_s = FIRST_PAUSE_S

    def note(self, kind: object, seconds: float, used_s: float, now: float) -> None:
        """After each step: its time, and the processor time all threads used in it.

        Only steps of the same kind (streams, prompt tokens) are compared.
        """
        if self._most < 2:
            return
        if kind != self._kind:
            self._kind = kind
            self._recent.clear()
            if self._trial is not None:
                self._end_trial(now, keep=False)
        if self._trial is None:
            self._watch(seconds, used_s / (seconds * self.current), now)
        else:
            self._judge(seconds, now)

    def _watch(self, seconds: float, used_share: float, now: float) -> None:
        self._recent.append((seconds, used_share))
        if len(self._recent) < 3 or now < self._next_at:
            return
        usual = median(step for step, _ in self._recent)
        if self.current > 1 and median(share for _, share in self._recent) < FULLY_USED:
            self._begin_trial(usual, self.current - 1)
        elif self.current < self._most:
            self._begin_trial(usual, self.current + 1)

    def _begin_trial(self, usual: float, count: int) -> None:
        self._reference = usual
        self._trial = count
        self._trial_times = []
        self._apply(count)

    def _judge(self, seconds: float, now: float) -> None:
        self._trial_times.append(seconds)
        if seconds > MUCH_WORSE * self._reference or len(self._trial_times) >= 3:
            self._end_trial(now, keep=median(self._trial_times) < BETTER * self._reference)

    def _end_trial(self, now: float, *, keep: bool) -> None:
        assert self._trial is not None
        if keep:
            self.current = self._trial
            self._pause_s = FIRST_PAUSE_S
        else:
            self._apply(self.current)
            self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 1.6)
        self._trial = None
        self._recent.clear()
        self._next_at = now + self._pause_s
