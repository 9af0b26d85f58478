"""A bold figure is right or it is not there: rules and queries over tables they never saw.

The model that confirms a query writes the same one again, be it wrong.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from server.dashboard.checked_text import is_told
from server.dashboard.planned_answer import figure_by_query, figure_by_rules
from server.data.sql import Refused, query
from server.data.tables import Cell, Table
from tests.server.dashboard.new_domains import RepeatingEngine, plan_over

HERE = Path(__file__).parent
PLAIN = [
    (domain, question, sql)
    for domain, cases in yaml.safe_load((HERE / "plain_questions.yaml").read_text("utf-8")).items()
    for question, sql in cases
]
HARD = [
    (domain, one["ask"], one["sql"])
    for domain, cases in yaml.safe_load((HERE / "right_queries.yaml").read_text("utf-8")).items()
    for one in cases
]
OTHERWISE = [
    ("AVG(", "SUM("), ("SUM(", "AVG("), ("MAX(", "MIN("), ("MIN(", "MAX("), (" DESC", " ASC"),
    ("2025", "2024"), ("2024", "2023"), ("2026-03", "2026-02"), ("2026-06-30", "2026-03-31"),
    ("<>", "="), (" = ", " > "), (" = ", " <= "), ("COUNT(*)", "COUNT(DISTINCT 1)"),
]  # fmt: skip
CONDITION = re.compile(r"(WHERE|AND) \w+ (?:=|<>|LIKE|>=) (?:'[^']*'|\d+)(?: AND )?")
OTHER_VALUES = 4
ANSWERS = {
    "By how much did admissions in Pediatrics change from January to March 2026?": [(100 / 6,)],
}
"""What is right beside what the query finds: a change is told in percent, too."""


def is_right(text: str, rows: Sequence[tuple[Cell, ...]]) -> bool:
    numbers = [cell for row in rows for cell in row if isinstance(cell, int | float)]
    texts = [cell for row in rows for cell in row if isinstance(cell, str)]
    return any(is_told(one, text) for one in numbers) or (
        not numbers and any(one in text for one in texts)
    )


def spoil(sql: str, tables: Mapping[str, Table]) -> Iterator[str]:
    """The query with another computation, time, column or value, or without a condition."""
    yield from (sql.replace(old, new) for old, new in OTHERWISE)
    for name, table in tables.items():
        if not re.search(rf"\b{re.escape(name)}\b", sql):
            continue
        numbers = [one.name for one in table.of_kind("number")]
        for old in numbers:
            yield from (re.sub(rf"\b{old}\b", new, sql) for new in numbers)
        for column in table.of_kind("text"):
            values = [str(one) for one in dict.fromkeys(table.values(column.name)) if one]
            for old in values:
                for new in values[:OTHER_VALUES]:
                    yield sql.replace(f"'{old}'", f"'{new}'")
    for found in CONDITION.finditer(sql):
        is_more = found[0].endswith(" AND ")
        yield sql[: found.start()] + ("WHERE " if is_more else "") + sql[found.end() :]


async def bold_by_query(domain: str, question: str, sql: str) -> str:
    planner = await plan_over(domain, question, RepeatingEngine(sql))
    try:
        await planner.results.run(sql)
    except Refused:
        return ""
    return await figure_by_query(planner)


@pytest.mark.parametrize(("domain", "question", "sql"), [*PLAIN, *HARD])
async def test_a_figure_of_the_rules_or_of_a_right_query_is_right(
    domain: str, question: str, sql: str
) -> None:
    planner = await plan_over(domain, question, RepeatingEngine(sql))
    rows = query(planner.results.all_tables(), sql).rows + ANSWERS.get(question, [])
    figure = figure_by_rules(planner)
    assert figure is None or is_right(figure.text, rows)
    told = await bold_by_query(domain, question, sql)
    assert not told or is_right(told, rows)


@pytest.mark.parametrize(("domain", "question", "sql"), PLAIN)
async def test_a_query_that_is_subtly_wrong_is_not_bold(
    domain: str, question: str, sql: str
) -> None:
    planner = await plan_over(domain, question, RepeatingEngine(sql))
    tables = planner.results.all_tables()
    rows = query(tables, sql).rows
    for wrong in {*spoil(sql, tables)} - {sql}:
        told = await bold_by_query(domain, question, wrong)
        assert not told or is_right(told, rows), wrong


@pytest.mark.parametrize(
    ("domain", "question"),
    [
        ("hospital", "What is the total number of beds?"),
        ("hospital", "What are the total beds in the first quarter of 2026?"),
        ("grid", "What is the total capacity of Birch?"),
        ("clubs", "What are the total members of Lyon?"),
        ("funds", "What is the total nav of Vega?"),
        ("funds", "How did the nav of Vega change in 2026?"),
        ("people", "What is the average salary in Sales?"),
        ("people", "What is the average headcount in 2025?"),
        ("bonds", "What is the market value of Norden Bank?"),
        ("football", "How did Rovers do against City?"),
    ],
)
async def test_where_the_figure_is_not_sure_the_rules_are_silent(
    domain: str, question: str
) -> None:
    """Levels are not added up over time, nor is the average of a median an average."""
    planner = await plan_over(domain, question, RepeatingEngine("SELECT 1"))
    assert figure_by_rules(planner) is None


@pytest.mark.parametrize(
    ("domain", "question", "figure"),
    [
        ("hospital", "What is the highest salary?", "131,000"),
        ("grid", "What was the lowest price on 1 July 2026?", "21.4"),
        ("football", "Who has the most points?", "43 (Rovers)"),
        ("logistics", "What did shipments from Hamburg to Lyon cost in total?", "1820"),
        ("climate", "What were the emissions of Industry in 2010?", "210"),
        ("shop", "What is the average price of Lighting?", "79.45"),
        ("funds", "What was the nav of Vega on 2026-06-30?", "53.5"),
    ],
)
async def test_where_the_figure_is_sure_the_rules_tell_it(
    domain: str, question: str, figure: str
) -> None:
    planner = await plan_over(domain, question, RepeatingEngine("SELECT 1"))
    found = figure_by_rules(planner)
    assert found is not None
    assert figure in found.text
