import json

import pytest

from server.asking.ask import Means, ask_json, ask_text
from server.errors import EngineCrashed
from tests.kit.engines import ScriptedEngine, says

SCHEMA = {"type": "object"}


async def test_the_answer_is_bound_to_the_schema() -> None:
    engine = ScriptedEngine(says('{"a"', ": 1}"))
    assert await ask_json(Means(engine), ("system", "question"), SCHEMA) == {"a": 1}
    constraint = engine.requests[0].constraint
    assert constraint is not None
    assert (constraint.kind, json.loads(constraint.source)) == ("json_schema", SCHEMA)


async def test_a_cut_or_wrong_answer_is_none() -> None:
    engine = ScriptedEngine(says('{"a"'), says("[1]"), [EngineCrashed("gone")])
    means = Means(engine)
    assert [await ask_json(means, ("s", "q"), SCHEMA) for _ in range(3)] == [None, None, None]


async def test_texts_are_trimmed_and_a_failure_is_empty() -> None:
    engine = ScriptedEngine(says(" hello \n"), [EngineCrashed("gone")])
    assert await ask_text(Means(engine), ("s", "q"), 10) == "hello"
    assert await ask_text(Means(engine), ("s", "q"), 10) == ""


async def test_an_error_is_raised_where_the_answer_must_come() -> None:
    means = Means(ScriptedEngine([EngineCrashed("gone")]))
    with pytest.raises(EngineCrashed):
        await ask_json(means, ("s", "q"), SCHEMA, must=True)
