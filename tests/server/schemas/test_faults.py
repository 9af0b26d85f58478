"""A schema that cannot be followed is named by its path in the request."""

from typing import Any

import pytest

from server.chat import ChatRequest, Constraint, Tool
from server.errors import BadSchema
from server.schemas.faults import find_fault, locate

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
