"""A llama_context: decoding, the cache of sequences, the logits.

A second, small context turns texts into vectors and rates how well they fit a question.
"""

import ctypes
import ctypes.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from server.engine.causes import JobRefused
from server.engine.worker.decode.batch import Batch, RowBatch, Tokens
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import BYTE_P, lib, pointer
from server.engine.worker.load.plan import Plan
from server.sentences import Sentence

LIMITLESS = 1 << 30
"""More operations than one decode has."""
ABORTED = 2
CACHE_FULL = 1
"""Results of `Context.decode`."""


class Context:
    """A context of a model, with a sequence for each slot. Raises Refused without enough memory."""

    def __init__(self, model: Model, plan: Plan) -> None:
        self._model = model
        self._plan = plan
        self.operations = Operations()
        self.native = lib.llama_init_from_model(model.native, self._params())
        if not self.native:
            raise JobRefused(
                "out_of_memory",
                Sentence(
                    "There is not enough memory for a context of {0} tokens "
                    "for each of {1} answers.",
                    plan.context_tokens,
                    plan.slots,
                ),
            )
        self._memory = lib.llama_get_memory(self.native)
        self.sequence_tokens: int = lib.llama_n_ctx_seq(self.native)
        self._vocabulary_size = model.vocabulary.size
        self._rows_at: int | None = None
        self._rows: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._adapters: list[Any] = []

    def decode(self, batch: Batch | RowBatch) -> int:
        code = self.begin(batch)
        if code == 0:
            self.finish()
        return code

    def begin(self, batch: Batch | RowBatch) -> int:
        """Begins to decode. A card goes on by itself; a processor is done when this returns."""
        batch.native.n_tokens = batch.count
        code: int = lib.llama_decode(self.native, batch.native)
        return code

    def finish(self) -> None:
        lib.llama_synchronize(self.native)

    def rows(self) -> NDArray[np.float32]:
        """Returns the logits of the last decode: a row for each output token, in batch order."""
        found = lib.llama_get_logits(self.native)
        address = ctypes.addressof(found.contents)
        if address != self._rows_at:
            most = self._plan.batch_tokens
            floats = (ctypes.c_float * (self._vocabulary_size * most)).from_address(address)
            self._rows = np.ctypeslib.as_array(floats).reshape(most, self._vocabulary_size)
            self._rows_at = address
        return self._rows

    def cut(self, sequence: int, start: int) -> bool:
        """Forgets a sequence from a position on. Returns False if the model cannot do that."""
        return bool(lib.llama_memory_seq_rm(self._memory, sequence, start, -1))

    def save(self, sequence: int, scratch: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """Copies a sequence's state into `scratch` if it is large enough, else into new memory."""
        size = self.saved_bytes(sequence)
        if scratch is None or len(scratch) < size:
            scratch = np.empty(size, np.uint8)
        state = scratch[:size]
        lib.llama_state_seq_get_data(self.native, pointer(state, BYTE_P), size, sequence)
        return state

    def saved_bytes(self, sequence: int) -> int:
        return int(lib.llama_state_seq_get_size(self.native, sequence))

    def restore(self, sequence: int, state: NDArray[np.uint8]) -> bool:
        data = pointer(state, BYTE_P)
        return bool(lib.llama_state_seq_set_data(self.native, data, state.nbytes, sequence))

    def look_back_only(self, only: bool) -> None:
        """Sets whether tokens see only those before them, as in text (causal attention)."""
        lib.llama_set_causal_attn(self.native, only)

    def use_threads(self, count: int) -> None:
        lib.llama_set_n_threads(self.native, count, count)

    def use_adapters(self, paths: Sequence[Path]) -> None:
        """Applies LoRA adapters at full strength. Raises Refused if one does not fit."""
        for path in paths:
            adapter = lib.llama_adapter_lora_init(self._model.native, str(path).encode())
            if not adapter:
                raise JobRefused(
                    "model_load_failed", Sentence("The adapter {0} does not fit.", path.name)
                )
            self._adapters.append(adapter)
        if self._adapters:
            count = len(self._adapters)
            adapters = (ctypes.c_void_p * count)(*self._adapters)
            scales = (ctypes.c_float * count)(*([1.0] * count))
            lib.llama_set_adapters_lora(self.native, adapters, count, scales)

    def close(self) -> None:
        lib.llama_free(self.native)
        self.operations.clear()

    def _params(self) -> Any:
        plan = self._plan
        params = lib.llama_context_default_params()
        params.n_ctx = plan.context_tokens * plan.slots
        params.n_batch, params.n_ubatch = plan.batch_tokens, plan.part_tokens
        params.n_seq_max = plan.slots
        params.n_threads = params.n_threads_batch = plan.threads
        params.kv_unified = False  # each sequence has a buffer of its own
        params.flash_attn_type = plan.flash_attention
        params.type_k = params.type_v = plan.kv_type
        params.offload_kqv = self._model.options.kv_offload
        params.no_perf = True
        params.abort_callback = self.operations.callback
        params.abort_callback_data = self.operations.data
        return params


class Operations:
    """The callback that llama.cpp calls after each operation, to abort or go on. It must be in C.

    On Linux it is `sem_trywait` on a semaphore: it aborts at zero, and it counts, so that an
    operation that never ends differs from slow ones. Elsewhere it is `strlen` of a text.
    """

    aborting: ClassVar[set["Operations"]] = set()
    """Those of all contexts whose decode is being aborted. llama.cpp logs that as errors."""

    def __init__(self) -> None:
        self._counts = sys.platform == "linux"
        library = ctypes.CDLL("msvcrt") if sys.platform == "win32" else ctypes.CDLL(None)
        self._library = library
        self._state = ctypes.create_string_buffer(64)
        self._done = 0
        ask = library.sem_trywait if self._counts else library.strlen
        self.callback = ctypes.cast(ask, lib.ggml_abort_callback)
        self.data = ctypes.cast(self._state, ctypes.c_void_p)
        self.clear()

    def abort(self) -> None:
        """Ends the running decode after the current operation. Any thread may call this."""
        self.aborting.add(self)
        if self._counts:
            self._done += LIMITLESS - self._left()
            self._library.sem_init(self._state, 0, 0)
        else:
            self._state[0] = b"x"

    def clear(self) -> None:
        """Lets the next decode run to its end."""
        if self._counts:
            self._done += 0 if self in self.aborting else LIMITLESS - self._left()
            self._library.sem_init(self._state, 0, LIMITLESS)
        else:
            self._state[0] = b"\0"
        self.aborting.discard(self)

    @property
    def count(self) -> int | None:
        """The number of operations so far; None if they cannot be counted on this system."""
        if not self._counts:
            return None
        return self._done if self in self.aborting else self._done + LIMITLESS - self._left()

    def _left(self) -> int:
        left = ctypes.c_int(LIMITLESS)
        self._library.sem_getvalue(self._state, ctypes.byref(left))
        return left.value


MOST_TOKENS = 2048
POOLING_MEAN = 1
POOLING_RANK = 4


class Embedder:
    """Makes vectors by the model's own pooling, else by the mean of its tokens. Not thread-safe."""

    def __init__(self, model: Model, threads: int, beat: Callable[[], None] = lambda: None) -> None:
        """`beat` is called before each text, as a sign of progress."""
        self._beat = beat
        self._model = model
        self._threads = threads
        self._native: Any = None
        self._most = min(MOST_TOKENS, model.trained_tokens)

    def embed(self, texts: Sequence[str | list[str | int]]) -> tuple[list[list[float]], int]:
        """Returns the vectors and how many tokens were read. Raises Refused if the model ranks."""
        if self._ranks:
            raise JobRefused("not_supported", "This model ranks documents; it makes no embeddings.")
        read = [self._tokens(text) for text in texts]
        return [self._vector(tokens) for tokens in read], sum(map(len, read))

    def rerank(self, query: str, documents: Sequence[str]) -> tuple[list[float], int, str]:
        """Returns a score for each document, how many tokens were read, and the method."""
        if self._ranks:
            read = [self._pair(query, text) for text in documents]
            return [float(self._output(tokens)[0]) for tokens in read], sum(map(len, read)), "rank"
        vectors, tokens = self.embed([query, *documents])
        # Rounding may put the cosine of equal texts a little above 1, which clients refuse.
        scores = np.clip(np.array(vectors[1:]) @ np.array(vectors[0]), -1.0, 1.0)
        return scores.tolist(), tokens, "embeddings"

    @property
    def _ranks(self) -> bool:
        return self._own_pooling == str(POOLING_RANK)

    @property
    def _own_pooling(self) -> str:
        return self._model.meta(f"{self._model.meta('general.architecture')}.pooling_type")

    def _open(self) -> Any:
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._most
        params.n_threads = params.n_threads_batch = self._threads
        params.embeddings = True
        params.no_perf = True
        if self._own_pooling in ("", "0"):
            params.pooling_type = POOLING_MEAN
        native = lib.llama_init_from_model(self._model.native, params)
        if not native:
            raise JobRefused("not_supported", "This model cannot make embeddings.")
        return native

    def _tokens(self, text: str | list[str | int]) -> Tokens:
        words = self._model.vocabulary
        if isinstance(text, str):
            return self._check(words.tokenize(text, special=False, bos=True, most=self._most))
        return self._check(words.tokenize_parts(text, self._most))

    def _pair(self, query: str, document: str) -> Tokens:
        """Returns the tokens of a question and a document, as ranking models expect them."""
        words, native = self._model.vocabulary, self._model.vocabulary.native
        template = lib.llama_model_chat_template(self._model.native, b"rerank")
        if template:
            filled = template.decode(errors="replace").replace("{query}", query)
            whole = filled.replace("{document}", document)
            return self._check(words.tokenize(whole, most=self._most))
        eos, sep = lib.llama_vocab_eos(native), lib.llama_vocab_sep(native)
        end = [eos if eos >= 0 else sep] if lib.llama_vocab_get_add_eos(native) else []
        begin = [lib.llama_vocab_bos(native)] if words.adds_bos else []
        between = [sep] if lib.llama_vocab_get_add_sep(native) else []
        asked, read = (
            words.tokenize(text, special=False, most=self._most) for text in (query, document)
        )
        return self._check(np.array([*begin, *asked, *end, *between, *read, *end], np.int32))

    def _check(self, tokens: Tokens) -> Tokens:
        if not len(tokens):
            raise JobRefused("invalid_request", "An empty text has no embedding.")
        if len(tokens) > self._most:
            raise JobRefused(
                "context_length_exceeded",
                f"The text needs {len(tokens)} tokens; an embedding has room for {self._most}.",
                needed=len(tokens),
                available=self._most,
            )
        return tokens

    def _vector(self, tokens: Tokens) -> list[float]:
        exact = self._output(tokens)
        unit: list[float] = (exact / max(float(np.linalg.norm(exact)), 1e-12)).tolist()
        return unit

    def _output(self, tokens: Tokens) -> NDArray[np.float64]:
        """Returns the model's output for the tokens: a vector, or scores."""
        self._beat()
        if self._native is None:
            self._native = self._open()
        batch = Batch(len(tokens), 1, len(tokens))
        batch.add(tokens, 0, 0, len(tokens))
        batch.native.n_tokens = batch.count
        lib.llama_memory_clear(lib.llama_get_memory(self._native), True)  # noqa: FBT003
        if lib.llama_decode(self._native, batch.native):
            raise JobRefused("engine_crashed", "The embedding could not be computed.")
        found = lib.llama_get_embeddings_seq(self._native, 0)
        model = self._model.native
        size = lib.llama_model_n_cls_out(model) if self._ranks else lib.llama_model_n_embd(model)
        vector = np.ctypeslib.as_array(ctypes.cast(found, ctypes.POINTER(ctypes.c_float)), (size,))
        return vector.astype(np.float64)
