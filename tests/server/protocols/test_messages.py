"""Messages and tools: shared readings of what clients send."""

import pytest

from server.chat import Image, Message, Tool, ToolChoice
from server.errors import BadRequest
from server.protocols.fields import Fields
from server.protocols.messages import (
    arguments_of,
    choice_of,
    function_tool,
    messages_of,
    parts_of,
    several_calls,
    tidy,
    tools_of,
)

ONE = (Tool("add", "", {}),)
TWO = (*ONE, Tool("sub", "", {}))


def test_one_forced_tool_is_called_once_unless_more_are_wanted() -> None:
    required = ToolChoice("required")
    assert not several_calls(None, ONE, required)
    assert several_calls(True, ONE, required)
    assert several_calls(None, TWO, required)
    assert not several_calls(None, TWO, ToolChoice("required", ("add",)))
    assert several_calls(None, ONE, ToolChoice())
    assert not several_calls(False, TWO, ToolChoice())


def test_a_call_that_was_cut_keeps_its_text() -> None:
    assert arguments_of('{"a": 1}') == {"a": 1}
    assert arguments_of("") == {}
    assert arguments_of('{"a": ') == {"arguments": '{"a": '}
    assert arguments_of("5") == {"arguments": 5}


@pytest.mark.parametrize("text", ['{"a": "\\ud83d"}', '{"a":' * 5000 + "1" + "}" * 5000])
def test_arguments_that_nobody_could_read_keep_their_text(text: str) -> None:
    assert arguments_of(text) == {"arguments": text}


def test_names_are_plain() -> None:
    assert function_tool(Fields({"name": "mcp.add-up:2"})).name == "mcp.add-up:2"
    with pytest.raises(BadRequest):
        function_tool(Fields({"name": "a b"}))


def test_a_choice_needs_tools() -> None:
    assert choice_of("none", ()) == ((), ToolChoice("none"))
    with pytest.raises(BadRequest):
        choice_of("required", ())


def test_keywords_of_the_wrong_kind_are_left_out_of_a_tool() -> None:
    wrong = {
        "type": ["object", 5],
        "required": 1,
        "properties": {
            "a": {"type": 3, "enum": "x", "minLength": True, "title": 7, "items": [1]},
            "b": None,
            "required": {"anyOf": [{"required": "a"}], "not": [], "additionalProperties": False},
        },
        "$defs": [],
    }
    assert tidy(wrong) == {
        "type": ["object"],
        "properties": {
            "a": {"title": 7, "items": [{}]},
            "b": {},
            "required": {"anyOf": [{}], "additionalProperties": False},
        },
    }
    (tool,) = tools_of(Fields({"tools": [{"function": {"name": "f", "parameters": wrong}}]}))
    assert tool.parameters == tidy(wrong)


def test_images_keep_their_place_between_texts() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    said = [{"type": "text", "text": "This"}, picture, {"type": "text", "text": "or"}, picture]
    content, images = parts_of(Fields({"content": said}))
    assert content == "Thisor"
    assert [image.at for image in images] == [4, 6]


def test_an_image_in_a_tools_result_is_kept() -> None:
    call = {"id": "c", "function": {"name": "shot", "arguments": "{}"}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    asked = {"role": "assistant", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c", "content": [image]}
    assert messages_of(Fields({"messages": [asked, result]}))[-1] == Message(
        "tool", "", (Image("image/png", b"hi"),), tool_call_id="c", name="shot"
    )


def test_a_strict_tool_is_taken_as_it_is_or_not_at_all() -> None:
    good = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert function_tool(Fields({"name": "x", "parameters": good, "strict": True})).strict
    assert not function_tool(Fields({"name": "x", "parameters": good, "strict": None})).strict
    odd = {**good, "required": "a"}
    assert function_tool(Fields({"name": "x", "parameters": odd})).parameters == good
    with pytest.raises(BadRequest, match="strict"):
        function_tool(Fields({"name": "x", "parameters": odd, "strict": True}))
