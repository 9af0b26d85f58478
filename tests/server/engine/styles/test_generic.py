"""The generic style binds any model to calls or a response, and reads both as they come."""

import json
from dataclasses import replace

import pytest
from llguidance import LLMatcher, LLTokenizer

from server.chat import ChatRequest, Constraint, Message, Tool, ToolCall, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import choose, generic
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Piece,
    TextDelta,
    ToolCallRequested,
    Usage,
)

ADD = Tool(
    "add",
    "Add numbers.",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
)
PING = Tool("ping", "", {"type": "object", "properties": {}, "additionalProperties": False})
FACTS = ModelFacts(template="{% for m in messages %}{{ m.content }}{% endfor %}")
ASK = ChatRequest((Message("user", "Hi"),), tools=(ADD, PING))
CALLS = (
    '{"tool_calls": [{"name": "add", "arguments": {"a": 3, "note": "\\"}]"}}, '
    '{"name": "ping", "arguments": {}}]}'
)


def read(request: ChatRequest, text: str, size: int) -> list[Piece]:
    parser = generic.prepare(request, FACTS).parser
    pieces: list[Piece] = []
    for at in range(0, len(text), size):
        pieces += parser.feed(text[at : at + size])
    return pieces + parser.end("stop", Usage())


def matches(request: ChatRequest, text: str) -> bool:
    tokenizer = LLTokenizer("byte")
    grammar = LLMatcher.grammar_from_lark(generic.grammar(request))
    matcher = LLMatcher(tokenizer, grammar, log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_bytes(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and bool(matcher.is_accepting())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_calls_are_read_in_any_cuts(size: int) -> None:
    pieces = read(ASK, CALLS, size)
    opened = [piece for piece in pieces if isinstance(piece, CallOpened)]
    texts = ["", ""]
    for piece in pieces:
        if isinstance(piece, CallArguments):
            texts[piece.index] += piece.text
    calls = [piece.call for piece in pieces if isinstance(piece, ToolCallRequested)]
    assert [(one.index, one.name) for one in opened] == [(0, "add"), (1, "ping")]
    assert [one.id for one in opened] == [call.id for call in calls]
    assert texts == ['{"a": 3, "note": "\\"}]"}', "{}"]
    assert [call.arguments for call in calls] == [{"a": 3, "note": '"}]'}, {}]
    assert pieces[-1] == Finished("tool_calls", Usage())


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_response_is_shown_decoded(size: int) -> None:
    pieces = read(ASK, '{"response": "na\\u00efve \\ud83c\\udf0d \\"so\\"\\n"}', size)
    said = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert said == 'naïve 🌍 "so"\n'
    assert pieces[-1] == Finished("stop", Usage())


def test_a_response_with_a_schema_is_its_json() -> None:
    bound = ChatRequest(
        ASK.messages, tools=ASK.tools, constraint=Constraint("json_schema", '{"type": "array"}')
    )
    pieces = read(bound, '{"response": [1, "}"]}', 2)
    said = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert json.loads(said) == [1, "}"]


def test_a_cut_call_is_told_as_broken() -> None:
    parser = generic.prepare(ASK, FACTS).parser
    pieces = parser.feed('{"tool_calls": [{"name": "add", "arguments": {"a": ')
    pieces += parser.end("length", Usage())
    assert pieces[-1] == Finished("length", Usage())
    assert [piece.valid for piece in pieces if isinstance(piece, ToolCallRequested)] == [False]


@pytest.mark.parametrize("text", ["", "{", "hello", '{"x', '{"tool_calls": 5', '{"tool_calls": [{'])
def test_text_that_is_no_envelope_never_raises(text: str) -> None:
    assert read(ASK, text, 1)[-1] == Finished("stop", Usage())


def test_the_grammar_allows_what_the_choice_allows() -> None:
    one = '{"tool_calls": [{"name": "ping", "arguments": {}}]}'
    answer = '{"response": "hi"}'
    required = ChatRequest(ASK.messages, tools=ASK.tools, tool_choice=ToolChoice("required"))
    named = ChatRequest(ASK.messages, tools=ASK.tools, tool_choice=ToolChoice("required", ("add",)))
    single = ChatRequest(ASK.messages, tools=ASK.tools, parallel_calls=False)
    assert matches(ASK, one)
    assert matches(ASK, CALLS)
    assert matches(ASK, answer)
    assert matches(required, one)
    assert not matches(required, answer)
    assert not matches(named, one)
    assert matches(single, one)
    assert not matches(single, CALLS)


def test_the_grammar_allows_one_call_where_a_function_is_forced() -> None:
    once = '{"name": "ping", "arguments": {}}'
    one, two = f'{{"tool_calls": [{once}]}}', f'{{"tool_calls": [{once}, {once}]}}'
    forced = replace(ASK, tool_choice=ToolChoice("required", ("ping",)))
    assert matches(replace(ASK, tool_choice=ToolChoice("required")), two)
    assert matches(forced, one)
    assert not matches(forced, two)


def test_tools_and_results_are_told_in_plain_turns() -> None:
    call = ToolCall("c1", "add", {"a": 1})
    history = (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "2", tool_call_id="c1"),
    )
    shown = choose(FACTS).prepare(ChatRequest(history, tools=(ADD,)), FACTS).messages
    assert [turn["role"] for turn in shown] == ["system", "user", "assistant", "user"]
    assert shown[0]["content"].startswith("Be brief.\n\n")
    assert "function add(arguments: {a: number, note?: string})" in shown[0]["content"]
    assert json.loads(shown[2]["content"]) == {
        "tool_calls": [{"name": "add", "arguments": {"a": 1}}]
    }
    assert json.loads(shown[3]["content"]) == {"tool_result": {"id": "c1", "content": "2"}}


def test_a_template_without_a_system_turn_gets_the_tools_with_the_first_question() -> None:
    facts = ModelFacts(extra={"template": {"system": False, "alternates": True}})
    shown = choose(facts).prepare(ASK, facts).messages
    assert [turn["role"] for turn in shown] == ["user"]
    assert "function add" in shown[0]["content"]
    assert shown[0]["content"].endswith("Hi")


def test_without_a_choice_of_tools_none_are_shown() -> None:
    off = ChatRequest(ASK.messages, tools=ASK.tools, tool_choice=ToolChoice("none"))
    prepared = choose(FACTS).prepare(off, FACTS)
    assert prepared.messages == ({"role": "user", "content": "Hi"},)
    assert prepared.constraint is None


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_response_ends_at_the_first_stop_text(size: int) -> None:
    stopping = replace(ASK, stop=("\n\n", "END"))
    said = read(stopping, '{"response": "a E\\n b\\n\\nc END"}', size)
    whole = read(stopping, '{"response": "a EN"}', size)
    assert "".join(piece.text for piece in said if isinstance(piece, TextDelta)) == "a E\n b"
    assert "".join(piece.text for piece in whole if isinstance(piece, TextDelta)) == "a EN"


@pytest.mark.parametrize("tools", [(), (ADD, PING)])
def test_after_calls_an_answer_without_tools_is_bound_to_a_response(
    tools: tuple[Tool, ...],
) -> None:
    history = (
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(ToolCall("c1", "add", {"a": 1}),)),
        Message("tool", "2", tool_call_id="c1"),
    )
    off = ChatRequest(history, tools=tools, tool_choice=ToolChoice("none"))
    prepared = choose(FACTS).prepare(off, FACTS)
    assert "function add" not in prepared.messages[0]["content"]
    assert matches(off, '{"response": "hi"}')
    assert not matches(off, '{"tool_calls": [{"name": "ping", "arguments": {}}]}')
    pieces = prepared.parser.feed('{"response": "two') + prepared.parser.end("length", Usage())
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "two"
