"""Regular expressions in a schema, and which of them a grammar can follow."""

import json
from functools import lru_cache
from typing import Any

from server.late import Late

llguidance = Late("llguidance")

NOT_SCHEMAS = frozenset({"enum", "const", "required", "default", "examples"})


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


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Any:
    told = json.dumps({"type": "string", "pattern": pattern})
    grammar = llguidance.LLMatcher.grammar_from_json_schema(told)
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar, log_level=0)
    return None if matcher.is_error() else matcher


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern from outside is found in a text, in time that grows with the text alone.

    Python's own engine may take for ever. What the linear one cannot follow, as a pattern that
    looks ahead, is not checked: it holds.
    """
    known = _matcher(pattern)
    if known is None:
        return True
    matcher = known.deep_copy()
    written = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    return bool(matcher.consume_tokens(list(written)) and matcher.is_accepting())


def is_expression(source: str) -> bool:
    """Whether /source/ can be part of a grammar."""
    return _compiles(llguidance.LLMatcher.grammar_from_lark(f"start: /{source}/"))


def _is_pattern(pattern: str) -> bool:
    told = json.dumps({"type": "string", "pattern": pattern})
    return _compiles(llguidance.LLMatcher.grammar_from_json_schema(told))


@lru_cache(maxsize=1024)
def _compiles(grammar: str) -> bool:
    return not llguidance.LLMatcher.validate_grammar(grammar)
