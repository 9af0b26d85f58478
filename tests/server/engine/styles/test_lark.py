"""Grammar text: marks by token, schemas with bounds."""

import json
from typing import Any

import pytest
from llguidance import LLMatcher

from server.chat import Constraint, Json
from server.engine.styles import lark
from tests.server.engine.styles.samples import matches
from tests.server.schemas.test_expressible import CASES, REFUSED


def rule(schema: Json) -> str:
    return f"start: {lark.schema(schema, lenient=True)}\n"


def strict_answer(schema: Any) -> str:
    return f"start: {lark.constraint_rule(Constraint('json_schema', json.dumps(schema)))}\n"


def test_special_tokens_are_named_by_their_number() -> None:
    assert lark.literal("<|a|>x\n<|b|>", {"<|a|>": 5, "<|b|>": 6}) == '<[5]> "x\\n" <[6]>'
    assert lark.literal("plain", {"<|a|>": 5}) == '"plain"'
    assert lark.literal("", {}) == ""


def test_numbers_end_and_objects_hold_what_they_name() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert matches(rule(schema), '{"a": 5}')
    assert not matches(rule(schema), '{"a": ' + "9" * 30 + "}")
    assert not matches(rule(schema), '{"b": 5}')
    assert matches(rule({**schema, "additionalProperties": True}), '{"b": 5}')


def test_parts_of_a_whole_stay_open() -> None:
    parts = [{"properties": {name: {"type": "boolean"}}, "required": [name]} for name in "ab"]
    assert matches(rule({"type": "object", "allOf": parts}), '{"a": true, "b": true}')


def test_names_that_look_like_keywords_are_kept() -> None:
    named = {"type": "object", "properties": {"title": {"type": "boolean"}}, "required": ["title"]}
    assert matches(rule({**named, "title": "Words"}), '{"title": true}')


def test_a_bound_that_older_drafts_call_exclusive_is_left_out() -> None:
    above = {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 5}
    assert matches(rule(above), "0.5")
    assert not matches(rule(above), "0")
    below = {"type": "integer", "minimum": 0, "maximum": 5, "exclusiveMaximum": True}
    assert matches(rule(below), "4")
    assert not matches(rule(below), "5")
    assert matches(rule({**below, "exclusiveMaximum": False}), "5")


def test_a_pattern_no_grammar_can_follow_is_left_out_where_that_is_allowed() -> None:
    ahead = {"type": "string", "pattern": "^(?!x).*$", "maxLength": 3}
    named: Json = {"type": "object", "properties": {"pattern": ahead}, "required": ["pattern"]}
    assert matches(rule(named), '{"pattern": "xy"}')
    assert not matches(rule(named), '{"pattern": "long"}')
    assert not matches(rule({"type": "string", "pattern": "^[a-z]$"}), '"1"')
    assert "(?!x)" in lark.schema(ahead, lenient=False)


def test_a_part_of_a_schema_takes_along_what_it_refers_to() -> None:
    root = {"properties": {"a": {"type": "boolean"}}, "definitions": {"B": {"enum": ["b"]}}}
    for pointer, value in (("#/properties/a", "true"), ("#/definitions/B", '"b"')):
        part = lark.part({"type": "array", "items": {"$ref": pointer}, "maxItems": 1}, root)
        assert matches(f"start: {part}\n", f"[{value}]")
        assert not matches(f"start: {part}\n", "[1]")


def test_the_schema_given_is_not_changed() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "description": "x"}}}
    before = json.dumps(schema)
    lark.schema(schema, lenient=True)
    assert json.dumps(schema) == before


def test_constraints_as_parts_of_a_grammar() -> None:
    expression = lark.constraint_rule(Constraint("regex", "a/b+"))
    assert matches(f"start: {expression}\n", "a/bb")
    inner = lark.constraint_rule(Constraint("lark", 'start: "x" other\nother: /[0-9}]+/'))
    assert matches(f'start: "<" answer ">"\nanswer: {inner}\n', "<x1}>")
    assert not matches(f'start: "<" answer ">"\nanswer: {inner}\n', "<x>")


@pytest.mark.parametrize(("schema", "good", "bad"), CASES)
def test_an_answer_in_a_larger_grammar_is_kept_to_as_one_of_its_own(
    schema: Any, good: list[str], bad: list[str]
) -> None:
    grammar = strict_answer(schema)
    assert [text for text in good if not matches(grammar, text)] == []
    assert [text for text in bad if matches(grammar, text)] == []


@pytest.mark.parametrize("schema", [*REFUSED, False])
def test_what_an_answer_cannot_be_kept_to_is_refused(schema: Any) -> None:
    assert LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(strict_answer(schema)))


def test_text_and_moments_end() -> None:
    moment = {"type": "string", "format": "date-time"}
    for grammar in (strict_answer(moment), rule(moment)):
        assert matches(grammar, '"2026-01-02T03:04:05.678Z"')
        assert not matches(grammar, '"2026-01-02T03:04:05.678901Z"')
    for kind in ("string", ["string", "null"]):
        assert not matches(strict_answer({"type": kind}), '"' + "a" * 5000 + '"')
        assert matches(rule({"type": kind}), '"' + "a" * 5000 + '"')


def test_schemas_for_one_object_leave_room_for_each_other() -> None:
    a, b = ({"properties": {key: {"type": "boolean"}}, "required": [key]} for key in "ab")
    defined = {"$defs": {"a": a}, "allOf": [{"$ref": "#/$defs/a"}, b]}
    beside = {"type": "object", **a, "anyOf": [b]}
    for schema in (defined, beside):
        assert matches(rule(schema), '{"a": true, "b": true}')
    unnamed = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["z"]}
    assert matches(rule(unnamed), '{"z": 1}')
