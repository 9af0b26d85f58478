"""Texts as vectors: a second, small context made when first asked for."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from server.engine.worker.batch import Batch, Tokens
from server.engine.worker.model import Model
from server.engine.worker.native import lib
from server.engine.worker.refusals import Refused

MOST_TOKENS = 2048
POOLING_MEAN = 1


class Embedder:
    """Used by one thread. The model's own pooling where it has one, else the mean of its tokens."""

    def __init__(self, model: Model, threads: int) -> None:
        self._model = model
        self._threads = threads
        self._native: Any = None
        self._most = min(MOST_TOKENS, model.trained_tokens)

    def embed(self, texts: Sequence[str]) -> tuple[list[list[float]], int]:
        """The vectors, and how many tokens were read for them."""
        if self._native is None:
            self._native = self._open()
        read = [self._tokens(text) for text in texts]
        return [self._one(tokens) for tokens in read], sum(map(len, read))

    def _open(self) -> Any:
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._most
        params.n_threads = params.n_threads_batch = self._threads
        params.embeddings = True
        params.no_perf = True
        own = self._model.meta(f"{self._model.meta('general.architecture')}.pooling_type")
        if own in ("", "0"):
            params.pooling_type = POOLING_MEAN
        native = lib.llama_init_from_model(self._model.native, params)
        if not native:
            raise Refused("not_supported", "This model cannot make embeddings.")
        return native

    def _tokens(self, text: str) -> Tokens:
        tokens = self._model.vocabulary.tokenize(text, special=False, bos=True)
        if not len(tokens):
            raise Refused("invalid_request", "An empty text has no embedding.")
        if len(tokens) > self._most:
            raise Refused(
                "context_length_exceeded",
                f"The text needs {len(tokens)} tokens; an embedding has room for {self._most}.",
                needed=len(tokens),
                available=self._most,
            )
        return tokens

    def _one(self, tokens: Tokens) -> list[float]:
        batch = Batch(len(tokens), 1, len(tokens))
        batch.add(tokens, 0, 0, len(tokens))
        batch.native.n_tokens = batch.count
        lib.llama_memory_clear(lib.llama_get_memory(self._native), True)  # noqa: FBT003
        if lib.llama_decode(self._native, batch.native):
            raise Refused("engine_crashed", "The embedding could not be computed.")
        found = lib.llama_get_embeddings_seq(self._native, 0)
        size = lib.llama_model_n_embd(self._model.native)
        vector = np.ctypeslib.as_array(ctypes.cast(found, ctypes.POINTER(ctypes.c_float)), (size,))
        exact = vector.astype(np.float64)
        unit: list[float] = (exact / max(float(np.linalg.norm(exact)), 1e-12)).tolist()
        return unit
