"""What a server says oddly is mended as far as it can be used."""

from typing import Any

import pytest

from server.plugins.mcp.tidy import tidy


def tool(**details: Any) -> Any:
    (found,) = tidy("tools/list", {"tools": [{"name": "add", **details}]})["tools"]
    return found


def test_a_tool_keeps_its_schema_and_loses_that_of_its_answers() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    found = tool(inputSchema=schema, outputSchema={"pattern": "(a+)+$"}, title="Adds")
    assert found["inputSchema"] == schema
    assert "outputSchema" not in found
    assert found["description"] == "Adds"


@pytest.mark.parametrize(
    ("schema", "mended"),
    [
        (None, {}),
        ({"type": ["object"]}, {}),
        ({"properties": [1], "required": "a"}, {"properties": {}, "required": []}),
        ({"properties": {"a": 1, "b": True}}, {"properties": {"b": True}}),
        ({"required": ["a", 3]}, {"required": ["a"]}),
        ({"$schema": 3}, {}),
    ],
)
def test_an_odd_schema_becomes_one_of_an_object(schema: Any, mended: Any) -> None:
    assert tool(inputSchema=schema)["inputSchema"] == {"type": "object", **mended}


def test_hints_that_are_no_yes_or_no_are_dropped() -> None:
    found = tool(annotations={"destructiveHint": True, "readOnlyHint": "yes", "title": 3})
    assert found["annotations"] == {"destructiveHint": True}


@pytest.mark.parametrize("data", [[1, 2], "text", 3, True])
def test_data_that_is_no_object_becomes_the_text(data: Any) -> None:
    answer = tidy(
        "tools/call", {"content": [{"type": "text", "text": "x"}], "structuredContent": data}
    )
    assert "structuredContent" not in answer
    assert len(answer["content"]) == 1


def test_what_is_asked_before_an_answer_is_left_as_it_is() -> None:
    asked = {"resultType": "input_required", "inputRequests": {"a": {}}}
    assert tidy("tools/call", asked) == asked


def test_a_greeting_without_a_name_is_a_greeting() -> None:
    found = tidy("initialize", {"protocolVersion": "2025-11-25", "capabilities": None})
    assert (found["capabilities"], found["serverInfo"]) == ({}, {"name": "", "version": ""})


def test_what_cannot_be_shown_is_left_out_of_a_list() -> None:
    odd = [{"name": "a", "uri": "x://a"}, {"name": 3, "uri": "x://b"}, {"uri": "x://c"}, None]
    found = tidy("resources/list", {"resources": odd})
    assert [entry["name"] for entry in found["resources"]] == ["a"]
    assert tidy("prompts/list", {"prompts": "none"}) == {"prompts": []}
