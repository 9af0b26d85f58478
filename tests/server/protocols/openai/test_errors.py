"""Every error has OpenAI's four fields and the right status."""

from typing import Any

import pytest

from server.errors import (
    AppError,
    BadRequest,
    BadSchema,
    Busy,
    ContextOverflow,
    ModelNotFound,
    NoModel,
    NotSupported,
)
from server.protocols.frames import failed


@pytest.mark.parametrize(
    ("error", "status", "kind", "param", "code"),
    [
        (BadRequest("No.", "seed"), 400, "invalid_request_error", "seed", None),
        (BadSchema("No."), 400, "invalid_request_error", "response_format", "invalid_schema"),
        (BadSchema("No.", "tools"), 400, "invalid_request_error", "tools", "invalid_schema"),
        (ContextOverflow(9, 4), 400, "invalid_request_error", "messages",
         "context_length_exceeded"),
        (ModelNotFound("x", ()), 404, "invalid_request_error", "model", "model_not_found"),
        (Busy(3), 429, "rate_limit_error", None, "server_busy"),
        (NoModel(), 503, "server_error", None, "no_model"),
        (AppError("No."), 500, "server_error", None, None),
        (RuntimeError("secret"), 500, "server_error", None, None),
    ],
)  # fmt: skip
def test_an_error_in_openai_words(
    error: Exception, status: int, kind: str, param: Any, code: Any
) -> None:
    reply = failed(error)
    told = reply.body["error"]
    assert reply.status == status
    assert (told["type"], told["param"], told["code"]) == (kind, param, code)
    assert told["message"]
    assert "secret" not in told["message"]


def test_an_overflow_has_the_words_that_clients_look_for() -> None:
    told = failed(ContextOverflow(9000, 8191, 8192)).body["error"]
    assert "This model's maximum context length is 8192 tokens" in told["message"]
    assert "9000" in told["message"]


def test_what_is_not_supported_has_no_status_that_clients_repeat() -> None:
    assert failed(NotSupported("No.")).status == 400
