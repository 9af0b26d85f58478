"""What an operator's tools ask: lives it, does a model answer."""

import pytest

from server.protocols.base import Facts, Readiness
from server.protocols.health import NOT_READY, health, ready


def test_a_server_whose_model_is_loading_lives_but_is_not_ready() -> None:
    facts = Facts("", readiness="loading")
    assert health({}, facts).status == 200
    reply = ready({}, facts)
    assert (reply.status, reply.body["status"]) == (503, "loading")
    assert reply.body["reason"].endswith(".")


@pytest.mark.parametrize("state", NOT_READY)
def test_whoever_cannot_answer_says_why(state: Readiness) -> None:
    assert ready({}, Facts("", readiness=state)).status == 503


@pytest.mark.parametrize("state", ["ready", "idle"])
def test_a_model_that_the_next_request_loads_is_ready(state: Readiness) -> None:
    reply = ready({}, Facts("", readiness=state))
    assert (reply.status, reply.body) == (200, {"status": state})


def test_an_engine_that_hangs_does_not_live() -> None:
    assert health({}, Facts("", engine_health="not answering")).status == 503
    assert health({}, Facts("", engine_health="busy")).status == 200
