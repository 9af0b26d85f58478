"""Tools and schemas the cases ask with. All but the recursive one are bounded: answers end."""

import json
from typing import Any

from openai.types.chat import ChatCompletionMessage

from tests.conformance.openai.probe import Json, check, parse
from tests.conformance.verdicts import need, shorten

UNICODE = "naïve 🌍 日本語 \N{EN DASH} ok"


def closed(properties: Json, required: list[str] | None = None, **more: Any) -> Json:
    """A schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
        **more,
    }


def integer(least: int, most: int) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def array(items: Json, least: int, most: int) -> Json:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def text(most: int) -> Json:
    return {"type": "string", "maxLength": most}


def pattern(expression: str) -> Json:
    return {"type": "string", "pattern": expression}


def defined(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


BOOLEAN: Json = {"type": "boolean"}
DIGIT = integer(0, 9)
WEATHER = closed(
    {
        "city": {"type": "string", "minLength": 1, "maxLength": 20},
        "unit": {"enum": ["celsius", "fahrenheit"]},
    }
)
ADD = closed({"a": integer(0, 999), "b": integer(0, 999)})
ORDER = closed(
    {
        "items": array(defined("item"), 1, 2),
        "ship": {"anyOf": [{"type": "null"}, closed({"kind": {"const": "air"}})]},
        "express": BOOLEAN,
    },
    **{"$defs": {"item": closed({"sku": pattern("^[A-Z]{2}-[0-9]{3}$"), "qty": integer(1, 9)})}},
)
SCHEMAS: dict[str, Json] = {
    "flat": closed({"name": text(12), "age": integer(0, 120), "ok": BOOLEAN}),
    "enum_bounds": closed(
        {
            "level": {"enum": ["low", "mid", "high"]},
            "n": integer(7, 13),
            "x": {"type": "number", "minimum": 0, "maximum": 1},
        },
        ["level", "n"],
    ),
    "arrays": array(array(DIGIT, 2, 2), 2, 3),
    "union_ref": closed(
        {"u": {"anyOf": [defined("a"), defined("b")]}},
        **{
            "$defs": {
                "a": closed({"t": {"const": "a"}, "v": integer(0, 99)}),
                "b": closed({"t": {"const": "b"}, "s": text(8)}),
            }
        },
    ),
    "recursive": {
        "$defs": {
            "leaf": closed({"v": BOOLEAN}),
            "node": closed(
                {
                    "kids": {
                        "type": "array",
                        "items": {"anyOf": [defined("leaf"), defined("node")]},
                        "maxItems": 1,
                    }
                }
            ),
        },
        **defined("node"),
    },
    "pattern_format": closed(
        {"day": {"type": "string", "format": "date"}, "id": pattern("^[A-F0-9]{4}-[0-9]{2}$")}
    ),
    "number_bounds": closed({"p": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}}),
    "nullable_list_type": closed({"m": {"type": ["string", "null"], "maxLength": 6}}),
    "optional_order": closed({"z": BOOLEAN, "a": BOOLEAN, "m": BOOLEAN}, ["m"]),
    "root_string": {"type": "string", "enum": ["red", "green", "blue"]},
}
ODD: dict[str, Json] = {
    "not": closed({"a": {"enum": ["x", "y"], "not": {"const": "x"}}}),
    "uniqueItems": {**array({"enum": [1, 2]}, 2, 2), "uniqueItems": True},
    "if": closed(
        {"a": BOOLEAN, "b": {"enum": [1, 2]}},
        **{
            "if": {"properties": {"a": {"const": True}}},
            "then": {"properties": {"b": {"const": 1}}},
            "else": {"properties": {"b": {"const": 2}}},
        },
    ),
    "multipleOf": closed({"a": {**integer(10, 99), "multipleOf": 7}}),
    "patternProperties": {
        "type": "object",
        "patternProperties": {"^x[0-9]$": BOOLEAN},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 2,
    },
}
"""Keywords that few decoders know: they must be kept or refused, never ignored."""
LONG = array(array(DIGIT, 20, 20), 20, 20)
"""More than 800 tokens from a small grammar."""


def tool(name: str, parameters: Json | None, description: str = "A function.") -> Json:
    function = {"name": name, "description": description}
    return {
        "type": "function",
        "function": function if parameters is None else {**function, "parameters": parameters},
    }


TOOLS = [
    tool("get_weather", WEATHER, "Get the weather in a city."),
    tool("add_numbers", ADD, "Add two integers."),
]
KNOWN = {"get_weather": WEATHER, "add_numbers": ADD, "order": ORDER}


def as_format(schema: Json, name: str = "out") -> Json:
    """The value of response_format that asks for this schema."""
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def check_call(name: str, arguments: Any, known: dict[str, Json] = KNOWN) -> None:
    need(name in known, f"there is no function named {name!r}")
    kind = type(arguments).__name__
    need(isinstance(arguments, str), f"function.arguments must be a string, it is {kind}")
    check(known[name], parse(arguments, "function.arguments"))


def check_calls(message: ChatCompletionMessage, known: dict[str, Json] = KNOWN) -> list[Any]:
    """The calls of a message: at least one, each with an id of its own and valid arguments."""
    calls = message.tool_calls or []
    need(calls, f"there is no tool call; the content is {shorten(message.content or '')}")
    need(len({call.id for call in calls}) == len(calls), "the ids of the tool calls are not unique")
    for call in calls:
        need(call.type == "function" and call.id, "a tool call has no id or no type")
        check_call(call.function.name, call.function.arguments, known)
    return list(calls)


def copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
