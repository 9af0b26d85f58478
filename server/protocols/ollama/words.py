"""Small shapes that all of Ollama's answers share."""

from datetime import UTC, datetime

from server.chat import Json
from server.errors import AppError, ModelNotFound
from server.protocols.base import Facts, Reply
from server.protocols.fields import Fields


def failed(error: Exception) -> Reply:
    known = isinstance(error, AppError)
    message = str(error) if known else "Something went wrong inside Moat."
    return Reply({"error": message}, error.status if isinstance(error, AppError) else 500)


def line(body: Json, facts: Facts) -> Json:
    return {
        "model": body.get("model") or facts.default_model,
        "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
    }


def loaded() -> Json:
    return {"done": True, "done_reason": "load"}


def said(text: str) -> Json:
    return {"role": "assistant", "content": text}


def model_name(body: Json, facts: Facts) -> str | None:
    name = Fields(body).text("model")
    known = [card.name for card in facts.models]
    plain = name.removesuffix(":latest") if name else None
    if plain and known and plain not in known:
        raise ModelNotFound(plain, tuple(known))
    return plain
