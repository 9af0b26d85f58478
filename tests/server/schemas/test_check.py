"""A call that does not fit is told of without its values, and no schema takes long."""

import logging
import time
from typing import Any

import pytest

from server.chat import Json, Tool, ToolCall
from server.schemas.check import check, misfit

LONG = "a" * 60 + "!"
DAYS = {"type": "object", "properties": {"days": {"type": "integer", "maximum": 7}}}


def test_what_is_wrong_is_logged_without_values(caplog: pytest.LogCaptureFixture) -> None:
    tool = Tool("plan", "", {**DAYS, "required": ["days"]})
    with caplog.at_level(logging.WARNING):
        check(ToolCall("a", "plan", {"days": 5}), tool)
        assert caplog.text == ""
        check(ToolCall("b", "plan", {"days": 9131}), tool)
    assert "a call of plan does not fit the tool's schema: 'days' breaks maximum" in caplog.text
    assert "9131" not in caplog.text
    assert misfit({}, tool.parameters) == "required is broken"


def doubling(levels: int) -> Json:
    """Each level asks for the next one twice."""
    defined: Json = {
        f"a{at}": {"anyOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(levels)
    }
    return {"$defs": {**defined, f"a{levels}": {"type": "null"}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (doubling(40), {"a": 1}),
        (
            {"allOf": [{"properties": {"a": {"pattern": f"^(a+)+{at}$"}}} for at in range(999)]},
            {"a": "a" * 60_000},
        ),
        ({"properties": {"a": {"items": {"enum": [*range(20_000)]}}}}, {"a": ["x"] * 20_000}),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"x": at} for at in range(20_000)]}),
        ({"$ref": "#"}, {}),
    ],
)
def test_no_schema_takes_long(schema: Any, arguments: Json) -> None:
    began = time.process_time()
    assert misfit(arguments, schema) == ""
    assert time.process_time() - began < 2


DIFFERENT = {"properties": {"a": {"uniqueItems": True}}}
NAMED = {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "arguments", "wrong"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": LONG}, "'a' breaks pattern"),
        (NAMED, {LONG: 1}, "additionalProperties is broken"),
        (NAMED, {"a" * 60: "1"}, f"'{'a' * 60}' breaks type"),
        (NAMED, {"a" * 60: 1}, ""),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {"a": {"pattern": "^(a+)+$"}, "b": {"$ref": "#"}},
            },
            {"b": {"a": LONG}},
            "'b/a' breaks pattern",
        ),
        ({"properties": {"a": {"pattern": "^(?!(x+x+)+y)"}}}, {"a": "x" * 60}, ""),
        ({"properties": {"a": {"pattern": "^(?!x+y)"}}}, {"a": "xxy"}, "'a' breaks pattern"),
        (DIFFERENT, {"a": [1, 2, True, "1", None]}, ""),
        (DIFFERENT, {"a": [1, 1.0]}, "'a' breaks uniqueItems"),
        (DIFFERENT, {"a": [{"x": 1, "y": [2]}, {"y": [2.0], "x": 1}]}, "'a' breaks uniqueItems"),
        ({"properties": {"a": {"uniqueItems": False}}}, {"a": [1, 1]}, ""),
    ],
)
def test_a_pattern_that_would_never_end_is_followed_in_time(
    schema: Any, arguments: Json, wrong: str
) -> None:
    assert misfit(arguments, schema) == wrong


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://nowhere.example/schema"},
        {"$ref": "#/$defs/none"},
        {"type": "nonsense"},
        {"type": 7},
        {"properties": {"a": {"maximum": "x"}}},
        {"required": 5},
    ],
)
def test_a_schema_that_is_none_says_nothing(schema: Any) -> None:
    assert misfit({"a": 1}, schema) == ""
