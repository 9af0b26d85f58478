"""asyncio on Qt's event loop: qasync's sockets with asyncio's own scheduling."""

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer

_WAKE = QEvent.Type(QEvent.registerEventType())
_LONGEST_MS = 2**31 - 1
"""The longest interval of a QTimer, in milliseconds."""
_TIDY_ABOVE = 100
"""The least number of cancelled timers before the heap is tidied."""


class Loop(qasync.QEventLoop):  # type: ignore[misc]
    """An event loop with one queue of ready calls, one heap of timers and one precise QTimer.

    qasync starts a coarse Qt timer for every call. Those fire up to 5 % early, outlive their
    cancellation, and make a hand-over from a thread about twenty times slower than necessary.
    """

    def __init__(self, app: QCoreApplication) -> None:
        self._soon: deque[asyncio.Handle] = deque()
        self._later: list[asyncio.TimerHandle] = []
        self._cancelled_later = 0
        self._awake = False
        super().__init__(app)
        self._waker = _Waker(self._run_soon)
        self._alarm = QTimer()
        self._alarm.setSingleShot(True)
        self._alarm.setTimerType(Qt.TimerType.PreciseTimer)
        self._alarm.timeout.connect(self._run_due)

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._soon.append(handle)
        self._wake()
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + max(0.0, delay), callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        handle._scheduled = True  # type: ignore[attr-defined]
        heapq.heappush(self._later, handle)
        if self._later[0] is handle:
            self._set_alarm()
        return handle

    def time(self) -> float:
        return time.monotonic()

    def close(self) -> None:
        self._alarm.stop()
        self._later.clear()
        super().close()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        # asyncio calls this method by name for each timer, just before the timer is cancelled.
        if self._later and handle is self._later[0]:
            heapq.heappop(self._later)
            self._set_alarm()
            return
        self._cancelled_later += 1
        if self._cancelled_later > max(_TIDY_ABOVE, len(self._later) // 2):
            self._later = [handle for handle in self._later if not handle.cancelled()]
            heapq.heapify(self._later)
            self._cancelled_later = 0

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            QCoreApplication.postEvent(self._waker, QEvent(_WAKE))

    def _set_alarm(self) -> None:
        """Sets the timer for the next call that was not cancelled."""
        while self._later and self._later[0].cancelled():
            heapq.heappop(self._later)
            self._cancelled_later -= 1
        if not self._later:
            self._alarm.stop()
            return
        wait_ms = max(0.0, (self._later[0].when() - self.time()) * 1000)
        self._alarm.start(min(int(wait_ms) + 1, _LONGEST_MS))

    def _run_due(self) -> None:
        now = self.time()
        while self._later and self._later[0].when() <= now:
            handle = heapq.heappop(self._later)
            handle._scheduled = False  # type: ignore[attr-defined]
            self._soon.append(handle)
        self._set_alarm()
        if self._soon:
            self._wake()

    def _run_soon(self) -> None:
        self._awake = False
        try:
            for _ in range(len(self._soon)):
                handle = self._soon.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            if self._soon:
                self._wake()


class _Waker(QObject):
    """Receives the event that runs the ready calls in Qt's loop."""

    def __init__(self, run: Callable[[], None]) -> None:
        super().__init__()
        self._run = run

    def customEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == _WAKE:
            self._run()
