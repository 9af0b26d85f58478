import json
from typing import Any

import pytest
from llguidance import LLMatcher

from server.schemas import fill
from server.schemas.openapi import Plain


def plain(schema: dict[str, Any], **document: Any) -> dict[str, Any]:
    return Plain(document).schema(schema)


SEED = {
    "type": "object",
    "required": ["level", "name", "kind", "tags"],
    "properties": {
        "level": {"type": "integer", "pattern": "2"},
        "name": {"type": "string", "pattern": "[a-z0-9]{1,20}"},
        "kind": {"type": "string", "enum": ["a(b)", "c.d"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "ratio": {"type": "number"},
        "when": {"type": "timestamp"},
        "more": {"description": "no type at all"},
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        SEED,
        {"type": "object", "properties": {"a": {"type": "string", "pattern": r"^(?!x)\w+$"}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "}"}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": r"\bq\b"}}},
        {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "null"}]}}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("may_be_null", [True, False])
def test_every_bound_schema_compiles(schema: dict[str, Any], may_be_null: bool) -> None:
    bound = fill.bound(plain(schema), may_be_null=may_be_null)
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(bound))
    assert LLMatcher.validate_grammar(grammar) == ""


def test_what_was_written_is_read_in_the_schemas_types() -> None:
    written = {
        "level": "2", "name": "n1", "kind": "a(b)", "tags": ["x"], "ratio": "1.50", "when": None,
        "more": "7",
    }  # fmt: skip
    values = fill.read(written, plain(SEED))
    assert values == {
        "level": 2, "name": "n1", "kind": "a(b)", "tags": ["x"], "ratio": 1.5, "more": "7",
    }  # fmt: skip
    assert fill.problems(values, plain(SEED)) == []


@pytest.mark.parametrize(
    "change",
    [{"level": 3}, {"level": 22}, {"name": "UPPER"}, {"kind": "x"}, {"tags": []}, {"ratio": "x"}],
)
def test_wrong_values_are_found(change: dict[str, Any]) -> None:
    values = {"level": 2, "name": "n", "kind": "c.d", "tags": ["x"], **change}
    ((path, _),) = fill.problems(values, plain(SEED))
    assert path[0] == next(iter(change))


def test_missing_is_a_schema_of_what_is_missing() -> None:
    lacks = fill.missing({"level": 3, "name": "n", "tags": ["x"]}, plain(SEED))
    assert lacks["required"] == ["level", "kind"]


def test_defaults_fill_what_was_not_said() -> None:
    schema = plain({"type": "object", "properties": {"a": {"type": "integer", "default": 3}}})
    assert fill.with_defaults({}, schema) == {"a": 3}
    assert fill.with_defaults({"a": 1, "b": 2}, schema) == {"a": 1}


def test_parts_are_merged_and_refs_written_out() -> None:
    document = {
        "components": {
            "schemas": {
                "A": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
                "Tree": {
                    "type": "object",
                    "properties": {"child": {"$ref": "#/components/schemas/Tree"}},
                },
            }
        }
    }
    merged = plain(
        {
            "allOf": [
                {"$ref": "#/components/schemas/A"},
                {"properties": {"y": {"type": "integer", "nullable": True}}},
            ]
        },
        **document,
    )
    assert list(merged["properties"]) == ["x", "y"]
    assert merged["required"] == ["x"]
    assert merged["properties"]["y"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    tree = plain({"$ref": "#/components/schemas/Tree"}, **document)
    assert tree["properties"]["child"] == {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"const": 5}, {"enum": [5]}),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 1},
        ),
        ({"anyOf": [{"type": "string"}]}, {"type": "string"}),
        ({"type": "string", "pattern": 5}, {"type": "string", "pattern": "5"}),
    ],
)
def test_dialects_are_ironed(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert plain(schema) == expected


def test_read_only_fields_are_not_asked_for() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}}}
    assert plain(schema)["properties"] == {}


def test_a_list_of_files_is_picked_like_one() -> None:
    file = {"type": "string", "format": "binary"}
    assert fill.is_file(plain({"type": "array", "items": file}))
    assert not fill.is_file(plain({"type": "array", "items": {"type": "string"}}))


def test_an_empty_object_that_may_hold_anything_says_nothing() -> None:
    schema = plain(
        {"type": "object", "properties": {"free": {"type": "object"}}, "required": ["free"]}
    )
    values = fill.read({"free": {}}, schema)
    assert fill.missing(values, schema)["required"] == ["free"]
    assert fill.read({"free": {"a": 1}}, schema) == {"free": {"a": 1}}


def test_a_pattern_of_a_plugin_that_would_never_end_is_checked_in_time() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert fill.problems({"a": "a" * 5000 + "!"}, schema)
    assert not fill.problems({"a": "a" * 5000}, schema)
    number = {"type": "number", "pattern": "^([0-9]+)+x$"}
    assert fill.problems(int("1" * 60), number)


def test_patterns_deep_in_a_schema_are_checked_in_time_too() -> None:
    bomb = {"type": "string", "pattern": "^(a+)+$"}
    for schema in ({"oneOf": [bomb]}, {"allOf": [bomb]}, {"not": {"not": bomb}}):
        assert fill.problems("a" * 5000 + "!", schema), schema
    named = {"type": "object", "patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}
    assert fill.problems({"a" * 5000 + "!": 1}, named)
    assert not fill.problems({"a" * 5000: 1}, {**named, "unevaluatedProperties": False})
    typed = {**named, "patternProperties": {"^(a+)+$": {"type": "integer"}}}
    assert [path for path, _ in fill.problems({"aa": "x"}, typed)] == [("aa",)]


@pytest.mark.parametrize("place", ["1", "\u00b2", "9" * 5000, "-1"])
def test_a_reference_to_no_place_of_a_list_leads_nowhere(place: str) -> None:
    assert Plain({"a": [5]}).resolve("#/a/0") == 5
    assert Plain({"a": [5]}).resolve(f"#/a/{place}") is None
