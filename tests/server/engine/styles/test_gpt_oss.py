"""gpt-oss: channels for thoughts, calls and the answer."""

from dataclasses import replace

import pytest

from server.chat import Constraint, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import gpt_oss
from tests.server.engine.styles.samples import ASK, calls_in, matches, pieces, streamed

FACTS = ModelFacts()
THOUGHT = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
CALL = '<|channel|>commentary to=functions.switch <|constrain|>json<|message|>{"lamp": 3}'
FINAL = "<|channel|>final<|message|>Hello."


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_channels_are_read_in_any_cuts(size: int) -> None:
    made = pieces(gpt_oss.prepare(ASK, FACTS).parser, THOUGHT + CALL, size)
    assert calls_in(made) == [("switch", {"lamp": 3})]
    assert streamed(made)[1] == "hm"
    said = pieces(gpt_oss.prepare(ASK, FACTS).parser, THOUGHT + FINAL, size)
    assert streamed(said) == ("Hello.", "hm", [])


def test_the_grammar_follows_the_choice() -> None:
    free = gpt_oss.prepare(ASK, FACTS)
    assert free.constraint
    assert free.trigger == "to=functions."
    assert matches(free.constraint.source, CALL.split(free.trigger)[1])
    forced = gpt_oss.prepare(replace(ASK, tool_choice=ToolChoice("required")), FACTS)
    assert forced.constraint
    assert matches(forced.constraint.source, THOUGHT + CALL)
    assert not matches(forced.constraint.source, FINAL)


def test_a_bound_answer_is_bound_in_the_final_channel() -> None:
    bound = replace(ASK, tools=(), constraint=Constraint("json_schema", '{"type": "boolean"}'))
    prepared = gpt_oss.prepare(bound, FACTS)
    assert prepared.constraint
    assert matches(prepared.constraint.source, THOUGHT + FINAL.replace("Hello.", "true"))
    assert not matches(prepared.constraint.source, FINAL)


def test_without_thinking_the_call_comes_at_once() -> None:
    off = (("enable_thinking", False),)
    asked = replace(ASK, tool_choice=ToolChoice("required"), template_options=off)
    prepared = gpt_oss.prepare(asked, FACTS)
    assert prepared.constraint
    assert matches(prepared.constraint.source, CALL)
    assert not matches(prepared.constraint.source, THOUGHT + CALL)
