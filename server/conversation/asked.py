"""What a question wants to know of a table: which column, which rows, which computation."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from server.conversation.ranking import RELATED, stem, stems
from server.conversation.spans import Span, find
from server.conversation.tables import Cell, Column, Table

OPERATIONS = {
    "growth": "growth grow grew grown change changed rise rose risen fall fell fallen return "
    "returned gain gained increase increased decrease decreased drop dropped performance",
    "median": "median",
    "stdev": "volatility deviation stdev",
    "mean": "average mean avg averaged",
    "max": "highest maximum max largest biggest peak most greatest top best strongest longest",
    "min": "lowest minimum min smallest least cheapest worst weakest bottom fewest shortest",
    "count": "count",
    "sum": "total sum combined altogether overall",
    "last": "last latest current recent newest now today",
    "first": "first earliest oldest initial",
}
BY_WORD = {word: name for name, words in OPERATIONS.items() for word in words.split()}
COUNTING = re.compile(r"\b(how many|number of|count of|count the)\b", re.IGNORECASE)
NUMBERS = {
    word: value + 1
    for value, word in enumerate("one two three four five six seven eight nine ten".split())  # noqa: SIM905
}
TOP = re.compile(
    rf"\b(?:(?:top|bottom|best|worst|highest|lowest|largest|smallest|biggest)\s+(\d{{1,2}}|{'|'.join(NUMBERS)})"
    rf"|(\d{{1,2}}|{'|'.join(NUMBERS)})\s+(?:\w+\s+)?(?:with\s+the\s+)?"
    r"(?:top|best|worst|highest|lowest|largest|smallest|biggest|cheapest))\b",
    re.IGNORECASE,
)
SUMMING = re.compile(
    r"\bhow much\b.*\b(came|paid|pay|received|earned|spent|spend|bought|sold|raised|cost)\b",
    re.IGNORECASE,
)
GROUPING = re.compile(r"\b(?:by|per|each|every|for each|across)\s+(\w+(?:\s\w+)?)", re.IGNORECASE)
MOST_DISTINCT = 2000
LONGEST_NAME = 120
NEEDS_NAMED_COLUMN = frozenset({"last", "first", "growth"})
"""Their words are common: 'the latest news' computes nothing."""


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
    date_column: str | None
    count: int = 1
    span_column: str | None = None
    """What is held against the span: the date, or a number that is a year."""


def understand(question: str, table: Table, today: date) -> Asked | None:
    """None when nothing in the question can be computed or looked up in this table."""
    filters = _filters(question, table)
    column = best_column(question, table.of_kind("number"))
    group = _group(question, table)
    operation, count = _operation(question, _words_of(column, question))
    dates = table.of_kind("date")
    date_column = best_column(question, dates) or (dates[0] if dates else None)
    span_column = date_column or _years(table)
    span = find(question, today) if span_column else None
    if operation not in NEEDS_NAMED_COLUMN:
        column = column or _only_number(table)
    if operation == "count" or (column is None and operation == "sum"):
        operation, column = ("count", None) if operation == "count" else ("", None)
    if not operation and not (column and (filters or span)):
        return None
    if operation not in ("", "count") and column is None:
        return None
    return Asked(
        operation,
        column.name if column else None,
        _label(question, table, filters),
        group,
        filters,
        span,
        date_column.name if date_column else None,
        count,
        span_column.name if span_column else None,
    )


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


def _operation(question: str, taken: set[str]) -> tuple[str, int]:
    top = TOP.search(question)
    words = [word for word in re.findall(r"[a-z]+", question.lower()) if stem(word) not in taken]
    found = {BY_WORD[word] for word in words if word in BY_WORD}
    if top:
        number = (top[1] or top[2]).lower()
        count = NUMBERS.get(number) or int(number)
        lowest = "min" in found and "max" not in found
        return ("min" if lowest else "max"), max(count, 1)
    if COUNTING.search(question) and not found & {"mean", "sum", "growth"}:
        return "count", 1
    if not found and SUMMING.search(question):
        return "sum", 1
    return next((name for name in OPERATIONS if name in found), ""), 1


def _words_of(column: Column | None, question: str) -> set[str]:
    """Words that name the column are no operation: 'total debt' is not a sum."""
    if column is None:
        return set()
    named = set(stems(column.name))
    return named if named <= set(stems(question)) else set()


def _years(table: Table) -> Column | None:
    for column in table.of_kind("number"):
        if "year" in stems(column.name):
            values = [value for value in table.values(column.name) if value is not None]
            if all(isinstance(value, int) and 1000 <= value <= 9999 for value in values):
                return column
    return None


def _only_number(table: Table) -> Column | None:
    numbers = table.of_kind("number")
    return numbers[0] if len(numbers) == 1 else None


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
