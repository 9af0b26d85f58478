"""Asks the engine a question with a known answer, to see whether it computes correctly here.

A batch of tokens and a single token take different code paths, which fail on different processors.
"""

import numpy as np

from server.engine.worker.load.native import INT_P, lib, pointer
from server.engine.worker.prompt.vocabulary import Vocabulary

TEXT = "The capital of France is Paris. " * 12 + "The capital of France is"
EXPECTED = "Paris"
CONTEXT_TOKENS = 512
SILENT = lib.llama_log_callback(lambda *_: None)
WRONG_ANSWER = 3
"""The exit code of a process that got another answer."""


def exit_code(model: str, gpu_layers: int = 0) -> int:
    return 0 if next_word(model, gpu_layers) == EXPECTED else WRONG_ANSWER


def next_word(model: str, gpu_layers: int = 0) -> str:
    """Returns the word that the model predicts after TEXT."""
    lib.llama_log_set(SILENT, None)
    params = lib.llama_model_default_params()
    params.n_gpu_layers = gpu_layers
    loaded = lib.llama_model_load_from_file(model.encode(), params)
    if not loaded:
        raise RuntimeError(f"{model} could not be loaded")
    wanted = lib.llama_context_default_params()
    wanted.n_ctx = wanted.n_batch = wanted.n_ubatch = CONTEXT_TOKENS
    wanted.n_threads = wanted.n_threads_batch = 1
    context = lib.llama_init_from_model(loaded, wanted)
    if not context:
        raise MemoryError("there is no room for a context")
    vocabulary = Vocabulary(lib.llama_model_get_vocab(loaded))
    prompt = vocabulary.tokenize_prompt(TEXT)
    for part in (prompt[:-1], prompt[-1:]):
        lib.llama_decode(context, lib.llama_batch_get_one(pointer(part, INT_P), len(part)))
    logits = np.ctypeslib.as_array(lib.llama_get_logits_ith(context, -1), (vocabulary.size,))
    return vocabulary.piece(int(logits.argmax())).decode(errors="replace").strip()
