"""Models in Ollama's words."""

import pytest
from ollama import ListResponse, ShowResponse

from server.engine.base import Embeddings
from server.errors import BadRequest, ModelNotFound
from server.face import ModelCard
from server.protocols.base import Facts, Reply
from server.protocols.ollama.catalogue import embed, running, show, tags, version

CARDS = (
    ModelCard("small", "/s", 5, parameters=135_000_000, loaded=True),
    ModelCard("big", "/b", 9, projector="/mmproj"),
)
FACTS = Facts("", CARDS, "small", "1.2")


def test_models_are_listed() -> None:
    listed = ListResponse.model_validate(tags(None, FACTS).body)
    assert [model.model for model in listed.models] == ["small", "big"]
    assert [model["name"] for model in running(None, FACTS).body["models"]] == ["small"]
    assert version(None, FACTS).body == {"version": "1.2"}


def test_a_model_is_shown() -> None:
    shown = ShowResponse.model_validate(show({"model": "small:latest"}, FACTS).body)
    assert shown.capabilities == ["completion", "tools"]
    assert show({"model": "big"}, FACTS).body["capabilities"][-1] == "vision"
    with pytest.raises(ModelNotFound):
        show({"model": "none"}, FACTS)
    with pytest.raises(ModelNotFound):
        show({"model": "none"}, Facts(""))


def test_embeddings_are_asked_for() -> None:
    ask = embed({"model": "small", "input": "a"}, FACTS)
    assert ask.arguments == {"texts": ["a"]}
    reply = ask.then(Embeddings([[1.0]], 2))
    assert isinstance(reply, Reply)
    assert (reply.body["embeddings"], reply.body["prompt_eval_count"]) == ([[1.0]], 2)
    with pytest.raises(BadRequest):
        embed({"input": 5}, FACTS)
