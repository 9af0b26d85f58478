"""Models in Ollama's words."""

import asyncio
from typing import Any

import pytest
from ollama import ListResponse, ProcessResponse, ShowResponse

from server.engine.base import Embeddings, ModelFacts
from server.engine.pool import LoadedModel
from server.errors import BadRequest, ModelNotFound
from server.face.models import ModelCard
from server.models.aliases import Alias
from server.models.gguf.header import Header, LongArray
from server.protocols.base import Facts, Reply
from server.protocols.ollama.catalogue import (
    embed,
    embed_one,
    root,
    running,
    show,
    status,
    tags,
    version,
)

DIGEST = "0123456789ab" * 5 + "cdef"
CARDS = (
    ModelCard(
        "small", "/s", 5, parameters=135_000_000, loaded=True, digest=DIGEST, architecture="qwen3"
    ),
    ModelCard("big", "/b", 9, projector="/mmproj", digest=DIGEST),
)
FACTS = Facts("", CARDS, "small", "1.2")
METADATA = {
    "general.architecture": "qwen3",
    "general.license": "apache-2.0",
    "qwen3.context_length": 40960,
    "tokenizer.chat_template": "{% if enable_thinking %}",
    "tokenizer.ggml.tokens": LongArray("string", 150_000),
}


class Keeper:
    def __init__(self, metadata: dict[str, Any], alias: Alias | None = None) -> None:
        self._header = Header(metadata)
        self._alias = alias

    async def header(self, _card: ModelCard) -> Header:
        return self._header

    def alias(self, _card: ModelCard) -> Alias | None:
        return self._alias


def shown(name: str, keeper: Any, facts: Facts = FACTS) -> Any:
    told: Any = asyncio.run(show({"model": name}, facts).do(keeper))  # type: ignore[arg-type]
    return told.body


def test_models_are_listed() -> None:
    listed = ListResponse.model_validate(tags(None, FACTS).body)
    assert [model.model for model in listed.models] == ["small", "big"]
    assert [model["name"] for model in running(None, FACTS).body["models"]] == ["small"]
    assert version(None, FACTS).body["moat"] == "1.2"
    assert status(None, FACTS).body["cloud"]["disabled"]


def test_the_version_is_one_that_programs_for_ollama_accept() -> None:
    major, minor, patch = map(int, version(None, FACTS).body["version"].split("."))
    assert (major, minor, patch) >= (0, 6, 4)


def test_every_model_has_a_digest_that_can_be_cut_to_twelve() -> None:
    for told in (tags(None, FACTS), running(None, FACTS)):
        for model in told.body["models"]:
            assert model["digest"][:12] == "0123456789ab"
            assert model["details"]["family"]


def test_what_is_loaded_says_how_long_and_where() -> None:
    facts = ModelFacts(context_tokens=4096, device="gpu", extra={"gpu_bytes": 4})
    for leaves_at, year in ((1_800_000_000.0, 2027), (None, 2318)):
        loaded = LoadedModel("small", "ready", 1.0, "", 5, 0, facts, leaves_at)
        told = running(None, Facts("", CARDS, "small", loaded=(loaded,))).body
        (model,) = ProcessResponse.model_validate(told).models
        assert model.expires_at
        assert (model.expires_at.year, model.context_length) == (year, 4096)
        assert (model.size, model.size_vram) == (5, 4)


def test_the_root_says_what_programs_compare_and_what_people_read() -> None:
    assert root(None, FACTS).text == "Ollama is running"
    page = Facts("", headers={"accept": "text/html,*/*"})
    assert "Moat" in str(root(None, page).text)


def test_a_model_is_shown_whole() -> None:
    body = shown("small", Keeper(METADATA))
    told = ShowResponse.model_validate(body)
    assert told.capabilities == ["completion", "tools", "thinking"]
    info = body["model_info"]
    assert info[f"{info['general.architecture']}.context_length"] == 40960
    assert info["tokenizer.ggml.tokens"] is None
    assert "tokenizer.chat_template" not in info
    assert (told.template, told.license) == ("{% if enable_thinking %}", "apache-2.0")
    assert told.modelfile == "FROM small\n"


def test_a_model_with_defaults_of_its_own_shows_them() -> None:
    alias = Alias(
        path="/s", system="Be brief.", parameters={"temperature": 0.5, "stop": ["a", "b"]}
    )
    loaded = LoadedModel("small", "ready", 1.0, "", 5, 0, ModelFacts(context_tokens=4096))
    facts = Facts("", CARDS, "small", loaded=(loaded,))
    body = shown("small", Keeper(METADATA, alias), facts)
    lines = [line.split() for line in body["parameters"].splitlines()]
    assert lines == [["num_ctx", "4096"], ["temperature", "0.5"], ["stop", '"a"'], ["stop", '"b"']]
    assert body["system"] == "Be brief."


def test_what_a_model_can_do_is_read_from_its_file() -> None:
    plain = {"general.architecture": "llama", "tokenizer.chat_template": "x"}
    assert shown("small:latest", Keeper(plain))["capabilities"] == ["completion", "tools"]
    assert shown("big", Keeper(plain))["capabilities"][-1] == "vision"
    embedder = {"general.architecture": "bert"}
    assert shown("big", Keeper(embedder))["capabilities"] == ["embedding"]
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


def test_nothing_to_embed_only_loads_the_model() -> None:
    for body in ({}, {"input": ""}, {"input": []}):
        ask = embed({**body, "keep_alive": 5}, FACTS)
        assert (ask.what, ask.keep_s, ask.then(None).body["embeddings"]) == ("load", 5, [])
    old = embed_one({"prompt": ""}, FACTS)
    assert (old.what, old.then(None).body) == ("load", {"embedding": []})


def test_the_older_form_gives_one_vector() -> None:
    ask = embed_one({"model": "small", "prompt": "a", "keep_alive": "1m"}, FACTS)
    assert (ask.arguments, ask.keep_s) == ({"texts": ["a"]}, 60)
    assert ask.then(Embeddings([[0.5, 1.5]], 2)).body == {"embedding": [0.5, 1.5]}


def test_shorter_vectors_are_units_again() -> None:
    ask = embed({"input": ["a"], "dimensions": 2}, FACTS)
    assert ask.then(Embeddings([[3.0, 4.0, 9.0]], 1)).body["embeddings"] == [[0.6, 0.8]]
