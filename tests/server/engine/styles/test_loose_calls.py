"""Calls in forms that no template promised, and texts that only look like calls."""

import json
import random
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.chat import ChatRequest, Constraint, Message, Tool, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import FORMATS, choose, generic
from server.engine.styles.base import Format, Parser
from server.events import (
    CallOpened,
    Finished,
    Piece,
    TextDelta,
    TokenLogprob,
    Usage,
)
from tests.server.engine.styles.samples import SWITCH, WEATHER, calls_in, pieces, streamed

HERMES = ModelFacts(template="<tool_call>")
THINKING = ModelFacts(template="<tool_call> <think></think>")
ARGUMENTS = {"city": "Paris", "days": 3}
CALL = json.dumps({"name": "get_weather", "arguments": ARGUMENTS})
OTHER = json.dumps({"name": "switch", "arguments": {"lamp": 1}})
TIME = Tool("get_time", "The time.", {"type": "object", "properties": {}})
TOOLS = (WEATHER, SWITCH, TIME)
ONE = {
    "fence": f"```json\n{CALL}\n```",
    "fence without a word": f"```\n{CALL}\n```",
    "fence on one line": f"```json {CALL}```",
    "fence of tildes": f"~~~json\n{CALL}\n~~~",
    "fence that is not closed": f"```json\n{CALL}",
    "fence of calls": f"```tool_call\n{CALL}\n```",
    "fence of code for tools": "```tool_code\nget_weather(city='Paris', days=3)\n```",
    "fence behind text": f"I will look.\n\n```json\n{CALL}\n```",
    "fence before text": f"```json\n{CALL}\n```\nThis asks for it.",
    "bare": CALL,
    "bare over lines": json.dumps(json.loads(CALL), indent=4),
    "bare behind text": f"Let me see:\n{CALL}",
    "only the tag's end": f"{CALL}\n</tool_call>",
    "only the fence's end": f"{CALL}\n```",
    "another family's tags": f"<tools>\n{CALL}\n</tools>",
    "a special token's tags": f"<|tool_call|>{CALL}",
    "a tag that is not closed": f"<function_call>{CALL}\n\nThat is what I do.",
    "a fence in tags": f"<tools>\n```json\n{CALL}\n```\n</tools>",
    "tags in a fence": f"```xml\n<tools>\n{CALL}\n</tools>\n```",
    "the style's own form in a fence": f"```xml\n<tool_call>\n{CALL}\n</tool_call>\n```",
    "brackets": f"[TOOL_CALLS][{CALL}]",
    "list": f"[{CALL}]",
    "single quotes": "{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': 3}}",
    "a comma too many": '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3,},}',
    "other words": '{"tool": "get_weather", "parameters": {"city": "Paris", "days": 3}}',
    "arguments first": '{"args": {"city": "Paris", "days": 3}, "function": "get_weather"}',
    "arguments as text": json.dumps({"name": "get_weather", "arguments": json.dumps(ARGUMENTS)}),
    "as OpenAI has it": f'{{"id": "a", "type": "function", "function": {CALL}}}',
    "a message": f'{{"role": "assistant", "tool_calls": [{{"id": "1", "function": {CALL}}}]}}',
    "doubled braces": f"{{{CALL}}}",
    "doubled braces and one more": f"{{{CALL}}}}}\n",
    "doubled braces and one less": f"{{{CALL}",
    "a brace too many": f"{CALL}}}",
    "a brace too few": CALL[:-1],
    "a brace too many in a fence": f"```json\n{CALL}}}\n```",
    "a brace too few in a fence": f"```json\n{CALL[:-1]}\n```",
    "keyed": '{"get_weather": {"city": "Paris", "days": 3}}',
    "with a prefix": CALL.replace("get_", "functions.get_"),
    "as a function": 'get_weather({"city": "Paris", "days": 3})',
    "as Python": "get_weather(city='Paris', days=3)",
    "a list as Python": "[get_weather(city='Paris', days=3)]",
    "name and object": 'get_weather\n{"city": "Paris", "days": 3}',
    "function tag": '<function=get_weather>{"city": "Paris", "days": 3}</function>',
    "parameter tags": "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
    "named tags": '<invoke name="get_weather"><parameter name="city">Paris</parameter>'
    '<parameter name="days">3</parameter></invoke>',
}
TWO = {
    "lines": f"{CALL}\n{OTHER}",
    "list": f"[{CALL}, {OTHER}]",
    "fence": f"```json\n{CALL}\n{OTHER}\n```",
    "list in a fence": f"```json\n[\n{CALL},\n{OTHER}\n]\n```",
    "fences": f"```json\n{CALL}\n```\n\n```json\n{OTHER}\n```",
    "fences behind text": f"Both:\n```json\n{CALL}\n```\n```json\n{OTHER}\n```",
    "tags": f"<tools>{CALL}</tools>\n<tools>{OTHER}</tools>",
    "its own form second": f"{CALL}\n<tool_call>\n{OTHER}\n</tool_call>",
    "its own form first": f"<tool_call>\n{CALL}\n</tool_call>\n{OTHER}",
    "a member": f'{{"tool_calls": [{CALL}, {OTHER}]}}',
}
TEXTS = {
    "another name": '{"name": "Ann", "arguments": {"city": "Paris"}}',
    "data": '{"city": "Paris", "days": 3}',
    "data in a fence": '```json\n{"city": "Paris", "days": 3}\n```',
    "a list of data": '[{"name": "get_weather", "score": 3}]',
    "another member": CALL.replace('"arguments"', '"why": "so", "arguments"'),
    "the tool itself": json.dumps({"name": "get_weather", "parameters": WEATHER.parameters}),
    "arguments in a list": '{"name": "get_weather", "arguments": ["Paris"]}',
    "an example between texts": f"You could write\n```json\n{CALL}\n```\nand then send it.",
    "in a sentence": f"{CALL} is a call.",
    "behind a sentence": f"A call is {CALL}",
    "code": '```python\nget_weather(city="Paris", days=3)\n```',
    "JSON in code": f"```python\n{CALL}\n```",
    "the name alone": "get_weather",
    "the name in a sentence": "get_weather(city) takes a city.",
    "cut": CALL[:-4],
    "cut in its arguments": CALL[:-2],
    "a brace too many in a sentence": f"{CALL}}} is a call.",
    "Markdown": "[a](b)\n\n- `get_weather`\n\n<b>switch</b> [1]\n\n```\nx\n```\n\n| a | {b} |",
    "tags": "<tools>nothing</tools>",
    "signs": '{ [ < ``` \' \\ {"name" [TOOL_CALLS] <tool_call',
}


def request(question: str = "How is the weather?", **changes: Any) -> ChatRequest:
    return ChatRequest((Message("user", question),), tools=TOOLS, **changes)


def parser(asked: ChatRequest | None = None, facts: ModelFacts = HERMES) -> Parser:
    return choose(facts).prepare(asked or request(), facts).parser


def read(text: str, size: int = 10_000, asked: ChatRequest | None = None) -> list[Piece]:
    return pieces(parser(asked), text, size)


def arguments_streamed(made: list[Piece]) -> list[tuple[str, object]]:
    return [(name, json.loads(given)) for name, given, _ in streamed(made)[2]]


def test_a_tool_in_a_namespace_may_be_called_by_its_own_name() -> None:
    names = ("mcp__sky__get_weather", "mcp__attic__switch", "mcp__cellar__switch", "mcp__x__call")
    tools = (*(replace(WEATHER, name=name) for name in names), replace(SWITCH, name="call"))
    asked = replace(request(), tools=tools)
    for size in (1, 10_000):
        for text in (
            f"```json\n{CALL}\n```",
            CALL,
            f"[{CALL}]",
            "[get_weather(city='Paris', days=3)]",
        ):
            assert calls_in(read(text, size, asked)) == [(names[0], ARGUMENTS)]
        shared = CALL.replace("get_weather", "switch")
        assert streamed(read(shared, size, asked))[0] == shared
        exact = OTHER.replace("switch", "call")
        assert calls_in(read(exact, size, asked)) == [("call", {"lamp": 1})]


@pytest.mark.parametrize("text", ONE.values(), ids=ONE)
def test_a_call_is_a_call_in_every_form_and_cut(text: str) -> None:
    for size in (1, 2, 3, 7, 10_000):
        made = read(text, size)
        assert calls_in(made) == arguments_streamed(made) == [("get_weather", ARGUMENTS)]
        assert made[-1] == Finished("tool_calls")
        said = streamed(made)[0]
        assert "get_weather" not in said
        assert "```" not in said


@pytest.mark.parametrize("text", TWO.values(), ids=TWO)
@pytest.mark.parametrize("size", [1, 5, 10_000])
def test_several_calls_are_numbered_without_gaps(text: str, size: int) -> None:
    made = read(text, size)
    expected = [("get_weather", ARGUMENTS), ("switch", {"lamp": 1})]
    assert calls_in(made) == arguments_streamed(made) == expected
    assert [piece.index for piece in made if isinstance(piece, CallOpened)] == [0, 1]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("size", [1, 4, 10_000])
def test_what_is_no_call_stays_text(text: str, size: int) -> None:
    made = read(text, size)
    assert calls_in(made) == []
    assert streamed(made)[0] == text
    assert made[-1] == Finished("stop")


@pytest.mark.parametrize(
    "question",
    [
        "Show me the JSON of a call.",
        "Zeig das als JSON-Objekt!",
        "请用JSON格式回答",
        "Donne un exemple (json).",
    ],
)
def test_json_that_was_asked_for_stays_text(question: str) -> None:
    for form in ("fence", "bare", "list", "fence behind text", "single quotes"):
        made = read(ONE[form], 3, request(question))
        assert streamed(made)[0] == ONE[form]
        assert calls_in(made) == []


@pytest.mark.parametrize("question", ["Read data.json", "Call JSON.parse", "Open my_json/a"])
def test_a_name_with_json_in_it_asks_for_no_json(question: str) -> None:
    assert calls_in(read(ONE["fence"], 3, request(question))) == [("get_weather", ARGUMENTS)]


def test_tags_are_calls_even_where_json_was_asked_for() -> None:
    asked = request("Look it up and answer in JSON.")
    assert calls_in(read(ONE["another family's tags"], 3, asked)) == [("get_weather", ARGUMENTS)]


def test_a_tool_without_parameters_needs_no_arguments() -> None:
    assert calls_in(read('{"name": "get_time"}')) == [("get_time", {})]
    assert calls_in(read('{"name": "get_weather"}')) == []


def test_a_text_as_arguments_is_that_of_the_only_parameter_it_can_be() -> None:
    assert calls_in(read('{"name": "switch", "arguments": "3"}')) == [("switch", {"lamp": "3"})]
    assert calls_in(read('{"name": "get_weather", "arguments": "Paris"}')) == []
    assert calls_in(read('{"name": "switch", "arguments": ""}')) == []


def test_the_text_around_a_call_is_passed_on_once() -> None:
    text, _, _ = streamed(read(ONE["fence behind text"], 1))
    assert text == "I will look."
    text, _, _ = streamed(read(ONE["fence before text"], 1))
    assert text.strip() == "This asks for it."


def test_text_is_passed_on_as_soon_as_it_cannot_be_a_call() -> None:
    reading = parser()
    assert reading.feed("Hel") == [TextDelta("Hel")]
    assert reading.feed('lo {"name": "get_weather"') == [TextDelta('lo {"name": "get_weather"')]
    assert reading.feed('\n{"ci') == []
    assert reading.holds
    assert reading.feed('ty": 1') == [TextDelta('\n{"city": 1')]
    assert not reading.holds
    assert reading.feed("2\n```py") == [TextDelta("2")]
    assert reading.feed("thon\nx") == [TextDelta("\n```python\nx")]


def test_a_call_comes_as_soon_as_it_is_complete() -> None:
    reading = parser()
    assert reading.feed(f"```json\n{CALL}") == []
    assert calls_in(reading.feed("\n```\nOK")) == [("get_weather", ARGUMENTS)]


def test_a_call_behind_a_thought_is_a_call_and_its_tokens_are_no_thought() -> None:
    reading = parser(facts=THINKING)
    made = [*reading.feed(f"<think>Look it up.</think>\n\n{CALL[:-2]}")]
    assert streamed(made)[1] == "Look it up."
    assert reading.holds
    made += [*reading.feed(CALL[-2:]), *reading.end("stop", Usage())]
    assert calls_in(made) == [("get_weather", ARGUMENTS)]


def test_stop_texts_do_not_count_in_a_call() -> None:
    asked = request(stop=("\n", "Paris"))
    assert calls_in(read(ONE["fence"], 3, asked)) == [("get_weather", ARGUMENTS)]
    made = read("I go to Paris.", 3, asked)
    assert streamed(made)[0] == "I go to "
    assert made[-1] == Finished("stop", stop_text="Paris")


@pytest.mark.parametrize(
    "changes",
    [
        {"tool_choice": ToolChoice("none")},
        {"tool_choice": ToolChoice("required")},
        {"tool_choice": ToolChoice("required", ("switch",))},
        {"constraint": Constraint("json_schema", "{}")},
    ],
)
def test_an_answer_that_is_bound_or_may_not_call_is_read_as_before(changes: Any) -> None:
    assert calls_in(read(ONE["fence"], 5, request(**changes))) == []


def test_only_the_tools_that_may_be_called_are() -> None:
    asked = request(tool_choice=ToolChoice("auto", ("switch",)))
    assert calls_in(read(CALL, 5, asked)) == []
    assert calls_in(read(OTHER, 5, asked)) == [("switch", {"lamp": 1})]


@pytest.mark.parametrize(
    "style", [style for style in FORMATS if style is not generic.FORMAT], ids=lambda one: one.name
)
def test_every_style_reads_a_fenced_call(style: Format) -> None:
    facts = ModelFacts(template="", extra={"template": {"style": style.name, "calls": True}})
    before = {"gpt-oss": "<|channel|>final<|message|>", "muse": ""}.get(style.name, "")
    made = pieces(parser(facts=facts), f"{before}{ONE['fence']}", 4)
    assert calls_in(made) == [("get_weather", ARGUMENTS)]


def test_json_that_was_asked_for_is_not_made_a_call_where_calls_begin_like_json() -> None:
    facts = ModelFacts(template="<|start_header_id|>ipython<|end_header_id|>")
    person = '{"name": "Ann", "parameters": {"age": 3}}'
    for text in (person, CALL):
        asked = request("Write a JSON object about a person.")
        prepared = choose(facts).prepare(asked, facts)
        assert prepared.constraint is None
        made = pieces(prepared.parser, text, 3)
        assert streamed(made)[0] == text
        assert calls_in(made) == []
    built_in = replace(asked, tools=(Tool("brave_search", "", {}),))
    made = pieces(parser(built_in, facts), '<|python_tag|>brave_search.call(query="a")', 3)
    assert calls_in(made) == [("brave_search", {"query": "a"})]
    assert choose(facts).prepare(request(), facts).trigger == '{"name": '


def test_log_probabilities_stay_with_the_text_they_belong_to() -> None:
    words = ["Let", " me", " see", "\n", "{", '"a"', ": 1}", "\n", CALL]
    reading = parser(request(top_logprobs=0))
    made: list[Piece] = []
    for word in words:
        made += reading.feed(word, (TokenLogprob(word, word.encode(), -1.0),))
    made += reading.end("stop", Usage())
    told = [token.text for one in made if isinstance(one, TextDelta) for token in one.logprobs]
    assert "".join(told).strip() == "".join(words[:-1]).strip()
    assert calls_in(made) == [("get_weather", ARGUMENTS)]


PARTS = st.sampled_from([
    CALL, OTHER, CALL[:20], "```json\n", "\n```\n", "```", "<tool_call>\n", "</tool_call>",
    "<tools>", "[", "]", "{", "}", '"', "'", "\\", ",", "\n", " ", "Hello", '{"name": ',
    "get_weather", "(", ")", "city=", "<function=get_weather>", "<parameter=city>",
    "[TOOL_CALLS]", "é", "🌍", "~~~",
])  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PARTS, max_size=9).map("".join), st.randoms(use_true_random=False))
def test_cuts_change_nothing_and_no_text_is_lost(text: str, dice: random.Random) -> None:
    whole = read(text)
    assert _outcome(read(text, 1)) == _outcome(whole)
    reading, made, at = parser(), [], 0
    while at < len(text):
        size = dice.randint(1, 9)
        made += reading.feed(text[at : at + size])
        at += size
    assert _outcome([*made, *reading.end("stop", Usage())]) == _outcome(whole)
    if not calls_in(whole):
        assert "".join(streamed(whole)[0].split()) == "".join(text.split())


def _outcome(made: list[Piece]) -> tuple[str, list[tuple[str, object]], bool]:
    ended = [piece for piece in made if isinstance(piece, Finished)]
    assert len(ended) == 1
    opened = [piece.index for piece in made if isinstance(piece, CallOpened)]
    assert opened == list(range(len(opened)))
    return streamed(made)[0], calls_in(made), ended[0].reason == "tool_calls"


@pytest.mark.parametrize("part", [*ONE.values(), *TEXTS.values()], ids=[*ONE, *TEXTS])
def test_every_cut_in_two_gives_the_same(part: str) -> None:
    whole = _outcome(read(part))
    for at in range(len(part)):
        reading = parser()
        made = [*reading.feed(part[:at]), *reading.feed(part[at:]), *reading.end("stop", Usage())]
        assert _outcome(made) == whole


@pytest.mark.parametrize(
    "part",
    [
        "[", "{", '{"name": ', "<tool>", "<tool_call", "```\n", "~", "get_weather ", "'", "\\",
        '{"arguments": {"a": ', "[TOOL_CALLS]", "line\n", "[[", '"', "<", "</tool>", "\n", " ",
        f"{CALL}\n", "<parameter=a>", "get_weather(city=", "<function=get_weather><parameter=a>x",
    ],
)  # fmt: skip
def test_the_work_grows_with_the_text_only(part: str) -> None:
    for cut in (4, 1_000_000):
        few, many = (_steps(part * (size // len(part)), cut) for size in (2_000, 20_000))
        assert many < 12 * few + 1_000


def _steps(text: str, cut: int) -> int:
    """How many functions are called, and how often a script goes on."""
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read(text, cut)
    finally:
        sys.setprofile(before)
    return steps
