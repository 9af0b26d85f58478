"""Documents in the order of their scores, in Jina's and TEI's shapes."""

from typing import Any

import pytest

from server.engine.base import Ranking
from server.errors import BadRequest
from server.protocols.base import Facts, Reply
from server.protocols.openai.embeddings import accept_rerank as accept

FACTS = Facts("", default_model="small")
ASKED = {"query": "cat", "documents": ["dog", {"text": "a cat"}, "cow"]}


def answered(body: dict[str, Any], ranking: Ranking) -> Any:
    ask = accept(body, FACTS)
    assert ask.what == "rerank"
    assert ask.arguments["documents"] == ["dog", "a cat", "cow"]
    reply = ask.then(ranking)
    assert isinstance(reply, Reply)
    return reply.body


def test_the_best_come_first_and_the_method_is_told() -> None:
    body = answered({**ASKED, "top_n": 2, "return_documents": True}, Ranking([0.1, 0.9, 0.5], 7))
    assert [row["index"] for row in body["results"]] == [1, 2]
    assert body["results"][0]["document"] == {"text": "a cat"}
    assert (body["model"], body["usage"]["total_tokens"]) == ("small", 7)
    assert body["method"] == "cosine of embeddings"
    assert answered(ASKED, Ranking([3.0, 2.0, 1.0], 7, "rank"))["method"] == "rank"


def test_texts_are_answered_in_the_shape_of_their_clients() -> None:
    asked = {"query": "cat", "texts": ["dog", "a cat", "cow"]}
    rows = answered(asked, Ranking([0.1, 0.9, 0.5]))
    assert rows[0] == {"index": 1, "score": 0.9}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"query": ""}, "query"),
        ({"documents": []}, "documents"),
        ({"documents": [5]}, "documents[0]"),
        ({"documents": [{"text": ""}]}, "documents[0]"),
        ({"top_n": 0}, "top_n"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept({**ASKED, **change}, FACTS)
    assert refused.value.param == param
