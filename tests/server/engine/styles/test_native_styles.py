"""Every native style: what it would say is what its grammar allows and its parser reads."""

from dataclasses import replace

import pytest

from server.chat import ChatRequest, Constraint, Json, Message, Tool, ToolCall, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import choose, gemma4, llama3, minimax_m3, table
from server.engine.styles.base import Format
from server.engine.styles.shape import Shape
from server.events import Finished, Usage
from tests.server.engine.styles.samples import (
    ASK,
    CALLS,
    calls_in,
    matches,
    pieces,
    streamed,
    with_template,
)

STYLES = (
    table.APERTUS,
    table.APRIEL,
    table.COHERE,
    table.COMMAND_R,
    table.DEEPSEEK,
    table.DEEPSEEK_R1,
    table.DEEPSEEK_V4,
    table.DEVSTRAL,
    table.FIREFUNCTION,
    table.FUNCTIONARY_V3_1,
    gemma4.FORMAT,
    table.GIGACHAT,
    table.GIGACHAT3,
    table.GLM,
    table.GRANITE3,
    table.HERMES,
    table.KIMI,
    table.LFM2,
    llama3.FORMAT,
    table.MINIMAX_M1,
    minimax_m3.FORMAT,
    table.MISTRAL_NEMO,
    table.MISTRAL_SMALL,
    table.NEMOTRON,
    table.PHI4,
    table.QWEN_CODER,
    table.SEED,
)
WROTE_OTHERWISE = (table.COHERE, table.LFM2, table.MISTRAL_NEMO)
"""Python's quotes, or an id beside the arguments: read, but not what the grammar leads to."""
FACTS = ModelFacts(template="")
each_style = pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)


def said(style: Format) -> tuple[str, list[tuple[str, object]]]:
    shape: Shape = style.shape
    calls = CALLS[:1] if shape.single else CALLS
    return shape.write(calls), [(call.name, call.arguments) for call in calls]


@each_style
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_calls_are_read_in_any_cuts(style: Format, size: int) -> None:
    text, calls = said(style)
    before = "" if style is llama3.FORMAT else "Well."
    made = pieces(style.prepare(ASK, FACTS).parser, f"{before}\n{text}", size)
    assert calls_in(made) == calls
    assert streamed(made)[0].strip() == before
    assert made[-1] == Finished("tool_calls", Usage())


@pytest.mark.parametrize(
    "style",
    [style for style in STYLES if style not in WROTE_OTHERWISE],
    ids=lambda style: style.name,
)
def test_the_grammar_allows_what_the_model_was_trained_to_say(style: Format) -> None:
    text, _ = said(style)
    required = replace(ASK, tool_choice=ToolChoice("required"))
    bound = style.prepare(required, FACTS)
    assert bound.trigger is None
    assert matches(bound.constraint.source, text)
    lazy = style.prepare(ASK, FACTS)
    assert text.startswith(lazy.trigger)
    assert matches(lazy.constraint.source, text.removeprefix(lazy.trigger))


@each_style
def test_the_grammar_keeps_to_the_named_tool_and_to_one_call(style: Format) -> None:
    shape: Shape = style.shape
    named = replace(ASK, tool_choice=ToolChoice("required", ("switch",)))
    source = style.prepare(named, FACTS).constraint.source
    assert not matches(source, shape.write(CALLS[:1]))
    assert not matches(source, shape.write((CALLS[1], CALLS[1])))
    assert not matches(source, "Hello.")


@pytest.mark.parametrize("given", [{}, {"a": 1}, {"b": 2}, {"c": 3}, {"a": 1, "c": 3}])
@pytest.mark.parametrize(
    "style",
    [style for style in STYLES if style not in (table.COHERE, table.MISTRAL_NEMO)],
    ids=lambda style: style.name,
)
def test_any_of_the_optional_arguments_may_be_given(style: Format, given: Json) -> None:
    numbers = {key: {"type": "integer"} for key in "abc"}
    tool = Tool("count", "", {"type": "object", "properties": numbers})
    asked = replace(ASK, tools=(tool,), tool_choice=ToolChoice("required"))
    source = style.prepare(asked, FACTS).constraint.source
    shape: Shape = style.shape
    assert matches(source, shape.write([ToolCall("call00001", "count", given)]))


@pytest.mark.parametrize(
    "style", [table.QWEN_CODER, table.GLM, table.SEED, gemma4.FORMAT, minimax_m3.FORMAT]
)
def test_text_follows_the_patterns_that_a_grammar_can_follow(style: Format) -> None:
    words = {"link": "^https:\\/\\/a/[0-9]$", "free": "^(?!x).*$"}
    known = {key: {"type": "string", "pattern": pattern} for key, pattern in words.items()}
    tool = Tool("open", "", {"type": "object", "properties": known, "required": [*known]})
    asked = replace(ASK, tools=(tool,), tool_choice=ToolChoice("required"))
    source = style.prepare(asked, FACTS).constraint.source
    shape: Shape = style.shape
    for link, fits in (("https://a/1", True), ("https://b/1", False)):
        call = ToolCall("call00001", "open", {"link": link, "free": "x"})
        assert matches(source, shape.write([call])) is fits


@pytest.mark.parametrize("size", [1, 10_000])
@pytest.mark.parametrize("style", [table.HERMES, table.QWEN_CODER, table.GLM])
def test_a_call_in_a_thought_is_thought_unless_the_model_stops_there(
    style: Format, size: int
) -> None:
    text, calls = said(style)
    facts = with_template("<think></think>", opens_thought=True)
    prepared = style.prepare(ASK, facts)
    assert prepared.trigger_thought == ("", "</think>")
    closed = pieces(prepared.parser, f"Say {text} or not.\n</think>\n\nNo.", size)
    assert calls_in(closed) == []
    assert streamed(closed)[:2] == ("No.", f"Say {text} or not.")
    stopped = pieces(style.prepare(ASK, facts).parser, f"I call.\n{text}", size)
    assert calls_in(stopped) == calls
    assert stopped[-1] == Finished("tool_calls", Usage())


@pytest.mark.parametrize("size", [1, 10_000])
@each_style
def test_a_mark_without_a_call_is_text_like_all_the_rest(style: Format, size: int) -> None:
    shape: Shape = style.shape
    for mark in shape.later:
        told = f"The mark {mark} opens a call. And so on."
        made = pieces(style.prepare(ASK, FACTS).parser, told, size)
        assert calls_in(made) == []
        assert streamed(made)[0] == told


@each_style
def test_an_answer_in_a_schema_stands_beside_the_calls(style: Format) -> None:
    both = replace(ASK, constraint=Constraint("json_schema", '{"type": "array", "maxItems": 0}'))
    source = style.prepare(both, FACTS).constraint.source
    assert matches(source, "[]")
    assert not matches(source, "{}")


@each_style
def test_a_cut_call_is_never_taken_for_a_whole_one(style: Format) -> None:
    shape: Shape = style.shape
    text = shape.write(CALLS[:1])
    whole = {"city": CALLS[0].arguments["city"], "days": 4}
    for cut in range(len(text)):
        made = pieces(style.prepare(ASK, FACTS).parser, text[:cut], 5, "length")
        assert calls_in(made) in ([], [("get_weather", {})], [("get_weather", whole)])


@each_style
def test_text_around_and_broken_calls_never_raise(style: Format) -> None:
    text, _ = said(style)
    for cut in range(0, len(text), 7):
        made = pieces(style.prepare(ASK, FACTS).parser, text[:cut] + "\n{[<>]}x", 5)
        assert isinstance(made[-1], Finished)


@each_style
def test_a_template_that_cannot_show_calls_gets_them_as_the_model_says_them(
    style: Format,
) -> None:
    text, _ = said(style)
    shape: Shape = style.shape
    calls = CALLS[:1] if shape.single else CALLS
    history = (Message("user", "Hi"), Message("assistant", "", tool_calls=calls))
    shown = style.prepare(ChatRequest(history, tools=ASK.tools), FACTS).messages
    assert shown[-1] == {"role": "assistant", "content": text} or shape.short_ids


def test_a_model_without_tools_in_its_template_gets_the_generic_style() -> None:
    assert choose(FACTS).name == "generic"
