"""Arguments that a model fills in: makes the schema that binds it, and reads its text.

The bound schema has every key, in order. A value may be null, which means that the model does not
know it. Numbers with a pattern are written as text and converted back.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from server.chat import Json
from server.schemas.bounded import closed
from server.schemas.openapi import anchor, is_pattern
from server.schemas.patterns import matches, pattern_keywords
from server.system.lazy import Late

jsonschema = Late("jsonschema")
llguidance = Late("llguidance")
NUMBER = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?"
SHAPES = {
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(
        r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})"
    ),
    "time": re.compile(r"\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?"),
    "email": re.compile(r"[^@\s]{1,64}@[^@\s.]{1,63}(?:\.[^@\s.]{1,63}){1,10}"),
    "ipv4": re.compile(r"(\d{1,3}\.){3}\d{1,3}"),
    "ipv6": re.compile(r"(?=[0-9A-Fa-f.]{0,44}:)[0-9A-Fa-f:.]{2,45}"),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
}
"""The formats that a model is bound to, with a rough pattern of each."""
FORMATS = frozenset(SHAPES)


@dataclass(frozen=True, slots=True)
class FillLimits:
    """Limits for schemas without their own: a weak model would write without end."""

    text: int = 160
    items: int = 8
    objects: int = 3


USUAL = FillLimits()
TIGHT = FillLimits(text=40, items=2, objects=1)


def bound(schema: Json, *, may_be_null: bool = True, limits: FillLimits = USUAL) -> Json:
    """Returns the schema that the model's text must match."""
    if "anyOf" in schema:
        return {
            "anyOf": [
                bound(part, may_be_null=may_be_null, limits=limits) for part in schema["anyOf"]
            ]
        }
    if "enum" in schema:
        return {"enum": schema["enum"]}
    kind = schema.get("type")
    if kind == "object":
        return _bound_object(schema, limits, may_be_null=may_be_null)
    if kind == "array":
        return _bound_array(schema, limits)
    return _bound_scalar(schema, kind, limits)


def _bound_array(schema: Json, limits: FillLimits) -> Json:
    items = bound(schema.get("items", {}), may_be_null=False, limits=limits)
    least = int(schema.get("minItems", 0))
    usual = limits.objects if items.get("type") == "object" else limits.items
    most = min(int(schema.get("maxItems", usual)), max(least, usual))
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _bound_scalar(schema: Json, kind: str | None, limits: FillLimits) -> Json:
    if kind in ("integer", "number"):
        return _bound_number(schema, kind)
    if kind == "string":
        return _bound_string(schema, limits)
    if kind in ("boolean", "null"):
        return {"type": kind}
    return {"anyOf": [_bound_string({}, limits), _bound_number({}, "number"), {"type": "boolean"}]}


def _bound_object(schema: Json, limits: FillLimits, *, may_be_null: bool) -> Json:
    required = schema.get("required", [])
    properties = {}
    for name, part in schema.get("properties", {}).items():
        inner = bound(part, may_be_null=may_be_null, limits=limits)
        if name not in required or (may_be_null and "default" not in part):
            inner = {"anyOf": [inner, {"type": "null"}]}
        properties[name] = inner
    if not properties and not may_be_null:
        # The schema does not describe the content, and a person may answer anything.
        return {"type": "object", "additionalProperties": _bound_scalar({}, None, limits)}
    return closed(properties)


def _bound_number(schema: Json, kind: str) -> Json:
    pattern = schema.get("pattern")
    if pattern is not None and _compiles(anchor(pattern)):
        return {"type": "string", "pattern": anchor(pattern)}
    names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    limits = {name: schema[name] for name in names if name in schema}
    if kind == "number" and not limits:
        return {"type": "string", "pattern": f"^{NUMBER}$"}
    return {"type": kind, **limits}


def _bound_string(schema: Json, limits: FillLimits) -> Json:
    least = int(schema.get("minLength", 0))
    most = min(int(schema.get("maxLength", limits.text)), max(least, limits.text))
    plain: Json = {"type": "string", "minLength": least, "maxLength": most}
    pattern = schema.get("pattern")
    if pattern is not None:
        for candidate in (
            {**plain, "pattern": anchor(pattern)},
            {"type": "string", "pattern": anchor(pattern)},
        ):
            if _compiles_schema(candidate):
                return candidate
    if schema.get("format") in FORMATS:
        return {"type": "string", "format": schema["format"]}
    return plain


def read(written: Any, schema: Json) -> Any:
    """Converts the model's value to the schema's types. Drops nulls that mean nothing."""
    if "anyOf" in schema:
        read_as = [(read(written, part), part) for part in schema["anyOf"]]
        return next((value for value, part in read_as if not problems(value, part)), written)
    kind = schema.get("type")
    if kind == "object" and isinstance(written, dict):
        return _read_object(written, schema.get("properties", {}))
    if kind == "array" and isinstance(written, list):
        return [read(value, schema.get("items", {})) for value in written]
    if kind in ("integer", "number") and isinstance(written, str):
        return _number(written, kind)
    is_free = not kind and "enum" not in schema and isinstance(written, str)
    return _number(written, "number") if is_free and _is_number(written) else written


def _read_object(written: Json, parts: Json) -> Json:
    values = {name: read(value, parts.get(name, {})) for name, value in written.items()}
    return {
        name: value
        for name, value in values.items()
        if not _says_nothing(value, parts.get(name, {}))
    }


def _says_nothing(value: Any, part: Json) -> bool:
    """Whether it is null, or an empty object whose members a model cannot know."""
    if value is None:
        return not _takes_null(part)
    return value == {} and part.get("type") == "object" and not part.get("properties")


def with_defaults(values: Json, schema: Json) -> Json:
    """Returns the values in the schema's order, with valid defaults for those that are missing."""
    filled = {}
    for name, part in schema.get("properties", {}).items():
        if name in values:
            filled[name] = values[name]
        elif "default" in part and not problems(part["default"], part):
            filled[name] = part["default"]
    return filled


def problems(value: Any, schema: Json) -> list[tuple[tuple[str | int, ...], str]]:
    """Returns what is wrong, as paths and sentences."""
    checked = _validator()(_checkable(schema))
    found = [
        (tuple(error.absolute_path), error.message[:200]) for error in checked.iter_errors(value)
    ]
    return [*found, *_wrong_numbers(value, schema, ())]


@cache
def _validator() -> Any:
    """Returns a validator whose pattern search cannot hang: the patterns come from plugins."""
    draft = jsonschema.Draft202012Validator
    instead = {**pattern_keywords(matches), "unevaluatedProperties": _check_nothing}
    return jsonschema.validators.extend(draft, instead)


def _check_nothing(*_given: Any) -> None:
    """Keeps the library from searching names with patterns itself."""


def is_file(part: Json) -> bool:
    """Whether it is a file to send, or several: a person picks it, a model cannot invent it."""
    return part.get("format") == "binary" or is_files(part)


def is_files(part: Json) -> bool:
    return part.get("type") == "array" and part.get("items", {}).get("format") == "binary"


def missing(values: Json, schema: Json) -> Json:
    """Returns a schema of just the required arguments that are missing or wrong."""
    wrong = {str(path[0]) for path, _ in problems(values, schema) if path}
    required = [name for name in schema.get("required", []) if name not in values]
    names = [name for name in schema.get("properties", {}) if name in wrong or name in required]
    parts = {name: schema["properties"][name] for name in names}
    return {"type": "object", "properties": parts, "required": names}


def _checkable(schema: Any) -> Any:
    """Anchors patterns. Drops those that are not valid in Python or apply to numbers."""
    if isinstance(schema, list):
        return [_checkable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept: Json = {}
    for key, part in schema.items():
        if key == "pattern":
            if schema.get("type", "string") == "string" and is_pattern(str(part)):
                kept[key] = anchor(part)
        elif key == "properties" and isinstance(part, dict):
            kept[key] = {name: _checkable(inner) for name, inner in part.items()}
        elif key in ("items", "anyOf"):
            kept[key] = _checkable(part)
        elif key not in ("format", "default", "example", "examples", "title", "description"):
            kept[key] = part
    return kept


def _wrong_numbers(
    value: Any, schema: Any, path: tuple[str | int, ...]
) -> list[tuple[tuple[str | int, ...], str]]:
    """Checks patterns on numbers, which JSON Schema itself does not do."""
    if not isinstance(schema, Mapping):
        return []
    found = []
    pattern = schema.get("pattern")
    is_numeric = schema.get("type") in ("integer", "number") and _is_plain_number(value)
    applies = is_numeric and isinstance(pattern, str) and is_pattern(pattern)
    if applies and not matches(anchor(str(pattern)), json.dumps(value)):
        found.append((path, f"{value} does not match '{pattern}'"))
    if isinstance(value, dict):
        for name, part in schema.get("properties", {}).items():
            if name in value:
                found += _wrong_numbers(value[name], part, (*path, name))
    return found


def _takes_null(schema: Json) -> bool:
    kinds = [part.get("type") for part in schema.get("anyOf", [schema])]
    return "null" in kinds or None in schema.get("enum", [])


def _number(text: str, kind: str) -> Any:
    try:
        return int(text) if kind == "integer" or text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


def _is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text) is not None


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compiles(pattern: str) -> bool:
    return _compiles_schema({"type": "string", "pattern": pattern})


def _compiles_schema(schema: Json) -> bool:
    matcher = llguidance.LLMatcher
    grammar = matcher.grammar_from_json_schema(json.dumps(schema))
    return not matcher.validate_grammar(grammar)
