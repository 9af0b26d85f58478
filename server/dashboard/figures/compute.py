"""Numbers computed rather than guessed: a question becomes SQL, its rows become a sentence."""

import math
from dataclasses import dataclass
from datetime import date, timedelta

from server.dashboard.figures.question import Asked, understand
from server.dashboard.figures.statement import to_sql
from server.dashboard.figures.wide import look_up, read_wide, sentence
from server.data.describe import LEAST_DIGITS, MOST_DECIMALS, rounded, short, written
from server.data.sql import Answer, Refused, query, quoted
from server.data.tables import Cell, Column, Table
from server.language.dates import FAR_FUTURE, FAR_PAST, Span

NAMES = {
    "mean": "Average", "median": "Median", "stdev": "Standard deviation", "sum": "Sum of",
    "max": "Highest", "min": "Lowest", "last": "Latest", "first": "First",
}  # fmt: skip
EXTRA_DECIMALS = {"mean": 2, "median": 1, "stdev": 4}
SUM_DIGITS, PERCENT_DIGITS = 12, 2
TOLD_ROWS = 12
TOLD_GROWTHS = 10


@dataclass(frozen=True, slots=True)
class Figure:
    """What was computed: a line for people, its rows, and the SQL that made them."""

    text: str
    rows: list[dict[str, Cell]]
    sql: str
    table: str
    is_whole: bool = True
    """Nothing was left out: no row of the table, none of what was found."""


def compute(question: str, table: Table, today: date, about: str = "") -> Figure | None:
    """`about` are words that say what was read, such as the symbol of a widget."""
    if not table.rows:
        return None
    if read_wide(table) is not None:
        return _of_report(question, table, about)
    asked = understand(question, table, today, about)
    return _of_asked(asked, table) if asked and not asked.left else None


def _of_asked(asked: Asked, table: Table) -> Figure | None:
    try:
        sql, parameters = to_sql(asked, table)
        whole = asked.line.placed_in(table) if asked.line else table
        answer = query({"data": _needed(whole, sql)}, sql, parameters)
    except Refused:
        return None
    values = [value for row in answer.rows for value in row]
    if all(value is None for value in values):
        return None
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return None
    rows = _rounded(asked, answer, table)
    is_whole = not table.cut and answer.total is not None and answer.total <= _told(asked)
    return Figure(_sentence(asked, answer, rows, table), rows, sql, table.name, is_whole)


def _of_report(question: str, table: Table, about: str) -> Figure | None:
    """What a few cells of a report say."""
    found = look_up(question, table, about)
    if found is None:
        return None
    names = dict.fromkeys(quoted(table.columns[cell.place].name) for cell in found.cells)
    numbers = dict.fromkeys(str(cell.number + 1) for cell in found.cells)
    sql = f"SELECT {', '.join(names)} FROM data WHERE rowid IN ({', '.join(numbers)})"
    rows: list[dict[str, Cell]] = [
        {"name": cell.label, "year": cell.year, "value": cell.value} for cell in found.cells
    ]
    return Figure(sentence(found), rows, sql, table.name, is_whole=not table.cut)


def _needed(table: Table, sql: str) -> Table:
    """Only the columns that the query names: filling in all of a big table takes seconds."""
    named = [place for place, one in enumerate(table.columns) if quoted(one.name) in sql] or [0]
    columns = tuple(table.columns[place] for place in named)
    return Table(table.name, columns, [tuple(row[place] for place in named) for row in table.rows])


def first_of(shown: int, total: int | None) -> str:
    """Empty where all is shown."""
    if total is None:
        return f"first {shown} of many"
    return f"first {shown} of {total}" if shown < total else ""


def _told(asked: Asked) -> int:
    return TOLD_GROWTHS if asked.operation == "growth" else TOLD_ROWS


def _sentence(asked: Asked, answer: Answer, rows: list[dict[str, Cell]], table: Table) -> str:
    about = _about(asked, table)
    told = rows[: _told(asked)]
    part = first_of(len(told), answer.total)
    of_table = {one.name: one for one in table.columns}
    if asked.operation == "growth":
        shown = of_table[asked.column or ""]
        text = "; ".join(_growth_text(shown, row, about) for row in told)
        return f"{part.capitalize()}: {text}" if part else text
    name, column = NAMES.get(asked.operation, ""), asked.column or "count"
    if asked.operation in ("count", "distinct"):
        column = "count"
        what = f"different {asked.column}" if asked.column else "rows"
        name = f"Number of {what}"
    title = name if column == "count" else f"{name} {column}".strip()
    title += about + (f" ({part})" if part else "")
    shown = of_table.get(column) or Column("count", "number")
    return f"{title}: " + "; ".join(_row_text(row, shown) for row in told)


def _growth_text(column: Column, row: dict[str, Cell], about: str) -> str:
    entity = next((f" of {short(value)}" for key, value in row.items() if key not in _ENDS), "")
    first, last = (_written(row[name], column) for name in ("first", "last"))
    ends = f"from {first} to {last}"
    told = ends if row["percent"] is None else f"{row['percent']}% ({ends})"
    return f"Change of {column.name}{entity}{about}: {told}"


_ENDS = ("first", "last", "percent")


def _row_text(row: dict[str, Cell], column: Column) -> str:
    others = ", ".join(short(value) for key, value in row.items() if key != column.name and value)
    value = _written(row[column.name], column)
    return f"{value} ({others})" if others else value


def _written(value: Cell, column: Column) -> str:
    if isinstance(value, int | float):
        return written(value, column.unit, is_scaled=column.is_scaled)
    return str(value)


def _about(asked: Asked, table: Table) -> str:
    named = [short(value) for one in asked.filters for value in one.values]
    about = f" ({', '.join(named[:6])})" if named else ""
    if asked.span and asked.line:
        about += f" {span_text(asked.span, is_years=asked.line.grain == 'year')}"
    if table.cut:
        rows = len(table.rows)
        about += f" (over the first {rows} of {rows + table.cut} rows)"
    return about


def span_text(span: Span, *, is_years: bool) -> str:
    """From its first to its last day; a fiscal year is told by its number alone."""
    end = span.end - timedelta(days=1)
    first, last = (f"{day.year:04d}" if is_years else day.isoformat() for day in (span.start, end))
    if span.start == FAR_PAST:
        return f"until {last}"
    if span.end == FAR_FUTURE:
        return f"since {first}"
    if first == last:
        return f"in {first}" if is_years else f"on {first}"
    return f"from {first} to {last}"


def _rounded(asked: Asked, answer: Answer, table: Table) -> list[dict[str, Cell]]:
    """What was computed gets the decimals that it needs; what was given stays as it is."""
    decimals = {column.name: column.decimals for column in table.columns}.get(asked.column or "", 0)

    def tidy(name: str, value: Cell) -> Cell:
        if not isinstance(value, float):
            return value
        if asked.operation == "growth" and name == "percent":
            value = rounded(value, 2, PERCENT_DIGITS)
        elif asked.operation == "sum":
            is_tiny = decimals >= MOST_DECIMALS
            value = rounded(value, decimals, SUM_DIGITS) if is_tiny else round(value, decimals)
        elif asked.operation in EXTRA_DECIMALS:
            value = rounded(value, decimals + EXTRA_DECIMALS[asked.operation], LEAST_DIGITS)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    return [{name: tidy(name, value) for name, value in row.items()} for row in answer.records()]
