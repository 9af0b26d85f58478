"""What chat completions refuse, and which field they name."""

from typing import Any

import pytest

from server.errors import BadRequest, ModelNotFound
from server.face.models import ModelCard
from server.protocols.base import Facts
from server.protocols.openai.chat import accept

FACTS = Facts("http://127.0.0.1", (ModelCard("small", "/m", 1),), "small", "1")
HI = [{"role": "user", "content": "Hi"}]
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": []}]}, "messages[0].role"),
        ({"messages": [{"content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "smell"}]}]},
         "messages[0].content[0].type"),
        ({"messages": [{"role": "tool", "tool_call_id": "z", "content": "1"}]},
         "messages[0].tool_call_id"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"n": 0}, "n"),
        ({"stop": 5}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": 5}, "stream_options"),
        ({"tools": {"a": 1}}, "tools"),
        ({"tools": [{"type": "function", "function": {"description": "nameless"}}]},
         "tools[0].function.name"),
        ({"tools": [{"type": 5}]}, "tools[0].type"),
        ({"tools": [{"type": "functoin", "function": {"name": "add"}}]}, "tools[0].type"),
        ({"tools": [{"type": "custom"}], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [{"type": "custom", "custom": {"name": "c"}}, ADD],
          "tool_choice": {"type": "custom", "custom": {"name": "c"}}}, "tool_choice.type"),
        ({"tools": [ADD], "grammar": 'root ::= "a"'}, "grammar"),
        ({"grammar": "root ::= ("}, "grammar"),
        ({"grammar": "start: (", "guided_regex": "a"}, "guided_regex"),
        ({"guided_choice": [5]}, "guided_choice"),
        ({"structured_outputs": {"json": {}, "regex": "a"}}, "structured_outputs.regex"),
        ({"structured_outputs": {"structural_tag": "x"}}, "structured_outputs.structural_tag"),
        ({"json_schema": "{"}, "json_schema"),
        ({"bad_words": ["x"]}, "bad_words"),
        ({"min_tokens": 3}, "min_tokens"),
        ({"stop_token_ids": [3]}, "stop_token_ids"),
        ({"use_beam_search": True}, "use_beam_search"),
        ({"chat_template": "{{ messages }}"}, "chat_template"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"echo": True}, "echo"),
        ({"continue_final_message": True}, "continue_final_message"),
        ({"add_generation_prompt": False}, "add_generation_prompt"),
        ({"continue_final_message": True, "add_generation_prompt": True},
         "add_generation_prompt"),
        ({"tools": [ADD, ADD]}, "tools"),
        ({"tools": [ADD], "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [ADD], "tool_choice": {"function": {"name": "nope"}}},
         "tool_choice.function.name"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"top_p": 7}, "top_p"),
        ({"logit_bias": [1]}, "logit_bias"),
        ({"logit_bias": {"a": 1}}, "logit_bias"),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "yaml"}}, "response_format.type"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}},
         "response_format.json_schema.schema"),
        ({"seed": "abc"}, "seed"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"reasoning_effort": ["low"]}, "reasoning_effort"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(change: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept({"messages": HI, **change}, FACTS)
    assert refused.value.param == param


@pytest.mark.parametrize("body", [None, [1, 2], "x", 5])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(BadRequest):
        accept(body, FACTS)


def test_an_unknown_model_is_told_with_what_is_here() -> None:
    with pytest.raises(ModelNotFound, match="Installed: small"):
        accept({"messages": HI, "model": "big"}, FACTS)
