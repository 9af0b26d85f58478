"""Results of llama.cpp's own helpers for a prompt or a model, computed in a separate process.

python -m tests.kit.by_llama_cpp MODEL COPY writes a quick copy of a model.
"""

import ctypes
import io
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from server.engine.worker.load.native import BYTE_P, lib, vision


def next_chances(
    path: Path, eyes: Path, prompt: str, images: list[bytes]
) -> tuple[list[float], int]:
    """Returns the log-probabilities of the eight likeliest next tokens, and the tokens read."""
    alone = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=alone) as process:
        return process.submit(_compute, path, eyes, prompt, images).result()


def write_quick_copy(model: Path, copy: Path) -> None:
    """Writes a model's weights as Q8_0, which is nearly exact: the copy says the same words.

    It reads prompts twice as fast as the starter's Q4_1, for which llama.cpp has no fast kernels.
    """
    copy.parent.mkdir(parents=True, exist_ok=True)
    params = lib.llama_model_quantize_default_params()
    params.ftype = lib.LLAMA_FTYPE_MOSTLY_Q8_0
    params.allow_requantize = True
    with tempfile.TemporaryDirectory(dir=copy.parent) as scratch:
        draft = Path(scratch, copy.name)
        paths = (str(model).encode(), str(draft).encode())
        assert lib.llama_model_quantize(*paths, ctypes.byref(params)) == 0
        draft.replace(copy)  # Another process may have been faster: its file is the same.


def _compute(path: Path, eyes: Path, prompt: str, images: list[bytes]) -> tuple[list[float], int]:
    lib.llama_backend_init()
    model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
    params = lib.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = 1024
    params.n_threads = params.n_threads_batch = 1
    params.flash_attn_type = 0
    context = lib.llama_init_from_model(model, params)
    sight = vision.mtmd_init_from_file(
        str(eyes).encode(), model, vision.mtmd_context_params_default()
    )
    chunks = vision.mtmd_input_chunks_init()
    maps = [_bitmap(image) for image in images]
    raw = prompt.encode()
    text = vision.mtmd_input_text(raw, len(raw), True, True)
    array = (ctypes.c_void_p * len(maps))(*maps)
    assert vision.mtmd_tokenize(sight, chunks, ctypes.byref(text), array, len(maps)) == 0
    past = ctypes.c_int32()
    where = (context, chunks, 0, 0, 512, True, ctypes.byref(past))
    assert vision.mtmd_helper_eval_chunks(sight, *where) == 0
    size = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
    logits = np.ctypeslib.as_array(lib.llama_get_logits_ith(context, -1), (size,)).astype(float)
    chances = logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
    tokens = vision.mtmd_helper_get_n_tokens(chunks)
    vision.mtmd_input_chunks_free(chunks)
    for one in maps:
        vision.mtmd_bitmap_free(one)
    vision.mtmd_free(sight)
    lib.llama_free(context)
    lib.llama_model_free(model)
    return sorted(chances, reverse=True)[:8], tokens


def _bitmap(image: bytes) -> Any:
    with Image.open(io.BytesIO(image)) as opened:
        pixels = opened.convert("RGB").tobytes()
        data = ctypes.cast(ctypes.c_char_p(pixels), BYTE_P)
        return vision.mtmd_bitmap_init(opened.width, opened.height, data)


if __name__ == "__main__":
    write_quick_copy(*map(Path, sys.argv[1:]))
