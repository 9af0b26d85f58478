"""Finds the part of a schema that the grammar cannot follow, by its path in the request."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from server.chat import ChatRequest
from server.errors import BadSchema
from server.schemas.bounded import close_objects, harden
from server.schemas.patterns import NOT_SCHEMAS, enforceable
from server.system.lazy import Late

llguidance = Late("llguidance")

NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
SHARED = ("$defs", "definitions")
MOST_PARTS = 300


class Fault(NamedTuple):
    path: str
    reason: str


def locate(error: BadSchema, request: ChatRequest) -> BadSchema:
    """Returns the error with the place of the request's first schema that is at fault."""
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
    """Finds the deepest part that cannot be followed by itself, and the keyword that is why."""
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
    """Finds the keyword without which the part can be followed, or that fails alone."""
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
        if isinstance(value, dict) and key in NAMED:
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
