"""One answer under a grammar: what it may say next, and what it must."""

from typing import Any

import numpy as np

from server.engine.worker.decode.candidates import Logits
from server.engine.worker.decode.trigger import Trigger
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.engine.worker.refusals import Refused

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
