"""Regular expressions in schemas: finds out which a grammar can follow, and searches safely."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

from server.system.lazy import Late

jsonschema = Late("jsonschema")
llguidance = Late("llguidance")

LONGEST_CHECKED = 10_000
"""Characters. An expression with many repeats takes about 0.1 ms for each."""
ANYTHING = "(?s:.*)"
AHEAD = re.compile(r"\(\?[=!]")
FLAGS = re.compile(r"\(\?[a-zA-Z]")
NOT_SCHEMAS = frozenset({"enum", "const", "required", "default", "examples"})


NAMED_SCHEMAS = frozenset({
    "properties", "patternProperties", "$defs", "definitions", "dependencies", "dependentRequired",
    "dependentSchemas",
})  # fmt: skip
"""Keywords with named schemas. The names may be equal to those of keywords."""


def change_parts(schema: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Returns the schema with each schema in its keywords changed."""
    made: dict[str, Any] = {}
    for key, part in schema.items():
        if key in NOT_SCHEMAS:
            made[key] = part
        elif isinstance(part, dict) and key in NAMED_SCHEMAS:
            made[key] = {name: change(inner) for name, inner in part.items()}
        else:
            made[key] = [change(item) for item in part] if isinstance(part, list) else change(part)
    return made


def enforceable(value: Any) -> Any:
    """Removes patterns that no grammar can follow, such as those with a look-ahead."""
    if not isinstance(value, dict):
        return value
    kept = change_parts(value, enforceable)
    if isinstance(kept.get("pattern"), str) and not _is_pattern(kept["pattern"]):
        del kept["pattern"]
    named = kept.get("patternProperties")
    if isinstance(named, dict):
        kept["patternProperties"] = {key: named[key] for key in named if _is_pattern(key)}
    return kept


def matches(pattern: str, text: str) -> bool:
    """Searches a text for a pattern from outside, in time that grows only with the text.

    Python's own engine may take forever. Some cases count as found without a check: very long
    texts, and patterns that the linear engine cannot follow (back references, a look-behind, a
    look-ahead within a group).
    """
    known = _matcher(pattern)
    if known is None or len(text) > LONGEST_CHECKED:
        return True
    matcher, is_json = known
    written = json.dumps(text, ensure_ascii=False) if is_json else text
    tokens = list(written.encode("utf-8", "replace"))
    asked = matcher.deep_copy()
    return bool((not tokens or asked.consume_tokens(tokens)) and asked.is_accepting())


def pattern_keywords(is_found: Callable[[str, str], bool]) -> dict[str, Callable[..., Any]]:
    """Returns JSON Schema's keywords with patterns, for the library's validator."""
    usual = jsonschema.Draft202012Validator.VALIDATORS["additionalProperties"]

    def check_text(_validator: Any, pattern: Any, value: Any, _schema: Any) -> Iterator[Any]:
        if isinstance(value, str) and not is_found(str(pattern), value):
            yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")

    def check_named(validator: Any, named: Any, value: Any, _schema: Any) -> Iterator[Any]:
        names = tuple(value) if isinstance(value, dict) else ()
        for pattern, part in named.items():
            for name in names:
                if is_found(pattern, name):
                    yield from validator.descend(value[name], part, path=name, schema_path=pattern)

    def check_others(validator: Any, given: Any, value: Any, schema: Any) -> Any:
        if not isinstance(value, dict):
            return ()
        named = schema.get("patternProperties", {})
        left = {name: value[name] for name in value if not any(is_found(p, name) for p in named)}
        plain = {key: part for key, part in schema.items() if key != "patternProperties"}
        return usual(validator, given, left, plain)

    return {
        "pattern": check_text,
        "patternProperties": check_named,
        "additionalProperties": check_others,
    }


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> tuple[Any, bool] | None:
    """Returns a matcher that reads a text byte by byte, and whether it needs the text as JSON.

    None if the linear engine cannot follow the pattern.
    """
    make = llguidance.LLMatcher
    source = json.dumps({"type": "string", "pattern": pattern})
    grammars = [(make.grammar_from_json_schema(source), True)]
    if AHEAD.search(pattern) and not FLAGS.search(pattern):
        with suppress(_AnchoredInside):
            lark = f"start: WHOLE\nWHOLE: {_looking(pattern)}"
            grammars.append((make.grammar_from_lark(lark), False))
    for grammar, is_json in grammars:
        matcher = make(llguidance.LLTokenizer("byte"), grammar, log_level=0)
        if not matcher.is_error():
            return matcher, is_json
    return None


def _looking(pattern: str) -> str:
    """Rewrites a look-ahead as an intersection: the rest must be in two sets of texts."""
    bare = pattern[4:-2] if pattern.startswith("^(?:") and pattern.endswith(")$") else ""
    if bare and all(depth >= 0 for _, _, depth in _marks(bare)):
        return _either(f"^{branch}$" for branch in _branches(bare))
    return _either(_branches(pattern))


def _either(branches: Iterable[str]) -> str:
    return " | ".join(f"({_in_turn(_to_the_ends(branch))})" for branch in branches)


def _to_the_ends(branch: str) -> str:
    """Removes the anchors, or adds "anything" at the ends: the pattern is for the whole text."""
    bare = branch.lstrip("^")
    before = "" if branch.startswith("^") else ANYTHING
    after = ANYTHING
    while bare.endswith("$") and not bare.endswith("\\$"):
        bare, after = bare[:-1], ""
    return before + bare + after


def _in_turn(branch: str) -> str:
    outer = (at for at, _, depth in _marks(branch) if depth == 0)
    begin = next((at for at in outer if AHEAD.match(branch, at)), None)
    if begin is None:
        return _expression(branch)
    rest = branch[begin + 3 :]
    end = next((at for at, mark, depth in _marks(rest) if mark == ")" and depth < 0), len(rest))
    ahead = " | ".join(_expression(_to_the_ends(f"^{part}")) for part in _branches(rest[:end]))
    unless = "~" if branch[begin + 2] == "!" else ""
    then = _in_turn(rest[end + 1 :])
    return f"{_expression(branch[:begin])} (({then}) & {unless}({ahead}))"


class _AnchoredInside(Exception):
    pass


def _expression(source: str) -> str:
    """Writes the expression in the grammar's syntax, in which a slash must be escaped."""
    if any(mark in ("^", "$") for _, mark in _parting(source)):
        raise _AnchoredInside
    escaped = re.sub(r"(\\.)|/", lambda found: found[1] or r"\/", source)
    return f"/{escaped}/" if source else '""'


def _branches(source: str) -> list[str]:
    cuts = [-1, *(at for at, mark, depth in _marks(source) if mark == "|" and depth == 0)]
    return [source[at + 1 : end] for at, end in zip(cuts, [*cuts[1:], len(source)], strict=True)]


def _marks(source: str) -> Iterator[tuple[int, str, int]]:
    """Yields the position, kind and depth of each parenthesis and bar that is not literal."""
    depth = 0
    for place, mark in _parting(source):
        depth -= mark == ")"
        if mark in ("(", ")", "|"):
            yield place, mark, depth
        depth += mark == "("


def is_expression(source: str) -> bool:
    """Whether /source/ can be part of a grammar."""
    return _compiles(llguidance.LLMatcher.grammar_from_lark(f"start: /{source}/"))


def _is_pattern(pattern: str) -> bool:
    source = json.dumps({"type": "string", "pattern": pattern})
    return _compiles(llguidance.LLMatcher.grammar_from_json_schema(source))


@lru_cache(maxsize=1024)
def _compiles(grammar: str) -> bool:
    return not llguidance.LLMatcher.validate_grammar(grammar)


def _parting(source: str) -> Iterator[tuple[int, str]]:
    """Yields the position of each of ()|^$ that is outside of escapes and classes, and the mark."""
    at, may_close = 0, True
    while at < len(source):
        if source[at] == "\\":
            at += 2
            continue
        end = _class_end(source, at) if source[at] == "[" and may_close else 0
        may_close = may_close and (source[at] != "[" or bool(end))
        if not end and source[at] in "()|^$":
            yield at, source[at]
        at = end or at + 1


def _class_end(source: str, begin: int) -> int:
    """Returns the position after the class that begins here; 0 if it never ends."""
    at = begin + 1 + source.startswith("^", begin + 1)
    at += source.startswith("]", at)
    while at < len(source):
        if source[at] == "]":
            return at + 1
        at += 2 if source[at] == "\\" else 1
    return 0
