"""Run in a child process: does the compiled engine live, and does it compute the right thing?

A batch of prompt tokens takes other code paths than single tokens, and dies on other processors.
"""

import ctypes
import os
import sys
from pathlib import Path

import llama_cpp

SENTENCE = "The capital of France is Paris. "
BEGINNING = "The capital of France is"
EXPECTED = "Paris"
TOKENS_AT_LEAST = 64
WRONG_ANSWER = 3


def main(model: str) -> int:
    load_parts(Path(llama_cpp.__file__).parent / "lib")
    engine = llama_cpp.Llama(model, n_ctx=512, n_batch=256, n_gpu_layers=0, verbose=False)
    prompt = engine.tokenize((SENTENCE * 12 + BEGINNING).encode())
    assert len(prompt) >= TOKENS_AT_LEAST
    engine.eval(prompt)
    token = engine.sample(temp=0.0)
    engine.eval([token])
    word = engine.detokenize([token], prev_tokens=prompt).decode(errors="replace")
    sys.stdout.write(f"{len(prompt)} tokens read, next word {word!r}\n")
    return 0 if word.strip() == EXPECTED else WRONG_ANSWER


def load_parts(folder: Path) -> None:
    """An engine for every processor has parts of which the right ones must be chosen."""
    if sys.platform == "win32" or not any(folder.glob("libggml-cpu-*")):
        return
    # The very file libllama is linked with: a copy of it would keep a list of its own.
    linked = next(folder.glob("libggml.so.[0-9]"), folder / "libggml.so")
    ctypes.CDLL(str(linked)).ggml_backend_load_all_from_path(os.fsencode(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
