"""Embeddings: unit vectors, as numbers or base64."""

import base64
import struct
from typing import Any

import pytest
from openai.types import CreateEmbeddingResponse

from server.engine.base import Embeddings
from server.errors import BadRequest
from server.protocols.base import Facts, Reply
from server.protocols.openai.embeddings import accept

FACTS = Facts("", default_model="small")


def answered(body: dict[str, Any], vectors: list[list[float]], tokens: int) -> Any:
    ask = accept(body, FACTS)
    assert ask.what == "embed"
    reply = ask.then(Embeddings(vectors, tokens))
    assert isinstance(reply, Reply)
    return reply.body


def test_vectors_have_length_one_and_tokens_are_counted() -> None:
    body = answered({"input": ["a", "b"]}, [[3.0, 4.0], [0.0, 2.0]], 3)
    made = CreateEmbeddingResponse.model_validate(body, strict=True)
    assert [one.embedding for one in made.data] == [[0.6, 0.8], [0.0, 1.0]]
    assert [one.index for one in made.data] == [0, 1]
    assert made.usage.prompt_tokens == made.usage.total_tokens == 3


def test_base64_and_fewer_dimensions() -> None:
    asked = {"input": "a", "encoding_format": "base64", "dimensions": 2}
    body = answered(asked, [[3.0, 4.0, 9.0]], 1)
    data = base64.b64decode(body["data"][0]["embedding"])
    assert struct.unpack("<2f", data) == pytest.approx((0.6, 0.8))


@pytest.mark.parametrize(
    "given", [None, "", [], [""], 5, [1.5], [-1], [True], [[]], [[1, None]], {"a": 1}]
)
def test_input_must_be_text(given: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        accept({"input": given}, FACTS)
    assert refused.value.param == "input"


def test_input_may_be_tokens() -> None:
    assert accept({"input": [1, 2]}, FACTS).arguments["texts"] == [(1, 2)]
    assert accept({"input": [[1, 2], [3]]}, FACTS).arguments["texts"] == [(1, 2), (3,)]
