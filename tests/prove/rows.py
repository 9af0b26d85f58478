"""A row of the proof: a promise, its limit, and the measurement that shows it or does not."""

from collections.abc import Callable
from dataclasses import dataclass

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
    """About a moment's time: what lasts is halted meanwhile."""


@dataclass(frozen=True, slots=True)
class NotOurs:
    """A row of the list that cannot apply, and why."""

    key: str
    what: str
    reason: str


def share(good: int, of: int, what: str) -> Figure:
    """All of them, and there were some."""
    return Figure(f"{good} of {of} {what}", good == of > 0)
