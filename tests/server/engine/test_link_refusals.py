"""A worker's code becomes the error it stands for."""

import pytest

from server.engine.link import refusal
from server.errors import (
    AppError,
    BadRequest,
    BadSchema,
    Busy,
    ContextOverflow,
    EngineCrashed,
    NotSupported,
    Stopping,
    TemplateRefused,
)


@pytest.mark.parametrize(
    "kind", [BadRequest, BadSchema, TemplateRefused, NotSupported, EngineCrashed]
)
def test_the_sentence_is_the_workers(kind: type[AppError]) -> None:
    error = refusal(kind.code, "Because.", {})
    assert (type(error), str(error)) == (kind, "Because.")


def test_facts_travel_with_the_error() -> None:
    overflow = refusal("context_length_exceeded", "", {"needed": 9, "available": 5})
    assert isinstance(overflow, ContextOverflow)
    assert (overflow.needed, overflow.available) == (9, 5)
    busy = refusal("server_busy", "", {"waiting": 64})
    assert isinstance(busy, Busy)
    assert busy.waiting == 64
    assert refusal("invalid_request", "No.", {"param": "stop"}).param == "stop"
    assert isinstance(refusal("server_stopping", "", {}), Stopping)


def test_an_unknown_code_is_still_an_error_for_people() -> None:
    assert str(refusal("of_another_age", "Something new.", {})) == "Something new."
