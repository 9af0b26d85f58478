"""Tools as TypeScript."""

from server.chat import Tool
from server.engine.styles.signatures import json_schemas, typescript


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
