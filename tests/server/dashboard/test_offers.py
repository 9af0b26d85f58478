import json
from typing import Any

from server.asking.ask import Means
from server.dashboard.offers import ToolUse, choose_skill, choose_tool
from server.dashboard.query import Element, OfferedTool, Query, Result, Skill
from server.errors import BadSchema
from server.events import Piece
from tests.kit.engines import ScriptedEngine, says

SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
}
LOOKUP = OfferedTool("s1", "Lab_lookup_answer", "Looks up the answer to a question", SCHEMA)
WEATHER = OfferedTool("s1", "Lab_weather", "Tells the weather of a city", {})
Script = list[Piece] | list[BadSchema]


async def used(question: str, *scripts: Any, results: tuple[Result, ...] = ()) -> ToolUse | None:
    engine = ScriptedEngine(*scripts)
    query = Query((), question, 1, results=results, tools=(LOOKUP, WEATHER))
    return await choose_tool(query, Means(engine))


async def test_a_tool_asked_for_by_name_is_used_with_arguments_under_its_schema() -> None:
    answer = says(json.dumps({"question": "everything", "extra": 1}))
    use = await used("Use the lookup tool for everything", answer)
    assert use == ToolUse(LOOKUP, {"question": "everything"})


async def test_otherwise_the_model_decides() -> None:
    question = "How is the weather in that city?"
    assert await used(question, says('{"tool": "T1"}')) == ToolUse(WEATHER, {})
    assert await used(question, says('{"tool": "none"}')) is None


async def test_a_schema_nobody_can_compile_gets_the_question_itself() -> None:
    use = await used("Use the lookup tool", [BadSchema("No.")])
    assert use == ToolUse(LOOKUP, {"question": "Use the lookup tool"})


async def test_no_tool_twice_and_none_without_need() -> None:
    done = Result("execute_agent_tool", {"tool_name": LOOKUP.name}, (), (Element(),), 1)
    assert await used("Use the lookup tool", results=(done,)) is None
    assert await used("Hello!") is None


def test_a_skill_is_fetched_when_the_question_names_it() -> None:
    catalogue = (Skill("deep-dive", "Looks closely"),)
    query = Query((), "Use the deep dive skill", 1, catalogue=catalogue)
    assert choose_skill(query) == catalogue[0]
    assert choose_skill(Query((), "How deep is it?", 1, catalogue=catalogue)) is None
    done = Result("get_skill_content", {"slug": "deep-dive"}, (), (Element(),), 1)
    again = Query((), "Use the deep dive skill", 1, results=(done,), catalogue=catalogue)
    assert choose_skill(again) is None
