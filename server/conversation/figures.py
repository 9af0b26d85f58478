"""Numbers computed rather than guessed: a question becomes SQL, its rows become a sentence."""

import math
from dataclasses import dataclass
from datetime import date, timedelta

from server.conversation.asked import Asked, understand
from server.conversation.figure_sql import to_sql
from server.conversation.spans import FAR_FUTURE, FAR_PAST, Span
from server.conversation.sql import Answer, Refused, query, quoted
from server.conversation.summary import LEAST_DIGITS, MOST_DECIMALS, rounded, short, written
from server.conversation.tables import Cell, Column, Table, decimals_of
from server.conversation.wide import Found, look_up, read_wide

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
        found = look_up(question, table, about)
        return _of_cells(found, table) if found else None
    asked = understand(question, table, today, about)
    if asked is None or asked.left:
        return None
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


def _of_cells(found: Found, table: Table) -> Figure:
    """What a few cells of one row of a report say."""
    names = [quoted(table.columns[place].name) for place in found.places]
    sql = f"SELECT {', '.join(names)} FROM data WHERE rowid = {found.number + 1}"
    rows: list[dict[str, Cell]] = [
        {"year": year, found.label: value}
        for year, value in zip(found.years, found.values, strict=True)
    ]
    return Figure(_cells_text(found), rows, sql, table.name, is_whole=not table.cut)


def _cells_text(found: Found) -> str:
    def told(value: float, sign: str = found.unit) -> str:
        decimals = max(map(decimals_of, found.values))
        value = round(value, decimals + EXTRA_DECIMALS.get(found.operation, 0))
        scale = f" {found.scale}" if found.scale and sign != "%" else ""
        return written(value, sign) + scale

    first, last = found.years[0], found.years[-1]
    given = list(zip(found.years, found.values, strict=True))
    match found.operation:
        case "change" | "percent":
            change = found.values[1] - found.values[0]
            ends = f"from {told(found.values[0])} to {told(found.values[1])}"
            # A change of percentages is one in points, which are no percent of anything.
            amount = f"{told(change, '')} points" if found.unit == "%" else told(change)
            if found.values[0] > 0:
                percent = f"{round(change * 100 / found.values[0], 2)}%"
                amount = percent if found.operation == "percent" else f"{amount} ({percent})"
            return f"Change of {found.label} from {first} to {last}: {amount}, {ends}"
        case "mean":
            mean = sum(found.values) / len(found.values)
            years = ", ".join(map(str, found.years))
            return f"Average {found.label} ({years}): {told(mean)}"
        case "sum":
            years = ", ".join(map(str, found.years))
            return f"Sum of {found.label} ({years}): {told(sum(found.values))}"
        case "max" | "min":
            pick = max if found.operation == "max" else min
            year, value = pick(given, key=lambda one: one[1])
            return f"{NAMES[found.operation]} {found.label}: {told(value)} ({year})"
    if len(given) == 1:
        return f"{found.label} in {first}: {told(found.values[0])}"
    return f"{found.label}: " + "; ".join(f"{told(value)} ({year})" for year, value in given)


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
