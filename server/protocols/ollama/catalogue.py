"""Which models there are, in Ollama's words, and their embeddings."""

from typing import Any

from server.chat import Json
from server.engine.base import Embeddings
from server.errors import ModelNotFound
from server.face import ModelCard
from server.protocols.base import Ask, Facts, Reply
from server.protocols.fields import Fields
from server.protocols.ollama.words import model_name


def tags(_body: Any, facts: Facts) -> Reply:
    return Reply({"models": [_card(card) for card in facts.models]})


def running(_body: Any, facts: Facts) -> Reply:
    return Reply({"models": [_card(card) for card in facts.models if card.loaded]})


def show(body: Any, facts: Facts) -> Reply:
    fields = Fields(body)
    name = model_name({"model": fields.text("model") or fields.some_text("name")}, facts)
    card = next((card for card in facts.models if card.name == name), None)
    if card is None:
        raise ModelNotFound(str(name), tuple(one.name for one in facts.models))
    about = {
        "general.parameter_count": card.parameters,
        "general.architecture": "llama",
        "llama.context_length": card.trained_context_tokens,
    }
    abilities = ["completion", "tools", *(["vision"] if card.projector else [])]
    return Reply({**_card(card), "model_info": about, "capabilities": abilities})


def version(_body: Any, facts: Facts) -> Reply:
    return Reply({"version": facts.version})


def embed(body: Any, facts: Facts) -> Ask:
    fields = Fields(body)
    given = fields.value("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(one, str) for one in texts):
        raise fields.wrong("input", "must be a string or an array of strings")
    shown = {"model": fields.text("model") or facts.default_model}
    model = model_name(body, facts)

    def reply(made: Embeddings) -> Reply:
        return Reply({**shown, "embeddings": made.vectors, "prompt_eval_count": made.tokens})

    return Ask("embed", model, {"texts": texts}, reply)


def _card(card: ModelCard) -> Json:
    details = {
        "format": "gguf",
        "family": "llama",
        "families": ["llama"],
        "parameter_size": f"{card.parameters / 1e9:.1f}B" if card.parameters else "",
        "quantization_level": card.quantisation,
    }
    return {
        "name": card.name,
        "model": card.name,
        "modified_at": "1970-01-01T00:00:00Z",
        "size": card.size_bytes,
        "digest": "",
        "details": details,
    }
