"""What the compiler cannot express becomes stricter, never looser, and compiles."""

import json
from typing import Any

import jsonschema
import pytest
from llguidance import LLMatcher, LLTokenizer

from server.schemas.bounded import harden

INTEGER = {"type": "integer"}
PAIR = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}}
CARD = {"$ref": "#/$defs/card"}
CASES: list[tuple[Any, list[str], list[str]]] = [
    ({"type": "string", "format": "semver"}, ['"1.0"'], ["1"]),
    ({"type": "array", "uniqueItems": False, "maxItems": 2}, ["[1, 1]"], ["[1, 1, 1]"]),
    ({"type": "array", "uniqueItems": True, "maxItems": 1}, ["[1]", "[]"], ["[1, 1]"]),
    (
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 1},
        ['["a"]', '["a", "c"]', '["a", "b", "c"]'],
        ["[]", '["a", "a"]', '["d"]'],
    ),
    ({**PAIR, "dependencies": {"a": ["b"]}}, ['{"b": 1}', '{"a": 1, "b": 1}'], ['{"a": 1}']),
    (
        {**PAIR, "dependentRequired": {"a": ["b"]}, "additionalProperties": False},
        ['{"a": 1, "b": 1}'],
        ['{"a": 1}'],
    ),
    ({**PAIR, "dependencies": {"a": {"required": ["b"]}}}, ['{"b": 1}', "{}"], ['{"a": 1}']),
    ({**PAIR, "minProperties": 1}, ['{"a": 1}'], ["{}"]),
    ({**PAIR, "maxProperties": 2, "additionalProperties": False}, ["{}"], ['{"c": 1}']),
    ({**PAIR, "not": {"required": ["b"]}}, ['{"a": 1}', "{}"], ['{"b": 1}']),
    (
        {"type": "object", "properties": {"a": INTEGER, "b": {"not": {}}}},
        ['{"a": 1}'],
        ['{"b": 1}'],
    ),
    (
        {**PAIR, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ['{"a": 1}', '{"b": 1}'],
        ['{"a": 1, "b": 1}', "{}"],
    ),
    (
        {
            "$defs": {"card": {"type": "object", "properties": {"n": INTEGER}, "required": ["n"]}},
            "oneOf": [CARD, {"type": "object", "properties": {"k": INTEGER}, "required": ["k"]}],
        },
        ['{"n": 1}', '{"k": 1}'],
        ['{"n": 1, "k": 1}', "{}"],
    ),
    ({"oneOf": [{"type": "string"}, INTEGER]}, ['"a"', "1"], ["null"]),
]
REFUSED: list[Any] = [
    {"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 2}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"type": "array", "uniqueItems": True},
    {**PAIR, "not": {"type": "object", "required": ["b"], "minProperties": 2}},
]


def compiled(schema: Any) -> tuple[Any, Any]:
    tokenizer = LLTokenizer("byte")
    options: Any = {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(harden(schema)), overrides=options)
    return tokenizer, LLMatcher(tokenizer, grammar, log_level=0)


def allows(schema: Any, text: str) -> bool:
    tokenizer, matcher = compiled(schema)
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_bytes(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and bool(matcher.is_accepting())


@pytest.mark.parametrize(("schema", "good", "bad"), CASES)
def test_it_is_kept_to(schema: Any, good: list[str], bad: list[str]) -> None:
    checker = jsonschema.Draft201909Validator(schema)
    assert [text for text in good if not allows(schema, text)] == []
    assert [text for text in bad if allows(schema, text)] == []
    assert [text for text in good if not checker.is_valid(json.loads(text))] == []


@pytest.mark.parametrize("schema", REFUSED)
def test_what_cannot_be_kept_to_is_refused(schema: Any) -> None:
    _, matcher = compiled(schema)
    assert matcher.is_error()
