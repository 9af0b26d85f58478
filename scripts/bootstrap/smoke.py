"""Run in a child process: does the compiled engine live, and does it compute the right thing?

A batch of prompt tokens takes other code paths than single tokens, and dies on other processors.
"""

import sys

import llama_cpp

SENTENCE = "The capital of France is Paris. "
BEGINNING = "The capital of France is"
EXPECTED = "Paris"
TOKENS_AT_LEAST = 64
WRONG_ANSWER = 3


def main(model: str) -> int:
    engine = llama_cpp.Llama(model, n_ctx=512, n_batch=256, n_gpu_layers=0, verbose=False)
    prompt = engine.tokenize((SENTENCE * 12 + BEGINNING).encode())
    assert len(prompt) >= TOKENS_AT_LEAST
    engine.eval(prompt)
    token = engine.sample(temp=0.0)
    engine.eval([token])
    word = engine.detokenize([token], prev_tokens=prompt).decode(errors="replace")
    sys.stdout.write(f"{len(prompt)} tokens read, next word {word!r}\n")
    return 0 if word.strip() == EXPECTED else WRONG_ANSWER


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
