"""A tool's parameters as one object, and what a strict tool is refused for."""

from typing import Any

import pytest

from server.chat import Tool
from server.engine.styles.parameters import (
    call_parameters,
    enforced_parameters,
    json_schemas,
    parameters_of,
    resolve,
    typescript,
)
from server.errors import BadSchema

TEXT = {"type": "string"}
A: Any = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
B: Any = {"type": "object", "properties": {"b": TEXT, "a": {"enum": ["x"]}}, "required": ["b"]}


def test_what_a_root_refers_to_and_is_made_of_is_seen() -> None:
    given = parameters_of({"$ref": "#/$defs/A", "$defs": {"A": A}})
    assert (given.properties, given.required, given.other) == ({"a": TEXT}, ("a",), None)
    both = parameters_of({"allOf": [A, {"$ref": "#/$defs/B"}], "$defs": {"B": B}})
    assert both.properties == {"a": {"allOf": [TEXT, {"enum": ["x"]}]}, "b": TEXT}
    assert both.required == ("a", "b")
    either = parameters_of({"anyOf": [A, {**B, "required": ["a", "b"]}]})
    assert either.properties == {"a": {"anyOf": [TEXT, {"enum": ["x"]}]}, "b": TEXT}
    assert either.required == ("a",)


def test_an_object_that_says_so_or_says_nothing_is_open() -> None:
    assert parameters_of({"type": "object", "additionalProperties": TEXT}).other == TEXT
    assert parameters_of({**A, "additionalProperties": True}).other == {}
    assert parameters_of({**A, "additionalProperties": {}}).other == {}
    assert parameters_of({"type": "object"}).other == {}
    for closed in (A, {"properties": {}}, {"additionalProperties": False}):
        assert parameters_of(closed).other is None


def test_a_reference_to_itself_ends() -> None:
    assert parameters_of({"$ref": "#"}).properties == {}
    assert parameters_of({"allOf": [{"$ref": "#"}], "properties": {"a": TEXT}}).properties
    assert resolve({"$ref": "#/$defs/a~1b"}, {"$defs": {"a/b": TEXT}}) == TEXT


def test_a_strict_tool_is_refused_by_the_keyword_that_cannot_be_kept_to() -> None:
    parameters = {**A, "if": {"required": ["a"]}}
    assert call_parameters(Tool("x", "", parameters, strict=True)).properties
    assert enforced_parameters(Tool("x", "", parameters)).properties
    with pytest.raises(BadSchema, match="'if'") as refused:
        enforced_parameters(Tool("x", "", parameters, strict=True))
    assert refused.value.param == "tools"


def signature(parameters: dict[str, object]) -> str:
    return typescript([Tool("f", "", parameters)])


def test_a_function_with_all_kinds_of_arguments() -> None:
    parameters: dict[str, object] = {
        "type": "object",
        "$defs": {"p": {"type": "object", "properties": {"x": {"type": "number"}}}},
        "properties": {
            "s": {"type": "string", "description": "Some\ntext."},
            "e": {"enum": ["a", 1]},
            "n": {"type": ["integer", "null"]},
            "l": {"type": "array", "items": {"type": "boolean"}},
            "r": {"$ref": "#/$defs/p"},
        },
        "required": ["s"],
    }
    assert signature(parameters) == (
        'function f(arguments: {s: string /* Some text. */, e?: "a" | 1, '
        "n?: number | null, l?: (boolean)[], r?: {x?: number}})"
    )


def test_odd_schemas_never_raise() -> None:
    assert signature({}) == "function f(arguments: {})"
    loop: dict[str, object] = {"properties": {"a": {"$ref": "#"}}}
    assert "any" in signature(loop)
    assert "any" in signature({"properties": {"a": True, "b": {"$ref": 5}}})


def test_json_schema_is_the_other_way() -> None:
    assert '"name": "f"' in json_schemas([Tool("f", "x", {})])


def test_what_a_tools_schema_refers_to_is_shown() -> None:
    known = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    tool = Tool("q", "", {"$ref": "#/$defs/A", "$defs": {"A": known}})
    assert typescript([tool]) == "function q(arguments: {x: string})"
