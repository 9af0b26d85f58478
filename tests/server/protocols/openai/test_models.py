"""The list of models in OpenAI's shape."""

import pytest
from anthropic.types import ModelInfo
from openai.types import Model

from server.errors import ModelNotFound
from server.face.models import ModelCard
from server.protocols.base import Facts
from server.protocols.openai.models import list_models, show_model

CARDS = (ModelCard("small", "/s", 1, loaded=True), ModelCard("org/big", "/b", 2))


def test_every_model_is_listed() -> None:
    body = list_models(None, Facts("", CARDS)).body
    assert body["object"] == "list"
    assert [Model.model_validate(card, strict=True).id for card in body["data"]] == [
        "small",
        "org/big",
    ]


def test_one_model_is_found_by_its_name() -> None:
    assert show_model(None, Facts("", CARDS, path={"id": "org/big"})).body["id"] == "org/big"


ANTHROPIC = {"anthropic-version": "2023-06-01"}


def test_anthropics_clients_get_their_own_shape_page_by_page() -> None:
    body = list_models(None, Facts("", CARDS, headers=ANTHROPIC)).body
    shown = [ModelInfo.model_validate(card) for card in body["data"]]
    assert [card.id for card in shown] == ["small", "org/big"]
    assert (body["first_id"], body["last_id"], body["has_more"]) == ("small", "org/big", False)
    first = list_models(None, Facts("", CARDS, headers=ANTHROPIC, query={"limit": "1"})).body
    assert (first["last_id"], first["has_more"]) == ("small", True)
    rest = {"limit": "1", "after_id": "small"}
    assert list_models(None, Facts("", CARDS, headers=ANTHROPIC, query=rest)).body["data"] == [
        body["data"][1]
    ]
    before = Facts("", CARDS, headers=ANTHROPIC, query={"before_id": "org/big"})
    assert list_models(None, before).body["data"] == [body["data"][0]]
    wrong = list_models(None, Facts("", CARDS, headers=ANTHROPIC, query={"limit": "0"}))
    assert (wrong.status, wrong.body["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("limit", ["000020999999", "1001", "9" * 5000, "\u00b2", "-1", "1e2"])
def test_a_limit_is_checked_as_a_whole(limit: str) -> None:
    wrong = list_models(None, Facts("", CARDS, headers=ANTHROPIC, query={"limit": limit}))
    assert (wrong.status, wrong.body["error"]["type"]) == (400, "invalid_request_error")


def test_anthropics_clients_get_one_model_or_their_own_error() -> None:
    found = show_model(None, Facts("", CARDS, headers=ANTHROPIC, path={"id": "org/big"}))
    assert ModelInfo.model_validate(found.body).display_name == "org/big"
    missing = show_model(None, Facts("", CARDS, headers=ANTHROPIC, path={"id": "none"}))
    assert (missing.status, missing.body["error"]["type"]) == (404, "not_found_error")


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelNotFound):
        show_model(None, Facts("", CARDS, path={"id": "none"}))
