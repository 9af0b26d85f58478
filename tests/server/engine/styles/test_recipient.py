"""Functionary: each part of an answer names its reader."""

from dataclasses import replace

import pytest

from server.chat import Constraint, Tool, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import recipient
from server.engine.styles.base import Format
from tests.server.engine.styles.samples import ASK, calls_in, matches, pieces, streamed

FACTS = ModelFacts()
CALL = '{"lamp": 3}'
V2 = f"switch\n<|content|>{CALL}\n<|from|>assistant\n<|recipient|>switch\n<|content|>{CALL}"
V3 = f"switch\n{CALL}>>>switch\n{CALL}"
BOTH = pytest.mark.parametrize(
    ("style", "calls", "text"),
    [
        (recipient.FUNCTIONARY_V2, V2, "all\n<|content|>Hello."),
        (recipient.FUNCTIONARY_V3_2, V3, "all\nHello."),
    ],
    ids=["v2", "v3.2"],
)


@BOTH
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_parts_are_read_in_any_cuts(style: Format, calls: str, text: str, size: int) -> None:
    made = pieces(style.prepare(ASK, FACTS).parser, calls, size)
    assert calls_in(made) == [("switch", {"lamp": 3})] * 2
    assert streamed(pieces(style.prepare(ASK, FACTS).parser, text, size))[0] == "Hello."


@BOTH
def test_the_grammar_follows_the_choice(style: Format, calls: str, text: str) -> None:
    free = style.prepare(ASK, FACTS).constraint
    forced = style.prepare(replace(ASK, tool_choice=ToolChoice("required")), FACTS).constraint
    assert free
    assert forced
    assert matches(free.source, calls)
    assert matches(free.source, text)
    assert matches(forced.source, calls)
    assert not matches(forced.source, text)


@BOTH
def test_a_bound_answer_has_its_reader_before_it(style: Format, calls: str, text: str) -> None:
    bound = replace(ASK, tools=(), constraint=Constraint("json_schema", '{"type": "boolean"}'))
    constraint = style.prepare(bound, FACTS).constraint
    assert constraint
    assert matches(constraint.source, text.replace("Hello.", "true"))
    assert not matches(constraint.source, text)


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("tools", [(), ASK.tools])
def test_a_divider_without_a_reader_is_text(size: int, tools: tuple[Tool, ...]) -> None:
    answer = "Try:\n>>> print(1)\n1\n>>>all is done >>>"
    prepared = recipient.FUNCTIONARY_V3_2.prepare(replace(ASK, tools=tools), FACTS)
    made = pieces(prepared.parser, f"all\n{answer}", size)
    assert calls_in(made) == []
    assert streamed(made)[0] == answer


def test_text_may_stand_before_a_call() -> None:
    made = pieces(recipient.FUNCTIONARY_V3_2.prepare(ASK, FACTS).parser, f"all\nWell.>>>{V3}", 3)
    assert streamed(made)[0] == "Well."
    assert len(calls_in(made)) == 2


@BOTH
def test_an_answer_beside_tools_ends_at_its_stop_text(style: Format, calls: str, text: str) -> None:
    stopped = style.prepare(replace(ASK, stop=("o.", "\n")), FACTS)
    assert stopped.stop == ()
    assert streamed(pieces(stopped.parser, text, 3))[0] == "Hell"
    assert stopped.parser.stopped
    unharmed = style.prepare(replace(ASK, stop=('"',)), FACTS).parser
    assert len(calls_in(pieces(unharmed, calls, 3))) == 2
