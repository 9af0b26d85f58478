"""An answer under a grammar: compiled, waiting for its trigger, and what may and must come next."""

import json
import re
from collections import OrderedDict
from typing import Any

import llguidance.llamacpp
import numpy as np
from llguidance import LLMatcher

from server.engine.causes import Refused
from server.engine.worker.decode.sampling import Logits
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.schemas.bounded import close_objects, find_fault, harden
from server.schemas.patterns import enforceable

NEW_LINES = b"\r\n"


class Trigger:
    """Counts anywhere; with a `lead` only where an answer begins or right behind that lead.

    It does not count in a thought before the answer; without a first mark, that has begun already.
    """

    def __init__(
        self, text: str, lead: str | None = None, thought: tuple[str, str] | None = None
    ) -> None:
        self._text = text.encode()
        self._lead = None if lead is None else lead.encode()
        self._thinks = thought is not None
        self._begin, self._end = (mark.encode() for mark in thought or ("", ""))
        self._said = b""
        self._may_begin = True

    def hear(self, piece: bytes) -> bytes | None:
        """Returns what follows the text, once that is complete; else None."""
        self._said += piece
        if self._thinks and not self._has_thought():
            return None
        if self._lead is not None:
            return self._heard_behind(self._lead)
        _, found, rest = self._said.partition(self._text)
        if found:
            return rest
        self._said = self._said[-len(self._text) :]
        return None

    def _has_thought(self) -> bool:
        if self._begin:
            begun = self._said.lstrip(NEW_LINES)
            if not begun.startswith(self._begin):
                self._thinks = self._begin.startswith(begun)
                return not self._thinks
            self._begin = b""
        _, found, rest = self._said.partition(self._end)
        self._said = rest if found else self._said[-len(self._end) :]
        self._thinks = not found
        return not self._thinks

    def _heard_behind(self, lead: bytes) -> bytes | None:
        while True:
            if self._may_begin:
                begun = self._said.lstrip(NEW_LINES)
                if begun.startswith(self._text):
                    return begun.removeprefix(self._text)
                if self._text.startswith(begun):
                    return None
            self._may_begin = False
            _, found, rest = self._said.partition(lead) if lead else (b"", b"", b"")
            if not found:
                self._said = self._said[-len(lead) :] if lead else b""
                return None
            self._said, self._may_begin = rest, True


LONGEST_DIGIT_RUN = 40


class Constrained:
    """Inactive until the answer contains its trigger; active from the start without one."""

    def __init__(
        self, matcher: Any, tokenizer: Any, vocabulary: Vocabulary, trigger: Trigger | None
    ) -> None:
        self.active = trigger is None
        self._matcher = matcher
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._trigger = trigger
        self._digits = 0
        self._mask = np.zeros((vocabulary.size + 31) // 32, np.int32)

    @property
    def is_complete(self) -> bool:
        """Nothing may follow."""
        return self.active and bool(self._matcher.is_stopped())

    def take_forced(self) -> list[int]:
        """Returns the tokens that must come next. The grammar has consumed them."""
        if not self.active:
            return []
        tokens: list[int] = self._matcher.compute_ff_tokens()
        for token in tokens:
            self.consume(token)
        return tokens

    def allows(self, token: int) -> bool:
        if not self.active:
            return True
        if token in self._vocabulary.ends:
            return bool(self._matcher.is_accepting())
        if self._digits > LONGEST_DIGIT_RUN and self._vocabulary.piece(token)[:1].isdigit():
            return False
        return bool(self._matcher.validate_tokens([token]) == 1)

    def mask(self, logits: Logits) -> Logits:
        """Returns the logits with every forbidden token at minus infinity."""
        self._matcher.unsafe_compute_mask_ptr(self._mask.ctypes.data, self._mask.nbytes)
        bits = np.unpackbits(self._mask.view(np.uint8), bitorder="little")[: len(logits)]
        allowed = bits.view(np.bool_)
        if self._digits > LONGEST_DIGIT_RUN:
            others = allowed & ~self._vocabulary.begins_with_digit()
            allowed = others if others.any() else allowed
        if self._matcher.is_error() or not allowed.any():
            raise Refused("invalid_schema", f"The answer's grammar failed: {self._error()}")
        return np.where(allowed, logits, np.float32(-np.inf))

    def consume(self, token: int) -> None:
        if not self._matcher.consume_token(token):
            raise Refused("invalid_schema", f"The answer's grammar failed: {self._error()}")
        piece = self._vocabulary.piece(token)
        run = len(piece) - len(piece.rstrip(b"0123456789"))
        self._digits = self._digits + run if run == len(piece) else run

    def hear(self, token: int) -> list[int] | None:
        """Takes a token that comes before the trigger is complete.

        Returns the tokens to write instead, if it completes the trigger and goes on in a way that
        the grammar forbids; else None.
        """
        piece = self._vocabulary.marked_piece(token)
        rest = self._trigger.hear(piece) if self._trigger else None
        if rest is None:
            return None
        self.active = True
        if not rest:
            return None
        tokens = self._tokenizer.tokenize_bytes(rest)
        if self._matcher.validate_tokens(tokens) == len(tokens):
            for allowed in tokens:
                self.consume(allowed)
            return None
        kept = piece[: len(piece) - len(rest)]
        replaced: list[int] = self._vocabulary.tokenize(kept.decode(errors="replace")).tolist()
        return replaced

    def _error(self) -> str:
        text: str = self._matcher.get_error() or "no token fits it"
        return text.strip().splitlines()[0]


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
