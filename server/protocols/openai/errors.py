"""OpenAI's error object for everything that can go wrong."""

from typing import Any

from server.errors import AppError
from server.protocols.base import Reply

TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
PARAMS = {"context_length_exceeded": "messages", "invalid_schema": "response_format"}
UNCODED = ("invalid_request", "internal_error")


def failed(error: Exception) -> Reply:
    status = error.status if isinstance(error, AppError) else 500
    return Reply({"error": error_object(error)}, status)


def error_object(error: Exception) -> dict[str, Any]:
    if not isinstance(error, AppError):
        error = AppError("Something went wrong inside Moat.")
    code = None if error.code in UNCODED else error.code
    return {
        "message": str(error),
        "type": TYPES.get(error.status, _type(error.status)),
        "param": error.param or PARAMS.get(error.code),
        "code": code,
    }


def _type(status: int) -> str:
    return "invalid_request_error" if status < 500 else "server_error"
