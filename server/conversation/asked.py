"""What a question wants to know of a table: which column, which rows, which computation."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from server.conversation.operations import GROWTH_STEMS, Operation, operation
from server.conversation.periods import Timeline, timelines
from server.conversation.ranking import RELATED, stems
from server.conversation.spans import Span, Timed, Unclear, read
from server.conversation.tables import Cell, Column, Table

GROUPING = re.compile(r"\b(?:by|per|each|every|for each|across)\s+(\w+(?:\s\w+)?)", re.IGNORECASE)
BY_TIME = re.compile(r"\b(?:by|per|each|every)\s+(?:day|week|month|quarter|year)\b", re.IGNORECASE)
MOST_DISTINCT = 2000
LONGEST_NAME = 120
IN_TIME = frozenset({"last", "first", "growth"})
"""They need rows ordered in time, and a column that is named: their words are common."""
OVER_ALL = frozenset({"sum", "mean", "median", "stdev"})


@dataclass(frozen=True, slots=True)
class Filter:
    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """`operation` is empty when rows are to be looked up rather than computed with."""

    operation: str
    column: str | None
    label: str | None
    group: str | None
    filters: tuple[Filter, ...]
    span: Span | None
    line: Timeline | None
    count: int = 1


def understand(question: str, table: Table, today: date) -> Asked | None:
    """None when nothing can be computed or looked up, or something in the question is unclear."""
    try:
        timed = read(question, today)
    except Unclear:
        return None
    line = _timeline(question, table)
    numbers = [one for one in table.of_kind("number") if line is None or one.name != line.column]
    of_year = _named_by(timed, numbers)
    if of_year is not None:
        timed = replace(timed, span=None)
    elif _is_lost(numbers, question, timed.rest) or not _is_told(timed, line, today):
        return None
    column = of_year or best_column(timed.rest, numbers)
    filters = _filters(timed.rest, table)
    group = _group(timed.rest, table)
    wanted = operation(timed.rest, *_names(timed.rest, column, filters))
    if wanted is None or (group is None and BY_TIME.search(timed.rest)):
        return None
    if (
        column is None
        and len(numbers) == 1
        and _takes_the_only_one(wanted, timed.rest, table, group)
    ):
        column = numbers[0]
    asked = Asked(
        wanted.name,
        column.name if column else None,
        _label(timed.rest, table, filters),
        group,
        filters,
        timed.span,
        line,
        wanted.count,
    )
    return _counted(asked, wanted, table) if wanted.name == "count" else _possible(asked)


def _takes_the_only_one(wanted: Operation, rest: str, table: Table, group: str | None) -> bool:
    """Not where another column is named whose values are none to compute with."""
    if wanted.name in (*IN_TIME, "count"):
        return False
    others = [column for column in table.of_kind("text") if column.name != group]
    return wanted.name not in OVER_ALL or best_column(rest, others) is None


def _possible(asked: Asked) -> Asked | None:
    if asked.column is None or (asked.operation in IN_TIME and asked.line is None):
        return None
    return asked if asked.operation or asked.filters or asked.span else None


def _counted(asked: Asked, wanted: Operation, table: Table) -> Asked | None:
    """Rows, or what is different in a column; how many people there are no row tells."""
    if asked.column is not None:
        return None
    noun = set(stems(wanted.noun))
    for column in table.of_kind("text"):
        if noun & set(stems(column.name)) and _repeats(table, column):
            return replace(asked, operation="distinct", column=column.name)
    return asked


def _timeline(question: str, table: Table) -> Timeline | None:
    lines = {line.column: line for line in timelines(table)}
    named = best_column(question, [column for column in table.columns if column.name in lines])
    return lines[named.name] if named else next(iter(lines.values()), None)


def _named_by(timed: Timed, numbers: Sequence[Column]) -> Column | None:
    """Where years are columns, the year asked for is the column."""
    if len(timed.points) != 1:
        return None
    return next((one for one in numbers if one.name.lower() == timed.points[0].lower()), None)


def _is_lost(numbers: Sequence[Column], question: str, rest: str) -> bool:
    """What was taken for a time is the name of a column, such as 'YTD return'."""
    asked, left = set(stems(question)), set(stems(rest))
    names = [set(stems(column.name)) for column in numbers]
    return any(name and name <= asked and not name <= left for name in names)


def _is_told(timed: Timed, line: Timeline | None, today: date) -> bool:
    """Whether the table can tell which rows lie in the span."""
    if timed.span is None:
        return True
    if line is None or (timed.is_fiscal and line.grain != "year"):
        return False
    return line.fits(timed.span, today)


def best_column(question: str, columns: Sequence[Column]) -> Column | None:
    """The column whose name the question speaks of; all of a name counts more than a part."""
    words = stems(question)
    own = set(words)
    kin = {other for word in own for other in RELATED.get(word, ())}
    best, best_score = None, 0.0
    for column in columns:
        name = stems(column.name) or [column.name.lower()]
        hits = sum(1.0 if word in own else 0.4 if word in kin else 0.0 for word in name)
        score = hits + hits / len(name)
        if score > best_score:
            best, best_score = column, score
    return best if best_score >= 0.6 else None


def _names(
    text: str, column: Column | None, filters: Sequence[Filter]
) -> tuple[set[str], set[str]]:
    """The stems that name the column or values and ask for no computation; and all of them."""
    values = {word for one in filters for value in one.values for word in stems(value)}
    name = set(stems(column.name)) if column else set()
    # 'The highest gain' is that of a column of gains, but 'total debt' may be a sum of debts.
    named = name if name <= set(stems(text)) else name & GROWTH_STEMS
    return named | values, name | values


def _group(question: str, table: Table) -> str | None:
    texts = [column for column in table.of_kind("text") if _repeats(table, column)]
    for match in GROUPING.finditer(question):
        column = best_column(match[1], texts)
        if column is not None:
            return column.name
    return None


def _repeats(table: Table, column: Column) -> bool:
    values = [value for value in table.values(column.name) if value is not None]
    return len(set(values)) < len(values)


def _filters(question: str, table: Table) -> tuple[Filter, ...]:
    """Values of text columns that the question names."""
    asked = " " + " ".join(re.findall(r"[^\W_]+", question.lower())) + " "
    found = []
    for column in table.of_kind("text"):
        distinct = {str(value) for value in table.values(column.name) if value is not None}
        if len(distinct) > MOST_DISTINCT:
            continue
        named = sorted(value for value in distinct if _is_named(value, asked, question))
        if named and len(named) < len(distinct):
            found.append(Filter(column.name, tuple(named)))
    return tuple(found)


def _is_named(value: str, asked: str, question: str) -> bool:
    words = " ".join(re.findall(r"[^\W_]+", value.lower()))
    if not words or f" {words} " not in asked:
        return False
    # Short values such as tickers must be written as they are: 'all' is not ALL.
    return len(words) > 4 or re.search(rf"\b{re.escape(value)}\b", question) is not None


def _label(question: str, table: Table, filters: Sequence[Filter]) -> str | None:
    """The text column that tells rows apart: the one asked for, else the most various name."""
    texts = table.of_kind("text")
    filtered = {one.column for one in filters if len(one.values) == 1}
    named = best_column(question, [column for column in texts if column.name not in filtered])
    if named is not None:
        return named.name
    values = {column.name: set(table.values(column.name)) for column in texts}
    # An article tells rows apart as well as its title, and is no name.
    names = {name: found for name, found in values.items() if _are_short(found)} or values
    variety = Counter({name: len(found) for name, found in names.items()})
    best = variety.most_common(1)
    return best[0][0] if best and best[0][1] > 1 else None


def _are_short(values: set[Cell]) -> bool:
    return all(len(str(value)) <= LONGEST_NAME for value in values)
