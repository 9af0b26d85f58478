"""Computes figures for a question: turns it into SQL, and the rows into a sentence."""

import asyncio
import math
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from server.asking.ask import Means, ask_json
from server.chat import Json
from server.dashboard.figures.operations import BY_WORD
from server.dashboard.figures.question import TIME_NAMES, Asked, understand
from server.dashboard.figures.wide import (
    UNSCALED,
    Wide,
    has_years,
    look_up,
    read_wide,
    scale_in,
    sentence,
)
from server.data.describe import LEAST_DIGITS, MOST_DECIMALS, rounded, short, written
from server.data.sql import Answer, Refused, query, quoted
from server.data.tables import Cell, Column, Table
from server.language.dates import FAR_FUTURE, FAR_PAST, Span
from server.language.ranking import stems
from server.schemas.bounded import closed

NAMES = {
    "mean": "Average", "median": "Median", "stdev": "Standard deviation", "sum": "Sum of",
    "max": "Highest", "min": "Lowest", "last": "Latest", "first": "First",
}  # fmt: skip
EXTRA_DECIMALS = {"mean": 2, "median": 1, "stdev": 4}
SUM_DIGITS, PERCENT_DIGITS = 12, 2
IN_BRACKETS = re.compile(r"\([^()]*\)")
TOLD_ROWS = 12
TOLD_GROWTHS = 10
MOST_FIGURES = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A computed result: a sentence for people, its rows, and the SQL that made them."""

    text: str
    rows: list[dict[str, Cell]]
    sql: str
    table: str
    is_whole: bool = True
    """Whether all rows of the table were used and all rows of the result are in the sentence."""


def compute_from(
    question: str, tables: Iterable[tuple[Table, str]], today: date, noted: str = ""
) -> list[Figure]:
    """Computes figures from tables, each with words for what it was read for."""
    found = (compute(question, table, today, f"{about} {noted}") for table, about in tables)
    return list(islice(filter(None, found), MOST_FIGURES))


def compute(question: str, table: Table, today: date, about: str = "") -> Figure | None:
    """Computes a figure, or returns None if any word of the question is left over. `about` are
    words for what was read, such as the symbol of a widget."""
    if not table.rows:
        return None
    if has_years(table.columns) and (report := read_wide(table, about)) is not None:
        return _of_report(question, report, table)
    asked = understand(question, table, today, about)
    return _of_asked(asked, table) if asked and not asked.left else None


def _of_asked(asked: Asked, table: Table) -> Figure | None:
    try:
        sql, parameters = to_sql(asked, table)
        needed = _needed(table, sql)
        if asked.line and quoted(asked.line.order) in sql:
            needed = asked.line.placed_in(needed)
        answer = query({"data": needed}, sql, parameters)
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


def _of_report(question: str, report: Wide, table: Table) -> Figure | None:
    """Returns the figure that a few cells of a report give."""
    found = look_up(question, report)
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
    """Returns only the columns that the query names: loading all of a big table takes seconds."""
    named = [place for place, one in enumerate(table.columns) if quoted(one.name) in sql] or [0]
    columns = tuple(table.columns[place] for place in named)
    return Table(table.name, columns, [tuple(row[place] for place in named) for row in table.rows])


def first_of(shown: int, total: int | None) -> str:
    """Returns words such as "first 12 of 40", or "" if all is shown."""
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
    said = {value for one in asked.filters if len(one.values) == 1 for value in one.values}
    scale = _scale_of(shown, [*said, *(cell for row in told for cell in row.values())], table)
    return f"{title}: " + "; ".join(_row_text(row, shown, said, scale) for row in told)


def _scale_of(column: Column, cells: Sequence[Cell], table: Table) -> str:
    """Returns the scale in which the header of a table's names gives all amounts: (in thousands).

    A figure per share, in percent or of a number of things has no scale.
    """
    texts = [column.name, *(str(cell) for cell in cells if isinstance(cell, str))]
    is_plain = column.unit == "%" or column.is_scaled or any(map(UNSCALED.search, texts))
    if is_plain or all(column is not one for one in table.of_kind("number")):
        return ""
    headers = [one.name for one in table.of_kind("text")]
    return scale_in(" ".join(part for name in headers for part in IN_BRACKETS.findall(name)))


def _growth_text(column: Column, row: dict[str, Cell], about: str) -> str:
    entity = next((f" of {short(value)}" for key, value in row.items() if key not in _ENDS), "")
    first, last = (_written(row[name], column) for name in ("first", "last"))
    ends = f"from {first} to {last}"
    told = ends if row["percent"] is None else f"{row['percent']}% ({ends})"
    return f"Change of {column.name}{entity}{about}: {told}"


_ENDS = ("first", "last", "percent")


def _row_text(row: dict[str, Cell], column: Column, said: Set[Cell], scale: str) -> str:
    """Writes the value and what distinguishes its row, without values in `said`."""
    told = [value for key, value in row.items() if key != column.name and value not in said]
    others = ", ".join(short(value) for value in told if value)
    value = f"{_written(row[column.name], column)} {scale}".rstrip()
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
    """Writes a span from its first to its last day. A fiscal year is only its number."""
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
    """Returns the rows with computed values rounded. Values from the table stay as they are."""
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


SQL_FUNCTIONS = {"mean": "avg", "median": "median", "stdev": "stdev", "sum": "sum"}
ENTITIES = frozenset({"symbol", "ticker", "company", "issuer", "fund", "security", "country"})


def to_sql(asked: Asked, table: Table) -> tuple[str, list[Cell]]:
    """Returns the SQL and its parameters. Raises Refused if rows cannot be told apart."""
    where, parameters = _where(asked)
    match asked.operation:
        case "count" | "distinct":
            return _counting(asked, where), parameters
        case "mean" | "median" | "stdev" | "sum":
            return _aggregate(asked, where), parameters
        case "growth":
            return _growth(asked, where, table), parameters
        case "max" | "min":
            return _extreme(asked, where), parameters
        case "last" | "first":
            return _at_end(asked, where, parameters, table)
        case _:
            order = f" ORDER BY {quoted(asked.line.order)}" if asked.line else ""
            return f"SELECT {_shown(asked)} FROM data{where}{order}", parameters


def _where(asked: Asked) -> tuple[str, list[Cell]]:
    parts: list[str] = []
    parameters: list[Cell] = []
    for one in asked.filters:
        marks = ", ".join("?" * len(one.values))
        parts.append(f"{quoted(one.column)} IN ({marks})")
        parameters += one.values
    if asked.span and asked.line:
        day = _day(quoted(asked.line.order))
        parts.append(f"{day} >= ? AND {day} < ?")
        parameters += [asked.span.start.isoformat(), asked.span.end.isoformat()]
    if asked.column:
        parts.append(f"{quoted(asked.column)} IS NOT NULL")
    if asked.line and asked.operation in ("first", "growth"):
        parts.append(f"{quoted(asked.line.order)} IS NOT NULL")
    return (" WHERE " + " AND ".join(parts) if parts else ""), parameters


def _day(column: str) -> str:
    """Returns SQL for a full date: a year and a month begin on their first day."""
    return (
        f"CASE length({column}) WHEN 4 THEN {column} || '-01-01' "
        f"WHEN 7 THEN {column} || '-01' ELSE {column} END"
    )


def _aggregate(asked: Asked, where: str) -> str:
    column = quoted(asked.column or "")
    value = f"{SQL_FUNCTIONS[asked.operation]}({column}) AS {column}"
    return _grouped(asked, value, where, column)


def _counting(asked: Asked, where: str) -> str:
    what = f"DISTINCT {quoted(asked.column)}" if asked.column else "*"
    return _grouped(asked, f'count({what}) AS "count"', where, '"count"')


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


def _at_end(
    asked: Asked, where: str, parameters: list[Cell], table: Table
) -> tuple[str, list[Cell]]:
    """Returns SQL for the first or last row in time, or for all rows of that time."""
    assert asked.line is not None
    order = quoted(asked.line.order)
    start = f"SELECT {_shown(asked)} FROM data{where}"
    if _is_apart(asked, table, None):
        direction = "DESC" if asked.operation == "last" else "ASC"
        return f"{start} ORDER BY {order} {direction} LIMIT 1", parameters
    end = "max" if asked.operation == "last" else "min"
    return f"{start} AND {order} = (SELECT {end}({order}) FROM data{where})", parameters * 2


def _growth(asked: Asked, where: str, table: Table) -> str:
    """Returns SQL for the change from the first to the last value in time, for each entity."""
    assert asked.line is not None
    column, order = quoted(asked.column or ""), quoted(asked.line.order)
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
        f"ON {same}a.up = 1 AND b.down = 1 AND b.up > 1 ORDER BY percent DESC"
    )


def _entity(asked: Asked, table: Table) -> str | None:
    """Returns the column that says whose values they are, or None if they are of one thing. Raises
    Refused if values of different things would be compared."""
    texts = [
        one.name for one in table.of_kind("text") if asked.line and one.name != asked.line.column
    ]
    owners = [one for one in texts if ENTITIES & set(stems(one)) and _varies(asked, table, one)]
    choices: list[str | None] = [*owners, None, *filter(texts.__contains__, [asked.label]), *texts]
    for choice in [asked.group] if asked.group else choices:
        if _is_apart(asked, table, choice):
            if _is_one_thing(asked, table, choice, texts):
                return choice
            break
    raise Refused("Several rows are of the same time, or of different things.")


def _is_one_thing(asked: Asked, table: Table, entity: str | None, texts: Sequence[str]) -> bool:
    """Whether the rows of an entity differ only in time. Those of trades differ in more."""
    for name in texts:
        if name == entity or TIME_NAMES & set(stems(name)):
            continue
        values = _kept(asked, table, name)
        owners = _kept(asked, table, entity) if entity else [None] * len(values)
        if len(set(zip(owners, values, strict=True))) > len(set(owners)):
            return False
    return True


def _varies(asked: Asked, table: Table, name: str) -> bool:
    return len(set(_kept(asked, table, name))) > 1


def _is_apart(asked: Asked, table: Table, name: str | None) -> bool:
    """Whether there is one row for each time, or for each time and entity."""
    assert asked.line is not None
    times = _kept(asked, table, asked.line.column)
    pairs = list(zip(times, _kept(asked, table, name), strict=True)) if name else times
    return len(set(pairs)) == len(pairs)


def _kept(asked: Asked, table: Table, name: str) -> list[Cell]:
    """Returns the column's cells in the rows that pass the filters and have a time."""
    assert asked.line is not None
    kept = zip(
        table.values(name),
        table.values(asked.line.column),
        *(table.values(one.column) for one in asked.filters),
        strict=True,
    )
    return [
        cell
        for cell, time, *values in kept
        if time is not None
        and all(value in one.values for value, one in zip(values, asked.filters, strict=True))
    ]


def _shown(asked: Asked) -> str:
    names = [asked.label, asked.line.column if asked.line else None, asked.column]
    names += [one.column for one in asked.filters if len(one.values) > 1]
    return ", ".join(quoted(name) for name in dict.fromkeys(filter(None, names)))


WRITE_SQL = (
    "You write one SQLite SELECT that computes what the question asks for. Use only the tables "
    "and columns given, quoted as shown."
)
COMPUTING = re.compile(
    r"\b(how (much|many)|ratio|share|percent|difference|correlation|per|rank|compare|exceed)\b|%",
    re.IGNORECASE,
)
MOST_TABLES = 4


async def write_and_run(means: Means, question: str, tables: Sequence[Table]) -> Figure | None:
    """Runs SQL that the model writes, for a question that `compute` does not understand."""
    named = {f"t{number}": table for number, table in enumerate(tables[:MOST_TABLES], 1)}
    if not named:
        return None
    schema: Json = closed({"sql": {"type": "string", "pattern": "^(SELECT|WITH) "}})
    lines = [f"{name} ({_columns(table)}): {table.name}" for name, table in named.items()]
    text = "Tables:\n" + "\n".join(lines) + f"\n\nQuestion: {question}"
    answer = await ask_json(means, (WRITE_SQL, text), schema, max_tokens=300) or {}
    sql = answer.get("sql")
    if not isinstance(sql, str):
        return None
    try:
        found = await asyncio.to_thread(query, named, sql)
    except Refused:
        return None
    if not found.rows:
        return None
    records = found.records()
    told = "; ".join(
        ", ".join(f"{key} {short(value)}" for key, value in record.items())
        for record in records[:TOLD_ROWS]
    )
    part = first_of(min(len(records), TOLD_ROWS), found.total)
    cut = [_cut_note(table) for table in named.values() if table.cut]
    text = ": ".join(filter(None, [part.capitalize(), told])) + "".join(cut)
    names = ", ".join(table.name for table in named.values())
    return Figure(text, records, sql, names, is_whole=not part and not cut)


def _cut_note(table: Table) -> str:
    rows = len(table.rows)
    return f" (over the first {rows} of {rows + table.cut} rows of {table.name})"


async def may_write(means: Means, question: str) -> bool:
    """Whether the model should write SQL. That of small models runs, but is wrong."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    asks = bool(COMPUTING.search(question)) or not words.isdisjoint(BY_WORD)
    return asks and await means.is_able()


def _columns(table: Table) -> str:
    return ", ".join(f'"{column.name}" {column.kind}' for column in table.columns)
