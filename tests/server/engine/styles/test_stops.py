"""Stop texts end what is said; log-probabilities are those of what is said."""

from dataclasses import replace

import pytest

from server.chat import ChatRequest, Message
from server.engine.base import ModelFacts
from server.engine.styles import choose, gpt_oss, plain
from server.engine.styles.base import Prepared
from server.engine.styles.stream import Stops
from server.events import CallOpened, Finished, Piece, TextDelta, TokenLogprob, Usage
from tests.server.engine.styles.samples import ASK, calls_in, pieces, streamed, with_template

HERMES = with_template("<tool_call>", calls=True, results=True)
THINKER = with_template("<think></think>")
UNKNOWN = with_template("")
PLAIN = ChatRequest((Message("user", "Hi"),), stop=("\n\n",))
CUTS = pytest.mark.parametrize("size", [1, 4, 1000])


def prepared(facts: ModelFacts, *stops: str) -> Prepared:
    return choose(facts).prepare(replace(ASK, stop=stops), facts)


def end_of(made: list[Piece]) -> tuple[str, str | None]:
    end = made[-1]
    assert isinstance(end, Finished)
    return end.reason, end.stop_text


@CUTS
def test_a_stop_text_in_a_call_is_part_of_it(size: int) -> None:
    asked = prepared(HERMES, "```")
    call = '<tool_call>\n{"name": "switch", "arguments": {"lamp": 3, "mode": "```"}}\n</tool_call>'
    made = pieces(asked.parser, call, size)
    assert asked.stop == ()
    assert not asked.parser.stopped
    assert calls_in(made) == [("switch", {"lamp": 3, "mode": "```"})]
    assert end_of(made) == ("tool_calls", None)


@CUTS
def test_a_call_that_was_cut_is_no_call(size: int) -> None:
    made = pieces(
        prepared(HERMES).parser, '<tool_call>\n{"name": "switch", "arguments": {"la', size
    )
    assert end_of(made) == ("stop", None)


@CUTS
def test_a_stop_text_in_a_thought_is_thought(size: int) -> None:
    asked = plain.prepare(PLAIN, THINKER)
    made = pieces(asked.parser, "<think>\nOne.\n\nTwo.</think>\n\nSo.\n\nMore", size, "length")
    assert asked.stop == ()
    assert asked.parser.stopped
    assert streamed(made) == ("So.", "One.\n\nTwo.", [])
    assert end_of(made) == ("stop", "\n\n")


def test_an_answer_that_is_all_text_is_stopped_where_it_is_made() -> None:
    assert plain.prepare(PLAIN, UNKNOWN).stop == ("\n\n",)


@CUTS
def test_a_response_in_json_is_stopped_in_its_text(size: int) -> None:
    parser = prepared(UNKNOWN, "END").parser
    made = pieces(parser, '{"response": "one END two', size, "length")
    assert parser.stopped
    assert streamed(made)[0] == "one "
    assert end_of(made) == ("stop", "END")


@CUTS
def test_a_stop_text_in_a_channel_of_thought_does_not_count(size: int) -> None:
    text = (
        "<|channel|>analysis<|message|>x\n\ny<|end|><|start|>assistant<|channel|>final<|message|>"
    )
    made = pieces(gpt_oss.prepare(PLAIN, ModelFacts()).parser, f"{text}a\n\nb", size)
    assert streamed(made)[:2] == ("a", "x\n\ny")


def test_what_is_held_back_comes_before_a_call() -> None:
    stops = Stops(("END",))
    opened = CallOpened(0, "c", "add")
    assert stops.see([TextDelta("So EN"), opened]) == [TextDelta("So "), TextDelta("EN"), opened]
    assert stops.see([TextDelta("D")]) == [TextDelta("D")]


def tokens(*texts: str) -> tuple[TokenLogprob, ...]:
    return tuple(TokenLogprob(text, text.encode(), -0.1) for text in texts)


def test_tokens_behind_a_stop_text_are_not_said() -> None:
    stops = Stops(("END",))
    said = stops.see([TextDelta("a E", tokens("a", " E")), TextDelta("ND b", tokens("ND", " b"))])
    assert said == [TextDelta("a ", tokens("a", " E"))]


@pytest.mark.parametrize("burst", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("facts", "texts", "said"),
    [
        (THINKER, ("<think>", "\n", "ok", "\n", "</think>", "\n\n", "Yes", "."), ("Yes", ".")),
        (UNKNOWN, ('{"', "response", '": "', "Yes", ".", '"}'), ("Yes", ".")),
        (UNKNOWN, ('{"response"', ':"Yes', '."}'), (':"Yes', '."}')),
        (HERMES, ("\n", "Yes", " <tool", "_box", ">"), ("Yes", " <tool", "_box", ">")),
    ],
)
def test_only_what_is_said_has_log_probabilities(
    facts: ModelFacts, texts: tuple[str, ...], said: tuple[str, ...], burst: int
) -> None:
    tools = () if facts is THINKER else ASK.tools
    parser = choose(facts).prepare(replace(ASK, tools=tools), facts).parser
    made: list[Piece] = []
    for at in range(0, len(texts), burst):
        some = texts[at : at + burst]
        made += parser.feed("".join(some), tokens(*some))
    made += parser.end("stop", Usage())
    told = [one for piece in made if isinstance(piece, TextDelta) for one in piece.logprobs]
    assert tuple(one.text for one in told) == said


def test_a_mark_that_is_text_after_all_keeps_its_tokens() -> None:
    parser = prepared(HERMES).parser
    texts = ("See ", "<tool_call>", " there", ".")
    made = [piece for text in texts for piece in parser.feed(text, tokens(text))]
    made += parser.end("stop", Usage())
    told = [one.text for piece in made if isinstance(piece, TextDelta) for one in piece.logprobs]
    assert told == list(texts)
