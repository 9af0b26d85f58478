"""Loads a GGUF model into memory and reads its properties."""

import ctypes
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from server.engine.base import EngineOptions, ModelFacts
from server.engine.causes import JobRefused
from server.engine.worker.load import devices
from server.engine.worker.load.native import FLOAT_P, lib
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.sentences import Sentence

VALUE_BYTES = 1 << 16

EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
ALL_LAYERS = 999


class Override(ctypes.Structure):
    """llama_model_tensor_buft_override: where tensors are kept whose names match a pattern."""

    _fields_ = (("pattern", ctypes.c_char_p), ("place", ctypes.c_void_p))


def expert_patterns(layers: int) -> list[bytes]:
    """Returns patterns for the experts of the first layers. llama.cpp uses the first match."""
    if layers >= ALL_LAYERS:
        return [EXPERTS.encode()]
    return [rf"blk\.{layer}{EXPERTS}".encode() for layer in range(layers)]


class Model:
    """A loaded model. Raises Refused if llama.cpp cannot load the file."""

    def __init__(
        self, path: Path, options: EngineOptions, progress: Callable[[float], None]
    ) -> None:
        self.path = path
        self.options = options
        self._shown = -1.0
        self._progress = progress
        self._callback = lib.llama_progress_callback(self._tell_progress)
        self._split: Any = None
        self._overrides: Any = None
        self.native = lib.llama_model_load_from_file(str(path).encode(), self._params())
        if not self.native:
            raise JobRefused("model_load_failed", _why_not(path))
        self.vocabulary = Vocabulary(lib.llama_model_get_vocab(self.native))
        self.template = self._template()
        self.trained_tokens: int = lib.llama_model_n_ctx_train(self.native)
        # A recurrent state cannot be cut back to an earlier token.
        self.can_rewind = not (
            lib.llama_model_is_recurrent(self.native) or lib.llama_model_is_hybrid(self.native)
        )

    def meta(self, key: str) -> str:
        """Returns a value of the file's metadata; empty if it has no such key."""
        buffer = ctypes.create_string_buffer(VALUE_BYTES)
        size = lib.llama_model_meta_val_str(self.native, key.encode(), buffer, VALUE_BYTES)
        return buffer.value.decode(errors="replace") if size >= 0 else ""

    def kv_token_bytes(self, value_bytes: float) -> float:
        """Returns the bytes that a token takes in the cache, with values of this size."""
        heads: int = lib.llama_model_n_head(self.native)
        width: float = lib.llama_model_n_embd(self.native) * lib.llama_model_n_head_kv(self.native)
        layers: int = lib.llama_model_n_layer(self.native)
        return 2 * layers * width / max(1, heads) * value_bytes

    def facts(
        self, context_tokens: int, extra: dict[str, Any], *, sees_images: bool
    ) -> dict[str, Any]:
        special = self.vocabulary.special_tokens()
        return asdict(
            ModelFacts(
                name=self.meta("general.name") or self.path.stem,
                parameters=lib.llama_model_n_params(self.native),
                size_bytes=lib.llama_model_size(self.native),
                context_tokens=context_tokens,
                vocabulary=self.vocabulary.size,
                template=self.template,
                bos=self.vocabulary.bos,
                eos=self.vocabulary.eos,
                special_tokens=tuple(special),
                sees_images=sees_images,
                device="gpu" if self.uses_gpu else "cpu",
                extra={**extra, "special_ids": special},
            )
        )

    @property
    def uses_gpu(self) -> bool:
        return self.options.gpu_layers != 0 and bool(lib.llama_supports_gpu_offload())

    def _template(self) -> str:
        found = lib.llama_model_chat_template(self.native, None)
        return found.decode(errors="replace") if found else ""

    def _params(self) -> Any:
        params = lib.llama_model_default_params()
        params.n_gpu_layers = self.options.gpu_layers
        params.progress_callback = self._callback
        if self.options.gpu_split:
            shares = (ctypes.c_float * lib.llama_max_devices())(*self.options.gpu_split)
            self._split = shares
            params.tensor_split = ctypes.cast(shares, FLOAT_P)
        if self.uses_gpu:
            self._choose_card(params)
            self._keep_experts(params)
        return params

    def _choose_card(self, params: Any) -> None:
        card = self.options.main_gpu
        if card < 0:
            return
        cards = len(devices.read())
        if card >= cards:
            raise JobRefused(
                "model_load_failed",
                Sentence(
                    "There is no graphics card number {0}; the engine finds {1}, from 0 on.",
                    card,
                    cards,
                ),
            )
        params.split_mode, params.main_gpu = lib.LLAMA_SPLIT_MODE_NONE, card

    def _keep_experts(self, params: Any) -> None:
        """Keeps the experts of the first layers of a mixture model in the processor's memory."""
        if self.options.cpu_experts <= 0:
            return
        place = devices.processor_buffers()
        patterns = expert_patterns(self.options.cpu_experts)
        overrides = (Override * (len(patterns) + 1))()
        for override, pattern in zip(overrides, patterns, strict=False):
            override.pattern, override.place = pattern, place
        self._overrides = overrides
        params.tensor_buft_overrides = ctypes.cast(overrides, ctypes.c_void_p)

    def _tell_progress(self, done: float, _user_data: Any) -> bool:
        if done - self._shown >= 0.01 or done >= 1.0:
            self._shown = done
            self._progress(done)
        return True


def _why_not(path: Path) -> str:
    if not path.is_file():
        return Sentence("There is no file {0}.", path.name)
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            return Sentence("{0} is not a GGUF model file.", path.name)
    return Sentence("llama.cpp could not load {0}; the log says why.", path.name)
