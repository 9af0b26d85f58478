"""What is run where a model's query fails, contradicts itself, or wanders from value to value."""

from dataclasses import replace

from server.dashboard.actions import Action
from tests.server.dashboard.new_domains import RepeatingEngine, plan_over


async def test_a_failing_query_is_repaired_if_the_model_knows_nothing_better() -> None:
    wrong = "SELECT salary FROM wards WHERE name = 'Fox'"
    planner = await plan_over("hospital", "What does Fox earn?", RepeatingEngine(wrong))
    await planner._query(Action("query", wrong))
    [found] = planner.results.computed
    assert found.answer.rows == [(109000,)], found.sql


async def test_a_query_that_cannot_be_repaired_tells_why() -> None:
    wrong = "SELECT nothing FROM nowhere"
    planner = await plan_over("hospital", "What does Fox earn?", RepeatingEngine(wrong))
    await planner._query(Action("query", wrong))
    assert planner.results.computed == []
    assert planner.failures == 1
    assert "The tables are: " in planner.done[-1].outcome


async def test_both_are_taken_if_the_model_swaps_one_for_the_other() -> None:
    form = "SELECT SUM(points) FROM table_1 WHERE team = '%s'"
    question = "How many points do Rovers and United have?"
    planner = await plan_over("football", question, RepeatingEngine("SELECT 1"))
    [table] = [name for name, one in planner.results.tables.items() if "points" in str(one.columns)]
    queries = [(form % team).replace("table_1", table) for team in ("Rovers", "United")]
    planner.engine.queries = [queries[1]]
    await planner._query(Action("query", queries[0]))
    [found] = planner.results.computed
    assert [row[-1] for row in found.answer.rows] == [43, 39], found.sql


async def test_queries_with_values_that_nobody_asked_for_are_dropped() -> None:
    form = "SELECT AVG(nav) FROM returns WHERE date BETWEEN '%s' AND '%s'"
    planner = await plan_over("funds", "What is the mean nav?", RepeatingEngine("SELECT 1"))
    whole = form % ("2025-12-31", "2026-09-30")
    other = "SELECT COUNT(*) FROM returns"
    await planner._run(other)
    await planner._run(whole)
    assert not planner.wanders(Action("query", form % ("2026-03-31", "2026-06-30")))
    await planner._run(form % ("2026-03-31", "2026-06-30"))
    assert planner.wanders(Action("query", form % ("2026-06-30", "2026-09-30")))
    assert [one.sql for one in planner.results.computed] == [other, whole]
    assert [one.name for one in planner.results.computed] == ["q1", "q2"]
    await planner._run("SELECT MAX(nav) FROM returns")
    assert planner.results.computed[-1].name == "q3"


async def test_values_of_the_question_are_no_wandering() -> None:
    form = "SELECT nav FROM returns WHERE fund = '%s' AND date = '2026-09-30'"
    question = "What is the nav of Polaris, Vega and Altair on 2026-09-30?"
    planner = await plan_over("funds", question, RepeatingEngine("SELECT 1"))
    await planner._run(form % "Polaris")
    await planner._run(form % "Vega")
    assert not planner.wanders(Action("query", form % "Altair"))
    assert len(planner.results.computed) == 2


async def test_a_table_of_an_earlier_question_is_not_taken_for_that_of_this_one() -> None:
    planner = await plan_over("clubs", "And the members of Porto in 2025?", RepeatingEngine("x"))
    lyon, porto = planner.results.sources
    planner.results.sources = [replace(lyon, is_new=False), porto]
    planner.results._owners["season_lyon"] = planner.results.sources[0]
    sql = "SELECT members FROM season_lyon WHERE year = 2025"
    planner.engine.queries = [sql]
    await planner._query(Action("query", sql))
    [found] = planner.results.computed
    assert found.answer.rows == [(30900,)], found.sql
    assert planner.results.of_newest(sql, "Those of Lyon and Porto?") == sql
