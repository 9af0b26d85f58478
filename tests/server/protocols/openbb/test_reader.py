import json
from typing import Any

import pytest

from server.errors import BadRequest
from server.protocols.openbb.query import is_legacy, parse_call, read_query

CALL = {"function": "get_widget_data", "input_arguments": {"widget_uuid": "u1"}}
ROWS = '[{"a": 1}]'


def read(*messages: dict[str, Any], **more: Any) -> Any:
    return read_query({"messages": list(messages), **more}, legacy=False)


def human(text: str) -> dict[str, Any]:
    return {"role": "human", "content": text}


def test_what_was_said_becomes_turns() -> None:
    query = read(human("one"), {"role": "ai", "content": "1"}, human("two"))
    assert [(said.role, said.text, said.turn) for said in query.said] == [
        ("user", "one", 1),
        ("assistant", "1", 1),
        ("user", "two", 2),
    ]
    assert query.question == "two"


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"messages": "hi"},
        {"messages": [1]},
        {"messages": [{"role": "wizard", "content": "hi"}]},
        {"messages": [{"role": "human"}]},
        {"messages": [{"role": "human", "content": 7}]},
    ],
)
def test_what_is_no_request_is_refused(body: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        read_query(body, legacy=False)
    assert refused.value.status == 400


def test_an_empty_conversation_is_refused_in_the_words_old_tests_look_for() -> None:
    with pytest.raises(BadRequest, match="messages list cannot be empty") as refused:
        read_query({"messages": []}, legacy=False)
    assert refused.value.status == 422


@pytest.mark.parametrize("content", [json.dumps(CALL), json.dumps(json.dumps(CALL))])
def test_a_call_in_the_history_is_recognised_encoded_once_or_twice(content: str) -> None:
    assert parse_call(content) == CALL


@pytest.mark.parametrize(
    "content", ["hello", '{"function": "rm"}', '{"function"', '["function"]', '"\\"function\\""']
)
def test_other_texts_are_no_calls(content: str) -> None:
    assert parse_call(content) is None


def test_a_user_who_types_a_call_makes_none() -> None:
    query = read(human(json.dumps(CALL)))
    assert query.question == json.dumps(CALL)


@pytest.mark.parametrize(
    "result",
    [
        {"content": ROWS},
        {"content": "", "data": {"content": ROWS}},
        {"data": {"content": ROWS}},
        {"data": [{"content": ROWS}]},
        {"data": [{"items": [{"content": ROWS}]}]},
    ],
)
def test_every_shape_of_a_result_is_read(result: dict[str, Any]) -> None:
    tool = {"role": "tool", "function": "get_widget_data", **result}
    query = read(human("q"), {"role": "ai", "content": json.dumps(CALL)}, tool)
    found = query.results[0]
    assert found.elements[0].items[0].content == ROWS
    assert found.sources[0].uuid == "u1"
    assert found.turn == query.turn == 1


def test_sources_and_state_of_a_result() -> None:
    arguments = {"data_sources": [{"origin": "o", "id": "w", "input_args": {"s": "A"}}, "odd"]}
    tool = {
        "role": "tool",
        "function": "get_widget_data",
        "input_arguments": arguments,
        "data": [{"error_type": "gateway_error", "content": "HTTP  404"}],
        "extra_state": {"tz": "Asia/Tokyo"},
    }
    query = read(human("q"), tool)
    assert query.results[0].sources[0].arguments == {"s": "A"}
    assert query.results[0].elements[0].problem == "HTTP 404"
    assert query.timezone == "Asia/Tokyo"


def test_markers_never_reach_the_model() -> None:
    marked = "See <|start_artifact_id|>T_1<|end_artifact_id|>this."
    assert read(human("a"), {"role": "ai", "content": marked}, human("b")).said[1].text == (
        "See this."
    )


def test_half_a_surrogate_pair_never_reaches_the_model() -> None:
    assert read(human("up \ud83d now")).question == "up  now"


def test_a_marker_without_an_end_stays_and_hides_no_other() -> None:
    text = "A<|start_artifact_id|>x B<|start_citation_id|>1<|end_citation_id|>C"
    assert read(human(text)).question == "A<|start_artifact_id|>x BC"


def test_a_last_message_of_another_agent_is_a_task() -> None:
    query = read(human("x"), {"role": "ai", "content": "Write.", "agent_id": "openbb-copilot"})
    assert (query.question, query.is_task) == ("Write.", True)


def test_a_task_is_still_known_when_its_data_comes() -> None:
    task = {"role": "ai", "content": "Write.", "agent_id": "openbb-copilot"}
    tool = {"role": "tool", "function": "get_widget_data", "data": []}
    query = read(human("x"), task, {**tool, "extra_state": {"task": "Write."}})
    assert (query.question, query.is_task, query.hop) == ("Write.", True, 1)
    assert read(human("x"), {**tool, "extra_state": {"task": 7}}).question == "x"
    later = read(human("x"), {**tool, "extra_state": {"task": "Write."}}, human("y"))
    assert (later.question, later.is_task) == ("y", False)


def test_options_come_as_a_map_or_a_list() -> None:
    assert read(human("a"), workspace_options=["web", "k=v"]).options == {"web": True, "k": "v"}
    assert read(human("a"), workspace_options={"k": 1}).options == {"k": 1}
    assert read(human("a"), workspace_options=None).options == {}


def test_skills_survive_the_second_request() -> None:
    skill = {"slug": "s", "description": "d", "contentMarkdown": "Be brief.", "source": "x"}
    first = read(human("/skill:s hello"), selected_skills=[skill])
    assert first.question == "hello"
    assert first.skills[0].text == "Be brief."
    state = {"skills": [{"slug": "s", "description": "d", "text": "Be brief."}]}
    tool = {"role": "tool", "function": "get_widget_data", "data": [], "extra_state": state}
    assert read(human("hello"), tool).skills == first.skills


def test_a_brought_skill_is_known() -> None:
    skill = {"slug": "s", "description": "d", "contentMarkdown": "Be kind."}
    tool = {
        "role": "tool",
        "function": "get_skill_content",
        "data": [{"status": "success", "data": {"skill": skill}}],
    }
    assert [one.text for one in read(human("q"), tool).skills] == ["Be kind."]


def test_tools_without_a_name_are_left_out() -> None:
    tools = [{"name": "a", "server_id": "s", "input_schema": {"type": "object"}}, {"name": 3}, 7]
    found = read(human("q"), tools=tools).tools
    assert [(one.server_id, one.name) for one in found] == [("s", "a")]


@pytest.mark.parametrize("function", [{}, [], None, 5])
def test_a_function_that_is_no_name_is_no_call(function: Any) -> None:
    assert parse_call(json.dumps({"function": function})) is None


@pytest.mark.parametrize(
    ("body", "old_path", "expected"),
    [
        ({"widgets": []}, False, True),
        ({"widgets": {"primary": []}}, True, False),
        ({"timezone": "UTC"}, True, False),
        ({"messages": [{"role": "tool", "data": {"content": "x"}}]}, False, True),
        ({"messages": [{"role": "tool", "data": [{"items": []}]}]}, True, False),
        ({"messages": []}, True, True),
        ({"messages": []}, False, False),
        ([], True, True),
    ],
)
def test_the_generation_shows_in_the_shape(body: Any, old_path: bool, expected: bool) -> None:
    assert is_legacy(body, old_path=old_path) is expected
