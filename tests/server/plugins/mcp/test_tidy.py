"""What a server says oddly is mended as far as it can be used."""

from typing import Any

import pytest

from server.plugins.mcp.session import MOST_LISTED, is_too_deep, tidy


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


@pytest.mark.parametrize(
    "name", ["", " add", "a\u202eb", "a\x1b[31mb", "a\nb", "a\u200bb", "a\U000e0041b", "x" * 129]
)
def test_a_tool_whose_name_is_not_what_it_seems_is_left_out(name: str) -> None:
    listed = {"tools": [{"name": name}, {"name": "add", "description": "adds\u202e\x1b[2J"}]}
    (tool,) = tidy("tools/list", listed)["tools"]
    assert (tool["name"], tool["description"]) == ("add", "adds[2J")


def test_a_server_with_thousands_of_tools_keeps_the_first() -> None:
    listed = {"tools": [{"name": f"t{number}"} for number in range(MOST_LISTED + 1)]}
    assert len(tidy("tools/list", listed)["tools"]) == MOST_LISTED
    prompts = {"prompts": [{"name": f"p{number}\u202e"} for number in range(MOST_LISTED + 1)]}
    found = tidy("prompts/list", prompts)["prompts"]
    assert (len(found), found[0]["name"]) == (MOST_LISTED, "p0")


def test_what_is_nested_too_deep_is_known_without_reading_it_whole() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep, {"a": 1}]
    assert is_too_deep({"result": deep})
    assert not is_too_deep({"a": [{"b": [1]}] * 1000})
    assert not is_too_deep("text")


def test_one_part_without_its_list_is_read() -> None:
    part = {"type": "text", "text": "words"}
    assert tidy("tools/call", {"content": part})["content"] == [part]


def test_a_link_to_a_resource_says_where_it_is() -> None:
    """A server may answer with links alone."""
    link = {"type": "resource_link", "uri": "notes://1", "name": "one", "description": "the\nfirst"}
    held = {"type": "resource", "resource": {"uri": "file:///a.png", "blob": "aaaa"}}
    found = tidy("tools/call", {"content": [link, held, {"type": "image", "data": "aaaa"}]})
    texts = [part["text"] for part in found["content"]]
    assert texts == [
        "[resource_link] one notes://1 the first",
        "[resource] file:///a.png",
        "[image]",
    ]


def test_what_no_json_can_hold_is_left_out_of_an_answer() -> None:
    data = {"a": float("nan"), "b": ["x\ud83d"], "c": "\U0001f600"}
    found = tidy("tools/call", {"content": [{"type": "text", "text": "y\ude00"}]})
    assert found["content"] == [{"type": "text", "text": "y\ufffd"}]
    found = tidy("tools/call", {"content": [], "structuredContent": data})
    assert found["structuredContent"] == {"a": None, "b": ["x\ufffd"], "c": "\U0001f600"}
