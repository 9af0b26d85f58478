"""Turns a worker's codes into errors."""

from typing import Any

from server.errors import (
    AppError,
    BadRequest,
    BadSchema,
    Busy,
    ContextOverflow,
    EngineCrashed,
    ModelLoadFailed,
    NotSupported,
    Stopping,
    TemplateRefused,
)

_PLAIN: dict[str, type[AppError]] = {
    kind.code: kind for kind in (TemplateRefused, NotSupported, ModelLoadFailed, EngineCrashed)
}
_OF_PARAMETER: dict[str, type[BadRequest]] = {kind.code: kind for kind in (BadRequest, BadSchema)}


def refusal(code: str, message: str, facts: dict[str, Any]) -> AppError:
    """Returns the error for what a worker refused, with its numbers if there are any."""
    if code == ContextOverflow.code and {"needed", "available"} <= facts.keys():
        is_certain = bool(facts.get("is_certain", True))
        return ContextOverflow(
            facts["needed"], facts["available"], facts.get("context"), is_certain=is_certain
        )
    if code == Busy.code:
        return Busy(facts.get("waiting", 0))
    if code == Stopping.code:
        return Stopping()
    if code in _OF_PARAMETER:
        return _OF_PARAMETER[code](message, facts.get("param"))
    return _PLAIN.get(code, AppError)(message)
