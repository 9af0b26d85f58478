"""POST /v1/rerank: documents in the order of how well they fit a question, as in Jina's API.

A ranking model gives its own scores. For any other model, a score is the cosine between the
embeddings of question and document, and the answer names it in `method`.
"""

from typing import Any

from server.chat import Json
from server.engine.base import Ranking
from server.protocols.base import Ask, Endpoint, Facts, Reply
from server.protocols.fields import Fields, model_name
from server.protocols.frames import failed

MOST_DOCUMENTS = 2048
METHODS = {"rank": "rank", "embeddings": "cosine of embeddings"}
PATHS = ("/v1/rerank", "/v1/reranking", "/v2/rerank")


def accept(body: Any, facts: Facts) -> Ask:
    """Ranks documents by how well they answer a question."""
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
        if of_tei:
            return Reply([_tei_row(at, made, documents if shown else None) for at in order])
        return Reply(
            {
                "object": "list",
                "model": model or facts.default_model,
                "method": METHODS[made.method],
                "usage": {"prompt_tokens": made.tokens, "total_tokens": made.tokens},
                "results": [_row(at, made, documents if shown else None) for at in order],
            }
        )

    return Ask("rerank", model, {"query": query, "documents": documents}, reply)


def _documents(fields: Fields, name: str) -> list[str]:
    """Reads texts, or objects with a text."""
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


def _row(at: int, made: Ranking, documents: list[str] | None) -> Json:
    shown = {"document": {"text": documents[at]}} if documents else {}
    return {"index": at, "relevance_score": made.scores[at], **shown}


def _tei_row(at: int, made: Ranking, documents: list[str] | None) -> Json:
    shown = {"text": documents[at]} if documents else {}
    return {"index": at, "score": made.scores[at], **shown}


ENDPOINTS = tuple(Endpoint("POST", path, accept, failed=failed) for path in PATHS)
