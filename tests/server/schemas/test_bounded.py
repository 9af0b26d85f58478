"""The hardened schema allows nothing the schema forbids, and nothing without end."""

from typing import Any

import pytest

from server.chat import ChatRequest, Constraint, Tool
from server.errors import BadSchema
from server.schemas.bounded import (
    LARGEST_INTEGER,
    LONGEST_STRING,
    close_objects,
    find_fault,
    harden,
    locate,
)


@pytest.mark.parametrize(
    ("schema", "hardened"),
    [
        (
            {"type": "integer"},
            {"type": "integer", "minimum": -LARGEST_INTEGER, "maximum": LARGEST_INTEGER},
        ),
        (
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        ),
        ({"type": "integer", "enum": [1]}, {"type": "integer", "enum": [1]}),
        ({"type": "string"}, {"type": "string", "maxLength": LONGEST_STRING}),
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 5}),
        ({"type": "string", "pattern": "^a$"}, {"type": "string", "pattern": "^a$"}),
        (
            {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
            {"type": "number", "minimum": 1e-6, "maximum": 0.5},
        ),
        (
            {"type": "number", "exclusiveMinimum": 0, "minimum": 2},
            {"type": "number", "minimum": 2},
        ),
        (
            {"type": "number", "exclusiveMinimum": 10**400, "exclusiveMaximum": -(10**400)},
            {
                "type": "number",
                "minimum": 10**400 + 10**394,
                "maximum": -(10**400) - 10**394,
            },
        ),
        ({"description": "x", "title": "y", "type": "null"}, {"type": "null"}),
        (
            {"const": {"title": "kept", "type": "string"}},
            {"const": {"title": "kept", "type": "string"}},
        ),
        (True, True),
    ],
)
def test_bounds_are_added_where_there_are_none(schema: Any, hardened: Any) -> None:
    assert harden(schema) == hardened


def test_properties_may_have_the_names_of_keywords() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "null"}, "enum": {"type": "null"}}}
    assert harden(schema) == schema


def test_nested_schemas_are_hardened_and_the_original_is_left_alone() -> None:
    schema = {
        "$defs": {"s": {"type": "string"}},
        "anyOf": [{"type": "array", "items": {"type": "string"}}],
    }
    copy = harden(schema)
    assert copy["$defs"]["s"]["maxLength"] == LONGEST_STRING
    assert copy["anyOf"][0]["items"]["maxLength"] == LONGEST_STRING
    assert "maxLength" not in str(schema)


def test_a_moment_in_time_gets_at_most_three_digits_of_a_second() -> None:
    hardened = harden({"type": "string", "format": "date-time"})
    assert "format" not in hardened
    assert "{1,3}" in hardened["pattern"]


def test_what_stands_beside_a_reference_counts_as_in_the_draft() -> None:
    schema = {"definitions": {"n": {"type": "null"}}, "$ref": "#/definitions/n", "type": "object"}
    old = {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}
    assert harden(old) == {"definitions": {"n": {"type": "null"}}, "$ref": "#/definitions/n"}
    assert harden(schema)["type"] == "object"


def test_types_in_a_list_get_their_bounds() -> None:
    hardened = harden({"type": ["string", "integer", "null"]})
    assert hardened["maxLength"] == LONGEST_STRING
    assert (hardened["minimum"], hardened["maximum"]) == (-LARGEST_INTEGER, LARGEST_INTEGER)


def test_a_bound_that_older_drafts_call_exclusive_is_one() -> None:
    old = {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "exclusiveMaximum": False}
    assert harden(old) == {"type": "integer", "exclusiveMinimum": 1, "maximum": LARGEST_INTEGER}


@pytest.mark.parametrize("least", ["many", None, [1]])
def test_nonsense_is_left_to_the_compiler(least: Any) -> None:
    items = {"enum": ["a"]}
    for schema in (
        {"type": "string", "minLength": least},
        {"type": "number", "exclusiveMinimum": 1, "minimum": least},
        {"type": "array", "items": items, "uniqueItems": True, "minItems": least},
    ):
        assert harden(schema)


def test_an_object_that_names_its_members_be_it_none_has_no_others() -> None:
    empty = {"type": "object", "properties": {}}
    assert close_objects(empty) == {**empty, "additionalProperties": False}
    held = close_objects({"type": "object", "properties": {"a": empty}})
    assert held["properties"]["a"]["additionalProperties"] is False
    for open_one in (
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": "object", "properties": {}, "minProperties": 1},
        {"type": "object", "properties": {}, "patternProperties": {"^a": {}}},
    ):
        assert close_objects(open_one) == open_one


UNIQUE = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}


def holding(part: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": part}, "required": ["x"]}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (holding({"not": {}}), "properties.x.not"),
        ({"not": {}}, "not"),
        (holding(UNIQUE), "properties.x.uniqueItems"),
        (holding({"type": "array", "items": UNIQUE}), "properties.x.items.uniqueItems"),
        (holding({"anyOf": [{"type": "null"}, UNIQUE]}), "properties.x.anyOf[1].uniqueItems"),
        (holding({"type": "string", "pattern": "(?=a)b"}), "properties.x.pattern"),
        ({"$defs": {"u": UNIQUE}, **holding({"$ref": "#/$defs/u"})}, "$defs.u.uniqueItems"),
        (holding({"if": {"type": "string"}, "then": {"minLength": 1}}), "properties.x.if"),
    ],
)
def test_the_keyword_is_found(schema: dict[str, Any], path: str) -> None:
    fault = find_fault(schema, strict=True)
    assert fault
    assert fault.path == path
    assert fault.reason


def test_what_can_be_followed_has_no_fault() -> None:
    assert find_fault(holding({"type": "string"}), strict=True) is None
    assert find_fault(holding(UNIQUE), strict=False) is None
    assert find_fault(schema=False, strict=True) == ("", "nothing fits it")


def test_the_tool_at_fault_is_named_and_not_its_neighbour() -> None:
    good = Tool("a", "", holding({"type": "string"}), param="tools[0].function.parameters")
    bad = Tool("b", "", holding({"not": {}}), param="tools[1].function.parameters")
    error = locate(BadSchema("No.", "tools"), ChatRequest(tools=(good, bad)))
    assert error.param == "tools[1].function.parameters.properties.x.not"
    assert str(error.param) in str(error)


def test_a_constraint_at_fault_is_named_by_its_field() -> None:
    form = Constraint("json_schema", '{"uniqueItems": true}', param="guided_json")
    error = locate(BadSchema("No."), ChatRequest(constraint=form))
    assert error.param == "guided_json.uniqueItems"
    expression = Constraint("regex", "(", param="guided_regex")
    assert locate(BadSchema("No."), ChatRequest(constraint=expression)).param == "guided_regex"
