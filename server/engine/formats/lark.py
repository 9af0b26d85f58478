"""Pieces of llguidance's Lark dialect: marks, names and schemas as grammar text."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from server.chat import Constraint, Json
from server.late import Late

llguidance = Late("llguidance")

SPACING = {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}
SAFE_INTEGER = 2**53 - 1
NOT_SCHEMAS = frozenset({"enum", "const", "required", "default", "examples"})
NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties"})
OPEN_ENDED = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties",
                        "allOf", "anyOf", "oneOf", "$ref"})  # fmt: skip
BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
NOISE = frozenset({"description", "title", "default", "examples", "$comment"})


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def literal(text: str, specials: Mapping[str, int]) -> str:
    """The text as a sequence; special tokens by id, for as text the model cannot say them."""
    if not text:
        return ""
    known = sorted((mark for mark in specials if mark in text), key=len, reverse=True)
    if not known:
        return quoted(text)
    parts = re.split("(" + "|".join(map(re.escape, known)) + ")", text)
    return " ".join(
        f"<[{specials[part]}]>" if part in specials else quoted(part) for part in parts if part
    )


def text_until(name: str, mark: str, specials: Mapping[str, int]) -> str:
    """A rule for any text up to and with the mark."""
    if mark in specials:
        return f"{name}: /(.|\\n)*/ <[{specials[mark]}]>\n"
    return f"{name}[suffix={quoted(mark)}]: /(.|\\n)*/\n"


def any_of(alternatives: Sequence[str]) -> str:
    return " | ".join(alternatives)


def repeated(item: str, separator: str, most: int) -> str:
    """One to `most` items with a separator between them."""
    if most == 1:
        return item
    joint = f"{separator} {item}" if separator else item
    return f"{item} ({joint}){{0,{most - 1}}}"


def listed(required: Sequence[str], optional: Sequence[str], separator: str) -> str:
    """All that are required, any of the optional ones, in order and with separators between."""
    rest = [f"({separator} {item})?" for item in optional]
    if required:
        return " ".join([f" {separator} ".join(required), *rest])
    # No separator stands before the first: each of them may be that.
    firsts = [" ".join([item, *rest[at:]]) for at, item in enumerate(optional, 1)]
    return f"({any_of(firsts)})?" if firsts else ""


def schema(value: Json, *, lenient: bool) -> str:
    made = hardened(enforceable(value) if lenient else value)
    known = made if isinstance(made, dict) else {}
    guided = {**known, "x-guidance": {**SPACING, "lenient": lenient}}
    return f"%json {json.dumps(guided, ensure_ascii=False)}"


def part(value: Any, root: Mapping[str, Any]) -> str:
    """A part of a tool's schema `root`, compiled apart from it: what it refers to comes along."""
    shape = value if isinstance(value, dict) else {}
    if '"$ref"' in json.dumps(shape):
        shape = {**_moved(shape), "$defs": {"root": _moved(dict(root))}}
    return schema(shape, lenient=True)


def constraint_rule(constraint: Constraint) -> str | None:
    """The right side of a rule; None when it cannot be part of a larger grammar."""
    if constraint.kind == "json_schema":
        return schema(json.loads(constraint.source), lenient=not constraint.strict)
    if constraint.kind == "regex":
        return "/" + constraint.source.replace("/", r"\/") + "/"
    return None


def enforceable(value: Any) -> Any:
    """Without patterns that no grammar can follow, as those that look ahead."""
    if isinstance(value, list):
        return [enforceable(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: part if key in NOT_SCHEMAS else enforceable(part)
        for key, part in value.items()
        if key != "pattern" or not isinstance(part, str) or _is_pattern(part)
    }
    named = kept.get("patternProperties")
    if isinstance(named, dict):
        kept["patternProperties"] = {key: named[key] for key in named if _is_pattern(key)}
    return kept


def is_expression(source: str) -> bool:
    """Whether /source/ can be part of a grammar."""
    return _compiles(llguidance.LLMatcher.grammar_from_lark(f"start: /{source}/"))


def hardened(value: Any, *, closed: bool = True) -> Any:
    """With bounds where a weak model would never stop, without what only people read."""
    if isinstance(value, list):
        return [hardened(item, closed=closed) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("not") == {}:
        # What tools that are described by programs say for: this is never there.
        return False
    kept = {
        key: part if key in NOT_SCHEMAS else _hardened_part(key, part)
        for key, part in value.items()
        if key not in NOISE or isinstance(part, dict)
    }
    if closed and kept.get("properties") and not OPEN_ENDED & kept.keys():
        kept["additionalProperties"] = False
    return _bounded(kept)


def _hardened_part(key: str, part: Any) -> Any:
    if key in NAMED_SCHEMAS and isinstance(part, dict):
        return {name: hardened(item) for name, item in part.items()}
    # What is put together of several parts must stay open in each of them.
    return hardened(part, closed=key != "allOf")


def _moved(value: Any) -> Any:
    """With every reference to the document as one to the definition `root`."""
    if isinstance(value, list):
        return [_moved(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"#/$defs/root{part[1:]}"
        if key == "$ref" and isinstance(part, str) and part.startswith("#")
        else part
        if key in NOT_SCHEMAS
        else _moved(part)
        for key, part in value.items()
    }


def _is_pattern(pattern: str) -> bool:
    told = json.dumps({"type": "string", "pattern": pattern})
    return _compiles(llguidance.LLMatcher.grammar_from_json_schema(told))


@lru_cache(maxsize=1024)
def _compiles(grammar: str) -> bool:
    return not llguidance.LLMatcher.validate_grammar(grammar)


def _bounded(node: Json) -> Json:
    for bound, exclusive in BOUNDS:
        # Until draft 4 this was a word about the bound beside it.
        if isinstance(node.get(exclusive), bool) and node.pop(exclusive) and bound in node:
            node[exclusive] = node.pop(bound)
    if node.get("type") == "integer":
        if "exclusiveMinimum" not in node:
            node.setdefault("minimum", -SAFE_INTEGER)
        if "exclusiveMaximum" not in node:
            node.setdefault("maximum", SAFE_INTEGER)
    least = node.get("exclusiveMinimum")
    if node.get("type") == "number" and isinstance(least, int | float) and "maximum" in node:
        # llguidance 1.9.1 lets the bare bound itself through here.
        node["minimum"] = node.pop("exclusiveMinimum") + 1e-6
    if "oneOf" in node and "anyOf" not in node:
        node["anyOf"] = node.pop("oneOf")
    return node
