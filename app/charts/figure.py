"""What a chart shows: its numbers, told apart from how they are drawn."""

import math
from dataclasses import dataclass
from typing import get_args

from app.look.translate import tr
from server.artifacts import ROUND, Kind

KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: tuple[float | None, ...]

    def known(self) -> list[tuple[int, float]]:
        """Where there is a number, and which."""
        return [(at, value) for at, value in enumerate(self.values) if value is not None]


@dataclass(frozen=True, slots=True)
class Figure:
    """`labels` stand under the axis, or name the slices; one value of each series for each."""

    kind: Kind
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    title: str = ""
    across: str = ""
    is_log: bool = False
    is_stacked: bool = False
    places: tuple[float, ...] = ()
    """Where each label stands, when the axis is one of numbers."""

    @property
    def is_round(self) -> bool:
        return self.kind in ROUND


def number(value: float) -> str:
    """As short as it can be read: 1,250 or 3.4 M."""
    size = abs(value)
    if size and (size >= 1e15 or size < 1e-4):
        return f"{value:.2g}"
    for least, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if size >= least:
            return f"{value / least:,.4g} {unit}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def kind_words(figure: Figure) -> str:
    return {
        "line": tr("Line chart"),
        "bar": tr("Bar chart"),
        "scatter": tr("Scatter chart"),
        "pie": tr("Pie chart"),
        "donut": tr("Ring chart"),
    }[figure.kind]


def describe(figure: Figure) -> str:
    """The chart for a person who does not see it."""
    count = len(figure.labels)
    parts = [f"{kind_words(figure)}: {figure.title}." if figure.title else kind_words(figure) + "."]
    if figure.is_round:
        slices = zip(figure.labels, shares(figure), strict=True)
        told = ", ".join(f"{label} {share:.0%}" for label, share in slices)
        return " ".join([*parts, f"{told}."])
    first, last = (figure.labels[0], figure.labels[-1]) if count else ("", "")
    spans = tr("{count} points from {first} to {last}.")
    parts.append(spans.format(count=count, first=first, last=last))
    for series in figure.series:
        if known := series.known():
            low, high = (pick(known, key=lambda one: one[1]) for pick in (min, max))
            words = tr("{name}: lowest {low} at {low_at}, highest {high} at {high_at}.")
            parts.append(
                words.format(
                    name=series.name, low=number(low[1]), low_at=figure.labels[low[0]],
                    high=number(high[1]), high_at=figure.labels[high[0]],
                )
            )  # fmt: skip
    return " ".join(parts)


def point_words(figure: Figure, at: int) -> str:
    """What is to be read off at one place."""
    lines = [figure.labels[at]]
    for series in figure.series:
        value = series.values[at]
        shown = "-" if value is None else f"{value:,.6g}"
        share = f"  ({shares(figure)[at]:.1%})" if figure.is_round else ""
        lines.append(f"{series.name}: {shown}{share}")
    return "\n".join(lines)


def shares(figure: Figure) -> list[float]:
    """Each slice's part of the whole; what is not positive has none."""
    values = [max(value or 0.0, 0.0) for value in figure.series[0].values]
    whole = math.fsum(values)
    return [value / whole if whole else 0.0 for value in values]
