"""POST /v1/embeddings."""

import base64
import math
import struct
from collections.abc import Sequence
from typing import Any

from server.chat import Json, Prompt
from server.engine.base import Embeddings
from server.protocols.base import Ask, Endpoint, Facts, Reply
from server.protocols.fields import Fields, model_name, prompts_of
from server.protocols.frames import failed

MOST_INPUTS = 2048
LARGEST = 65536


def accept(body: Any, facts: Facts) -> Ask:
    """Gives the embeddings of texts or of token numbers."""
    fields = Fields(body)
    texts = _inputs(fields)
    model = model_name(fields, facts)
    as_base64 = fields.word("encoding_format", ("float", "base64")) == "base64"
    size = fields.integer("dimensions", 1, LARGEST)
    shown = model or facts.default_model

    def reply(made: Embeddings) -> Reply:
        data = [
            {"object": "embedding", "index": at, "embedding": _encode(vector, size, as_base64)}
            for at, vector in enumerate(made.vectors)
        ]
        usage = {"prompt_tokens": made.tokens, "total_tokens": made.tokens}
        return Reply({"object": "list", "data": data, "model": shown, "usage": usage})

    return Ask("embed", model, {"texts": texts}, reply)


def _inputs(fields: Fields) -> list[Prompt]:
    """Reads texts, or token numbers of this model, as LangChain sends them."""
    texts = prompts_of(fields, "input")
    if not texts or not all(texts):
        raise fields.wrong("input", "must not be empty")
    if len(texts) > MOST_INPUTS:
        raise fields.wrong("input", f"may have at most {MOST_INPUTS} entries")
    return texts


def _encode(vector: Sequence[float], size: int | None, as_base64: bool) -> Json | str | list[float]:
    cut = list(vector)[:size]
    length = math.sqrt(sum(value * value for value in cut)) or 1.0
    unit = [value / length for value in cut]
    if as_base64:
        return base64.b64encode(struct.pack(f"<{len(unit)}f", *unit)).decode()
    return unit


ENDPOINTS = (Endpoint("POST", "/v1/embeddings", accept, failed=failed),)
