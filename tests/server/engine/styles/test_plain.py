"""Answers without tools: text, thoughts, and what an answer must match."""

import pytest

from server.chat import ChatRequest, Constraint, Message
from server.engine.styles import plain
from server.events import TextDelta, TokenLogprob, Usage
from tests.server.engine.styles.samples import matches, pieces, streamed, with_template

ASK = ChatRequest((Message("user", "Hi"),), stop=("x",))
THINKER = with_template("<think></think>")
DEEP = with_template("<think></think>", opens_thought=True)


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("facts", "text"),
    [(THINKER, "<think>\n a b\n</think>\n\nSo. "), (DEEP, " a b\n</think>\nSo. ")],
)
def test_thoughts_are_told_apart_and_trimmed(facts: object, text: str, size: int) -> None:
    prepared = plain.prepare(ASK, facts)  # type: ignore[arg-type]
    assert streamed(pieces(prepared.parser, text, size)) == ("So. ", "a b", [])


def test_text_without_thoughts_is_left_as_it_is() -> None:
    made = pieces(plain.prepare(ASK, THINKER).parser, " <thin air>\n", 1)
    assert streamed(made) == (" <thin air>\n", "", [])


def test_log_probabilities_stay_with_their_text() -> None:
    token = TokenLogprob("a", b"a", -1.0)
    parser = plain.prepare(ASK, with_template("")).parser
    assert parser.feed("a", (token,)) == [TextDelta("a", (token,))]
    assert parser.end("stop", Usage())[0] != TextDelta("", (token,))


def test_a_bound_answer_may_be_thought_about_first() -> None:
    bound = ChatRequest(ASK.messages, constraint=Constraint("json_schema", '{"type": "boolean"}'))
    free = plain.prepare(bound, THINKER)
    assert free.constraint
    assert free.trigger is None
    assert matches(free.constraint.source, "true")
    assert matches(free.constraint.source, "<think>is it < or >?</think>\n\ntrue")
    assert not matches(free.constraint.source, "well, true")
    opened = plain.prepare(bound, DEEP)
    assert (opened.constraint, opened.trigger) == (bound.constraint, "</think>")
