"""A right query stays right: what the code does to a good model's SQL never changes its rows.

The queries were written before the code was tried on them. None of their tables is one of those in
tests/evaluate.
"""

from pathlib import Path

import pytest
import yaml

from server.dashboard.actions import Action
from server.dashboard.results import is_empty
from server.data.sql import query
from tests.server.dashboard.new_domains import RepeatingEngine, plan_over

RIGHT = yaml.safe_load(Path(__file__).with_name("right_queries.yaml").read_text("utf-8"))
CASES = [
    (domain, one["ask"], one["sql"], english)
    for domain, cases in RIGHT.items()
    for one in cases
    for english in dict.fromkeys([one.get("english", ""), ""])
]


@pytest.mark.parametrize(("domain", "question", "sql", "english"), CASES)
async def test_a_right_query_keeps_its_rows(
    domain: str, question: str, sql: str, english: str
) -> None:
    engine = RepeatingEngine(sql)
    planner = await plan_over(domain, question, engine, english)
    wanted = query(planner.results.all_tables(), sql)
    await planner._query(Action("query", sql))
    found = planner.results.computed
    assert found, planner.done[-1].outcome
    assert found[0].answer.rows == wanted.rows, found[0].sql
    assert engine.asked <= 1, "a model that is sure is asked once"


async def test_few_right_queries_are_doubted() -> None:
    """A doubt costs a call of the model, and a weak one gives in."""
    doubted = 0
    for domain, question, sql, english in CASES:
        planner = await plan_over(domain, question, RepeatingEngine(sql), english)
        is_doubted = await planner._fault_of(sql)
        doubted += bool(is_doubted) and not is_empty(await planner.results.query(sql))
    assert doubted <= 0.03 * len(CASES)
