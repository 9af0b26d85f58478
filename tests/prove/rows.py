"""A row of the proof: a promise, its limit, and the measurement that shows it or does not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.prove.stage import Stage


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, and whether it keeps the limit."""

    text: str
    held: bool


Measure = Callable[[Stage], Figure]


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    promise: str
    limit: str
    measure: Measure
    peer: Measure | None = None
    """The same script against llama.cpp's own server; its figure is told, not judged."""
    lasts: bool = False
    """In full it takes hours of little work, and so runs beside the others."""
    alone: bool = False
    """About a moment's time: in full, what lasts is halted meanwhile."""
    beside: Literal["", "apart", "waits"] = ""
    """In the short form it runs beside the others, in a line of its own with those of its kind:

    apart: it has its own processes, and no limit but of the processor's time. waits: it sleeps most
    of the time, and is judged by what the load of the machine does not change.
    """


@dataclass(frozen=True, slots=True)
class NotOurs:
    """A row of the list that cannot apply, and why."""

    key: str
    what: str
    reason: str


def share(good: int, of: int, what: str) -> Figure:
    """All of them, and there were some."""
    return Figure(f"{good} of {of} {what}", good == of > 0)
