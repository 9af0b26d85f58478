import errno
import json
import os
from pathlib import Path

import pytest

from server.errors import BadRequest, DiskFull
from server.protocols.base import Facts
from server.protocols.openbb import feedback

FACTS = Facts("http://localhost:1")


def kept(home: Path) -> list[dict[str, object]]:
    lines = (home / "data" / "feedback.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_vote_is_kept_on_this_machine(moat_home: Path) -> None:
    body = {"vote": "thumbs_up", "tags": ["Good"], "user_prompt": "q", "user_comment": None}
    assert feedback.accept(body, FACTS).status == 200
    (record,) = kept(moat_home)
    assert (record["vote"], record["tags"], record["user_prompt"]) == ("up", ["Good"], "q")


def test_texts_have_a_limit_and_odd_fields_do_no_harm(moat_home: Path) -> None:
    feedback.accept({"vote": 3, "tags": 7, "ai_response": "x" * 10_000}, FACTS)
    (record,) = kept(moat_home)
    assert record["vote"] == "down"
    assert len(str(record["ai_response"])) == feedback.TEXT_CHARACTERS


def test_the_file_does_not_grow_for_ever(moat_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "KEPT_BYTES", 10)
    feedback.accept({"vote": "thumbs_up"}, FACTS)
    feedback.accept({"vote": "thumbs_down"}, FACTS)
    assert [record["vote"] for record in kept(moat_home)] == ["down"]


def test_a_body_that_is_no_object_is_refused() -> None:
    with pytest.raises(BadRequest):
        feedback.accept([], FACTS)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_it_is_nobody_elses(moat_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "KEPT_BYTES", 10)
    for _ in range(2):
        feedback.accept({"vote": "thumbs_up"}, FACTS)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (moat_home / "data").iterdir()}
    assert modes == {"feedback.jsonl": 0o600, "feedback.old.jsonl": 0o600}


def test_a_full_disk_is_said(moat_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: object, _flags: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(feedback, "open_private", full)
    with pytest.raises(DiskFull, match="The disk takes no more"):
        feedback.accept({"vote": "thumbs_up"}, FACTS)
