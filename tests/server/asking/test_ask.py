import json

import pytest

from server.asking.ask import Means, ask_json, ask_json_in_chat, ask_text
from server.chat import Message
from server.errors import EngineCrashed
from server.events import ReasoningDelta
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


async def test_an_object_that_continues_a_chat_comes_with_the_thought() -> None:
    thinks = [ReasoningDelta("Let me"), ReasoningDelta(" see."), *says('{"a": 1}')]
    engine = ScriptedEngine(thinks, says('{"a"'), [EngineCrashed("gone")])
    chat = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    found = [await ask_json_in_chat(Means(engine, "me"), chat, SCHEMA, 50) for _ in range(3)]
    assert found == [({"a": 1}, "Let me see."), (None, ""), (None, "")]
    request = engine.requests[0]
    assert (request.messages, request.max_tokens, request.client) == (chat, 50, "me")
    assert request.template_options == (("enable_thinking", False),)
    assert request.constraint is not None
    assert json.loads(request.constraint.source) == SCHEMA
