"""GET /v1/models and /v1/models/{id}."""

from typing import Any

from server.chat import Json
from server.errors import ModelNotFound
from server.face import ModelCard
from server.protocols.base import Endpoint, Facts, Reply
from server.protocols.openai.errors import failed


def listed(_body: Any, facts: Facts) -> Reply:
    return Reply({"object": "list", "data": [_card(card) for card in facts.models]})


def one(_body: Any, facts: Facts) -> Reply:
    name = facts.path["id"]
    found = next((card for card in facts.models if card.name == name), None)
    if found is None:
        raise ModelNotFound(name, tuple(card.name for card in facts.models))
    return Reply(_card(found))


def _card(card: ModelCard) -> Json:
    about = {
        "size": card.size_bytes,
        "n_params": card.parameters,
        "n_ctx_train": card.trained_context_tokens,
        "loaded": card.loaded,
        "vision": bool(card.projector),
    }
    return {"id": card.name, "object": "model", "created": 0, "owned_by": "moat", "meta": about}


ENDPOINTS = (
    Endpoint("GET", "/v1/models", listed, failed=failed),
    Endpoint("GET", "/v1/models/{id:.+}", one, failed=failed),
)
