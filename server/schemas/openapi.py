"""Simplifies JSON Schemas from outside: resolves references and translates OpenAPI's dialects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.chat import Json

MAX_DEPTH = 8
MAX_NODES = 10_000
SCALARS = ("string", "number", "integer", "boolean")
TYPES = frozenset({*SCALARS, "object", "array", "null"})
KEPT = frozenset({
    "description", "title", "default", "example", "examples", "enum", "pattern", "format",
    "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "multipleOf",
    "uniqueItems",
})  # fmt: skip
ANY_SCALAR: Json = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}


@dataclass(slots=True)
class Plain:
    """A simplifier of one document's schemas. `odd` collects what was not standard."""

    document: Mapping[str, Any]
    nodes: int = 0
    odd: set[str] = field(default_factory=set)

    def schema(self, given: Any, depth: int = 0, seen: tuple[str, ...] = ()) -> Json:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            self.odd.add("too large")
            return {"type": "object"}
        if not isinstance(given, dict):
            return dict(ANY_SCALAR)
        if isinstance(given.get("$ref"), str):
            return self._follow(given, depth, seen)
        plain: Json = {key: given[key] for key in given if key in KEPT}
        if "const" in given:
            plain["enum"] = [given["const"]]
        self._bounds(given, plain)
        merged = self._merge(given, depth, seen)
        if merged is not None:
            return {**merged, **{key: plain[key] for key in plain if key != "title"}}
        branches = self._branches(given, depth, seen)
        if branches is not None:
            return {**branches, **plain}
        return self._add_type(given, plain, depth, seen)

    def resolve(self, pointer: str) -> Any:
        """Returns the target of '#/a/b'; None if there is none or it is in another document."""
        if not pointer.startswith("#"):
            self.odd.add("foreign ref")
            return None
        found: Any = self.document
        for part in pointer[1:].strip("/").split("/") if pointer != "#" else ():
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif (
                isinstance(found, list)
                and len(key) < 10
                and key.isdecimal()
                and int(key) < len(found)
            ):
                found = found[int(key)]
            else:
                self.odd.add("broken ref")
                return None
        return found

    def _follow(self, given: Json, depth: int, seen: tuple[str, ...]) -> Json:
        pointer = given["$ref"]
        if pointer in seen:
            self.odd.add("circular")
            return {"type": "object"}
        target = self.resolve(pointer)
        plain = self.schema(target, depth + 1, (*seen, pointer))
        if isinstance(given.get("description"), str):
            plain = {**plain, "description": given["description"]}
        return plain

    def _bounds(self, given: Json, plain: Json) -> None:
        """Copies valid bounds. OpenAPI 3.0 writes exclusive bounds as booleans beside the bound."""
        for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            value = given.get(name)
            if value is True and bound in plain:
                plain[name] = plain.pop(bound)
            elif _is_number(value):
                plain[name] = value
        for name in ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"):
            if name in plain and not _is_number(plain[name]):
                del plain[name]
        if "enum" in plain and (not isinstance(plain["enum"], list) or not plain["enum"]):
            del plain["enum"]
        if not isinstance(plain.get("pattern", ""), str):
            plain["pattern"] = str(plain["pattern"])

    def _merge(self, given: Json, depth: int, seen: tuple[str, ...]) -> Json | None:
        parts = given.get("allOf")
        if not isinstance(parts, list) or not parts:
            return None
        rest = {key: value for key, value in given.items() if key != "allOf"}
        own = [rest] if rest.keys() & {"properties", "type", "anyOf", "oneOf"} else []
        merged: Json = {}
        for part in (*parts, *own):
            plain = self.schema(part, depth + 1, seen)
            properties = {**merged.get("properties", {}), **plain.get("properties", {})}
            required = [*merged.get("required", []), *plain.get("required", [])]
            merged = {**merged, **plain}
            if properties:
                merged["properties"] = properties
                merged["required"] = list(dict.fromkeys(required))
                merged.pop("anyOf", None)
        return merged

    def _branches(self, given: Json, depth: int, seen: tuple[str, ...]) -> Json | None:
        for key in ("anyOf", "oneOf"):
            parts = given.get(key)
            if isinstance(parts, list) and parts:
                plain = [self.schema(part, depth + 1, seen) for part in parts]
                rest = {name: value for name, value in given.items() if name != key}
                if "properties" in rest:
                    base = self.schema(rest, depth + 1, seen)
                    plain = [_join(base, part) for part in plain]
                return plain[0] if len(plain) == 1 else {"anyOf": plain}
        return None

    def _add_type(self, given: Json, plain: Json, depth: int, seen: tuple[str, ...]) -> Json:
        kinds = self._kinds(given)
        if given.get("nullable") is True and kinds and "null" not in kinds:
            kinds = [*kinds, "null"]
        if "null" in kinds and "enum" in plain and None not in plain["enum"]:
            plain["enum"] = [*plain["enum"], None]
        if not kinds:
            return plain if "enum" in plain else {**ANY_SCALAR, **plain}
        if len(kinds) > 1:
            untyped = {
                key: value for key, value in given.items() if key not in ("type", "nullable")
            }
            shapes = [
                self._add_type({**untyped, "type": kind}, dict(plain), depth, seen)
                for kind in kinds
            ]
            return {"anyOf": [{**shape, "enum": e} if (e := _enum_of(shape)) else shape
                              for shape in shapes if _enum_of(shape) != []]}  # fmt: skip
        plain["type"] = kinds[0]
        if kinds[0] == "object":
            self._object(given, plain, depth, seen)
        elif kinds[0] == "array":
            plain["items"] = self.schema(given.get("items", {}), depth + 1, seen)
        if kinds[0] not in ("object", "array") and "pattern" in plain and "enum" in plain:
            del plain["pattern"]
        return plain

    def _object(self, given: Json, plain: Json, depth: int, seen: tuple[str, ...]) -> None:
        given_properties = given.get("properties")
        properties = given_properties if isinstance(given_properties, dict) else {}
        plain["properties"] = {
            name: self.schema(part, depth + 1, seen)
            for name, part in properties.items()
            if not (isinstance(part, dict) and part.get("readOnly") is True)
        }
        required = given.get("required")
        names = required if isinstance(required, list) else []
        plain["required"] = [
            name for name in names if isinstance(name, str) and name in plain["properties"]
        ]

    def _kinds(self, given: Json) -> list[str]:
        found = given.get("type")
        kinds = [kind for kind in (found if isinstance(found, list) else [found]) if kind]
        if not kinds:
            if "properties" in given:
                return ["object"]
            if "items" in given:
                return ["array"]
            return []
        if "timestamp" in kinds:
            self.odd.add("timestamp")
            return ["string", "integer"]
        known = [kind for kind in kinds if isinstance(kind, str) and kind in TYPES]
        self.odd |= {f"type {kind}" for kind in kinds if kind not in known}
        return known


def anchor(pattern: str) -> str:
    """Makes a pattern match the whole text, even if it has no anchors."""
    bare = pattern.removeprefix("^")
    if bare.endswith("$") and not bare.endswith("\\$"):
        bare = bare[:-1]
    return f"^(?:{bare})$"


def is_pattern(pattern: str) -> bool:
    try:
        re.compile(anchor(pattern))
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _join(base: Json, part: Json) -> Json:
    if "properties" not in part:
        return base
    return {
        **base,
        "properties": {**base.get("properties", {}), **part["properties"]},
        "required": [*base.get("required", []), *part.get("required", [])],
    }


def _enum_of(shape: Json) -> list[Any] | None:
    """Returns the values of an enum that fit the shape's type; None without an enum."""
    if "enum" not in shape:
        return None
    fits = {
        "string": str, "integer": int, "number": (int, float), "boolean": bool,
        "null": type(None), "object": dict, "array": list,
    }  # fmt: skip
    kind: Any = fits[shape["type"]]
    return [value for value in shape["enum"] if isinstance(value, kind)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain_object(schema: Json) -> Json:
    """Returns the simplified schema of a tool's arguments, always with `properties`."""
    return {"type": "object", "properties": {}, "required": [], **Plain(schema).schema(schema)}
