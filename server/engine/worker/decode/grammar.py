"""Compiling what an answer must match: JSON schemas, regular expressions and Lark grammars."""

import json
import re
from collections import OrderedDict
from typing import Any

import llguidance.llamacpp
from llguidance import LLMatcher

from server.engine.worker.decode.constrained import Constrained
from server.engine.worker.decode.trigger import Trigger
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.engine.worker.refusals import Refused
from server.schemas.bounded import close_objects, harden
from server.schemas.faults import find_fault
from server.schemas.patterns import enforceable

SPACING = {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}
MOST_COMPILED = 64

FAILING_LINE = re.compile(r"at (\d+)\(")
FLAGS = re.MULTILINE | re.IGNORECASE

Key = tuple[str, str, bool]


class Grammars:
    """Compiled grammars of one vocabulary; a request gets a copy. Used by one thread."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tokenizer: Any = None
        self._compiled: OrderedDict[Key, Any] = OrderedDict()

    def constrain(self, constraint: dict[str, Any], trigger: Trigger | None) -> Constrained:
        key = (constraint["kind"], constraint["source"], bool(constraint.get("strict", True)))
        matcher = self._compiled.get(key)
        if matcher is None:
            matcher = self._compiled[key] = self._compile(*key)
            if len(self._compiled) > MOST_COMPILED:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(key)
        return Constrained(matcher.deep_copy(), self._tokenizer, self._vocabulary, trigger)

    def _compile(self, kind: str, source: str, strict: bool) -> Any:
        match kind:
            case "json_schema":
                return self._compile_schema(source, strict=strict)
            case "regex":
                return self._check(LLMatcher.grammar_from_regex(source), "The expression")
            case "lark":
                return self._check(LLMatcher.grammar_from_lark(source), "The grammar")
        raise Refused("invalid_schema", f"'{kind}' is no kind of constraint.")

    def _compile_schema(self, source: str, *, strict: bool) -> Any:
        try:
            schema = json.loads(source)
        except ValueError as error:
            raise Refused("invalid_schema", f"The schema is not JSON: {error}.") from error
        if not isinstance(schema, dict | bool):
            raise Refused("invalid_schema", "The schema must be an object.")
        hardened = harden(close_objects(schema))
        matcher = self._matcher(_grammar(hardened, strict=strict))
        if matcher.is_error() and not strict:
            matcher = self._matcher(_grammar(enforceable(hardened), strict=strict))
        if not matcher.is_error():
            return matcher
        fault = find_fault(schema, strict=strict)
        place = "/".join(("#", *(fault.path.split(".") if fault and fault.path else ())))
        raise Refused(
            "invalid_schema", f"The schema cannot be enforced at {place}: {_reason(matcher)}"
        )

    def _check(self, grammar: str, what: str) -> Any:
        matcher = self._matcher(grammar)
        if matcher.is_error():
            message = f"{what} cannot be enforced: {_reason(matcher)}"
            raise Refused("invalid_schema", message, param=_find_parameter(matcher.get_error()))
        return matcher

    def _matcher(self, grammar: str) -> Any:
        if self._tokenizer is None:
            self._tokenizer = llguidance.llamacpp.lltokenizer_from_vocab(
                self._vocabulary.native, eos_token=sorted(self._vocabulary.ends)
            )
        return LLMatcher(self._tokenizer, grammar, log_level=0)


def _grammar(schema: Any, *, strict: bool) -> str:
    options: Any = {**SPACING, "lenient": not strict}
    return LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options)


def _find_parameter(error: str) -> str | None:
    """Returns the parameter whose schema the grammar fails at, by the names of its rules."""
    place = FAILING_LINE.match(error)
    rule = place and re.search(rf"^ *{place[1]} \| (?:call|arguments?)_", error, FLAGS)
    return "tools" if rule else None


def _reason(matcher: Any) -> str:
    lines = [line.strip() for line in matcher.get_error().strip().splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("error:")), lines[0] if lines else "")
    return reason.removeprefix("error:").strip()
