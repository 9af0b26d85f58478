"""A llama_context: decoding, its cache of sequences, its logits."""

import ctypes
import ctypes.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.decode.batch import Batch, RowBatch
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import BYTE_P, lib, pointer
from server.engine.worker.load.plan import Plan
from server.engine.worker.refusals import Refused

LIMITLESS = 1 << 30
"""More operations than one decode has."""
ABORTED = 2
CACHE_FULL = 1


class Context:
    def __init__(self, model: Model, plan: Plan) -> None:
        self._model = model
        self._plan = plan
        self._operations = Operations()
        self.native = lib.llama_init_from_model(model.native, self._params())
        if not self.native:
            raise Refused(
                "out_of_memory",
                f"There is not enough memory for a context of {plan.context_tokens} tokens "
                f"for each of {plan.slots} answers.",
            )
        self._memory = lib.llama_get_memory(self.native)
        self.sequence_tokens: int = lib.llama_n_ctx_seq(self.native)
        self._vocabulary_size = model.vocabulary.size
        self._rows_at: int | None = None
        self._rows: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._adapters: list[Any] = []

    def decode(self, batch: Batch | RowBatch) -> int:
        batch.native.n_tokens = batch.count
        code: int = lib.llama_decode(self.native, batch.native)
        if code == 0:
            lib.llama_synchronize(self.native)
        return code

    def rows(self) -> NDArray[np.float32]:
        """The logits of the last decode: a row for each token that asked, in batch order."""
        found = lib.llama_get_logits(self.native)
        address = ctypes.addressof(found.contents)
        if address != self._rows_at:
            most = self._plan.batch_tokens
            floats = (ctypes.c_float * (self._vocabulary_size * most)).from_address(address)
            self._rows = np.ctypeslib.as_array(floats).reshape(most, self._vocabulary_size)
            self._rows_at = address
        return self._rows

    def cut(self, sequence: int, start: int) -> bool:
        """Forgets a sequence from a position on; False where the model cannot."""
        return bool(lib.llama_memory_seq_rm(self._memory, sequence, start, -1))

    def share(self, source: int, target: int, end: int) -> None:
        """Gives the target the source's first cells (unified cache only; nothing is copied)."""
        lib.llama_memory_seq_cp(self._memory, source, target, 0, end)

    def save(self, sequence: int, scratch: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """Into the scratch memory where that is large enough, else into fresh memory."""
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
        """Whether what is read sees only what came before it, as text does."""
        lib.llama_set_causal_attn(self.native, only)

    def use_threads(self, count: int) -> None:
        lib.llama_set_n_threads(self.native, count, count)

    def use_adapters(self, paths: Sequence[Path]) -> None:
        """LoRA adapters, each at full strength."""
        for path in paths:
            adapter = lib.llama_adapter_lora_init(self._model.native, str(path).encode())
            if not adapter:
                raise Refused("model_load_failed", f"The adapter {path.name} does not fit.")
            self._adapters.append(adapter)
        if self._adapters:
            count = len(self._adapters)
            adapters = (ctypes.c_void_p * count)(*self._adapters)
            scales = (ctypes.c_float * count)(*([1.0] * count))
            lib.llama_set_adapters_lora(self.native, adapters, count, scales)

    def abort(self) -> None:
        """Ends the running decode within one operation. Callable from any thread."""
        self._operations.abort()

    def is_aborting(self) -> bool:
        return self._operations.is_aborting()

    def clear_abort(self) -> None:
        self._operations.clear()

    @property
    def operations(self) -> int | None:
        """How many operations were computed so far; None where that cannot be seen."""
        return self._operations.count

    def close(self) -> None:
        lib.llama_free(self.native)

    def _params(self) -> Any:
        plan = self._plan
        params = lib.llama_context_default_params()
        params.n_ctx = plan.context_tokens * (1 if plan.kv_unified else plan.slots)
        params.n_batch, params.n_ubatch = plan.batch_tokens, plan.part_tokens
        params.n_seq_max = plan.slots
        params.n_threads = params.n_threads_batch = plan.threads
        params.kv_unified = plan.kv_unified
        params.flash_attn_type = plan.flash_attention
        params.type_k = params.type_v = plan.kv_type
        params.offload_kqv = self._model.options.kv_offload
        params.no_perf = True
        params.abort_callback = self._operations.callback
        params.abort_callback_data = self._operations.data
        return params


class Operations:
    """What llama.cpp asks after each operation: whether to go on. It must stay in C.

    On Linux that is `sem_trywait` on a semaphore: it says no at nought, and it counts, so that an
    operation that never ends can be told from slow ones. Elsewhere it is `strlen` of a text.
    """

    def __init__(self) -> None:
        self._counts = sys.platform == "linux"
        library = ctypes.CDLL("msvcrt") if sys.platform == "win32" else ctypes.CDLL(None)
        self._library = library
        self._state = ctypes.create_string_buffer(64)
        self._done = 0
        ask = library.sem_trywait if self._counts else library.strlen
        self.callback = ctypes.cast(ask, lib.ggml_abort_callback)
        self.data = ctypes.cast(self._state, ctypes.c_void_p)
        self._aborting = False
        self.clear()

    def abort(self) -> None:
        self._aborting = True
        if self._counts:
            self._done += LIMITLESS - self._left()
            self._library.sem_init(self._state, 0, 0)
        else:
            self._state[0] = b"x"

    def clear(self) -> None:
        if self._counts:
            self._done += 0 if self._aborting else LIMITLESS - self._left()
            self._library.sem_init(self._state, 0, LIMITLESS)
        else:
            self._state[0] = b"\0"
        self._aborting = False

    def is_aborting(self) -> bool:
        return self._aborting

    @property
    def count(self) -> int | None:
        if not self._counts:
            return None
        return self._done if self._aborting else self._done + LIMITLESS - self._left()

    def _left(self) -> int:
        left = ctypes.c_int(LIMITLESS)
        self._library.sem_getvalue(self._state, ctypes.byref(left))
        return left.value
