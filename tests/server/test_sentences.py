import copy
import json
import pickle
from typing import Any

import pytest

from server.engine.causes import JobRefused
from server.engine.link import refusal
from server.engine.wire import LENGTH, pack, unpack
from server.errors import AppError, ModelDamaged
from server.face.core import ServerStatus
from server.face.wire import COMMANDS, VALUES
from server.sentences import Sentence, from_wire, in_a_row, listed, to_wire

CUT = Sentence("it ends in the middle of its header (at byte {0})", 24)
NESTED = Sentence("{0} It is being restarted.", ModelDamaged("a.gguf", CUT))


def parts(text: str) -> Any:
    """Returns all that a sentence holds: an equal text may have lost its fields."""
    return to_wire(text)


def test_to_everybody_else_a_sentence_is_its_text() -> None:
    assert NESTED == (
        "a.gguf is damaged: it ends in the middle of its header (at byte 24). "
        "It is being restarted."
    )
    assert json.dumps({"message": NESTED}) == json.dumps({"message": str.__str__(NESTED)})
    assert f"{Sentence('{0:.1f} GB', 2.04)}" == "2.0 GB"


def test_an_error_keeps_its_sentence() -> None:
    error = AppError(NESTED)
    assert parts(str(error)) == parts(NESTED)
    assert parts(Sentence("{0}", error)) == ["{0}", parts(NESTED)]


@pytest.mark.parametrize("text", ["", "plain {0}", CUT, NESTED, listed([CUT, "b", CUT])])
def test_a_text_arrives_with_its_fields(text: str) -> None:
    sent = unpack(pack({"op": "x", "of": to_wire(text)})[LENGTH.size :])["of"]
    assert parts(from_wire(sent)) == parts(text)
    assert parts(from_wire(json.loads(json.dumps(to_wire(text))))) == parts(text)
    assert from_wire(sent) == text


@pytest.mark.parametrize("sent", [None, 1, {}, [], [1], ["{0}"], ["{x}", 1], ["{0}", [None]]])
def test_anything_else_is_refused(sent: Any) -> None:
    with pytest.raises(ValueError, match="text"):
        from_wire(sent)


def test_a_copy_keeps_the_fields() -> None:
    for made in (copy.deepcopy(NESTED), pickle.loads(pickle.dumps(NESTED))):
        assert (made, parts(made)) == (NESTED, parts(NESTED))


def test_what_is_joined_keeps_its_parts() -> None:
    assert in_a_row(["", CUT, ""]) is CUT
    assert parts(in_a_row([CUT, "b"])) == ["{0} {1}", parts(CUT), "b"]
    assert parts(listed(["a", CUT])) == ["{0}, {1}", "a", parts(CUT)]
    assert (parts(in_a_row(["a", "", "b"])), parts(listed([])), listed(["a"])) == ("a b", "", "a")


def test_the_face_and_the_workers_pipe_carry_the_fields() -> None:
    adapter = VALUES["server"]
    status = ServerStatus("failed", reason=NESTED, details="plain")
    arrived = adapter.validate_python(adapter.dump_python(status, mode="json"))
    assert (arrived, parts(arrived.reason)) == (status, parts(NESTED))
    (notice,) = VALUES["notices"].validate_python(
        VALUES["notices"].dump_python((NESTED,), mode="json")
    )
    assert parts(notice) == parts(NESTED)
    recalled = COMMANDS["recall"].result
    assert parts(recalled.validate_python(recalled.dump_python(CUT, mode="json"))) == parts(CUT)
    refused = JobRefused("model_load_failed", NESTED)
    assert parts(str(refusal(refused.code, refused.message, {}))) == parts(NESTED)
