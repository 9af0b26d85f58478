"""Makes schemas that a grammar can follow in bounded time, and finds parts that it cannot."""

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any, NamedTuple

from server.chat import ChatRequest, Json
from server.errors import BadSchema
from server.schemas.patterns import NOT_SCHEMAS, change_parts, enforceable
from server.system.lazy import Late

KNOWN_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "idn-email", "hostname", "idn-hostname",
    "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template",
    "json-pointer", "relative-json-pointer", "regex",
})  # fmt: skip
ALL_TYPES = frozenset({"null", "boolean", "object", "array", "string", "number"})
DEEPEST = 4
MOST_WORDS = 6
MOST_CHOICES = 300
"""Above this, `oneOf` is left as it is: each choice is compared with every other."""

Node = dict[str, Any]


def strengthen(node: Node, root: Any) -> None:
    """Replaces keywords that a grammar cannot follow by stricter ones that it can, in place."""
    if isinstance(node.get("format"), str) and node["format"] not in KNOWN_FORMATS:
        # An unknown format asserts nothing.
        del node["format"]
    if node.get("uniqueItems") is False or _at_most_one(node):
        node.pop("uniqueItems", None)
    if node.get("uniqueItems") is True and "anyOf" not in node:
        _list_subsets(node)
    if "not" in node:
        _negate(node)
    for keyword in ("dependencies", "dependentRequired"):
        if isinstance(node.get(keyword), dict):
            _depend(node, keyword)
    _count_properties(node)
    if isinstance(node.get("oneOf"), list) and "anyOf" not in node:
        apart = _separate(node, root)
        if apart is not None:
            del node["oneOf"]
            node["anyOf"] = apart


def _at_most_one(node: Node) -> bool:
    most = node.get("maxItems")
    return isinstance(most, int) and most <= 1


def _list_subsets(node: Node) -> None:
    """Replaces a list of unique words by all subsets of the words, in their order."""
    items = node.get("items")
    words = items.get("enum") if isinstance(items, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return
    words = list(dict.fromkeys(words))
    bounds = (node.get("minItems", 0), node.get("maxItems", 0))
    is_sound = all(isinstance(bound, int) and bound >= 0 for bound in bounds)
    if len(words) > MOST_WORDS or not is_sound:
        return
    for keyword in ("items", "uniqueItems"):
        del node[keyword]
    least, most = node.pop("minItems", 0), node.pop("maxItems", len(words))
    node["anyOf"] = [
        {"type": "array", "prefixItems": [{"const": word} for word in chosen], "items": False}
        | {"minItems": size}
        for size in range(least, min(most, len(words)) + 1)
        for chosen in combinations(words, size)
    ]


def _negate(node: Node) -> None:
    """Turns "not all of these properties" into "the first optional one of them is missing"."""
    negated, required = node["not"], _required(node)
    if negated is False:
        del node["not"]
        return
    if not isinstance(negated, dict) or negated.keys() != {"required"}:
        return
    free = [key for key in _required(negated) if key not in required]
    if free and node.setdefault("type", "object") == "object":
        node["properties"] = {**_properties(node), free[0]: False}
        del node["not"]


def _depend(node: Node, keyword: str) -> None:
    """Always requires what a property demands. Forbids a property that demands a whole schema."""
    required = _required(node)
    left = {}
    for key, needed in node[keyword].items():
        if isinstance(needed, list) and all(isinstance(name, str) for name in needed):
            required += [name for name in needed if name not in required]
        elif key not in required:
            node["properties"] = {**_properties(node), key: False}
        else:
            left[key] = needed
    if required:
        node["required"] = required
    del node[keyword]
    if left:
        node[keyword] = left


def _count_properties(node: Node) -> None:
    """Requires as many properties as `minProperties` demands."""
    required, known = _required(node), _properties(node)
    least = node.get("minProperties")
    if isinstance(least, int) and not isinstance(least, bool):
        allowed = [key for key, part in known.items() if part is not False and key not in required]
        missing = max(0, least - len(required))
        if missing <= len(allowed):
            if missing:
                node["required"] = [*required, *allowed[:missing]]
            del node["minProperties"]
    most = node.get("maxProperties")
    closed = node.get("additionalProperties") is False and "patternProperties" not in node
    if closed and isinstance(most, int) and len(known) <= most:
        del node["maxProperties"]


def _separate(node: Node, root: Any) -> list[Any] | None:
    """Changes the choices so that a value fits only one of them. Returns None if it cannot."""
    choices = node["oneOf"]
    if len(choices) > MOST_CHOICES:
        return None
    views = [_view(choice, root) for choice in choices]
    object_ = node.get("type") == "object"
    forbidden: list[list[str]] = [[] for _ in choices]
    for this, other in permutations(range(len(choices)), 2):
        if _apart(views[this], views[other]):
            continue
        if not (object_ or "object" in (views[this].get("type"), views[other].get("type"))):
            return None
        taken = {*_required(views[this]), *_required(node)}
        free = [key for key in _required(views[other]) if key not in taken]
        if not free:
            return None
        if not set(free) & set(forbidden[this]):
            forbidden[this].append(free[0])
    return [_without(choice, keys) for choice, keys in zip(choices, forbidden, strict=True)]


def _without(choice: Any, keys: list[str]) -> Any:
    if not keys:
        return choice
    if "$ref" in choice:
        return {"allOf": [choice, {"properties": dict.fromkeys(keys, False)}]}
    return {**choice, "properties": {**_properties(choice), **dict.fromkeys(keys, False)}}


def _apart(this: Node, other: Node, depth: int = 0) -> bool:
    """Whether no value can fit both schemas."""
    if not _types(this) & _types(other):
        return True
    values, others = _values(this), _values(other)
    if values is not None and others is not None:
        return not any(value in others for value in values)
    if depth >= DEEPEST or not this.get("type") == other.get("type") == "object":
        return False
    mine, theirs = _properties(this), _properties(other)
    return any(
        isinstance(mine.get(key), dict)
        and isinstance(theirs.get(key), dict)
        and _apart(mine[key], theirs[key], depth + 1)
        for key in _required(this)
    )


def _types(node: Node) -> frozenset[str]:
    """Returns the types a schema allows; all if it names none or is a reference.

    An integer counts as a number.
    """
    found = node.get("type")
    names = [found] if isinstance(found, str) else found
    if not isinstance(names, list) or "$ref" in node:
        return ALL_TYPES
    return frozenset("number" if name == "integer" else str(name) for name in names)


def _values(node: Node) -> list[Any] | None:
    if "const" in node:
        return [node["const"]]
    found = node.get("enum")
    return found if isinstance(found, list) else None


def _view(choice: Any, root: Any) -> Node:
    """Returns the choice, or the schema that it refers to."""
    for _ in range(DEEPEST):
        reference = choice.get("$ref") if isinstance(choice, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        choice = root
        for part in reference[2:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            choice = choice.get(name) if isinstance(choice, dict) else None
    return choice if isinstance(choice, dict) else {}


def _required(node: Node) -> list[str]:
    found = node.get("required")
    return [key for key in found if isinstance(key, str)] if isinstance(found, list) else []


def _properties(node: Node) -> Node:
    found = node.get("properties")
    return found if isinstance(found, dict) else {}


LARGEST_INTEGER = 2**53 - 1
LONGEST_STRING = 4000
LONGEST_ARGUMENT = 65_536
"""Characters. The argument of a call may be a whole file."""
STEPS = 1_000_000
SMALLEST_STEP = 1 / STEPS
DATE_TIME = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{1,3})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
NOTES = frozenset({"description", "title", "default", "examples", "$comment", "deprecated"})
NEVER: tuple[Any, ...] = ({}, True)
"""The values of "not" that no value satisfies."""
OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")
BESIDE_A_REFERENCE = frozenset({"$ref", "$defs", "definitions"})
BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))

NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties"})
ONE_OF_ITS_OWN = frozenset({"items", "prefixItems", "additionalProperties", "contains"})
"""Keywords whose schemas apply to other values than the one that has the keyword."""
DEFINITIONS = frozenset({"$defs", "definitions"})
UNIONS = frozenset({"anyOf", "oneOf"})
OPEN_ENDED = UNIONS | {"additionalProperties", "patternProperties", "unevaluatedProperties",
                       "allOf", "$ref", "dependencies", "dependentRequired"}  # fmt: skip


class _Whole(NamedTuple):
    """The data that every part of a schema needs to be hardened."""

    root: Any
    longest: int


def harden(schema: Any, longest: int = LONGEST_STRING) -> Any:
    """Returns the schema without notes, made stricter, and with bounds on numbers and strings."""
    return _harden(schema, _Whole(schema, longest))


def closed(properties: Json) -> Json:
    """Returns the schema of an object with exactly these members, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def close_objects(value: Any) -> Any:
    """Forbids further members in every object that names its members."""
    return _close(value, DEFINITIONS if _combines(value) else frozenset(), whole=True)


def _harden(schema: Any, whole: _Whole) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {key: part for key, part in schema.items() if key not in NOTES}
    kept = change_parts(kept, lambda part: _harden(part, whole))
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
    """Whether the schema is of draft 7 or older, where keywords beside a reference are ignored."""
    named = root.get("$schema") if isinstance(root, dict) else None
    return isinstance(named, str) and any(draft in named for draft in OLD_DRAFTS)


def _move_old_bounds(schema: dict[str, Any]) -> None:
    """Turns exclusive bounds of draft 4 and older, which were booleans, into numbers."""
    for bound, exclusive in BOUNDS:
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)


def _bound_integer(schema: dict[str, Any]) -> None:
    if not schema.keys() & {"enum", "const", "minimum", "exclusiveMinimum"}:
        schema["minimum"] = -LARGEST_INTEGER
    if not schema.keys() & {"enum", "const", "maximum", "exclusiveMaximum"}:
        schema["maximum"] = LARGEST_INTEGER


def _open_bounds(schema: dict[str, Any]) -> None:
    """Makes exclusive bounds inclusive, a step narrower: the grammar would accept the bound."""
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


def _close(value: Any, loose: frozenset[str], *, whole: bool) -> Any:
    """`whole`: no other schema applies to the same object. With `loose` keywords one may."""
    if isinstance(value, list):
        return [_close(item, loose, whole=whole) for item in value]
    if not isinstance(value, dict):
        return value
    apart = not value.keys() & {"properties", "required"}
    made: Json = {}
    for key, inner in value.items():
        if key in NAMED_SCHEMAS and isinstance(inner, dict):
            made[key] = {
                name: _close(item, loose, whole=key not in loose) for name, item in inner.items()
            }
        elif key in NOT_SCHEMAS:
            made[key] = inner
        else:
            alone = key in ONE_OF_ITS_OWN or (key in UNIONS and whole and apart)
            made[key] = _close(inner, loose, whole=alone)
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
    """Whether several schemas apply to the same object somewhere."""
    if isinstance(value, list):
        return any(map(_combines, value))
    if not isinstance(value, dict):
        return False
    parts = value.get("allOf")
    several = isinstance(parts, list) and len(parts) > 1
    beside = "properties" in value and bool(value.keys() & (UNIONS | {"allOf", "$ref"}))
    return several or beside or any(map(_combines, value.values()))


llguidance = Late("llguidance")

NAMED_PARTS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
SHARED = ("$defs", "definitions")
MOST_PARTS = 300


class Fault(NamedTuple):
    path: str
    reason: str


def locate(error: BadSchema, request: ChatRequest) -> BadSchema:
    """Returns the error with the path of the request's first schema that is at fault."""
    if "." in (error.param or ""):
        return error
    constraint = request.constraint
    found = [(tool.param, tool.parameters, tool.strict) for tool in request.tools]
    if constraint is not None and constraint.kind == "json_schema":
        found.append((constraint.param, json.loads(constraint.source), constraint.strict))
    for param, schema, strict in found:
        fault = find_fault(schema, strict=strict)
        if fault is not None:
            place = ".".join(filter(None, (param or "tools", fault.path))).replace(".[", "[")
            return BadSchema(f"'{place}' cannot be enforced: {fault.reason}", place)
    if constraint is not None and error.param is None and constraint.param:
        return BadSchema(str(error), constraint.param)
    return error


def find_fault(schema: Any, *, strict: bool) -> Fault | None:
    """Finds the deepest part that a grammar cannot follow by itself, and the keyword at fault."""
    reason = _fault(schema, strict=strict)
    if not reason:
        return None
    if not isinstance(schema, dict):
        return Fault("", reason)
    shared = {key: schema[key] for key in SHARED if key in schema}
    place, node = "", schema
    for count, (path, part) in enumerate(_parts(schema, "")):
        if count >= MOST_PARTS:
            break
        why = _fault({**shared, **part}, strict=strict) if path.startswith(place) else ""
        if why:
            place, node, reason = path, part, why
    keyword = _find_keyword(node, shared, strict=strict)
    return Fault(f"{place}.{keyword}".strip("."), reason)


def _find_keyword(node: dict[str, Any], shared: dict[str, Any], *, strict: bool) -> str:
    """Finds the keyword whose removal makes the part work, or else one that fails alone."""
    own = [keyword for keyword in node if keyword not in SHARED]
    for keyword in own:
        rest = {key: value for key, value in node.items() if key != keyword}
        if not _fault({**shared, **rest}, strict=strict):
            return keyword
    alone = (
        keyword for keyword in own if _fault({**shared, keyword: node[keyword]}, strict=strict)
    )
    return next(alone, "")


def _parts(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every schema within a schema with its path, outer ones first."""
    for key, value in schema.items():
        if key in NOT_SCHEMAS:
            continue
        own = f"{path}.{key}".lstrip(".")
        if isinstance(value, dict) and key in NAMED_PARTS:
            inner = [(f"{own}.{name}", part) for name, part in value.items()]
        elif isinstance(value, list):
            inner = [(f"{own}[{at}]", part) for at, part in enumerate(value)]
        else:
            inner = [(own, value)]
        for place, part in inner:
            if isinstance(part, dict):
                yield place, part
                yield from _parts(part, place)


def _fault(schema: Any, *, strict: bool) -> str:
    """Returns why a grammar cannot follow the schema; empty if it can."""
    return _compiled_fault(json.dumps(schema), strict)


@lru_cache(maxsize=512)
def _compiled_fault(source: str, strict: bool) -> str:
    made = harden(close_objects(json.loads(source)))
    if not strict:
        made = enforceable(made)
    if isinstance(made, bool):
        return "" if made else "nothing fits it"
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        json.dumps(made), overrides={"lenient": not strict}
    )
    report: str = llguidance.LLMatcher.validate_grammar(grammar)
    lines = [line.strip() for line in report.strip().splitlines() if line.strip()]
    named = next((line for line in lines if line.startswith("error:")), lines[0] if lines else "")
    return named.removeprefix("error:").strip()
