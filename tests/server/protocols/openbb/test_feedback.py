import logging
from pathlib import Path

import pytest

from server.errors import BadRequest
from server.protocols.base import Facts
from server.protocols.openbb import query

FACTS = Facts("http://localhost:1")
VOTE = {
    "vote": "thumbs_up",
    "tags": ["tag-words"],
    "user_prompt": "prompt-words",
    "ai_response": "answer-words",
    "user_comment": "comment-words",
}


def test_a_vote_is_taken_and_nothing_of_it_is_written(
    moat_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = sorted(moat_home.rglob("*"))
    with caplog.at_level(logging.DEBUG):
        reply = query.take_vote(VOTE, FACTS)
    assert (reply.status, reply.body) == (200, {"status": "ok"})
    assert sorted(moat_home.rglob("*")) == before
    assert "words" not in caplog.text
    assert "An answer was voted up." in caplog.text


@pytest.mark.parametrize("body", [{}, {"vote": 3, "tags": 7}, {"vote": "thumbs_down"}])
def test_odd_votes_do_no_harm(body: dict[str, object], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert query.take_vote(body, FACTS).status == 200
    assert "voted down" in caplog.text


def test_a_body_that_is_no_object_is_refused() -> None:
    with pytest.raises(BadRequest):
        query.take_vote([], FACTS)
