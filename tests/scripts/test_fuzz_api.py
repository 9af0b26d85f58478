"""Which answers the fuzzer takes for an error of Moat's own."""

import json

import pytest

from scripts.fuzz_api import is_ours


@pytest.mark.parametrize(
    "told",
    [
        {"error": "service_not_configured", "message": "Transcription is not configured"},
        {"error": {"message": "No model is installed.", "code": "no_model"}},
        {"error": "Moat is shutting down."},
        {"detail": "Moat is shutting down."},
    ],
)
def test_a_missing_service_is_no_error_where_the_answer_says_so(told: dict[str, object]) -> None:
    assert not is_ours("/copilotkit/transcribe", 503, json.dumps(told).encode())


@pytest.mark.parametrize("answer", [b"", b"Service Unavailable", b"{}", b'{"error": {}}', b"[]"])
def test_a_missing_service_without_a_reason_is_an_error(answer: bytes) -> None:
    assert is_ours("/copilotkit/transcribe", 503, answer)


def test_only_a_pull_may_say_that_another_server_failed() -> None:
    said = b'{"error": "The hub does not answer."}'
    assert not is_ours("/api/pull", 502, said)
    assert is_ours("/api/chat", 502, said)
    assert is_ours("/api/pull", 500, said)


def test_what_is_refused_or_was_left_is_no_error() -> None:
    assert not any(is_ours("/api/chat", status, b"") for status in (0, 200, 400, 404, 429))
