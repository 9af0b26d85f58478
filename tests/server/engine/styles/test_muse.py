"""Muse: every part of an answer names its reader, calls are tagged."""

from dataclasses import replace

import pytest

from server.chat import Constraint, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import muse
from tests.server.engine.styles.samples import ASK, calls_in, matches, pieces, streamed

FACTS = ModelFacts()
THOUGHT = " to=self<|message|>hm<|eom|><|start|>assistant"
CALL = (
    ' to=switch<|message|><atem:function_calls>\n<atem:invoke name="switch">\n'
    '<atem:parameter name="lamp">3</atem:parameter>\n'
    '<atem:parameter name="mode">low</atem:parameter>\n'
    "</atem:invoke>\n</atem:function_calls>"
)
FINAL = " to=user<|message|>Hello."


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_parts_are_read_in_any_cuts(size: int) -> None:
    said = THOUGHT + CALL + muse.NEXT + CALL
    made = pieces(muse.prepare(ASK, FACTS).parser, said, size)
    assert calls_in(made) == [("switch", {"lamp": 3, "mode": "low"})] * 2
    assert streamed(made)[1] == "hm"
    final = pieces(muse.prepare(ASK, FACTS).parser, THOUGHT + FINAL, size)
    assert streamed(final) == ("Hello.", "hm", [])


def test_the_grammar_follows_the_choice() -> None:
    free = muse.prepare(ASK, FACTS)
    assert free.constraint
    assert free.trigger
    begun = CALL.split(free.trigger)[1]
    assert matches(free.constraint.source, begun + muse.NEXT + CALL)
    forced = muse.prepare(replace(ASK, tool_choice=ToolChoice("required")), FACTS)
    assert forced.constraint
    assert matches(forced.constraint.source, THOUGHT + CALL + muse.NEXT + CALL)
    assert not matches(forced.constraint.source, FINAL)


def test_a_bound_answer_is_bound_in_the_part_for_the_user() -> None:
    bound = replace(ASK, tools=(), constraint=Constraint("json_schema", '{"type": "boolean"}'))
    prepared = muse.prepare(bound, FACTS)
    assert prepared.constraint
    assert matches(prepared.constraint.source, THOUGHT + FINAL.replace("Hello.", "true"))
    assert not matches(prepared.constraint.source, FINAL)
