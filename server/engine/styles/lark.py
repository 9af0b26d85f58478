"""Builds grammar text in llguidance's Lark dialect from marks, names and schemas."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from server.chat import Constraint, Json, Tool
from server.schemas.bounded import LONGEST_ARGUMENT, LONGEST_STRING, close_objects, harden
from server.schemas.patterns import NOT_SCHEMAS, enforceable

COUNT, ID = "\x00", "\x01"
"""Placeholders in a style's text: the number of a call, and its id."""
ANY = {COUNT: "/[0-9]{1,3}/", ID: "/[A-Za-z0-9_.:-]{1,64}/"}
SPACING = (", ", ": ")
"""The separators between members, and between a key and its value, as most templates write them."""
MOST_MEMBERS = 64
"""The most members of an object or list whose schema sets no limit."""


def quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def literal(text: str, specials: Mapping[str, int]) -> str:
    """Returns grammar text. Special tokens are given by id: the model cannot spell them as text."""
    if not text:
        return ""
    known = sorted((mark for mark in (*specials, *ANY) if mark in text), key=len, reverse=True)
    if not known:
        return quote(text)
    parts = re.split("(" + "|".join(map(re.escape, known)) + ")", text)
    return " ".join(_literal_part(part, specials) for part in parts if part)


def split_any(text: str) -> tuple[str, str]:
    """Returns the parts of the text before and after its placeholders."""
    before, *rest = re.split("[" + "".join(ANY) + "]", text)
    return before, rest[-1] if rest else ""


def _literal_part(part: str, specials: Mapping[str, int]) -> str:
    if part in specials:
        return f"<[{specials[part]}]>"
    return ANY.get(part) or quote(part)


def text_until(name: str, mark: str, specials: Mapping[str, int]) -> str:
    """Returns a rule for any text up to and including the mark."""
    if mark in specials:
        return f"{name}: /(.|\\n)*/ <[{specials[mark]}]>\n"
    return f"{name}[suffix={quote(mark)}]: /(.|\\n)*/\n"


def grammar(start: str, rules: Sequence[str]) -> Constraint:
    return Constraint("lark", f"start: {start}\n" + "\n".join(rules) + "\n", strict=False)


def any_call(tools: Sequence[Tool]) -> str:
    """Returns a choice between the call rules of all tools."""
    return any_of([f"call_{at}" for at in range(len(tools))])


def any_of(alternatives: Sequence[str]) -> str:
    return " | ".join(alternatives)


def repeat(item: str, separator: str, most: int) -> str:
    """Returns a rule for one to `most` items, separated by `separator`."""
    if most == 1:
        return item
    joint = f"{separator} {item}" if separator else item
    return f"{item} ({joint}){{0,{most - 1}}}"


def count(schema: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the least and the greatest number of entries of a list."""
    least = int(schema.get("minItems", 0))
    return least, int(schema.get("maxItems", max(MOST_MEMBERS, least)))


def list_members(required: Sequence[str], optional: Sequence[str], separator: str) -> str:
    """Returns a rule for all required and any optional members, in order and with separators."""
    rest = [f"({separator} {item})?" for item in optional]
    if required:
        return " ".join([f" {separator} ".join(required), *rest])
    # No separator precedes the first member, and each optional member may be the first.
    firsts = [" ".join([item, *rest[at:]]) for at, item in enumerate(optional, 1)]
    return f"({any_of(firsts)})?" if firsts else ""


def in_order(items: Sequence[tuple[str, bool]], separator: str) -> str:
    """Returns a rule for items in this order, with separators. The flag means "required"."""
    rest = [f"{separator} {item}" if needed else f"({separator} {item})?" for item, needed in items]
    firsts: list[str] = []
    for at, (item, needed) in enumerate(items):
        firsts.append(" ".join([item, *rest[at + 1 :]]))
        if needed:
            return f"({any_of(firsts)})"
    return f"({any_of(firsts)})?" if firsts else ""


def schema(value: Json, *, lenient: bool, spacing: tuple[str, ...] = SPACING) -> str:
    """Returns a rule for arguments: only named members, unless the schema allows others."""
    return _harden_rule(close_objects(value), LONGEST_ARGUMENT, lenient=lenient, spacing=spacing)


def json_rule(made: Any, *, lenient: bool, spacing: tuple[str, ...] = SPACING) -> str:
    """Returns a rule for JSON. Without `spacing`, white space may stand wherever JSON allows it."""
    known = made if isinstance(made, dict) else {} if made else {"not": {}}
    written: Json = {"whitespace_flexible": not spacing}
    if spacing:
        written |= {"item_separator": spacing[0], "key_separator": spacing[1]}
    guided = {**known, "x-guidance": {**written, "lenient": lenient}}
    return f"%json {json.dumps(guided, ensure_ascii=False)}"


def part(value: Any, root: Mapping[str, Any], *, lenient: bool = True) -> str:
    """Returns a rule for a part of the tool's schema `root`, with the definitions it refers to."""
    shape = value if isinstance(value, dict) else {}
    if '"$ref"' in json.dumps(shape):
        shape = {**_move_references(shape), "$defs": {"root": _move_references(dict(root))}}
    return schema(shape, lenient=lenient)


def constraint_rule(constraint: Constraint) -> str:
    """Returns the right side of a rule for the constraint."""
    if constraint.kind == "json_schema":
        given = json.loads(constraint.source)
        return _harden_rule(close_objects(given), LONGEST_STRING, lenient=not constraint.strict)
    if constraint.kind == "regex":
        return "/" + constraint.source.replace("/", r"\/") + "/"
    return f"%lark {{\n{constraint.source}\n}}"


def _harden_rule(
    value: Any, longest: int, *, lenient: bool, spacing: tuple[str, ...] = SPACING
) -> str:
    made = harden(enforceable(value) if lenient else value, longest)
    return json_rule(made, lenient=lenient, spacing=spacing)


def _move_references(value: Any) -> Any:
    """Makes every reference within the document point into the definition `root`."""
    if isinstance(value, list):
        return [_move_references(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"#/$defs/root{part[1:]}"
        if key == "$ref" and isinstance(part, str) and part.startswith("#")
        else part
        if key in NOT_SCHEMAS
        else _move_references(part)
        for key, part in value.items()
    }
