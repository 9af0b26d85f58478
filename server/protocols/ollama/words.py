"""What the modules of Ollama's API share."""

import math
import re
from datetime import UTC, datetime

from server.chat import Json
from server.engine.styles.base import THOUGHTS
from server.errors import AppError, BadRequest, ModelNotFound
from server.face.models import ModelCard
from server.models.gguf.header import Header
from server.protocols.base import Facts, Reply
from server.protocols.fields import Fields
from server.protocols.frames import dump

UNITS_S = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "": 1.0,
}
STRETCH = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|)")
THINKING_MARKS = ("enable_thinking", "reasoning_effort", "<|channel|>", "<|channel>thought")
"""Texts in the chat template of a model that can think."""


def failed(error: Exception) -> Reply:
    known = isinstance(error, AppError)
    message = error_text(error) if known else "Something went wrong inside Moat."
    return Reply({"error": message}, error.status if isinstance(error, AppError) else 500)


def error_text(error: Exception) -> str:
    """Returns the error's message. Ollama's programs look for "not found" in it."""
    return (
        f"model '{error.name}' not found. {error}"
        if isinstance(error, ModelNotFound)
        else str(error)
    )


def line(body: Json, facts: Facts) -> Json:
    return {"model": body.get("model") or facts.default_model, "created_at": moment()}


def frame(shown: Json) -> bytes:
    return f"{dump(shown)}\n".encode("utf-8", "replace")


def moment(at: float | None = None) -> str:
    moment_at = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
    return moment_at.isoformat().replace("+00:00", "Z")


def assistant_message(text: str) -> Json:
    return {"role": "assistant", "content": text}


def card_named(name: str, facts: Facts) -> ModelCard:
    """Finds a model by name. Like Ollama, ignores case and a `:latest` that is missing or extra."""
    plain = name.removesuffix(":latest")
    wanted = (name, plain, f"{plain}:latest")
    by_name = {card.name: card for card in facts.models}
    by_small = {card.name.lower(): card for card in reversed(facts.models)}
    for name_tried in wanted:
        if found := by_name.get(name_tried) or by_small.get(name_tried.lower()):
            return found
    known = {name.lower(): name for name in facts.forbidden}
    raise facts.miss(
        next((known[tried.lower()] for tried in wanted if tried.lower() in known), plain)
    )


def model_name(body: Json, facts: Facts) -> str | None:
    """Returns the requested model; None for the default. Raises an error if it is not available."""
    name = Fields(body).text("model")
    if not name:
        return None
    return card_named(name, facts).name if facts.models else name.removesuffix(":latest")


def card_of(fields: Fields, facts: Facts, *names: str) -> ModelCard:
    """Returns the model that the first of these fields names; by default `model`, then `name`."""
    given = [fields.text(name) for name in names or ("model", "name")]
    name = next(filter(None, given), None)
    if not name:
        raise fields.wrong((names or ("model",))[0], "must be a string that is not empty")
    return card_named(name, facts)


def can_think(header: Header) -> bool:
    marks = (mark for pair in THOUGHTS for mark in pair)
    return any(mark in header.template for mark in (*marks, *THINKING_MARKS))


def keep_alive(fields: Fields) -> float | None:
    """Returns how long the model stays loaded, in seconds: 0 unloads it at once, infinity never.

    Accepts a number of seconds or a text such as 5m and 1h30m. A negative value means infinity.
    """
    given = fields.value("keep_alive")
    if given is None:
        return None
    if isinstance(given, int | float) and not isinstance(given, bool):
        return math.inf if given < 0 else float(given)
    if not isinstance(given, str):
        raise fields.wrong("keep_alive", "must be seconds, or a text like 5m")
    return _seconds(given.strip(), fields)


def _seconds(text: str, fields: Fields) -> float:
    bare = text.removeprefix("-").removeprefix("+")
    parts = STRETCH.findall(bare)
    if not parts or "".join(number + unit for number, unit in parts) != bare:
        raise fields.wrong("keep_alive", "must be seconds, or a text like 5m")
    total = sum(float(number) * UNITS_S[unit] for number, unit in parts)
    return math.inf if text.startswith("-") else total


def refuse(fields: Fields, reasons: dict[str, str]) -> None:
    """Raises BadRequest if one of these fields is given: they would change the answer."""
    for name, reason in reasons.items():
        if fields.value(name):
            raise BadRequest(f"'{fields.path(name)}' is not supported: {reason}", fields.path(name))
