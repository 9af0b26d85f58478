import json

from server.conversation.figures import Figure
from server.conversation.means import Means
from server.conversation.tables import from_grid
from server.conversation.written_sql import write_and_run
from server.engine.base import ModelFacts
from tests.engines import ScriptedEngine, says

TABLE = from_grid(["a", "b"], [[1, 10], [2, 30]], "Pairs")
QUESTION = "What is the ratio of b to a?"


async def written(sql: str, question: str = QUESTION, parameters: int = 8 * 10**9) -> Figure | None:
    engine = ScriptedEngine(says(json.dumps({"sql": sql})))
    engine.facts = ModelFacts(name="big", context_tokens=4096, parameters=parameters)
    return await write_and_run(Means(engine), question, [TABLE])


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
    assert await written("SELECT 1", parameters=10**8) is None
    assert await written("SELECT 1", question="Tell me about it") is None
