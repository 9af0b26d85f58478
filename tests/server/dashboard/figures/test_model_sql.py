import asyncio
import json
import threading

import pytest

from server.asking.ask import Means
from server.dashboard.figures import model_sql
from server.dashboard.figures.compute import Figure
from server.dashboard.figures.model_sql import write_and_run
from server.data.sql import Answer, Refused
from server.data.tables import from_grid
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine, fails_trial, passes_trial, says

TABLE = from_grid(["a", "b"], [[1, 10], [2, 30]], "Pairs")
QUESTION = "What is the ratio of b to a?"


async def written(sql: str, question: str = QUESTION, *, able: bool = True) -> Figure | None:
    engine = ScriptedEngine(says(json.dumps({"sql": sql})))
    means = Means(engine, can_plan=passes_trial if able else fails_trial)
    return await write_and_run(means, question, [TABLE])


async def test_an_able_model_writes_the_query() -> None:
    figure = await written('SELECT sum("b") * 1.0 / sum("a") AS ratio FROM t1')
    assert figure is not None
    assert figure.text == "ratio 13.333333333333334"
    assert figure.rows[0]["ratio"] == 40 / 3


async def test_what_does_not_run_or_may_not_run_is_nothing() -> None:
    assert await written("SELECT c FROM t1") is None
    assert await written("DROP TABLE t1") is None
    assert await written("SELECT * FROM t1 WHERE a > 9") is None


async def test_small_models_and_plain_questions_are_not_asked() -> None:
    assert await written("SELECT 1", able=False) is None
    assert await written("SELECT 1", question="Tell me about it") is None


async def test_long_cells_are_shortened_and_cuts_are_said() -> None:
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40)"
    figure = await written(f"{rows} SELECT printf('%*c', 9000, 'x') AS body FROM n")
    assert figure is not None
    assert figure.text.startswith("First 12 of 40: body ")
    assert len(figure.text) < 12 * 100
    assert not figure.is_whole


async def test_other_answers_go_on_while_the_query_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, began, may_end = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def slow(*_: object) -> Answer:
        loop.call_soon_threadsafe(began.set)
        if not may_end.wait(60):
            raise Refused("The loop stood still.")
        return Answer(("n",), [(1,)], total=1)

    monkeypatch.setattr(model_sql, "query", slow)
    running = spawn(written("SELECT 1"), "query")
    await began.wait()
    may_end.set()
    figure = await running
    assert figure is not None
    assert figure.text == "n 1"
