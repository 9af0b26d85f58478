"""Arguments of every shape of schema, in the styles that name each of them."""

from dataclasses import replace
from typing import Any

import pytest
from llguidance import LLMatcher

from server.chat import ChatRequest, Json, Tool, ToolCall, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import gemma4, llama3, minimax_m3, table
from server.engine.styles.base import Format
from server.engine.styles.shape import Shape
from server.errors import BadSchema
from tests.server.engine.styles.samples import ASK, calls_in, matches, pieces, streamed

FACTS = ModelFacts(template="")
TAGGED = (table.QWEN_CODER, table.GLM, table.SEED, table.DEEPSEEK_V4, minimax_m3.FORMAT)
NAMING = (*TAGGED, gemma4.FORMAT, table.LFM2)
TEXT = {"type": "string"}
PAIR: Any = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
ROOTS: list[tuple[Json, Json]] = [
    ({"$ref": "#/$defs/A", "$defs": {"A": PAIR}}, {"x": 5}),
    ({"allOf": [PAIR, {"properties": {"y": {"type": "integer"}}}]}, {"x": 5, "y": 6}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"x": 5, "yes": 6}),
    ({**PAIR, "additionalProperties": {"type": "integer"}}, {"x": 5, "xy": 6, "z": 7}),
    ({"type": "object"}, {"x": 5}),
]
by_name = {"ids": lambda style: style.name}


def asking(parameters: Json, *, strict: bool = False) -> ChatRequest:
    tool = Tool("q", "", parameters, strict=strict)
    return replace(ASK, tools=(tool,), tool_choice=ToolChoice("required"))


def grammar(style: Format, parameters: Json, *, strict: bool = False) -> str:
    source: str = style.prepare(asking(parameters, strict=strict), FACTS).constraint.source
    return source


def written(style: Format, arguments: Json) -> str:
    shape: Shape = style.shape
    return shape.write([ToolCall("call00001", "q", arguments)])


def read(style: Format, parameters: Json, text: str) -> list[tuple[str, object]]:
    return calls_in(pieces(style.prepare(asking(parameters), FACTS).parser, text, 3))


@pytest.mark.parametrize(("parameters", "arguments"), ROOTS)
@pytest.mark.parametrize("style", NAMING, **by_name)
def test_a_tool_without_properties_of_its_own_can_be_called(
    style: Format, parameters: Json, arguments: Json
) -> None:
    text = written(style, arguments)
    assert matches(grammar(style, parameters), text)
    assert read(style, parameters, text) == [("q", arguments)]


@pytest.mark.parametrize("style", NAMING, **by_name)
def test_what_is_required_and_closed_stays_so(style: Format) -> None:
    source = grammar(style, {"$ref": "#/$defs/A", "$defs": {"A": PAIR}})
    assert not matches(source, written(style, {}))
    assert not matches(source, written(style, {"x": 5, "y": 6}))
    assert not matches(
        grammar(style, {"type": "object", "properties": {}}), written(style, {"y": 6})
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [TEXT, {"type": "null"}]},
        {"type": ["string", "null"], "enum": ["a", None]},
        {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
        {"type": ["string", "null"], "pattern": "^a$"},
    ],
)
@pytest.mark.parametrize("style", TAGGED, **by_name)
def test_null_beside_text_is_null(style: Format, schema: Json) -> None:
    parameters = {"type": "object", "properties": {"n": schema}}
    plain = style is not table.DEEPSEEK_V4
    for value in ("a", *([None] if plain else [])):
        text = written(style, {"n": value})
        assert matches(grammar(style, parameters), text)
        assert matches(grammar(style, parameters, strict=True), text)
        assert read(style, parameters, text) == [("q", {"n": value})]


@pytest.mark.parametrize("style", [table.QWEN_CODER, table.GLM, table.SEED], **by_name)
def test_lists_and_objects_beside_text_are_what_they_are(style: Format) -> None:
    either = {"anyOf": [TEXT, {"type": "array", "items": TEXT}, {"type": "object"}]}
    parameters = {"type": "object", "properties": {"n": either}}
    for value in (["a", "b"], {"a": "b"}, "plain", "[no list", "12"):
        text = written(style, {"n": value})
        assert read(style, parameters, text) == [("q", {"n": value})]


def test_json_in_tags_of_text_is_what_it_is() -> None:
    parameters = {"type": "object", "properties": {"n": {"type": ["string", "array"]}}}
    for text, value in (('["a"]', ["a"]), ("[no", "[no"), ("12", "12")):
        said = written(minimax_m3.FORMAT, {"n": text})
        assert read(minimax_m3.FORMAT, parameters, said) == [("q", {"n": value})]


@pytest.mark.parametrize("style", [gemma4.FORMAT, minimax_m3.FORMAT], **by_name)
def test_a_schema_that_holds_itself_ends(style: Format) -> None:
    more = {"type": "array", "items": {"$ref": "#"}}
    name = {"$ref": "#/$defs/name"}
    parameters = {**PAIR, "properties": {"x": name, "more": more}, "$defs": {"name": TEXT}}
    assert read(style, parameters, written(style, {"x": "12"})) == [("q", {"x": "12"})]
    assert matches(grammar(style, parameters), written(style, {"x": "12"})) is (
        style is minimax_m3.FORMAT  # the other writes what is referred to as JSON
    )


@pytest.mark.parametrize("style", [gemma4.FORMAT, minimax_m3.FORMAT], **by_name)
def test_a_list_may_have_to_be_long(style: Format) -> None:
    bounds = (
        (70, {"minItems": 70}, True),
        (1, {"minItems": 70}, False),
        (1, {"maxItems": 0}, False),
    )
    for size, bound, fits in bounds:
        items = {"type": "array", "items": {"type": "integer"}, **bound}
        source = grammar(style, {"type": "object", "properties": {"x": items}, "required": ["x"]})
        assert matches(source, written(style, {"x": [1] * size})) is fits


UNKEPT: list[tuple[str, Json]] = [
    ("pattern", {"type": "string", "pattern": "^(?!x).*$"}),
    ("minLength", {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}),
    ("items", {"type": ["string", "array"], "items": {"type": "integer"}}),
    ("type", {"type": ["string", "object"]}),
]


@pytest.mark.parametrize(("keyword", "schema"), UNKEPT)
@pytest.mark.parametrize("style", TAGGED, **by_name)
def test_text_that_cannot_be_kept_to_is_refused_when_strict(
    style: Format, keyword: str, schema: Json
) -> None:
    parameters = {"type": "object", "properties": {"n": schema}}
    assert grammar(style, parameters)
    with pytest.raises(BadSchema, match=f"'{keyword}'"):
        grammar(style, parameters, strict=True)


@pytest.mark.parametrize(
    "style",
    [table.HERMES, table.QWEN_CODER, gemma4.FORMAT, table.LFM2, minimax_m3.FORMAT],
    **by_name,
)
def test_a_strict_tool_is_compiled_strictly(style: Format) -> None:
    odd = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    parameters = {"type": "object", "properties": {"n": odd}}
    for strict in (False, True):
        made = LLMatcher.grammar_from_lark(grammar(style, parameters, strict=strict))
        assert ("uniqueItems" in LLMatcher.validate_grammar(made)) is strict


@pytest.mark.parametrize("style", [table.KIMI, table.MISTRAL_SMALL], **by_name)
def test_two_calls_with_one_id_are_two(style: Format) -> None:
    shape: Shape = style.shape
    call = ToolCall("call00001", "q", {"x": 5})
    parser = style.prepare(asking(PAIR), FACTS).parser
    made = pieces(parser, shape.write([call, call]), 3)
    calls = streamed(made)[2]
    assert [given for _, given, _ in calls] == ['{"x": 5}'] * 2
    assert len({call_id for _, _, call_id in calls}) == 2


@pytest.mark.parametrize("value", ['{"a","b"}', "b'a'", "{1: {2}}", "1e999", "..."])
def test_a_python_value_that_json_has_no_word_for_is_text(value: str) -> None:
    tool = Tool("q", "", {"type": "object", "properties": {"x": TEXT}})
    asked = replace(ASK, tools=(tool,))
    parser = llama3.FORMAT.prepare(asked, FACTS).parser
    made = pieces(parser, f"<|python_tag|>q.call(x={value})", 3)
    assert calls_in(made) == [("q", {"x": value})]
