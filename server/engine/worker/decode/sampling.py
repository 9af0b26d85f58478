"""Choosing the next token: llama.cpp's sampler chain in C over a small exact candidate set.

The candidates are always a superset of the best tokens, found by a threshold.
"""

import ctypes
import math
import os
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.chat import Sampling
from server.engine.worker.load.native import lib, pointer
from server.engine.worker.prompt.vocabulary import Vocabulary

Logits = NDArray[np.float32]
Ids = NDArray[np.intp]
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
WIDEST_MARGIN = 64.0


class Threshold:
    """Finds at least `least` tokens; its margin below the best logit follows the answer."""

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
    """A llama_token_data_array over a numpy array that grows as needed; shared by all answers."""

    def __init__(self, capacity: int = 4096) -> None:
        self._array = lib.llama_token_data_array()
        self.reference = ctypes.byref(self._array)
        self._grow(capacity)

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
    """One answer's choice of tokens, repeatable by its seed."""

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
        """A token has become part of the text, sampled or not."""
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
        """A superset of every token the chain could choose.

        A penalised token may fall out of the best ones, so as many more are taken; or it may rise
        into them, so those tokens are always among the candidates.
        """
        if self._threshold is None:
            return np.arange(self._vocabulary.size)
        found = self._threshold.find(logits)
        return np.union1d(found, np.array(self._history, np.intp)) if self._history else found


class Bias:
    """What is added to some tokens' logits before anything else looks at them."""

    def __init__(self, sampling: Sampling, vocabulary: Vocabulary) -> None:
        added = added_bias(sampling, vocabulary)
        self._tokens = np.array(list(added), np.intp)
        self._added = np.array(list(added.values()), np.float32)

    def apply(self, logits: Logits) -> Logits | None:
        """Adds the bias to the row itself. `restore` takes it away again."""
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
    """None where the chain must see the whole vocabulary to be exact."""
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
    """Samplers that change logits before any token is dropped."""
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
    """Samplers that drop tokens, and the one that chooses."""
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
    """32 bits: the request's own, folded, or fresh ones."""
    if sampling.seed is None:
        return int.from_bytes(os.urandom(4), "little") & 0x7FFFFFFF
    return sampling.seed % 0xFFFFFFFF
