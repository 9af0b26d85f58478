"""The content of a chart, apart from how it is drawn, and its form as ECharts options."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, get_args

from app.look.translate import numeral, tr
from server.artifacts import (
    LONGEST_LABEL,
    MOST_ROWS,
    MOST_SERIES,
    ROUND,
    Kind,
    chart_option,
    kind_of,
    markdown_table,
)
from server.chat import Json
from server.events import Artifact
from server.system.limits import one_line

KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: tuple[float | None, ...]

    def known(self) -> list[tuple[int, float]]:
        """Returns the index and the value of each number that is known."""
        return [(at, value) for at, value in enumerate(self.values) if value is not None]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart. `labels` are under the axis or name the slices; each series has a value for each."""

    kind: Kind
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    title: str = ""
    across: str = ""
    is_log: bool = False
    is_stacked: bool = False
    places: tuple[float, ...] = ()
    """The position of each label on a numeric axis; empty if the axis is not numeric."""

    @property
    def is_round(self) -> bool:
        return self.kind in ROUND


def number(value: float) -> str:
    """Formats a number briefly: 1,250 or 3.4 M."""
    size = abs(value)
    if size and (size >= 1e15 or size < 1e-4):
        return numeral(value, ".2g")
    for least, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if size >= least:
            return f"{numeral(value / least, ',.4g')} {unit}"
    if size >= 1000:
        return numeral(value, ",.0f")
    return numeral(value, ".4g")


def kind_words(figure: Figure) -> str:
    return {
        "line": tr("Line chart"),
        "bar": tr("Bar chart"),
        "scatter": tr("Scatter chart"),
        "pie": tr("Pie chart"),
        "donut": tr("Ring chart"),
    }[figure.kind]


def describe(figure: Figure) -> str:
    """Describes the chart for a person who does not see it."""
    count = len(figure.labels)
    parts = [f"{kind_words(figure)}: {figure.title}." if figure.title else kind_words(figure) + "."]
    if figure.is_round:
        slices = zip(figure.labels, shares(figure), strict=True)
        told = ", ".join(f"{label} {numeral(share, '.0%')}" for label, share in slices)
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
    """Returns the label and the values at one place."""
    lines = [figure.labels[at]]
    for series in figure.series:
        value = series.values[at]
        shown = "-" if value is None else numeral(value, ",.6g")
        share = f"  ({numeral(shares(figure)[at], '.1%')})" if figure.is_round else ""
        lines.append(f"{series.name}: {shown}{share}")
    return "\n".join(lines)


def shares(figure: Figure) -> list[float]:
    """Returns each slice's share of the whole; 0 for a value that is not positive."""
    values = [max(value or 0.0, 0.0) for value in figure.series[0].values]
    whole = math.fsum(values)
    return [value / whole if whole else 0.0 for value in values]


LANGUAGE = "echarts"
MOST_TABLE_ROWS = 50
LARGEST, SMALLEST = 1e300, 1e-300
"""The range of numbers whose sums and differences do not overflow or vanish."""
_OPENING = re.compile(rf"^```{LANGUAGE}[ \t]*\n", re.MULTILINE)
_CLOSING = re.compile(r"\n```[ \t]*$", re.MULTILINE)
_OPENED = re.compile(rf"^```{LANGUAGE}[ \t]*(?:\n(?:(?!^```).)*)?\Z", re.MULTILINE | re.DOTALL)


def parts(text: str) -> list[str | Figure]:
    """Splits an answer into texts and figures. Leaves out a chart that is not complete yet."""
    found: list[str | Figure] = []
    end = 0
    for fence in _fences(text):
        figure = _parsed(fence.content)
        if figure is not None:
            found += [text[end : fence.start].strip("\n"), figure]
            end = fence.end
    rest = _OPENED.sub("", text[end:])
    found.append(rest.strip("\n") if found else rest)
    return [part for part in found if not isinstance(part, str) or part.strip()]


def without_charts(text: str) -> str:
    """Returns the text for the model, which reads the numbers in the table beside the chart."""
    found, end = [], 0
    for fence in _fences(text):
        found.append(text[end : fence.start].strip("\n"))
        end = fence.end
    if not found:
        return text
    found.append(text[end:].strip("\n"))
    return "\n\n".join(part for part in found if part)


class _Fence(NamedTuple):
    start: int
    end: int
    content: str


def _fences(text: str) -> Iterator[_Fence]:
    """Yields the charts in a text, by two patterns: a single one would be quadratic."""
    at = 0
    while (opening := _OPENING.search(text, at)) and (
        closing := _CLOSING.search(text, opening.end())
    ):
        content = text[opening.end() : closing.start()]
        yield _Fence(opening.start(), closing.end(), content)
        at = closing.end()


def written(made: Artifact) -> str:
    """Returns a chart or table as text for an answer, so that it is saved with the chat."""
    if made.kind == "text":
        return str(made.content.get("text", ""))
    every = _every_row(made.content.get("rows"))
    rows = every[:MOST_ROWS]
    if made.kind == "table" and rows:
        return _table(every)
    option = made.content.get("option") or _option(made.name, rows, made.content.get("chart"))
    if not isinstance(option, dict) or figure_of(option) is None:
        return _table(every) if every else ""
    return f"```{LANGUAGE}\n{json.dumps(option, ensure_ascii=False)}\n```"


def figure_of(option: Any) -> Figure | None:
    """Returns the figure of an ECharts option; None if nothing in it can be drawn."""
    try:
        return _figure(option)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def _figure(option: Json) -> Figure | None:
    rows = _every_row(option["dataset"]["source"])[:MOST_ROWS]
    listed = [one for one in option["series"][:MOST_SERIES] if one.get("type") in KINDS]
    if not rows or not listed:
        return None
    first = listed[0]
    encode = first.get("encode") or {}
    across = str(encode.get("x") or encode.get("itemName") or next(iter(rows[0])))
    columns = [_column(one, across, rows[0]) for one in listed]
    kind = kind_of(first)
    series = tuple(
        Series(_label(one.get("name") or name), tuple(_number(row.get(name)) for row in rows))
        for one, name in zip(listed, columns, strict=True)
    )
    if not any(one.known() for one in series):
        return None
    made = Figure(
        cast(Kind, kind),
        tuple(_label(row.get(across)) for row in rows),
        series[:1] if kind in ROUND else series,
        title=_label((option.get("title") or {}).get("text", "")),
        across=_label((option.get("xAxis") or {}).get("name") or across),
        is_log=(option.get("yAxis") or {}).get("type") == "log",
        is_stacked=bool(first.get("stack")),
        places=_places(option, kind, [row.get(across) for row in rows]),
    )
    return _with_slices(made) if made.is_round else made


def _with_slices(figure: Figure) -> Figure | None:
    """Returns the figure with its positive slices only; None if there are none."""
    kept = [
        (label, value)
        for label, value in zip(figure.labels, figure.series[0].values, strict=True)
        if value is not None and value > 0
    ]
    if not kept:
        return None
    series = Series(figure.series[0].name, tuple(value for _, value in kept))
    labels = tuple(label for label, _ in kept)
    return Figure(figure.kind, labels, (series,), figure.title, figure.across)


def _column(series: Json, across: str, row: Json) -> str:
    encode = series.get("encode") or {}
    named = encode.get("y") or encode.get("value") or series.get("name")
    return str(named) if named in row else next((name for name in row if name != across), across)


def _places(option: Json, kind: str, cells: Sequence[Any]) -> tuple[float, ...]:
    numbers = [_number(cell) for cell in cells]
    wanted = kind == "scatter" or (option.get("xAxis") or {}).get("type") == "value"
    known = tuple(one for one in numbers if one is not None)
    return known if wanted and len(known) == len(numbers) else ()


def _option(title: str, rows: list[Json], chart: Any) -> Json | None:
    """Returns an ECharts option for rows whose columns are named, such as OpenBB's."""
    if not rows or not isinstance(chart, dict):
        return None
    kind, x, ys = chart.get("kind"), chart.get("x"), chart.get("y")
    ys = [ys] if isinstance(ys, str) else ys
    if not isinstance(ys, list) or not ys:
        return None
    return chart_option(cast(Kind, kind), title, rows, cast(str, x), ys)


def _parsed(text: str) -> Figure | None:
    try:
        return figure_of(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _every_row(given: Any) -> list[Json]:
    listed = given if isinstance(given, list) else []
    return [row for row in listed if isinstance(row, dict) and row]


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    if not abs(cell) <= LARGEST:
        return None
    return float(cell) if abs(cell) >= SMALLEST else 0.0


def _label(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else one_line(str(cell))[:LONGEST_LABEL]


def _table(rows: list[Json]) -> str:
    shown = rows[:MOST_TABLE_ROWS]
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [markdown_table(names, ([row.get(name) for name in names] for row in shown), _label)]
    if more := len(rows) - len(shown):
        words = tr("1 more row") if more == 1 else tr("{count} more rows")
        lines += ["", words.format(count=numeral(more))]
    return "\n".join(lines)
