"""Choosing tokens where the logits are: llama.cpp samples inside its graph, one chain a sequence.

No row of candidates is looked through in Python then. Attaching a chain makes llama.cpp lay out its
graph anew, so a chain stays with its sequence for the next answer of the same settings.

llama.cpp's own greedy sampler looks at one row at a time, and on a card one row keeps one part of
it busy: at 64 answers that took a third of each step. Ours looks at all rows at once (`Likeliest`).
"""

import ctypes
import sys
from dataclasses import replace
from functools import cache
from typing import Any

from server.chat import Sampling
from server.engine.worker.decode.batch import Batch
from server.engine.worker.decode.sampling import added_bias, chain_of, choosing, has_penalties
from server.engine.worker.load import backends
from server.engine.worker.load.context import Context
from server.engine.worker.load.native import lib
from server.engine.worker.prompt.prepare import Request
from server.engine.worker.prompt.vocabulary import Vocabulary

FEW = 4
"""So many answers are quickly chosen for one after the other."""
NO_TOKEN = -1
TRIED = (Sampling(temperature=0.0), Sampling(ignore_eos=True))
P = ctypes.c_void_p
LONG = ctypes.c_int64
SIZE = ctypes.c_size_t
TOKEN_BYTES = 4


class OnDevice:
    def __init__(
        self, context: Context, vocabulary: Vocabulary, batch: Batch, *, forced: bool
    ) -> None:
        """For every answer whose settings allow it, or only where it pays; tried with the batch."""
        self._context = context
        self._vocabulary = vocabulary
        self._forced = forced
        self._chains: dict[int, tuple[Sampling, Any]] = {}
        self._busy: set[int] = set()
        self.works = self._try_out(batch)

    def take(self, sequence: int, request: Request, busy: int) -> bool:
        """Whether the answer in this sequence is chosen on the device; so many are being made."""
        is_fit = can_choose(request) and self._pays(request, busy)
        self._drop_idle(keep=sequence if is_fit else None)
        if not is_fit:
            self._drop(sequence)
            return False
        self._attach(sequence, request.sampling)
        self._busy.add(sequence)
        return True

    def leave(self, sequence: int) -> None:
        self._busy.discard(sequence)

    def token(self, place: int) -> int:
        """What was chosen at this place of the last batch."""
        return int(lib.llama_get_sampled_token_ith(self._context.native, place))

    def _pays(self, request: Request, busy: int) -> bool:
        """A seed is kept with the host, where it gives the same words whoever else asks."""
        return self._forced or (busy >= FEW and request.sampling.seed is None)

    def _attach(self, sequence: int, sampling: Sampling) -> None:
        held = self._chains.get(sequence)
        if held is not None and held[0] == sampling and sampling.seed is None:
            return
        self._drop(sequence)
        chain = device_chain(sampling, self._vocabulary)
        lib.llama_set_sampler(self._context.native, sequence, chain)
        self._chains[sequence] = (sampling, chain)

    def _drop_idle(self, keep: int | None) -> None:
        """Chains of sequences at rest are computed too: where they are many, they go."""
        idle = [
            sequence for sequence in self._chains if sequence not in self._busy and sequence != keep
        ]
        if len(idle) > 2 * (len(self._busy) + 1):
            for sequence in idle:
                self._drop(sequence)

    def _drop(self, sequence: int) -> None:
        held = self._chains.pop(sequence, None)
        if held is not None:
            lib.llama_set_sampler(self._context.native, sequence, None)
            lib.llama_sampler_free(held[1])

    def _try_out(self, batch: Batch) -> bool:
        """Not every device has all operations; what it cannot do it leaves to the host."""
        for sampling in TRIED:
            self._attach(0, sampling)
            batch.clear()
            batch.add([0], 0, 0, 1)
            code = self._context.decode(batch)
            token = NO_TOKEN if code else self.token(0)
            self._context.cut(0, 0)
            self._drop(0)
            if token == NO_TOKEN:
                sys.stderr.write("info: this device does not choose tokens itself\n")
                return False
        return True


def can_choose(request: Request) -> bool:
    """Greedy, top-k, top-p, min-p, temperature and bias; neither grammar nor log-probabilities."""
    sampling = request.sampling
    plain = sampling.temperature <= 0 or not (
        sampling.mirostat or sampling.xtc_probability or sampling.typical_p < 1
    )
    free = request.constrained is None and request.top_logprobs is None
    return plain and free and not (has_penalties(sampling) or sampling.dry_multiplier)


def device_chain(sampling: Sampling, vocabulary: Vocabulary) -> Any:
    """As on the host, with the bias as a part of it.

    A greedy answer that ignores its end has none: it looks at the row again where it would end.
    """
    looks_again = sampling.ignore_eos
    if sampling.temperature <= 0:
        sampling = replace(sampling, ignore_eos=False)
    bias = _bias(sampling, vocabulary)
    if sampling.temperature <= 0 and not bias:
        return chain_of([likeliest(keeps_row=looks_again).sampler()])
    return chain_of([*bias, *choosing(sampling, vocabulary)])


def _bias(sampling: Sampling, vocabulary: Vocabulary) -> list[Any]:
    added = added_bias(sampling, vocabulary)
    if not added:
        return []
    entries = (lib.llama_logit_bias * len(added))()
    for entry, (token, bias) in zip(entries, added.items(), strict=True):
        entry.token, entry.bias = token, bias
    found = ctypes.cast(entries, ctypes.POINTER(lib.llama_logit_bias))
    return [lib.llama_sampler_init_logit_bias(vocabulary.size, len(added), found)]


class Tensor(ctypes.Structure):
    """The beginning of ggml_tensor, as far as it tells of which tensor this is a part."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("buffer", P),
        ("counts", LONG * 4),
        ("strides", SIZE * 4),
        ("operation", ctypes.c_int),
        ("parameters", ctypes.c_int32 * 16),
        ("flags", ctypes.c_int32),
        ("sources", P * 10),
        ("whole", P),
        ("offset", SIZE),
    )


class Likeliest:
    """A sampler in llama.cpp's graph: the likeliest tokens of all rows in one operation.

    llama.cpp asks for one row after the other while it lays out a graph, and says before when it
    begins anew. With the first row the operation over all rows goes into the graph; each row takes
    its own place of the result.
    """

    def __init__(self, *, keeps_row: bool) -> None:
        """Whether the row of logits is copied to the host as well."""
        self._keeps_row = keeps_row
        self._graph: Any = None
        self._whole: Any = None
        self._best: Any = None
        self._ggml = backends.functions(
            {"ggml_argmax": (P, P, P), "ggml_view_1d": (P, P, P, LONG, SIZE)}
        )
        self._interface = lib.llama_sampler_i(
            name=lib.llama_sampler_i_name(lambda _sampler: b"likeliest"),
            apply=lib.llama_sampler_i_apply(_take_likeliest),
            backend_init=lib.llama_sampler_i_backend_init(lambda *_given: True),
            backend_apply=lib.llama_sampler_i_backend_apply(self._add),
            backend_reset=lib.llama_sampler_i_backend_reset(self._begin),
        )

    def sampler(self) -> Any:
        return lib.llama_sampler_init(ctypes.byref(self._interface), None)

    def _begin(self, _sampler: Any) -> None:
        self._graph = None

    def _add(self, _sampler: Any, room: Any, graph: Any, data: Any) -> None:
        asked = data.contents
        row = Tensor.from_address(asked.logits)
        whole = row.whole or asked.logits
        if (self._graph, self._whole) != (graph, whole):
            self._graph, self._whole = graph, whole
            self._best = self._ggml.argmax(room, whole)
        number = row.offset // Tensor.from_address(whole).strides[1]
        asked.sampled = self._ggml.view_1d(room, self._best, 1, number * TOKEN_BYTES)
        if not self._keeps_row:
            asked.logits = None


def _take_likeliest(_sampler: Any, candidates: Any) -> None:
    """As llama.cpp asks of every sampler; nothing on the host uses it."""
    found = candidates.contents
    found.selected = max(range(found.size), key=lambda place: found.data[place].logit)


@cache
def likeliest(*, keeps_row: bool) -> Likeliest:
    """llama.cpp goes on calling it, so it must not be collected."""
    return Likeliest(keeps_row=keeps_row)
