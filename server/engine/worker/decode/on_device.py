"""Chooses tokens on the device: llama.cpp samples inside its graph, with a chain per sequence.

Python then reads no row of logits. Attaching a chain makes llama.cpp rebuild its graph and reserve
its memory again, so a chain stays with its sequence as long as it can be used.

llama.cpp's own samplers work on one row at a time, and a single row keeps only a part of a card
busy: with 64 answers they took a third of each step and more. For the usual settings, ours works on
all rows at once. It returns the few likeliest tokens of each (`Candidates`), and one of them is
chosen here. It does not depend on the settings, so nothing is rebuilt for the next answer.

Whether this pays depends on the card and on how its library was built: to find the likeliest tokens
of a large vocabulary took one card a millisecond, more than the host needs for eight answers. Built
with CUDA 13.0, the library sorts each row as a whole, and a step with 64 answers took a third more
time than without. `CandidatesOfBlocks` sorts only what can hold one of them, in short parts side by
side. So all ways are timed before the first request.
"""

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.chat import Sampling
from server.engine.worker.decode.batch import Batch
from server.engine.worker.decode.sampling import (
    CandidateArray,
    Sampler,
    added_bias,
    chain_of,
    choosing,
    has_penalties,
    seed_of,
)
from server.engine.worker.load import backends
from server.engine.worker.load.context import Context
from server.engine.worker.load.native import lib
from server.engine.worker.prompt.prepare import Request
from server.engine.worker.prompt.vocabulary import Vocabulary

FEW = 4
"""The host is quick enough for fewer answers than this."""
MORE = 1.05
"""The device is worth a little more: it goes on while the host still makes the last texts."""
ROUNDS = 3
"""How often each way is timed. The quickest round counts: llama.cpp prepares in the first."""
NO_TOKEN = -1
MOST_ARRAYS = 16
NO_LATER = np.int32(2**31 - 1)
"""A token that comes after all others in the order of a vocabulary."""
TOKEN_BITS = 0xFFFFFFFF
"""The half of a sort key that holds the token."""
MOST_CANDIDATES = 64
TRIED = (
    Sampling(temperature=0.0),
    Sampling(ignore_eos=True),
    Sampling(top_k=2 * MOST_CANDIDATES, ignore_eos=True),
)
"""Settings that try out each way of choosing on the device."""
PART = 1024
"""The longest row that CUDA sorts in one block, side by side with others."""
MOST_BLOCKS = 1024
"""The most blocks into which a row is divided: as many as CUDA sorts in one block."""
FLOAT, INTEGER = 0, 26
"""GGML_TYPE_F32 and GGML_TYPE_I32."""
DESCENDING = 1
MAXIMUM = 0
"""GGML_OP_POOL_MAX."""
P = ctypes.c_void_p
LONG = ctypes.c_int64
SIZE = ctypes.c_size_t
ITEM_BYTES = 4
"""The size of a token and of a logit."""
KEPT: list[Any] = []
"""Objects that llama.cpp goes on calling, which must not be garbage-collected."""


@dataclass(frozen=True, slots=True)
class AttachedChain:
    chain: Any
    own: Sampling | None
    """The settings of a chain of llama.cpp's own samplers; None for our `Candidates`."""


class OnDevice:
    def __init__(
        self,
        context: Context,
        vocabulary: Vocabulary,
        batch: Batch,
        *,
        slots: int,
        forced: bool,
    ) -> None:
        """If `forced`, serves every answer whose settings allow it. Uses `batch` for trials."""
        self._context = context
        self._vocabulary = vocabulary
        self._forced = forced
        self._chains: dict[int, AttachedChain] = {}
        self._chooser = TokenChooser(context, vocabulary)
        self._busy: set[int] = set()
        step_s = self._find_form(batch, slots) if forced or slots >= FEW else inf
        self.works = step_s < inf
        self.least: float = 1 if forced else inf
        """The number of answers from which on the device is quicker; infinite if it never is."""
        if self.works and not forced:
            self.least = find_least(
                slots,
                lambda width: self._host_s(batch, width),
                lambda width: step_s if width == slots else self._device_s(batch, width),
            )

    @property
    def attached(self) -> set[int]:
        """The sequences with a chain, in use or idle. llama.cpp computes them all."""
        return set(self._chains)

    def take(self, sequence: int, request: Request, busy: int) -> bool:
        """Gives the answer a chain if that pays for `busy` answers. Returns whether it did."""
        is_fit = can_choose(request) and self._pays(sequence, request, busy)
        self._drop_idle(sequence if is_fit else None, busy)
        if not is_fit:
            self._drop(sequence)
            return False
        self._attach(sequence, request.sampling)
        self._busy.add(sequence)
        return True

    def expect(self, first: int | None) -> None:
        """Prepares for a step in which all answers are on the device and give one row each; `first`
        is the sequence of the first row. For any other step it is None."""
        self._chooser.form.in_one_piece = first is not None and first in self._chooser

    def leave(self, sequence: int) -> None:
        self._busy.discard(sequence)

    def tokens(self, batch: Batch, rows: Sequence[tuple[int, int]]) -> dict[int, int]:
        """Returns the chosen tokens of the last batch by row. `rows` pairs rows with sequences."""
        ours = [(row, sequence) for row, sequence in rows if sequence in self._chooser]
        found = self._chooser.tokens(batch, ours) if ours else {}
        for row, _sequence in rows:
            if row not in found:
                place = batch.places[row]
                found[row] = int(lib.llama_get_sampled_token_ith(self._context.native, place))
        return found

    def _pays(self, sequence: int, request: Request, busy: int) -> bool:
        """Whether the device is quicker. A seed stays on the host, unaffected by other answers."""
        if self._forced or request.sampling.seed is not None:
            return self._forced
        held = self._chains.get(sequence)
        return busy >= self.least or (held is not None and self._may_stay(held, busy))

    def _may_stay(self, held: AttachedChain, busy: int) -> bool:
        """Whether a chain stays although there are fewer answers now, to avoid rebuilding."""
        return held.own is None and 2 * busy > self.least

    def _attach(self, sequence: int, sampling: Sampling) -> None:
        """Attaches a chain. llama.cpp's own remember draws, so with a seed it is a new one."""
        held = self._chains.get(sequence)
        own = None if self._chooser.add(sequence, sampling) else sampling
        if held is not None and held.own == own and (own is None or own.seed is None):
            return
        self._detach(sequence)
        chain = device_chain(own, self._vocabulary) if own else self._chooser.chain()
        lib.llama_set_sampler(self._context.native, sequence, chain)
        self._chains[sequence] = AttachedChain(chain, own)

    def _drop_idle(self, keep: int | None, busy: int) -> None:
        """Drops idle chains if they are many or do not pay, because they are computed, too."""
        idle = {
            sequence: held
            for sequence, held in self._chains.items()
            if sequence not in self._busy and sequence != keep
        }
        own = [sequence for sequence, held in idle.items() if held.own is not None]
        gone = own if len(own) > 2 * (len(self._busy) + 1) else []
        if not self._forced and not self._busy:
            gone += [n for n in idle if n not in own and not self._may_stay(idle[n], busy)]
        for sequence in gone:
            self._drop(sequence)

    def _drop(self, sequence: int) -> None:
        self._chooser.remove(sequence)
        self._detach(sequence)

    def _detach(self, sequence: int) -> None:
        held = self._chains.pop(sequence, None)
        if held is not None:
            lib.llama_set_sampler(self._context.native, sequence, None)
            lib.llama_sampler_free(held.chain)

    def _find_form(self, batch: Batch, slots: int) -> float:
        """Takes the quickest form. Returns the seconds of a step with all slots, or infinity."""
        tried: dict[Candidates, float] = {}
        for form in self._chooser.forms:
            self._chooser.form = form
            tried[form] = self._device_s(batch, slots) if self._try_out(batch) else inf
        self._chooser.form = min(tried, key=lambda form: tried[form])
        if min(tried.values()) == inf:
            sys.stderr.write("info: this device does not choose tokens itself\n")
        return min(tried.values())

    def _try_out(self, batch: Batch) -> bool:
        """Whether the device can choose tokens: not every device supports all operations."""
        for sampling in TRIED:
            self._attach(0, sampling)
            batch.clear()
            row = batch.add([0], 0, 0, 1)
            code = self._context.decode(batch)
            token = NO_TOKEN if code else self.tokens(batch, [(row, 0)])[row]
            self._context.cut(0, 0)
            self._drop(0)
            if token == NO_TOKEN:
                return False
        return True

    def _host_s(self, batch: Batch, width: int) -> float:
        """Returns the seconds of a step with `width` answers if the host chooses the tokens."""
        sampler = Sampler(Sampling(), self._vocabulary, CandidateArray())

        def choose() -> None:
            rows = self._context.rows()
            for number in range(width):
                sampler.pick(rows[number])

        try:
            return self._step_s(batch, width, choose)
        finally:
            sampler.close()

    def _device_s(self, batch: Batch, width: int) -> float:
        """Returns the seconds of a step with `width` answers if the device chooses the tokens."""
        for sequence in range(width):
            self._attach(sequence, Sampling())
        try:
            return self._step_s(
                batch, width, lambda: self.tokens(batch, [(n, n) for n in range(width)])
            )
        finally:
            for sequence in range(width):
                self._drop(sequence)

    def _step_s(self, batch: Batch, width: int, choose: Callable[[], Any]) -> float:
        best = inf
        for _ in range(ROUNDS):
            batch.clear()
            for sequence in range(width):
                batch.add([0], sequence, 0, 1)
            self.expect(0)
            began = perf_counter()
            code = self._context.decode(batch)
            if code:
                return inf
            choose()
            best = min(best, perf_counter() - began)
            for sequence in range(width):
                self._context.cut(sequence, 0)
        return best


def find_least(
    slots: int, host_s: Callable[[int], float], device_s: Callable[[int], float]
) -> float:
    """Returns the number of answers from which on the device is quicker; infinite if it never is.

    The search begins with all slots: if the device does not pay for them, it never does.
    """
    least, width = inf, slots
    while width >= FEW and device_s(width) < MORE * host_s(width):
        least, width = width, width // 2
    return least


class TokenChooser:
    """Chooses a token for many answers at once, from the few likeliest tokens of each.

    It takes the likeliest at a temperature of 0, and draws at random otherwise.
    """

    def __init__(self, context: Context, vocabulary: Vocabulary) -> None:
        self._context = context
        self._size = vocabulary.size
        self._ends = np.zeros(vocabulary.size, np.bool_)
        self._ends[list(vocabulary.ends)] = True
        self.count = min(MOST_CANDIDATES, vocabulary.size)
        """The number of candidates in each row."""
        self._settings: dict[int, Sampling] = {}
        self._tables: dict[tuple[int, ...], SamplingTable] = {}
        self._own: dict[int, np.random.Generator] = {}
        self._shared = np.random.default_rng()
        self._arrays: dict[Any, NDArray[Any]] = {}
        self.forms = [form(self.count) for form in FORMS]
        self.form = self.forms[0]

    def chain(self) -> Any:
        return chain_of([self.form.sampler()])

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._settings

    def add(self, sequence: int, sampling: Sampling) -> bool:
        """Takes a sequence over. Returns False if its settings need more than the candidates."""
        self.remove(sequence)
        most = self.count - (int(self._ends.sum()) if sampling.ignore_eos else 0)
        wanted = sampling.top_k if sampling.temperature > 0 else 1
        if not 0 < wanted <= most or sampling.logit_bias:
            return False
        self._settings[sequence] = sampling
        if sampling.seed is not None:
            self._own[sequence] = np.random.default_rng(seed_of(sampling))
        return True

    def remove(self, sequence: int) -> None:
        self._tables.clear()
        self._settings.pop(sequence, None)
        self._own.pop(sequence, None)

    def tokens(self, batch: Batch, rows: Sequence[tuple[int, int]]) -> dict[int, int]:
        table = self._table_of(tuple(sequence for _row, sequence in rows))
        logits, tokens = self._candidates(batch, [row for row, _sequence in rows])
        if table.endless is not None and (ends := self._ends[tokens]).any():
            logits = np.where(table.endless & ends, -np.inf, logits)
        if table.is_greedy:
            best = logits.max(axis=1, keepdims=True)
            found = np.where(logits == best, tokens, NO_LATER).min(axis=1).tolist()
        else:
            chance = self._shared.random(len(rows))
            for number, (_row, sequence) in enumerate(rows):
                if own := self._own.get(sequence):
                    chance[number] = own.random()
            keys = _sort_keys(logits, tokens)
            keys.sort(axis=1)
            keys = keys[:, : table.most]
            chosen = keys[np.arange(len(rows)), _choose(_logits_of(keys), table, chance)]
            found = (chosen & TOKEN_BITS).tolist()
        return {row: token for (row, _sequence), token in zip(rows, found, strict=True)}

    def _table_of(self, sequences: tuple[int, ...]) -> "SamplingTable":
        """Steps mostly have the same answers: their settings are kept as arrays."""
        found = self._tables.get(sequences)
        if found is None:
            self._tables.clear()
            found = SamplingTable.of([self._settings[sequence] for sequence in sequences])
            self._tables[sequences] = found
        return found

    def _candidates(
        self, batch: Batch, rows: list[int]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Returns the candidates' logits and tokens, with a row for each answer."""
        native, place = self._context.native, batch.places[0]
        in_one_piece = self.count * batch.outputs
        if lib.llama_get_sampled_candidates_count_ith(native, place) == in_one_piece:
            row, width = 0, self.count
        else:
            row, width = rows[0], self._size
        shape = (batch.outputs, width)
        logits = self._table(
            lib.llama_get_sampled_logits_ith(native, batch.places[row]), row, shape
        )
        tokens = self._table(
            lib.llama_get_sampled_candidates_ith(native, batch.places[row]), row, shape
        )
        return logits[rows, : self.count], tokens[rows, : self.count]

    def _table(self, found: Any, row: int, shape: tuple[int, int]) -> NDArray[Any]:
        """Returns all rows that llama.cpp keeps, one for each output.

        `found` is where row number `row` is. The address of the first one follows from it.
        """
        kind = found._type_
        first = ctypes.addressof(found.contents) - row * self._size * ITEM_BYTES
        place = (first, kind, shape)
        if place not in self._arrays:
            # llama.cpp moves its rows seldom, and to make an array takes longer than to use it.
            self._arrays = {} if len(self._arrays) >= MOST_ARRAYS else self._arrays
            whole = (kind * (shape[0] * shape[1])).from_address(first)
            self._arrays[place] = np.ctypeslib.as_array(whole).reshape(shape)
        return self._arrays[place]


@dataclass(frozen=True, slots=True)
class SamplingTable:
    """The settings of several answers, with a row for each."""

    most: int
    """The most candidates that any of them looks at."""
    first: NDArray[np.float32]
    """1 for the candidates that each looks at, and 0 for the others."""
    top_p: NDArray[np.float32]
    min_p: NDArray[np.float32]
    coolness: NDArray[np.float32]
    """1 divided by the temperature."""
    is_greedy: bool
    """Whether all take the likeliest token."""
    endless: NDArray[np.bool_] | None
    """Which of them ignore the end; None if none does."""

    @classmethod
    def of(cls, settings: list[Sampling]) -> "SamplingTable":
        def column(values: list[Any], kind: Any = np.float32) -> NDArray[Any]:
            return np.array(values, kind)[:, None]

        hot = [sampling.temperature > 0 for sampling in settings]
        top_k = [own.top_k if is_hot else 1 for own, is_hot in zip(settings, hot, strict=True)]
        endless = [sampling.ignore_eos for sampling in settings]
        return cls(
            max(top_k),
            (np.arange(max(top_k)) < column(top_k, np.intp)).astype(np.float32),
            column([sampling.top_p if sampling.top_p < 1 else 2.0 for sampling in settings]),
            column([sampling.min_p for sampling in settings]),
            column([1 / own.temperature if own.temperature > 0 else 1.0 for own in settings]),
            not any(hot),
            column(endless, np.bool_) if any(endless) else None,
        )


def _sort_keys(logits: NDArray[np.floating[Any]], tokens: NDArray[np.int32]) -> NDArray[np.int64]:
    """Returns numbers that sort by falling logits, and equal ones by the order of the vocabulary.

    The bits of a float, as a whole number, are in the order of the floats once those of negative
    ones are inverted. Sorting numbers is several times as fast as sorting by two columns.
    """
    bits = _in_order(np.ascontiguousarray(logits, np.float32).view(np.int32))
    keys = np.invert(bits, out=bits).astype(np.int64)
    keys <<= 32
    keys |= tokens
    return keys


def _logits_of(keys: NDArray[np.int64]) -> NDArray[np.float32]:
    bits = (keys >> 32).astype(np.int32)
    return _in_order(np.invert(bits, out=bits)).view(np.float32)


def _in_order(bits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Inverts the bits of negative floats but the sign. Done twice, it changes nothing."""
    inverted = bits >> 31
    inverted &= 0x7FFFFFFF
    inverted ^= bits
    return inverted


def _choose(
    logits: NDArray[np.float32], table: SamplingTable, chance: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Returns the index of the chosen token in each row. Rows are sorted, the likeliest first.

    Like llama.cpp's chain it applies top-k, top-p, min-p, then temperature. At a temperature of 0
    the index is 0.
    """
    below = logits - logits[:, :1]
    likely = np.exp(below)
    likely *= table.first
    kept = likely >= table.min_p
    kept &= table.first > 0
    so_far = likely.cumsum(axis=1)
    kept[:, 1:] &= so_far[:, :-1] < table.top_p * so_far[:, -1:]
    kept[:, 0] = True
    below *= table.coolness
    heated = np.exp(below, out=below)
    heated *= kept
    so_far = heated.cumsum(axis=1, dtype=np.float64)
    return np.asarray((so_far > chance[:, None] * so_far[:, -1:]).argmax(axis=1))


def can_choose(request: Request) -> bool:
    """Whether top-k, top-p, min-p, temperature and bias suffice, without grammar and logprobs."""
    sampling = request.sampling
    plain = sampling.temperature <= 0 or not (
        sampling.mirostat or sampling.xtc_probability or sampling.typical_p < 1
    )
    free = request.constrained is None and request.top_logprobs is None
    return plain and free and not (has_penalties(sampling) or sampling.dry_multiplier)


def device_chain(sampling: Sampling, vocabulary: Vocabulary) -> Any:
    """Returns the chain of the host, but with the bias as a part of it."""
    return chain_of([*_bias(sampling, vocabulary), *choosing(sampling, vocabulary)])


def _bias(sampling: Sampling, vocabulary: Vocabulary) -> list[Any]:
    added = added_bias(sampling, vocabulary)
    if not added:
        return []
    entries = (lib.llama_logit_bias * len(added))()
    for entry, (token, bias) in zip(entries, added.items(), strict=True):
        entry.token, entry.bias = token, bias
    found = ctypes.cast(entries, ctypes.POINTER(lib.llama_logit_bias))
    return [lib.llama_sampler_init_logit_bias(vocabulary.size, len(added), found)]


class GraphTensor(ctypes.Structure):
    """The beginning of ggml_tensor, up to the fields that say which tensor it is a part of."""

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


SIGNATURES = {
    "ggml_top_k": (P, P, P, ctypes.c_int),
    "ggml_argsort": (P, P, P, ctypes.c_int),
    "ggml_get_rows": (P, P, P, P),
    "ggml_reshape_2d": (P, P, P, LONG, LONG),
    "ggml_reshape_3d": (P, P, P, LONG, LONG, LONG),
    "ggml_view_1d": (P, P, P, LONG, SIZE),
    "ggml_view_2d": (P, P, P, LONG, LONG, SIZE, SIZE),
    "ggml_cont": (P, P, P),
    "ggml_cast": (P, P, P, ctypes.c_int),
    "ggml_concat": (P, P, P, P, ctypes.c_int),
    "ggml_add": (P, P, P, P),
    "ggml_arange": (P, P, ctypes.c_float, ctypes.c_float, ctypes.c_float),
    "ggml_pool_1d": (P, P, P, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
    "ggml_repeat": (P, P, P, P),
    "ggml_scale": (P, P, P, ctypes.c_float),
}


class Candidates:
    """A sampler in llama.cpp's graph: returns the `count` likeliest tokens of each row, unsorted.

    To build a graph, llama.cpp calls `_begin` and then `_add` for one row after the other. The
    first row adds the operations over all rows to the graph; each row takes its own part of the
    results. llama.cpp copies them to the host row by row, and with 64 rows these copies took as
    long as to find the candidates. So the first row takes everything if that is possible.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.in_one_piece = False
        """Whether the first row may take the results of all rows, because it is on the device."""
        self._graph: Any = None
        self._whole: Any = None
        self._tokens: Any = None
        self._logits: Any = None
        self._ggml = backends.functions(SIGNATURES)
        self._interface = lib.llama_sampler_i(
            name=lib.llama_sampler_i_name(lambda _sampler: b"candidates"),
            apply=lib.llama_sampler_i_apply(lambda *_given: None),
            backend_init=lib.llama_sampler_i_backend_init(lambda *_given: True),
            backend_apply=lib.llama_sampler_i_backend_apply(self._add),
            backend_reset=lib.llama_sampler_i_backend_reset(self._begin),
        )
        KEPT.append(self._interface)

    def sampler(self) -> Any:
        return lib.llama_sampler_init(ctypes.byref(self._interface), None)

    def _begin(self, _sampler: Any) -> None:
        self._graph = None

    def _add(self, _sampler: Any, room: Any, graph: Any, data: Any) -> None:
        asked = data.contents
        row = GraphTensor.from_address(asked.logits)
        address = row.whole or asked.logits
        whole = GraphTensor.from_address(address)
        if (self._graph, self._whole) != (graph, address):
            self._graph, self._whole = graph, address
            columns, rows = whole.counts[0], whole.counts[1]
            self._tokens, self._logits = self._find(room, address, columns, rows)
        number = row.offset // whole.strides[1]
        count, offset = self._count, number * self._count * ITEM_BYTES
        together = (whole.counts[1] - 1) * self._count  # llama.cpp adds a row that nobody needs
        if self.in_one_piece and together <= whole.counts[0]:
            if number:
                asked.candidates = asked.logits = None
                return
            count = together
        asked.candidates = self._ggml.view_1d(room, self._tokens, count, offset)
        asked.logits = self._ggml.view_1d(room, self._logits, count, offset)

    def _find(self, room: Any, logits: Any, columns: int, rows: int) -> tuple[Any, Any]:
        """Adds the operations. Returns the tokens and the logits of all rows."""
        tokens = self._ggml.top_k(room, logits, self._count)
        each = self._ggml.reshape_3d(room, logits, 1, columns, rows)
        return tokens, self._ggml.get_rows(room, each, tokens)


class CandidatesOfBlocks(Candidates):
    """Finds them in the blocks with the largest maxima: no other block can hold one of them.

    The columns of these blocks are then sorted in short parts, side by side. Tokens are floats
    until the end: they are whole numbers below 2 to the power of 24.
    """

    def _find(self, room: Any, logits: Any, columns: int, rows: int) -> tuple[Any, Any]:
        ggml, count = self._ggml, self._count
        width = 1 << max(0, (columns - 1) // MOST_BLOCKS).bit_length()
        blocks, rest = divmod(columns, width)
        if blocks <= count:
            return super()._find(room, logits, columns, rows)
        whole = self._cut(room, logits, Parts(0, width, blocks, columns, rows))
        largest = ggml.pool_1d(room, whole, MAXIMUM, width, width, 0)
        order = ggml.argsort(room, largest, DESCENDING)
        best = ggml.cont(room, ggml.view_2d(room, order, count, rows, blocks * ITEM_BYTES, 0))
        values = ggml.get_rows(room, ggml.reshape_3d(room, whole, width, blocks, rows), best)
        starts = ggml.scale(room, ggml.cast(room, best, FLOAT), width)
        starts = ggml.repeat(room, ggml.reshape_3d(room, starts, 1, count, rows), values)
        inside = ggml.reshape_3d(room, ggml.arange(room, 0, width, 1), width, 1, 1)
        tokens = ggml.reshape_2d(room, ggml.add(room, starts, inside), width * count, rows)
        values = ggml.reshape_2d(room, values, width * count, rows)
        if rest:
            last = self._cut(room, logits, Parts(width * blocks, rest, 1, columns, rows))
            names = ggml.arange(room, width * blocks, columns, 1)
            values = ggml.concat(room, values, last, 0)
            tokens = ggml.concat(room, tokens, ggml.repeat(room, names, last), 0)
        return self._narrow(room, values, tokens, width * count + rest, rows)

    def _narrow(
        self, room: Any, values: Any, tokens: Any, columns: int, rows: int
    ) -> tuple[Any, Any]:
        """Takes the likeliest of each part, then of those. Returns their tokens and logits."""
        while columns > self._count:
            found = [self._best_of(room, values, tokens, part) for part in _parts(columns, rows)]
            values, tokens, columns = found[0]
            for more, names, count in found[1:]:
                values = self._ggml.concat(room, values, more, 0)
                tokens = self._ggml.concat(room, tokens, names, 0)
                columns += count
        return self._ggml.cast(room, tokens, INTEGER), values

    def _best_of(self, room: Any, values: Any, tokens: Any, parts: "Parts") -> tuple[Any, Any, int]:
        """Returns the likeliest of each part: logits, tokens and their number in a row."""
        ggml, width, kept = self._ggml, parts.width, min(self._count, parts.width)
        count = parts.count * parts.rows
        block = ggml.reshape_2d(room, self._cut(room, values, parts), width, count)
        order = ggml.argsort(room, block, DESCENDING)
        if kept < width:
            first = ggml.view_2d(room, order, kept, count, width * ITEM_BYTES, 0)
            order = ggml.cont(room, first)

        def take(whole: Any) -> Any:
            found = ggml.get_rows(room, ggml.reshape_3d(room, whole, 1, width, count), order)
            return ggml.reshape_2d(room, found, kept * parts.count, parts.rows)

        return take(block), take(self._cut(room, tokens, parts)), kept * parts.count

    def _cut(self, room: Any, whole: Any, parts: "Parts") -> Any:
        """Returns the columns of these parts, in one piece of memory."""
        size = parts.width * parts.count
        if size == parts.columns:
            return whole
        offset, stride = parts.first * ITEM_BYTES, parts.columns * ITEM_BYTES
        view = self._ggml.view_2d(room, whole, size, parts.rows, stride, offset)
        return self._ggml.cont(room, view)


FORMS = (Candidates, CandidatesOfBlocks)
"""The ways in which the likeliest tokens are found. The quickest on this device is taken."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Neighbouring parts of the same width, in each row of a table."""

    first: int
    """The column with which the first one begins."""
    width: int
    count: int
    columns: int
    rows: int


def _parts(columns: int, rows: int) -> list[Parts]:
    """Divides rows into parts of at most `PART` columns. The last one may be shorter."""
    whole, rest = divmod(columns, PART)
    found = [Parts(0, PART, whole, columns, rows)] if whole else []
    return [*found, Parts(whole * PART, rest, 1, columns, rows)] if rest else found
