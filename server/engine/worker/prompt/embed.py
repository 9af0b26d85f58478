"""Texts as vectors, and how well they fit a question, in a second, small context."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.decode.batch import Batch, Tokens
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import lib
from server.engine.worker.refusals import Refused

MOST_TOKENS = 2048
POOLING_MEAN = 1
POOLING_RANK = 4


class Embedder:
    """Used by one thread. The model's own pooling where it has one, else the mean of its tokens."""

    def __init__(self, model: Model, threads: int, beat: Callable[[], None] = lambda: None) -> None:
        """`beat` is called for each text."""
        self._beat = beat
        self._model = model
        self._threads = threads
        self._native: Any = None
        self._most = min(MOST_TOKENS, model.trained_tokens)

    def embed(self, texts: Sequence[str | list[str | int]]) -> tuple[list[list[float]], int]:
        """The vectors, and how many tokens were read for them."""
        if self._ranks:
            raise Refused("not_supported", "This model ranks documents; it makes no embeddings.")
        read = [self._tokens(text) for text in texts]
        return [self._vector(tokens) for tokens in read], sum(map(len, read))

    def rerank(self, query: str, documents: Sequence[str]) -> tuple[list[float], int, str]:
        """A score for each document, the tokens read, and by which method."""
        if self._ranks:
            read = [self._pair(query, text) for text in documents]
            return [float(self._output(tokens)[0]) for tokens in read], sum(map(len, read)), "rank"
        vectors, tokens = self.embed([query, *documents])
        asked = np.array(vectors[0])
        return [float(np.dot(asked, vector)) for vector in vectors[1:]], tokens, "embeddings"

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
            raise Refused("not_supported", "This model cannot make embeddings.")
        return native

    def _tokens(self, text: str | list[str | int]) -> Tokens:
        words = self._model.vocabulary
        if isinstance(text, str):
            return self._check(words.tokenize(text, special=False, bos=True, most=self._most))
        return self._check(words.tokenize_parts(text, self._most))

    def _pair(self, query: str, document: str) -> Tokens:
        """A question and a document as models that rank were taught to read them."""
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
            raise Refused("invalid_request", "An empty text has no embedding.")
        if len(tokens) > self._most:
            raise Refused(
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
        """What the model makes of the tokens: a vector, or scores."""
        self._beat()
        if self._native is None:
            self._native = self._open()
        batch = Batch(len(tokens), 1, len(tokens))
        batch.add(tokens, 0, 0, len(tokens))
        batch.native.n_tokens = batch.count
        lib.llama_memory_clear(lib.llama_get_memory(self._native), True)  # noqa: FBT003
        if lib.llama_decode(self._native, batch.native):
            raise Refused("engine_crashed", "The embedding could not be computed.")
        found = lib.llama_get_embeddings_seq(self._native, 0)
        model = self._model.native
        size = lib.llama_model_n_cls_out(model) if self._ranks else lib.llama_model_n_embd(model)
        vector = np.ctypeslib.as_array(ctypes.cast(found, ctypes.POINTER(ctypes.c_float)), (size,))
        return vector.astype(np.float64)
