"""Numbers computed rather than guessed: a question becomes SQL, its rows become a sentence."""

import math
from dataclasses import dataclass
from datetime import date

from server.conversation.asked import Asked, understand
from server.conversation.sql import Answer, Refused, query, quoted
from server.conversation.summary import short
from server.conversation.tables import Cell, Table

NAMES = {
    "mean": "Average", "median": "Median", "stdev": "Standard deviation", "sum": "Sum of",
    "max": "Highest", "min": "Lowest", "last": "Latest", "first": "First",
}  # fmt: skip
FUNCTIONS = {"mean": "avg", "median": "median", "stdev": "stdev", "sum": "sum"}
EXTRA_DECIMALS = {"mean": 2, "median": 1, "stdev": 4}
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


def compute(question: str, table: Table, today: date) -> Figure | None:
    if not table.rows:
        return None
    asked = understand(question, table, today)
    if asked is None:
        return None
    sql, parameters = to_sql(asked, table)
    try:
        answer = query({"data": _needed(table, sql)}, sql, parameters)
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


def to_sql(asked: Asked, table: Table) -> tuple[str, list[Cell]]:
    where, parameters = _where(asked)
    match asked.operation:
        case "count":
            return _counting(asked, where), parameters
        case "mean" | "median" | "stdev" | "sum":
            return _aggregate(asked, where), parameters
        case "growth":
            return _growth(asked, where, table), parameters
        case "max" | "min":
            return _extreme(asked, where), parameters
        case "last" | "first":
            return _at_end(asked, where), parameters
        case _:
            columns = _shown(asked)
            order = f" ORDER BY {quoted(asked.date_column)}" if asked.date_column else ""
            return f"SELECT {columns} FROM data{where}{order}", parameters


def _where(asked: Asked) -> tuple[str, list[Cell]]:
    parts: list[str] = []
    parameters: list[Cell] = []
    for one in asked.filters:
        marks = ", ".join("?" * len(one.values))
        parts.append(f"{quoted(one.column)} IN ({marks})")
        parameters += one.values
    if asked.span and asked.span_column:
        day = _day(quoted(asked.span_column))
        parts.append(f"{day} >= ? AND {day} < ?")
        parameters += [asked.span.start.isoformat(), asked.span.end.isoformat()]
    if asked.column:
        parts.append(f"{quoted(asked.column)} IS NOT NULL")
    return (" WHERE " + " AND ".join(parts) if parts else ""), parameters


def _day(column: str) -> str:
    """A year and a month begin on their first day."""
    return (
        f"CASE length({column}) WHEN 4 THEN {column} || '-01-01' "
        f"WHEN 7 THEN {column} || '-01' ELSE {column} END"
    )


def _aggregate(asked: Asked, where: str) -> str:
    column = quoted(asked.column or "")
    value = f"{FUNCTIONS[asked.operation]}({column}) AS {column}"
    return _grouped(asked, value, where, column)


def _counting(asked: Asked, where: str) -> str:
    return _grouped(asked, 'count(*) AS "count"', where, '"count"')


def _grouped(asked: Asked, value: str, where: str, order: str) -> str:
    if not asked.group:
        return f"SELECT {value} FROM data{where}"
    group = quoted(asked.group)
    return f"SELECT {group}, {value} FROM data{where} GROUP BY {group} ORDER BY {order} DESC"


def _extreme(asked: Asked, where: str) -> str:
    direction = "DESC" if asked.operation == "max" else "ASC"
    column = quoted(asked.column or "")
    if asked.group and asked.count == 1:
        name = "max" if asked.operation == "max" else "min"
        return _grouped(asked, f"{name}({column}) AS {column}", where, column)
    return (
        f"SELECT {_shown(asked)} FROM data{where} ORDER BY {column} {direction} LIMIT {asked.count}"
    )


def _at_end(asked: Asked, where: str) -> str:
    direction = "DESC" if asked.operation == "last" else "ASC"
    order = quoted(asked.date_column) if asked.date_column else "rowid"
    return f"SELECT {_shown(asked)} FROM data{where} ORDER BY {order} {direction} LIMIT 1"


def _growth(asked: Asked, where: str, table: Table) -> str:
    """From the first to the last value in time, for each entity where there are several."""
    column, order = quoted(asked.column or ""), quoted(asked.date_column or "rowid")
    group = _entity(asked, table)
    by = f"PARTITION BY {quoted(group)} " if group else ""
    shown = f"a.{quoted(group)}, " if group else ""
    named = f"{quoted(group)}, " if group else ""
    same = f"a.{quoted(group)} IS b.{quoted(group)} AND " if group else ""
    return (
        f"WITH ends AS (SELECT {named}{column} AS value, "
        f"row_number() OVER ({by}ORDER BY {order}) AS up, "
        f"row_number() OVER ({by}ORDER BY {order} DESC) AS down FROM data{where}) "
        f"SELECT {shown}a.value AS first, b.value AS last, "
        "(b.value - a.value) * 100.0 / abs(a.value) AS percent FROM ends a JOIN ends b "
        f"ON {same}a.up = 1 AND b.down = 1 ORDER BY percent DESC"
    )


def _entity(asked: Asked, table: Table) -> str | None:
    if asked.group:
        return asked.group
    if not asked.date_column or not asked.label:
        return None
    dates = len(set(table.values(asked.date_column)))
    return asked.label if dates < len(table.rows) else None


def _shown(asked: Asked) -> str:
    names = [asked.label, asked.date_column, asked.span_column, asked.column]
    names += [one.column for one in asked.filters if len(one.values) > 1]
    return ", ".join(quoted(name) for name in dict.fromkeys(filter(None, names)))


def _told(asked: Asked) -> int:
    return TOLD_GROWTHS if asked.operation == "growth" else TOLD_ROWS


def _sentence(asked: Asked, answer: Answer, rows: list[dict[str, Cell]], table: Table) -> str:
    about = _about(asked, table)
    told = rows[: _told(asked)]
    part = first_of(len(told), answer.total)
    if asked.operation == "growth":
        text = "; ".join(_growth_text(asked, row, about) for row in told)
        return f"{part.capitalize()}: {text}" if part else text
    if asked.operation == "count" and not asked.group:
        return f"Number of rows{about}: {answer.rows[0][0]}"
    name = NAMES.get(asked.operation, "")
    column = asked.column or "count"
    title = f"{name} {column}".strip() + about + (f" ({part})" if part else "")
    return f"{title}: " + "; ".join(_row_text(row, column) for row in told)


def _growth_text(asked: Asked, row: dict[str, Cell], about: str) -> str:
    entity = next((f" of {short(value)}" for key, value in row.items() if key not in _ENDS), "")
    return (
        f"Change of {asked.column}{entity}{about}: {row['percent']}% "
        f"(from {row['first']} to {row['last']})"
    )


_ENDS = ("first", "last", "percent")


def _row_text(row: dict[str, Cell], column: str) -> str:
    others = ", ".join(short(value) for key, value in row.items() if key != column and value)
    return f"{row[column]} ({others})" if others else str(row[column])


def _about(asked: Asked, table: Table) -> str:
    named = [short(value) for one in asked.filters for value in one.values]
    about = f" ({', '.join(named[:6])})" if named else ""
    if table.cut:
        rows = len(table.rows)
        about += f" (over the first {rows} of {rows + table.cut} rows)"
    return about


def _rounded(asked: Asked, answer: Answer, table: Table) -> list[dict[str, Cell]]:
    """As many decimals as the column has, a few more where an average needs them."""
    decimals = {column.name: column.decimals for column in table.columns}
    own = decimals.get(asked.column or "", 0)
    extra = EXTRA_DECIMALS.get(asked.operation, 0)

    def tidy(name: str, value: Cell) -> Cell:
        if not isinstance(value, float):
            return value
        places = 2 if name == "percent" else decimals.get(name, own) + extra
        tidied = round(value, places)
        return int(tidied) if tidied.is_integer() and abs(tidied) < 2**53 else tidied

    return [{name: tidy(name, value) for name, value in row.items()} for row in answer.records()]
