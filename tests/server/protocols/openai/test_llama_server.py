"""What llama-server's clients ask besides: tokens, templates, properties."""

from typing import Any

import pytest

from server.chat import Message
from server.errors import BadRequest
from server.face.models import ModelCard
from server.protocols.base import Ask, Facts, Reply
from server.protocols.openai.llama_server import (
    apply_template,
    detokenize,
    properties,
    tokenize,
)

FACTS = Facts("", (ModelCard("small", "/models/s.gguf", 1),), "small", "1")


def said(ask: Ask, found: Any) -> Reply:
    reply = ask.then(found)
    assert isinstance(reply, Reply)
    return reply


def test_text_and_tokens() -> None:
    ask = tokenize({"content": "Hi", "parse_special": False}, FACTS)
    assert (ask.what, ask.arguments) == ("tokenize", {"text": "Hi", "special": False})
    assert said(ask, [1]).body == {"tokens": [1]}
    back = detokenize({"tokens": [1]}, FACTS)
    assert (back.what, back.arguments) == ("detokenize", {"tokens": [1]})
    assert said(back, "Hi").body == {"content": "Hi"}


@pytest.mark.parametrize("tokens", ["x", [True], [-1], [1.5], [2**40], {"a": 1}])
def test_tokens_must_be_numbers(tokens: Any) -> None:
    with pytest.raises(BadRequest):
        detokenize({"tokens": tokens}, FACTS)


def test_a_template_is_applied() -> None:
    ask = apply_template({"messages": [{"role": "user", "content": "Hi"}]}, FACTS)
    assert ask.arguments["request"].messages == (Message("user", "Hi"),)
    assert said(ask, "<user>Hi").body == {"prompt": "<user>Hi"}


def test_properties_name_the_model() -> None:
    body = said(properties(None, FACTS), {"running": 1}).body
    assert (body["model_alias"], body["model_path"]) == ("small", "/models/s.gguf")
    assert "total_slots" not in body
    assert body["is_sleeping"]


def test_properties_have_the_names_clients_of_llama_server_know() -> None:
    stats = {"running": 1, "slots": 4, "context_tokens": 2048, "chat_template": "{{ x }}"}
    body = said(properties(None, FACTS), stats).body
    assert (body["total_slots"], body["chat_template"]) == (4, "{{ x }}")
    assert body["default_generation_settings"]["n_ctx"] == 2048
    assert body["stats"] == {"running": 1}
