"""The SQL for what a question asks of a table; refused where rows cannot be told apart."""

from server.dashboard.figures.question import Asked
from server.data.sql import Refused, quoted
from server.data.tables import Cell, Table
from server.language.ranking import stems

FUNCTIONS = {"mean": "avg", "median": "median", "stdev": "stdev", "sum": "sum"}
ENTITIES = frozenset({"symbol", "ticker", "company", "issuer", "fund", "security", "country"})


def to_sql(asked: Asked, table: Table) -> tuple[str, list[Cell]]:
    """Refused where the rows cannot be told apart."""
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
    """The row at the end of time, or all of them where several are there."""
    assert asked.line is not None
    order = quoted(asked.line.order)
    start = f"SELECT {_shown(asked)} FROM data{where}"
    if _is_apart(asked, table, None):
        direction = "DESC" if asked.operation == "last" else "ASC"
        return f"{start} ORDER BY {order} {direction} LIMIT 1", parameters
    end = "max" if asked.operation == "last" else "min"
    return f"{start} AND {order} = (SELECT {end}({order}) FROM data{where})", parameters * 2


def _growth(asked: Asked, where: str, table: Table) -> str:
    """From the first to the last value in time, for each entity where there are several."""
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
    """Whose values they are, so that none is compared with another's."""
    texts = [
        one.name for one in table.of_kind("text") if asked.line and one.name != asked.line.column
    ]
    owners = [one for one in texts if ENTITIES & set(stems(one)) and _varies(asked, table, one)]
    choices: list[str | None] = [*owners, None, *filter(texts.__contains__, [asked.label]), *texts]
    for choice in [asked.group] if asked.group else choices:
        if _is_apart(asked, table, choice):
            return choice
    raise Refused("Several rows are of the same time.")


def _varies(asked: Asked, table: Table, name: str) -> bool:
    return len(set(_kept(asked, table, name))) > 1


def _is_apart(asked: Asked, table: Table, name: str | None) -> bool:
    """Whether there is one row for each time, or for each time and entity."""
    assert asked.line is not None
    times = _kept(asked, table, asked.line.column)
    pairs = list(zip(times, _kept(asked, table, name), strict=True)) if name else times
    return len(set(pairs)) == len(pairs)


def _kept(asked: Asked, table: Table, name: str) -> list[Cell]:
    """The column's cells in the rows that the question names and that have a time."""
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
