"""Chooses the next token: llama.cpp's sampler chain, in C, over a small set of candidates.

The candidates are found by a threshold and always contain all of the best tokens, so the result is
exact. If an answer has a grammar, that decides from its trigger on what may and must come next.
"""

import ctypes
import json
import math
import os
import re
from collections import OrderedDict, deque
from importlib import import_module
from typing import Any

import numpy as np
from llguidance import LLMatcher
from numpy.typing import NDArray

from server.chat import Sampling
from server.engine.causes import JobRefused
from server.engine.worker.load.native import lib, pointer
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.schemas.bounded import close_objects, find_fault, harden
from server.schemas.patterns import enforceable
from server.sentences import Sentence

Logits = NDArray[np.float32]
Ids = NDArray[np.intp]
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
WIDEST_MARGIN = 64.0


class Threshold:
    """Finds at least `least` of the best tokens. Its margin below the best logit adapts."""

    def __init__(self, least: int) -> None:
        self.least = least
        self._margin = 8.0

    def find(self, logits: Logits) -> Ids:
        best = logits.max()
        margin = self._margin
        found = np.flatnonzero(logits > best - margin)
        while len(found) < self.least and margin < WIDEST_MARGIN:
            margin *= 1.6
            found = np.flatnonzero(logits > best - margin)
        if len(found) < self.least:
            return np.flatnonzero(logits > -np.inf)
        if len(found) > 8 * self.least:
            self._margin = margin * (0.5 if len(found) > 64 * self.least else 0.8)
        elif len(found) < 2 * self.least:
            self._margin = margin * 1.15
        else:
            self._margin = margin
        return found


class CandidateArray:
    """A llama_token_data_array over a numpy array that grows as needed. All answers share it."""

    def __init__(self) -> None:
        self._array = lib.llama_token_data_array()
        self.reference = ctypes.byref(self._array)
        self._grow(4096)

    def fill(self, ids: Ids, logits: Logits) -> None:
        count = len(ids)
        if count > len(self._entries):
            self._grow(2 * count)
        entries = self._entries
        entries["id"][:count] = ids
        entries["logit"][:count] = logits
        # Some samplers drop tokens by moving the pointer.
        self._array.data = self._start
        self._array.size = count
        self._array.selected = -1
        self._array.sorted = False

    def get_selected(self) -> int:
        return int(self._array.data[self._array.selected].id)

    def _grow(self, capacity: int) -> None:
        self._entries: Any = np.zeros(capacity, CANDIDATE)
        self._start = pointer(self._entries, lib.llama_token_data_p)


DRY_BASE = 1.75
DRY_ALLOWED_TOKENS = 2
DRY_WINDOW = 1024
DRY_BREAKERS = (b"\n", b":", b'"', b"*")
MIROSTAT_TOKENS = 100


class Sampler:
    """Chooses the tokens of one answer. The same seed gives the same choices."""

    def __init__(self, sampling: Sampling, vocabulary: Vocabulary, array: CandidateArray) -> None:
        self._sampling = sampling
        self._array = array
        self._vocabulary = vocabulary
        self._history: deque[int] = deque(maxlen=sampling.repeat_last_n)
        self._bias = Bias(sampling, vocabulary)
        self._penalised = has_penalties(sampling)
        self._plain_greedy = sampling.temperature <= 0 and not (
            self._penalised or sampling.dry_multiplier
        )
        self._threshold = _threshold(sampling)
        self._chain = make_chain(sampling, vocabulary)

    def pick(self, logits: Logits) -> int:
        own = self._bias.apply(logits)
        if self._plain_greedy:
            token = int(logits.argmax())
        else:
            ids = self._candidates(logits)
            token = self._apply(ids, logits[ids])
        self._bias.restore(logits, own)
        return token

    def accept(self, token: int) -> None:
        """Notes that a token has become part of the text, whether it was sampled or not."""
        if not self._plain_greedy:
            lib.llama_sampler_accept(self._chain, token)
        if self._penalised:
            self._history.append(token)

    def close(self) -> None:
        if self._chain:
            lib.llama_sampler_free(self._chain)
            self._chain = None

    def _apply(self, ids: Ids, logits: Logits) -> int:
        self._array.fill(ids, logits)
        lib.llama_sampler_apply(self._chain, self._array.reference)
        return self._array.get_selected()

    def _candidates(self, logits: Logits) -> Ids:
        """Returns all tokens that the chain could choose, and some more.

        A penalty may lower a token below the best ones, so as many more are taken. It may also
        raise a token among them, so the tokens with a penalty are always included.
        """
        if self._threshold is None:
            return np.arange(self._vocabulary.size)
        found = self._threshold.find(logits)
        return np.union1d(found, np.array(self._history, np.intp)) if self._history else found


class Bias:
    """Adds a bias to the logits of some tokens, before anything else uses them."""

    def __init__(self, sampling: Sampling, vocabulary: Vocabulary) -> None:
        added = added_bias(sampling, vocabulary)
        self._tokens = np.array(list(added), np.intp)
        self._added = np.array(list(added.values()), np.float32)

    def apply(self, logits: Logits) -> Logits | None:
        """Adds the bias in place. Returns the old values for `restore`; None without a bias."""
        if not len(self._tokens):
            return None
        own: Logits = logits[self._tokens]
        logits[self._tokens] = own + self._added
        return own

    def restore(self, logits: Logits, own: Logits | None) -> None:
        if own is not None:
            logits[self._tokens] = own


def added_bias(sampling: Sampling, vocabulary: Vocabulary) -> dict[int, float]:
    added = {token: bias for token, bias in sampling.logit_bias if 0 <= token < vocabulary.size}
    if sampling.ignore_eos:
        added |= dict.fromkeys(vocabulary.ends, -math.inf)
    return added


def has_penalties(sampling: Sampling) -> bool:
    penalties = sampling.frequency_penalty or sampling.presence_penalty
    return sampling.repeat_last_n > 0 and (sampling.repeat_penalty != 1.0 or bool(penalties))


def _threshold(sampling: Sampling) -> Threshold | None:
    """Returns None if the chain must see the whole vocabulary to be exact."""
    if sampling.dry_multiplier or (sampling.mirostat and sampling.temperature > 0):
        return None
    penalised = sampling.repeat_last_n if has_penalties(sampling) else 0
    if sampling.temperature <= 0:
        return Threshold(1 + penalised)
    return Threshold(sampling.top_k + penalised) if sampling.top_k > 0 else None


def make_chain(sampling: Sampling, vocabulary: Vocabulary) -> Any:
    return chain_of([*_adjusting(sampling, vocabulary), *choosing(sampling, vocabulary)])


def chain_of(samplers: list[Any]) -> Any:
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    for sampler in samplers:
        lib.llama_sampler_chain_add(chain, sampler)
    return chain


def _adjusting(sampling: Sampling, vocabulary: Vocabulary) -> list[Any]:
    """Returns the samplers that change logits before any token is dropped."""
    found = []
    if has_penalties(sampling):
        found.append(
            lib.llama_sampler_init_penalties(
                vocabulary.size,
                sampling.repeat_last_n,
                sampling.repeat_penalty,
                sampling.frequency_penalty,
                sampling.presence_penalty,
            )
        )
    if sampling.dry_multiplier:
        found.append(_dry(sampling, vocabulary))
    return found


def _dry(sampling: Sampling, vocabulary: Vocabulary) -> Any:
    breakers = (ctypes.c_char_p * len(DRY_BREAKERS))(*DRY_BREAKERS)
    return lib.llama_sampler_init_dry(
        vocabulary.native,
        sampling.dry_multiplier,
        DRY_BASE,
        DRY_ALLOWED_TOKENS,
        DRY_WINDOW,
        breakers,
        len(DRY_BREAKERS),
    )


def choosing(sampling: Sampling, vocabulary: Vocabulary) -> list[Any]:
    """Returns the samplers that drop tokens, and the last one, which chooses."""
    seed = seed_of(sampling)
    if sampling.temperature <= 0:
        return [lib.llama_sampler_init_greedy()]
    heat = lib.llama_sampler_init_temp(sampling.temperature)
    tau, eta = sampling.mirostat_tau, sampling.mirostat_eta
    if sampling.mirostat == 1:
        return [
            heat,
            lib.llama_sampler_init_mirostat(vocabulary.size, seed, tau, eta, MIROSTAT_TOKENS),
        ]
    if sampling.mirostat == 2:
        return [heat, lib.llama_sampler_init_mirostat_v2(seed, tau, eta)]
    return [*_dropping(sampling, seed), heat, lib.llama_sampler_init_dist(seed)]


def _dropping(sampling: Sampling, seed: int) -> list[Any]:
    found = []
    if sampling.top_k > 0:
        found.append(lib.llama_sampler_init_top_k(sampling.top_k))
    if sampling.typical_p < 1:
        found.append(lib.llama_sampler_init_typical(sampling.typical_p, 1))
    if sampling.top_p < 1:
        found.append(lib.llama_sampler_init_top_p(sampling.top_p, 1))
    if sampling.min_p > 0:
        found.append(lib.llama_sampler_init_min_p(sampling.min_p, 1))
    if sampling.xtc_probability > 0:
        found.append(
            lib.llama_sampler_init_xtc(sampling.xtc_probability, sampling.xtc_threshold, 1, seed)
        )
    return found


def seed_of(sampling: Sampling) -> int:
    """Returns a seed of at most 32 bits: the request's own, reduced, or a random one."""
    if sampling.seed is None:
        return int.from_bytes(os.urandom(4), "little") & 0x7FFFFFFF
    return sampling.seed % 0xFFFFFFFF


llamacpp = import_module("llguidance.llamacpp")
"""Imported here, because `native` must first replace the package llama_cpp by its bindings."""
NEW_LINES = b"\r\n"


class Trigger:
    """A text that activates the grammar; with a `lead`, only at the start or right after the lead.

    It does not count in a thought before the answer. `thought` has the begin and end mark; the
    first is empty if the thought has already begun.
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
        """Takes a piece of the answer. Returns what follows the complete trigger, or None."""
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
"""After more digits than this, the next token of a constrained answer does not begin with one."""


class Constrained:
    """The grammar of an answer. It is active from the start, or once its trigger has occurred."""

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
        """Whether nothing may follow."""
        return self.active and bool(self._matcher.is_stopped())

    def take_forced(self) -> list[int]:
        """Returns the tokens that must come next, after the grammar has consumed them."""
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
        """Returns the logits with forbidden tokens at -inf. Raises Refused if no token is left."""
        self._matcher.unsafe_compute_mask_ptr(self._mask.ctypes.data, self._mask.nbytes)
        bits = np.unpackbits(self._mask.view(np.uint8), bitorder="little")[: len(logits)]
        allowed = bits.view(np.bool_)
        if self._digits > LONGEST_DIGIT_RUN:
            others = allowed & ~self._vocabulary.begins_with_digit()
            allowed = others if others.any() else allowed
        if self._matcher.is_error() or not allowed.any():
            raise JobRefused(
                "invalid_schema", Sentence("The answer's grammar failed: {0}", self._error())
            )
        return np.where(allowed, logits, np.float32(-np.inf))

    def consume(self, token: int) -> None:
        if not self._matcher.consume_token(token):
            raise JobRefused(
                "invalid_schema", Sentence("The answer's grammar failed: {0}", self._error())
            )
        piece = self._vocabulary.piece(token)
        run = len(piece) - len(piece.rstrip(b"0123456789"))
        self._digits = self._digits + run if run == len(piece) else run

    def hear(self, token: int) -> list[int] | None:
        """Takes a token while the grammar is inactive.

        If it completes the trigger but continues in a way that the grammar forbids, returns the
        tokens to write instead; else None.
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
    """A cache of compiled grammars; each request gets a copy. Not thread-safe."""

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
        raise JobRefused("invalid_schema", Sentence("'{0}' is no kind of constraint.", kind))

    def _compile_schema(self, source: str, *, strict: bool) -> Any:
        try:
            schema = json.loads(source)
        except ValueError as error:
            raise JobRefused(
                "invalid_schema", Sentence("The schema is not JSON: {0}.", error)
            ) from error
        if not isinstance(schema, dict | bool):
            raise JobRefused("invalid_schema", Sentence("The schema must be an object."))
        hardened = harden(close_objects(schema))
        matcher = self._matcher(_grammar(hardened, strict=strict))
        if matcher.is_error() and not strict:
            matcher = self._matcher(_grammar(enforceable(hardened), strict=strict))
        if not matcher.is_error():
            return matcher
        fault = find_fault(schema, strict=strict)
        place = "/".join(("#", *(fault.path.split(".") if fault and fault.path else ())))
        raise JobRefused(
            "invalid_schema",
            Sentence("The schema cannot be enforced at {0}: {1}", place, _reason(matcher)),
        )

    def _check(self, grammar: str, what: str) -> Any:
        matcher = self._matcher(grammar)
        if matcher.is_error():
            message = Sentence("{0} cannot be enforced: {1}", what, _reason(matcher))
            raise JobRefused("invalid_schema", message, param=_find_parameter(matcher.get_error()))
        return matcher

    def _matcher(self, grammar: str) -> Any:
        if self._tokenizer is None:
            self._tokenizer = llamacpp.lltokenizer_from_vocab(
                self._vocabulary.native, eos_token=sorted(self._vocabulary.ends)
            )
        return LLMatcher(self._tokenizer, grammar, log_level=0)


def _grammar(schema: Any, *, strict: bool) -> str:
    if isinstance(schema, bool):  # Options can be added to objects alone.
        schema = {} if schema else {"enum": []}
    options: Any = {**SPACING, "lenient": not strict}
    return LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options)


def _find_parameter(error: str) -> str | None:
    """Returns "tools" if the grammar fails in a rule for calls, judged by the rule's name."""
    place = FAILING_LINE.match(error)
    rule = place and re.search(rf"^ *{place[1]} \| (?:call|arguments?)_", error, FLAGS)
    return "tools" if rule else None


def _reason(matcher: Any) -> str:
    lines = [line.strip() for line in matcher.get_error().strip().splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("error:")), lines[0] if lines else "")
    return reason.removeprefix("error:").strip()
