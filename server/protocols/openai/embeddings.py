"""Embeddings, and the ranking of documents by a query.

A ranking model gives its own scores. For any other model, a score is the cosine between the
embeddings of the query and the document. The answer names which of the two in `method`.
"""

import base64
import math
import struct
from collections.abc import Sequence
from typing import Any

from server.chat import Json, Prompt
from server.engine.base import Embeddings, Ranking
from server.protocols.base import Ask, Endpoint, Facts, Reply
from server.protocols.fields import Fields, model_name, prompts_of
from server.protocols.frames import failed

MOST_INPUTS = 2048
LARGEST = 65536
"""The largest value of `dimensions`."""


def accept(body: Any, facts: Facts) -> Ask:
    """Returns the embeddings of texts or of token numbers."""
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
    """Reads texts, or token numbers of this model, which LangChain sends."""
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


MOST_DOCUMENTS = 2048
METHODS = {"rank": "rank", "embeddings": "cosine of embeddings"}
PATHS = ("/v1/rerank", "/v1/reranking", "/v2/rerank")


def accept_rerank(body: Any, facts: Facts) -> Ask:
    """Ranks documents by how well they answer a query."""
    fields = Fields(body)
    query = fields.some_text("query")
    of_tei = fields.value("documents") is None and fields.value("texts") is not None
    name = "texts" if of_tei else "documents"
    documents = _documents(fields, name)
    model = model_name(fields, facts)
    top = fields.integer("top_n", 1, MOST_DOCUMENTS) or len(documents)
    shown = fields.flag("return_text" if of_tei else "return_documents") is True

    def reply(made: Ranking) -> Reply:
        order = sorted(range(len(documents)), key=lambda at: -made.scores[at])[:top]
        score = "score" if of_tei else "relevance_score"
        rows: list[Json] = [{"index": at, score: made.scores[at]} for at in order]
        for row in rows if shown else ():
            text = {"text": documents[row["index"]]}
            row |= text if of_tei else {"document": text}
        if of_tei:
            return Reply(rows)
        return Reply(
            {
                "object": "list",
                "model": model or facts.default_model,
                "method": METHODS[made.method],
                "usage": {"prompt_tokens": made.tokens, "total_tokens": made.tokens},
                "results": rows,
            }
        )

    return Ask("rerank", model, {"query": query, "documents": documents}, reply)


def _documents(fields: Fields, name: str) -> list[str]:
    """Reads an array of strings, or of objects with the field `text`."""
    listed = fields.list(name)
    if not 1 <= len(listed) <= MOST_DOCUMENTS:
        raise fields.wrong(name, f"must have 1 to {MOST_DOCUMENTS} entries")
    texts = []
    for at, item in enumerate(listed):
        where = fields.path(f"{name}[{at}]")
        text = item if isinstance(item, str) else Fields(item, where).text("text")
        if not text:
            raise fields.wrong(f"{name}[{at}]", "must be a text that is not empty")
        texts.append(text)
    return texts


ENDPOINTS = (
    Endpoint("POST", "/v1/embeddings", accept, failed=failed),
    *(Endpoint("POST", path, accept_rerank, failed=failed) for path in PATHS),
)
