"""GET /v1/models and /v1/models/{id}, in OpenAI's format, or in Anthropic's for its clients."""

from collections.abc import Sequence
from typing import Any

from server.chat import Json
from server.errors import BadRequest
from server.face.models import ModelCard
from server.protocols.base import Endpoint, Facts, Reply
from server.protocols.fields import Fields
from server.protocols.frames import failed

ANTHROPIC_HEADER = "anthropic-version"
"""Anthropic's clients send this header with every request."""
UNKNOWN_TIME = "1970-01-01T00:00:00Z"
"""The value that Anthropic's API gives for an unknown release time."""
MOST_LISTED = 1000


def list_models(_body: Any, facts: Facts) -> Reply:
    """Lists the models. The header `anthropic-version` selects Anthropic's format."""
    if ANTHROPIC_HEADER in facts.headers:
        return _anthropic_list(facts)
    return Reply({"object": "list", "data": [_card(card) for card in facts.models]})


def show_model(_body: Any, facts: Facts) -> Reply:
    """Describes one model."""
    name = facts.path["id"]
    found = next((card for card in facts.models if card.name == name), None)
    if ANTHROPIC_HEADER in facts.headers:
        return Reply(_anthropic_card(found)) if found else _anthropic_error(404, f"model: {name}")
    if found is None:
        raise facts.miss(name)
    return Reply(_card(found))


def _card(card: ModelCard) -> Json:
    about: Json = {
        "size": card.size_bytes,
        "n_params": card.parameters,
        "n_ctx_train": card.trained_context_tokens,
        "loaded": card.loaded,
        "vision": card.has_eyes,
    }
    if card.hosts:
        about["hosts"] = list(card.hosts)
    return {"id": card.name, "object": "model", "created": 0, "owned_by": "moat", "meta": about}


def _anthropic_list(facts: Facts) -> Reply:
    query = Fields(dict(facts.query))
    try:
        count = query.digits("limit", 20, MOST_LISTED)
    except BadRequest:
        return _anthropic_error(400, f"limit: must be between 1 and {MOST_LISTED}")
    rest, before = _page(facts.models, query)
    page = rest[-count:] if before else rest[:count]
    return Reply(
        {
            "data": [_anthropic_card(card) for card in page],
            "has_more": len(rest) > len(page),
            "first_id": page[0].name if page else None,
            "last_id": page[-1].name if page else None,
        }
    )


def _page(cards: Sequence[ModelCard], query: Fields) -> tuple[Sequence[ModelCard], bool]:
    """Returns the models before or after the query's cursor, and whether it is those before."""
    names = [card.name for card in cards]
    before, after = query.text("before_id"), query.text("after_id")
    if before in names:
        return cards[: names.index(before)], True
    if after in names:
        return cards[names.index(after) + 1 :], False
    return cards, False


def _anthropic_card(card: ModelCard) -> Json:
    return {
        "type": "model",
        "id": card.name,
        "display_name": card.name,
        "created_at": UNKNOWN_TIME,
        "lifecycle": "active",
        "max_input_tokens": card.trained_context_tokens or None,
    }


def _anthropic_error(status: int, message: str) -> Reply:
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    return Reply({"type": "error", "error": {"type": kind, "message": message}}, status)


ENDPOINTS = (
    Endpoint("GET", "/v1/models", list_models, failed=failed),
    Endpoint("GET", "/v1/models/{id:.+}", show_model, failed=failed),
)
