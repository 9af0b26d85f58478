"""Numbers on an axis: round ticks, and where a value stands between them."""

import math
from dataclasses import dataclass

from app.charts.figure import Figure

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_NEAR_ZERO = 0.4
_SAME = 1e-12
"""Of a number: what differs by less cannot be told apart on an axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def part(self, value: float) -> float:
        """0 at the low end, 1 at the high one."""
        low, high = self.low, self.high
        if self.is_log:
            value = math.log10(max(value, low))
            low, high = math.log10(low), math.log10(high)
        return (value - low) / (high - low)


def linear(low: float, high: float, most: int = 6) -> Scale:
    largest = max(abs(low), abs(high))
    if high - low <= _SAME * largest:
        spread = largest / 2 or 1.0
        low, high = low - spread, high + spread
    rough = (high - low) / max(most - 1, 1)
    exponent = math.floor(math.log10(rough))
    power = 10.0**exponent
    step = next(one * power for one in _STEPS if one * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(place * step, 12 - exponent) for place in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def logarithmic(low: float, high: float) -> Scale:
    first = math.floor(math.log10(low) + 1e-9)
    last = max(math.ceil(math.log10(high) - 1e-9), first + 1)
    every = max(1, (last - first) // 6)
    ticks = tuple(10.0**power for power in range(first, last + 1, every))
    return Scale(10.0**first, 10.0**last, ticks, is_log=True)


def upwards(figure: Figure) -> Scale:
    """The axis of values: bars begin at nought, lines where their numbers do."""
    values = [value for series in figure.series for _, value in series.known()]
    if figure.is_stacked:
        values += _heights(figure)
    if figure.is_log and (positive := [value for value in values if value > 0]):
        return logarithmic(min(positive), max(positive))
    low, high = min(values), max(values)
    if figure.kind == "bar" or figure.is_stacked or 0 <= low <= _NEAR_ZERO * high:
        low, high = min(low, 0.0), max(high, 0.0)
    return linear(low, high)


def _heights(figure: Figure) -> list[float]:
    """The tops and bottoms of what is stacked."""
    found = []
    for at in range(len(figure.labels)):
        values = [series.values[at] or 0.0 for series in figure.series]
        found.append(math.fsum(value for value in values if value > 0))
        found.append(math.fsum(value for value in values if value < 0))
    return found
