"""A stricter copy of a JSON schema: what a weak model could write without end gets bounds.

Whatever the copy allows, the schema allows; only the copy is compiled, never shown.
"""

from typing import Any, NamedTuple

from server.engine.strengthen import strengthen

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


class _Whole(NamedTuple):
    """What every part of a schema is hardened by."""

    root: Any
    longest: int


def harden(schema: Any, longest: int = LONGEST_STRING) -> Any:
    return _hardened(schema, _Whole(schema, longest))


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
