"""Grammar text: marks by token, schemas with bounds."""

import json

from server.chat import Constraint
from server.engine.formats import lark
from tests.server.engine.formats.samples import matches


def rule(schema: dict[str, object]) -> str:
    return f"start: {lark.schema(schema, lenient=True)}\n"


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


def test_the_schema_given_is_not_changed() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "description": "x"}}}
    before = json.dumps(schema)
    lark.hardened(schema)
    assert json.dumps(schema) == before


def test_constraints_as_parts_of_a_grammar() -> None:
    expression = lark.constraint_rule(Constraint("regex", "a/b+"))
    assert matches(f"start: {expression}\n", "a/bb")
    assert lark.constraint_rule(Constraint("lark", 'start: "x"')) is None
