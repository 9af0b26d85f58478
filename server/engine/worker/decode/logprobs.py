"""Log-probabilities of tokens, from the model's own logits before any sampler touched them."""

from typing import Any

import numpy as np

from server.engine.worker.decode.candidates import Logits
from server.engine.worker.prompt.vocabulary import Vocabulary

Entry = list[Any]


def logprob_entry(logits: Logits, token: int, top: int, vocabulary: Vocabulary) -> Entry:
    """[text, bytes, logprob, [[text, bytes, logprob], ...]] of a token and the likeliest ones."""
    exact = logits.astype(np.float64)
    exact -= exact.max()
    exact -= np.log(np.exp(exact).sum())
    likeliest = _best(exact, top)
    alternatives = [_named(vocabulary, int(t), float(exact[t])) for t in likeliest]
    return [*_named(vocabulary, token, float(exact[token])), alternatives]


def _best(values: Any, count: int) -> Any:
    if count <= 0:
        return ()
    best = np.argpartition(values, -count)[-count:]
    return best[np.argsort(-values[best], kind="stable")]


def _named(vocabulary: Vocabulary, token: int, logprob: float) -> Entry:
    piece = vocabulary.marked_piece(token)
    return [piece.decode(errors="replace"), piece, logprob]
