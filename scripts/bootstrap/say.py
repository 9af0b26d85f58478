"""The messages of the set-up: plain lines, and a line that is updated on a terminal."""

import sys
import time

EVERY_S = 15.0
"""In seconds, between two progress lines where no line can be updated."""


class SetupFailed(Exception):
    """Ends the set-up with a message that says what to do."""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Ticker:
    """A line with the progress of a long step. It is repeated where it cannot be updated."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._last = self._began
        self._live = sys.stdout.isatty()

    def show(self, detail: str) -> None:
        now = time.monotonic()
        text = " ".join(filter(None, (self._title, detail, "…", duration(now - self._began))))
        if self._live:
            sys.stdout.write(f"\r\x1b[K{text[:100]}")
            sys.stdout.flush()
        elif now - self._last >= EVERY_S:
            self._last = now
            say(text)

    def done(self) -> None:
        if self._live:
            sys.stdout.write("\r\x1b[K")
        say(f"{self._title}: done in {duration(time.monotonic() - self._began)}")
