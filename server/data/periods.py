"""Finds the columns that give the time of a table's rows: dates, years, FY2024, Q1 2024."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from server.data.tables import Cell, Column, Table
from server.language.dates import FAR_FUTURE, FAR_PAST, Span, period, read_slashed
from server.language.ranking import stems
from server.language.words import stem

Grain = Literal["year", "half", "quarter", "month", "day"]
GRAINS: dict[int, Grain] = {12: "year", 6: "half", 3: "quarter", 1: "month", 0: "day"}
MONTHS = {grain: months for months, grain in GRAINS.items()}
DATE_CHARACTERS: dict[Grain, int] = {"day": 10, "month": 7}
"""The characters of an ISO date that a column of this grain keeps."""
YEARS = frozenset(
    map(stem, ("year", "jahr", "geschäftsjahr", "année", "exercice", "año", "年", "年份", "年度"))
)
YEAR_WORDS = YEARS | {"fiscal", "calendar", "financial", "report"}


@dataclass(frozen=True, slots=True)
class Timeline:
    """A column that holds times. `starts` is the ISO date on which each row's time begins. It is
    empty if the column's own cells sort by time."""

    column: str
    grain: Grain
    starts: tuple[str | None, ...] = ()

    @property
    def order(self) -> str:
        """The name of the column to sort by: this one, or the one that `placed_in` adds."""
        return f"{self.column} (start)" if self.starts else self.column

    def fits(self, span: Span, today: date) -> bool:
        """Whether each row lies wholly inside or outside the span. Years do not fit a single
        month."""
        ends = (span.start, span.end if span.end <= today else FAR_FUTURE)
        return all(_begins(day, self.grain) for day in ends)

    def placed_in(self, table: Table) -> Table:
        """Returns the table with the column `order`, so that it can be sorted by time."""
        if not self.starts:
            return table
        columns = (*table.columns, Column(self.order, "date"))
        rows = [(*row, start) for row, start in zip(table.rows, self.starts, strict=True)]
        return Table(table.name, columns, rows, table.cut, table.cut_columns)


def timelines(table: Table) -> list[Timeline]:
    """Returns the columns with times, of one sort only: dates, else years, else texts."""
    return (
        [_dates(table, column) for column in table.of_kind("date")]
        or list(_years(table))
        or [timeline for column in table.of_kind("text") if (timeline := _texts(table, column))]
    )


def _dates(table: Table, column: Column) -> Timeline:
    lengths = {len(str(value)) for value in table.values(column.name) if value is not None}
    return Timeline(column.name, "month" if lengths == {7} else "day")


def _years(table: Table) -> Iterator[Timeline]:
    for column in table.of_kind("number"):
        words = set(stems(column.name))
        if words & YEARS and words <= YEAR_WORDS:
            values = [value for value in table.values(column.name) if value is not None]
            if all(isinstance(value, int) and 1000 <= value <= 9999 for value in values):
                yield Timeline(column.name, "year")


def _texts(table: Table, column: Column) -> Timeline | None:
    """Returns a timeline if every text is a time and all have the same grain, else None."""
    spans = _read_times(table.values(column.name))
    if not spans:
        return None
    grains = {_grain(span) for span in spans if span is not None}
    starts = tuple(span.start.isoformat() if span else None for span in spans)
    return Timeline(column.name, grains.pop(), starts) if len(grains) == 1 else None


def with_days(table: Table) -> Table:
    """Returns the table with days and months of any form as ISO dates, which SQL can compare."""
    found = {
        place: timeline
        for place, column in enumerate(table.columns)
        if column.kind == "text" and (timeline := _texts(table, column))
    }
    lengths = {
        place: DATE_CHARACTERS[timeline.grain]
        for place, timeline in found.items()
        if timeline.grain in DATE_CHARACTERS
    }
    if not lengths:
        return table
    columns = [
        Column(column.name, "date") if place in lengths else column
        for place, column in enumerate(table.columns)
    ]
    rows = [
        tuple(
            (found[place].starts[number] or "")[: lengths[place]] or None
            if place in lengths
            else cell
            for place, cell in enumerate(row)
        )
        for number, row in enumerate(table.rows)
    ]
    return replace(table, columns=tuple(columns), rows=rows)


def _read_times(values: list[Cell]) -> list[Span | None]:
    """Reads each value as a time. Returns an empty list if any value is not a time."""
    known: dict[Cell, Span | None] = {None: None}
    slashed: dict[Cell, tuple[int, int, int]] = {}
    for value in values:
        if value not in known and value not in slashed:
            if (span := period(str(value))) is not None:
                known[value] = span
            elif numbers := read_slashed(str(value)):
                slashed[value] = numbers
            else:
                return []
    days = _read_slashed(slashed)
    if len(days) < len(slashed):
        return []
    known |= days
    return [known[value] for value in values]


def _read_slashed(known: dict[Cell, tuple[int, int, int]]) -> dict[Cell, Span]:
    """Reads dates such as 3/25/2025. A single day above 12 shows the order for all of them. Returns
    {} if the order is not clear or a date does not exist."""
    month_first = any(second > 12 for _, second, _ in known.values())
    if month_first == any(first > 12 for first, _, _ in known.values()):
        return {}
    days: dict[Cell, Span] = {}
    for value, (first, second, year) in known.items():
        month, day = (first, second) if month_first else (second, first)
        try:
            days[value] = Span(date(year, month, day), date(year, month, day))
        except ValueError:
            return {}
    return days


def _grain(span: Span) -> Grain:
    months = (span.end.year - span.start.year) * 12 + span.end.month - span.start.month
    return GRAINS[months] if span.start.day == span.end.day == 1 and months else "day"


def _begins(day: date, grain: Grain) -> bool:
    if grain == "day" or day in (FAR_PAST, FAR_FUTURE, date.max):
        return True
    return day.day == 1 and (day.month - 1) % MONTHS[grain] == 0
