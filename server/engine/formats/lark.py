"""Pieces of llguidance's Lark dialect: marks, names and schemas as grammar text."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from server.chat import Constraint, Json
from server.engine.harden import LONGEST_ARGUMENT, LONGEST_STRING, closed, harden
from server.engine.patterns import NOT_SCHEMAS, enforceable

SPACING = {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}
MOST_MEMBERS = 64
"""In an object or a list that says no number."""


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


def count(schema: Mapping[str, Any]) -> tuple[int, int]:
    """How few and how many entries a list may have."""
    least = int(schema.get("minItems", 0))
    return least, int(schema.get("maxItems", max(MOST_MEMBERS, least)))


def listed(required: Sequence[str], optional: Sequence[str], separator: str) -> str:
    """All that are required, any of the optional ones, in order and with separators between."""
    rest = [f"({separator} {item})?" for item in optional]
    if required:
        return " ".join([f" {separator} ".join(required), *rest])
    # No separator stands before the first: each of them may be that.
    firsts = [" ".join([item, *rest[at:]]) for at, item in enumerate(optional, 1)]
    return f"({any_of(firsts)})?" if firsts else ""


def schema(value: Json, *, lenient: bool) -> str:
    """What a tool's call must match: only what is named, unless the schema says otherwise."""
    return _hardened(closed(value), LONGEST_ARGUMENT, lenient=lenient)


def json_rule(made: Any, *, lenient: bool) -> str:
    known = made if isinstance(made, dict) else {} if made else {"not": {}}
    guided = {**known, "x-guidance": {**SPACING, "lenient": lenient}}
    return f"%json {json.dumps(guided, ensure_ascii=False)}"


def part(value: Any, root: Mapping[str, Any], *, lenient: bool = True) -> str:
    """A part of a tool's schema `root`, compiled apart from it: what it refers to comes along."""
    shape = value if isinstance(value, dict) else {}
    if '"$ref"' in json.dumps(shape):
        shape = {**_moved(shape), "$defs": {"root": _moved(dict(root))}}
    return schema(shape, lenient=lenient)


def constraint_rule(constraint: Constraint) -> str:
    """The right side of a rule."""
    if constraint.kind == "json_schema":
        given = json.loads(constraint.source)
        return _hardened(closed(given), LONGEST_STRING, lenient=not constraint.strict)
    if constraint.kind == "regex":
        return "/" + constraint.source.replace("/", r"\/") + "/"
    return f"%lark {{\n{constraint.source}\n}}"


def _hardened(value: Any, longest: int, *, lenient: bool) -> str:
    return json_rule(harden(enforceable(value) if lenient else value, longest), lenient=lenient)


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
