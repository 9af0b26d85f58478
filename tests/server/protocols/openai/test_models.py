"""The list of models in OpenAI's shape."""

import pytest
from openai.types import Model

from server.errors import ModelNotFound
from server.face import ModelCard
from server.protocols.base import Facts
from server.protocols.openai.models import listed, one

CARDS = (ModelCard("small", "/s", 1, loaded=True), ModelCard("org/big", "/b", 2))


def test_every_model_is_listed() -> None:
    body = listed(None, Facts("", CARDS)).body
    assert body["object"] == "list"
    assert [Model.model_validate(card, strict=True).id for card in body["data"]] == [
        "small",
        "org/big",
    ]


def test_one_model_is_found_by_its_name() -> None:
    assert one(None, Facts("", CARDS, path={"id": "org/big"})).body["id"] == "org/big"


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelNotFound):
        one(None, Facts("", CARDS, path={"id": "none"}))
