"""A stricter copy of a JSON schema: what a weak model could write without end gets bounds.

Whatever the copy allows, the schema allows; only the copy is compiled, never shown.
"""

from typing import Any, NamedTuple

from server.chat import Json
from server.schemas.expressible import strengthen
from server.schemas.patterns import NOT_SCHEMAS

LARGEST_INTEGER = 2**53 - 1
LONGEST_STRING = 4000
LONGEST_ARGUMENT = 65_536
"""A call may hand over a whole file."""
STEPS = 1_000_000
SMALLEST_STEP = 1 / STEPS
DATE_TIME = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{1,3})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
NOTES = frozenset({"description", "title", "default", "examples", "$comment", "deprecated"})
NEVER: tuple[Any, ...] = ({}, True)
"""Not anything: as the value of "not", it leaves nothing."""
OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")
BESIDE_A_REFERENCE = frozenset({"$ref", "$defs", "definitions"})
BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
VALUES = frozenset({"enum", "const", "required"})
NAMED = frozenset({
    "properties", "patternProperties", "$defs", "definitions", "dependencies", "dependentRequired",
    "dependentSchemas",
})  # fmt: skip


NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties"})
ONE_OF_ITS_OWN = frozenset({"items", "prefixItems", "additionalProperties", "contains"})
"""Keywords whose schemas are for other values than the one they stand in."""
DEFINITIONS = frozenset({"$defs", "definitions"})
UNIONS = frozenset({"anyOf", "oneOf"})
OPEN_ENDED = UNIONS | {"additionalProperties", "patternProperties", "unevaluatedProperties",
                       "allOf", "$ref", "dependencies", "dependentRequired"}  # fmt: skip


class _Whole(NamedTuple):
    """What every part of a schema is hardened by."""

    root: Any
    longest: int


def harden(schema: Any, longest: int = LONGEST_STRING) -> Any:
    return _hardened(schema, _Whole(schema, longest))


def closed(value: Any) -> Any:
    """With every object that names its members, be it none, left without others."""
    return _closed(value, DEFINITIONS if _combines(value) else frozenset(), whole=True)


def _hardened(schema: Any, whole: _Whole) -> Any:
    if isinstance(schema, list):
        return [_hardened(part, whole) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _part(key, part, whole) for key, part in schema.items() if key not in NOTES}
    if "$ref" in kept and _is_of_an_old_draft(whole.root):
        return {key: part for key, part in kept.items() if key in BESIDE_A_REFERENCE}
    if kept.get("not") in NEVER:
        return False
    strengthen(kept, whole.root)
    _move_old_bounds(kept)
    types = kept.get("type")
    kinds = types if isinstance(types, list) else [types]
    if "integer" in kinds and "number" not in kinds:
        _bound_integer(kept)
    if "number" in kinds:
        _open_bounds(kept)
    if "string" in kinds:
        _bound_string(kept, whole.longest)
    return kept


def _is_of_an_old_draft(root: Any) -> bool:
    """Until draft 7, what stands beside a reference says nothing."""
    named = root.get("$schema") if isinstance(root, dict) else None
    return isinstance(named, str) and any(draft in named for draft in OLD_DRAFTS)


def _part(key: str, part: Any, whole: _Whole) -> Any:
    if key in VALUES:
        return part
    if key in NAMED and isinstance(part, dict):
        return {name: _hardened(inner, whole) for name, inner in part.items()}
    return _hardened(part, whole)


def _move_old_bounds(schema: dict[str, Any]) -> None:
    """Until draft 4, an exclusive bound was a word about the bound beside it."""
    for bound, exclusive in BOUNDS:
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)


def _bound_integer(schema: dict[str, Any]) -> None:
    if not schema.keys() & {"enum", "const", "minimum", "exclusiveMinimum"}:
        schema["minimum"] = -LARGEST_INTEGER
    if not schema.keys() & {"enum", "const", "maximum", "exclusiveMaximum"}:
        schema["maximum"] = LARGEST_INTEGER


def _open_bounds(schema: dict[str, Any]) -> None:
    """The grammar lets an open bound itself through, so it becomes a closed one beside it."""
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(low, int | float) and not isinstance(low, bool):
        del schema["exclusiveMinimum"]
        schema["minimum"] = max(low + _step(low), _number(schema.get("minimum"), low))
    if isinstance(high, int | float) and not isinstance(high, bool):
        del schema["exclusiveMaximum"]
        schema["maximum"] = min(high - _step(high), _number(schema.get("maximum"), high))


def _bound_string(schema: dict[str, Any], longest: int) -> None:
    if schema.get("format") == "date-time" and "pattern" not in schema:
        del schema["format"]
        schema["pattern"] = DATE_TIME
    if not schema.keys() & {"enum", "const", "pattern", "format", "maxLength"}:
        schema["maxLength"] = max(longest, _number(schema.get("minLength"), 0))


def _number(found: Any, otherwise: float) -> float:
    return found if isinstance(found, int | float) else otherwise


def _step(bound: float) -> float:
    if isinstance(bound, int) and abs(bound) > LARGEST_INTEGER:
        return abs(bound) // STEPS  # it may be too large for a float
    return max(SMALLEST_STEP, abs(bound) * SMALLEST_STEP)


def _closed(value: Any, loose: frozenset[str], *, whole: bool) -> Any:
    """`whole`: this is not one of several schemas for the same object; `loose` ones may be."""
    if isinstance(value, list):
        return [_closed(item, loose, whole=whole) for item in value]
    if not isinstance(value, dict):
        return value
    apart = not value.keys() & {"properties", "required"}
    made: Json = {}
    for key, inner in value.items():
        if key in NAMED_SCHEMAS and isinstance(inner, dict):
            made[key] = {
                name: _closed(item, loose, whole=key not in loose) for name, item in inner.items()
            }
        elif key in NOT_SCHEMAS:
            made[key] = inner
        else:
            alone = key in ONE_OF_ITS_OWN or (key in UNIONS and whole and apart)
            made[key] = _closed(inner, loose, whole=alone)
    if whole and _is_closable(value):
        made["additionalProperties"] = False
    return made


def _is_closable(node: Json) -> bool:
    known, required = node.get("properties"), node.get("required")
    if not isinstance(known, dict) or OPEN_ENDED & node.keys():
        return False
    least = node.get("minProperties")
    names = required if isinstance(required, list) else []
    enough = not isinstance(least, int) or least <= len(known)
    return enough and all(isinstance(name, str) and name in known for name in names)


def _combines(value: Any) -> bool:
    """Whether several schemas hold for one object somewhere."""
    if isinstance(value, list):
        return any(map(_combines, value))
    if not isinstance(value, dict):
        return False
    parts = value.get("allOf")
    several = isinstance(parts, list) and len(parts) > 1
    beside = "properties" in value and bool(value.keys() & (UNIONS | {"allOf", "$ref"}))
    return several or beside or any(map(_combines, value.values()))
