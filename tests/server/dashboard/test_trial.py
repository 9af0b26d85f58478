import json
from pathlib import Path

from server.dashboard.trial import Trials
from server.errors import ContextOverflow, EngineCrashed
from tests.kit.engines import ScriptedEngine, says

QUARTERS = {"symbol": "MSFT", "period": "quarter"}
RIGHT = (
    {"read": [{"widget": "company_news", "parameters": {}}]},
    {"read": [{"widget": "income_statement", "parameters": QUARTERS}]},
    {"answer": True},
    {"query": "SELECT AVG(revenue) FROM income_statement_aapl"},
)


def solving(*steps: object) -> ScriptedEngine:
    return ScriptedEngine(*(says(json.dumps(one)) for one in steps))


async def test_who_solves_every_task_is_able_and_is_not_tried_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "trials.json"
    assert not Trials(path).is_known(solving())
    assert await Trials(path).is_able(solving(*RIGHT))
    assert Trials(path).is_known(solving())
    assert await Trials(path).is_able(solving())


async def test_the_first_failure_ends_the_trial(tmp_path: Path) -> None:
    engine = solving({"ask": "What?"})
    trials = Trials(tmp_path / "trials.json")
    assert not await trials.is_able(engine)
    assert not await trials.is_able(engine)
    assert len(engine.requests) == 1


async def test_an_engine_that_fails_says_nothing_about_the_model(tmp_path: Path) -> None:
    trials = Trials(tmp_path / "trials.json")
    assert not await trials.is_able(ScriptedEngine([EngineCrashed("gone")]))
    assert await trials.is_able(solving(*RIGHT))


async def test_a_model_whose_context_is_too_small_does_not_plan(tmp_path: Path) -> None:
    full = ScriptedEngine([ContextOverflow(900, 512)])
    assert not await Trials(tmp_path / "trials.json").is_able(full)


async def test_sql_that_computes_something_else_fails(tmp_path: Path) -> None:
    wrong = {"query": "SELECT MAX(revenue) FROM income_statement_aapl"}
    assert not await Trials(tmp_path / "t.json").is_able(solving(*RIGHT[:3], wrong))
