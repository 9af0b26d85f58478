"""A row of the proof: a promise, its limit, and the measurement that shows whether it is kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.prove.stage import Stage


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, and whether the limit is kept."""

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
    """Runs the same script against llama.cpp's own server. Its figure is shown, but not judged."""
    lasts: bool = False
    """Whether it takes hours of little work in the full form, and so runs beside the others."""
    alone: bool = False
    """Whether it is about short times. In the full form it runs when others have ended, and lasting
    rows are then halted."""
    beside: Literal["", "apart", "waits"] = ""
    """How it runs beside others, one after the other with rows of its kind.

    "apart": it has its own processes, and only limits of processor time. "waits": it sleeps most of
    the time, and is judged by figures that the machine's load does not change.
    """


@dataclass(frozen=True, slots=True)
class NotOurs:
    """A row of the list that cannot apply, with the reason."""

    key: str
    what: str
    reason: str


def share(good: int, of: int, what: str) -> Figure:
    """Returns a figure that holds if all are good and there were any."""
    return Figure(f"{good} of {of} {what}", good == of > 0)
