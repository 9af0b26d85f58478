"""Values that are written as plain text between two marks, instead of as JSON."""

import json
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from server.chat import Json, Tool
from server.engine.styles import lark
from server.engine.styles.parameters import beyond, not_enforced
from server.schemas.bounded import LONGEST_ARGUMENT
from server.schemas.patterns import is_expression
from server.system.limits import try_json

SLASH = re.compile(r"\\.|/", re.DOTALL)
"""Matches a slash, or a backslash with the character after it: a slash there is already escaped."""
OTHER_KEY = "/[^<>\"'=:,\\n]{1,128}/"
UNIONS = ("anyOf", "oneOf")
AS_JSON = frozenset({"null", "array", "object"})
OF_TEXT = ("type", "minLength", "maxLength", "pattern", "format")


def is_text(schema: Any) -> bool:
    """Whether values of this schema are written as plain text instead of as JSON."""
    if not isinstance(schema, dict):
        return False
    if "const" in schema or isinstance(schema.get("enum"), list):
        values = schema.get("enum", [schema.get("const")])
        others = [value for value in values if not isinstance(value, str)]
        return len(others) < len(values) and all(value is None for value in others)
    for union in UNIONS:
        if isinstance(schema.get(union), list):
            return any(is_text(part) for part in schema[union])
    kind = schema.get("type")
    return "string" in kind if isinstance(kind, list) else kind == "string"


def kinds_beside_text(schema: Any) -> frozenset[str]:
    """Returns which of null, array and object the schema of a text also allows. Those are JSON."""
    if not is_text(schema):
        return frozenset()
    found = [_kinds(part) for union in UNIONS for part in schema.get(union) or ()]
    return frozenset().union(_kinds(schema), *found) & AS_JSON


def json_kind(text: str) -> str:
    """Returns the text's JSON type if it is null, array or object; otherwise empty."""
    names = {type(None): "null", list: "array", dict: "object"}
    return names.get(type(try_json(text, "")), "")


def check_text(schema: Json, tool: Tool) -> None:
    """Raises `BadSchema` if text between marks cannot enforce a strict tool's schema."""
    if not tool.strict or _words(schema) is not None:
        return
    branches = [part for union in UNIONS for part in schema.get(union) or () if is_text(part)]
    known = UNIONS if branches else OF_TEXT
    unsupported = next(filter(None, (beyond(schema, known), *map(_beyond_text, branches))), "")
    if not unsupported and kinds_beside_text(schema) - {"null"}:
        unsupported = "type"
    pattern = schema.get("pattern")
    if not unsupported and pattern is not None and not is_expression(_expression(pattern)):
        unsupported = "pattern"
    if unsupported:
        raise not_enforced(unsupported, tool)


def text_rules(
    rule: str, before: str, after: str, schema: Json, specials: Mapping[str, int]
) -> list[str]:
    """Returns rules for text up to `after`, with the schema's words, length and pattern."""
    closing = lark.literal(after, specials)
    words = _words(schema)
    if words:
        return [f"{rule}: {before} ({lark.any_of([_quote(word) for word in words])}) {closing}"]
    least, most = schema.get("minLength", 0), schema.get("maxLength", "")
    parts = [f"/(?s:.){{{least},{most}}}/"]
    if isinstance(schema.get("pattern"), str):
        pattern = _expression(schema["pattern"])
        parts += [f"/{pattern}/"] if is_expression(pattern) else []
    parts.append(f"~/(?s:.)*{_escape(after.strip())}(?s:.)*/")
    text = f"{rule.upper()}: {' & '.join(parts)}"
    null = f" | {before} {lark.literal(f'null{after}', specials)}"
    null = null if "null" in kinds_beside_text(schema) else ""
    if any(after.startswith(mark) for mark in specials):
        return [f"{rule}: {before} {rule.upper()} {closing}{null}", text]
    # A lexeme is greedy; the mark can end it only as a suffix.
    ending = f"{rule}_text[suffix={lark.quote(after)}]: {rule.upper()}"
    return [f"{rule}: {before} {rule}_text{null}", ending, text]


def _expression(pattern: str) -> str:
    return f"(?s:{_contain(pattern)})".replace("\n", "\\n")


def _contain(pattern: str) -> str:
    begin = "" if pattern.startswith("^") else ".*"
    end = "" if pattern.endswith("$") else ".*"
    inner = pattern.removeprefix("^").removesuffix("$")
    return SLASH.sub(lambda at: r"\/" if at[0].endswith("/") else at[0], begin + inner + end)


def _escape(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$/\"])", r"\\\1", text)


def _beyond_text(branch: Json) -> str:
    """Returns a keyword that plain text does not cover. Our own limit of length is ignored."""
    own = {key: value for key, value in branch.items() if value != LONGEST_ARGUMENT}
    return beyond(own, ("type", "format"))


def _words(schema: Any) -> list[Any] | None:
    """Returns all allowed values if the schema lists them; otherwise None."""
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return [schema["const"]]
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    if schema.get("type") == "null":
        return [None]
    parts = [_words(part) for union in UNIONS for part in schema.get(union) or ()]
    listed = [words for words in parts if words is not None]
    return list(chain(*listed)) if parts and len(listed) == len(parts) else None


def _quote(word: Any) -> str:
    return lark.quote(word if isinstance(word, str) else json.dumps(word))


def _kinds(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    kind = schema.get("type")
    listed = None in (schema.get("enum") or ())
    return {*(kind if isinstance(kind, list) else [str(kind)]), *(["null"] if listed else [])}
