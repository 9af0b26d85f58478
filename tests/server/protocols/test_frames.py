"""What is sent is always JSON that a client can read."""

import json

import pytest

from server.protocols.frames import dump, sse


@pytest.mark.parametrize("odd", [float("inf"), float("-inf"), float("nan")])
def test_what_json_has_no_word_for_is_null(odd: float) -> None:
    assert json.loads(dump({"metadata": {"x": odd}})) == {"metadata": {"x": None}}
    assert b"null" in sse([odd])


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert sse({"text": "\ud83d"}) == b'data: {"text": "?"}\n\n'
