"""Which figure of a plan is bold: one that rules compute, or one of a query that is surely right.

A query is trusted if it looks up one row, or takes one aggregate over several rows, as the question
asks for it; if the question has no word that it leaves out, and the query takes no row that the
question does not name; and if a second query agrees. Whatever else a query computes is told without
bold.
"""

import asyncio
import math
import re
from collections.abc import Iterator

from server.dashboard.conditions import GIVEN_NAME, split_list, with_sums
from server.dashboard.figures.compute import Figure, compute
from server.dashboard.figures.operations import operation
from server.dashboard.figures.question import FILLERS, TOTALS
from server.dashboard.materials import read_for
from server.dashboard.plan import Planner
from server.dashboard.results import Computed
from server.data.periods import timelines
from server.data.sql import Answer, Refused
from server.data.tables import Cell, Table
from server.language.dates import Unclear, read
from server.language.ranking import stems
from server.language.words import stem

MOST_ROWS = 2000
MOST_CELLS = 4
"""A row with more cells is a table, not a figure."""
SAME = 1e-6
PLAIN = re.compile(
    r"SELECT (?P<list>[^;]{1,600}?) FROM (?P<table>\w{1,200})(?P<where> WHERE [^;]{1,600}?)?"
    r"(?: ORDER BY (?P<by>\w{1,80})(?: (?P<way>ASC|DESC))?)?(?: LIMIT 1)? ?;?",
    re.IGNORECASE,
)
"""Of a query whose spaces are single ones."""
NOT_PLAIN = re.compile(
    r"\b(?:SELECT|UNION|JOIN|GROUP|HAVING|OVER|OR|NOT|LIKE|CASE|LIMIT|OFFSET)\b|!=|<>",
    re.IGNORECASE,
)
CELL = re.compile(r"(\w{1,80})(?:\s+AS\s+\w{1,80})?", re.IGNORECASE)
AGGREGATE = re.compile(
    r"(AVG|SUM|TOTAL|MIN|MAX|COUNT)\s?\(\s*(?:DISTINCT\s+)?(?:\w{1,80}|\*)\s*\)(?:\s+AS\s+\w{1,80})?",
    re.IGNORECASE,
)
TEXT = re.compile(r"'([^']*)'")
OVER_ALL = re.compile(r"\b(?:all|altogether|together|combined|whole|entire|sum)\b", re.IGNORECASE)
ASKED_AS = {
    "avg": "mean", "sum": "sum", "total": "sum", "min": "min", "max": "max", "count": "count",
}  # fmt: skip
QUALIFIERS_TEXT = """
average mean weighted percent percentage pct ratio rate per change growth margin yield diluted
adjusted cumulative estimate estimated forecast target previous prior
"""
QUALIFIERS = frozenset(map(stem, QUALIFIERS_TEXT.split()))
"""Words of a column that make another figure of it: who asks for a price wants no average price."""


async def figure_by_query(planner: Planner) -> str:
    """The figure that was computed last, if its query is plain and a second one confirms it."""
    last = planner.results.computed[-1] if planner.results.computed else None
    if last is None or len(last.answer.rows) != 1 or len(last.answer.rows[0]) > MOST_CELLS:
        return ""
    numbers = list(_figures(last.answer.rows[0]))
    if not numbers or not await asyncio.to_thread(_uses_up_question, planner, last):
        return ""
    if not await _is_plain(planner, last) or not await _is_confirmed(planner, numbers):
        return ""
    return f"**{last.line(last.answer.rows[0])}**\n\n"


async def _is_plain(planner: Planner, computed: Computed) -> bool:
    """Whether the query does no more than what the question asks for: a look or an aggregate."""
    query = PLAIN.fullmatch(" ".join(computed.sql.split()))
    table = planner.results.all_tables().get(query["table"]) if query else None
    if query is None or table is None or NOT_PLAIN.search(f"{query['list']} {query['where']}"):
        return False
    try:
        rest = read(planner.own_question, planner.today).rest
        rows = await planner.results.query(f"SELECT * FROM {query['table']}{query['where'] or ''}")
    except (Unclear, Refused):
        return False
    chosen = GIVEN_NAME.sub(" ", f"{query['list']} {query['where'] or ''}").replace("_", " ")
    is_of_all = OVER_ALL.search(planner.own_question) is not None
    wanted = _asked_operation(rest, set(stems(chosen)), is_of_all=is_of_all)
    is_other = bool((set(stems(chosen)) & QUALIFIERS) - set(stems(planner.own_question)))
    texts = TEXT.findall(query["where"] or "")
    if wanted is None or is_other or not all(_is_named(planner, one, table) for one in texts):
        return False
    parts = [part.strip() for part in split_list(query["list"])]
    if all(map(CELL.fullmatch, parts)):
        return _is_looked_up(query, wanted, len(rows.rows), table)
    made = AGGREGATE.fullmatch(parts[0]) if len(parts) == 1 and not query["by"] else None
    if made is None or len(rows.rows) == 1:
        return made is not None and not wanted and made[1].lower() != "count"
    return ASKED_AS[made[1].lower()] == wanted and _takes_right_rows(rest, rows, table, chosen)


def _asked_operation(question: str, taken: set[str], *, is_of_all: bool) -> str | None:
    """The computation that is asked for. The total of a column of totals is none, but for all."""
    wanted = operation(question, taken, taken)
    if wanted is None:
        return None
    return wanted.name or ("sum" if is_of_all else "")


def _is_named(planner: Planner, value: str, table: Table) -> bool:
    """Whether the question means this text of the table, and could mean no other of its column.

    It has all words of it, or words that no other text there has together.
    """
    is_symbol = any(one.is_meant_by(value) for one in planner.named_symbols())
    if is_symbol or value in _arguments(planner):
        return True
    asked = set(stems(planner.own_question))
    words = set(stems(value))
    if words <= asked:
        return True
    for column in table.of_kind("text"):
        texts = {str(one) for one in table.values(column.name) if one is not None}
        others = [set(stems(one)) for one in texts if one.lower() != value.lower()]
        is_held = len(others) < len(texts)
        if is_held and (not words & asked or any(words & asked <= other for other in others)):
            return False
    return True


def _is_looked_up(query: "re.Match[str]", wanted: str, rows: int, table: Table) -> bool:
    """One row, be it the first or last by what is asked for: in time, or by size."""
    if not query["by"]:
        return rows == 1 and wanted in ("", "last", "first")
    falls = (query["way"] or "").upper() == "DESC"
    is_shown = query["by"].lower() in query["list"].lower()
    by_size = wanted in ("max", "min") and is_shown
    by_time = wanted in ("last", "first") and query["by"].lower() in {
        line.column.lower() for line in timelines(table)
    }
    return rows > 0 and (by_size or by_time) and falls == (wanted in ("max", "last"))


def _takes_right_rows(question: str, rows: Answer, table: Table, chosen: str) -> bool:
    """No total among them; and where the question has a word of some rows, the query has it."""
    texts = [[str(cell) for cell in row if isinstance(cell, str)] for row in rows.rows]
    if any(TOTALS.search(cell) for row in texts for cell in row):
        return False
    asked = set(stems(question)) - set(stems(chosen))
    for column in table.of_kind("text"):
        labels = [set(stems(str(one))) for one in table.values(column.name) if one is not None]
        if any(0 < sum(word in label for label in labels) < len(labels) for word in asked):
            return False
    return True


def _uses_up_question(planner: Planner, computed: Computed) -> bool:
    """Whether each word, number and company of the question is in the query or what was read.

    A question in another language than the table's is never used up: its words are not there.
    Nor is one that leans on the question before it and was not completed.
    """
    question = planner.own_question
    is_completed = question != planner.query.question or not planner.before.question
    is_own = question == planner.meaning and not planner.is_joined
    if not is_completed or not is_own or not planner.results.uses_all_read():
        return False
    arguments = _arguments(planner)
    try:
        rest = read(question, planner.today).rest
    except Unclear:
        return False
    wanted = operation(rest, set(), set())
    if wanted is None:
        return False
    names = [source.name for source in planner.results.cited()]
    used = " ".join([with_sums(computed.sql), *arguments, *planner.results.tables, *names])
    words = {*stems(used.replace("_", " ")), *wanted.words, *FILLERS}
    named = planner.named_symbols()
    said = {word for one in named for word in stems(one.words)}
    if any(word not in words | said for word in stems(rest)):
        return False
    if not _whole_numbers(question) <= _whole_numbers(used):
        return False
    tables = planner.results.tables.values()
    cells = {str(cell) for table in tables for row in table.rows[:MOST_ROWS] for cell in row}
    return all(any(one.is_meant_by(value) for value in [*arguments, *cells]) for one in named)


def _arguments(planner: Planner) -> list[str]:
    """What the sources were read for."""
    return [
        str(value)
        for source in planner.results.sources
        if source.source is not None
        for value in source.source.arguments.values()
    ]


def _whole_numbers(text: str) -> set[int]:
    return set(map(int, re.findall(r"\d{1,9}", text)))


def _figures(row: tuple[Cell, ...]) -> Iterator[float]:
    for cell in row:
        if isinstance(cell, int | float) and math.isfinite(cell):
            yield float(cell)


async def _is_confirmed(planner: Planner, numbers: list[float]) -> bool:
    try:
        again = await planner.results.query(await planner.write_sql())
    except Refused:
        return False
    if len(again.rows) != 1:
        return False
    return _are_same(numbers, list(_figures(again.rows[0])))


def figure_by_rules(planner: Planner) -> Figure | None:
    """What the rules compute over the tables of this question, where they agree on one figure."""
    if planner.is_joined:
        return None
    sources = planner.results.cited()
    found = [
        figure
        for source in sources
        for table in source.tables
        if (figure := compute(planner.own_question, table, planner.today, read_for(source)))
    ]
    return found[0] if len({figure.text for figure in found}) == 1 else None


def _are_same(first: list[float], second: list[float]) -> bool:
    """Every figure of the shorter list is in the longer one."""
    few, many = sorted((first, second), key=len)
    return bool(few) and all(
        any(math.isclose(one, other, rel_tol=SAME, abs_tol=1e-9) for other in many) for one in few
    )
