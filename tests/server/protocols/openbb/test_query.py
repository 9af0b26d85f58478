from typing import Any

import pytest

from server.errors import BadRequest, Busy, ContextOverflow, ModelLoadFailed, NoModel
from server.protocols.openbb.query import accept, failed
from tests.contract.openbb.player import FACTS, ask, parse, text_of
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.engines import ScriptedEngine


def request(text: str = "Say hello.", **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "human", "content": text}], **more}


def test_the_model_of_the_picker_is_used() -> None:
    assert accept(request(model="talking"), FACTS).model == "talking"
    assert accept(request(), FACTS).model is None


async def test_an_unknown_model_is_said_and_the_default_answers() -> None:
    assert accept(request(model="gpt-9"), FACTS).model is None
    told = await ask(TalkingEngine(), request(model="gpt-9"))
    assert told[0][1]["message"] == "The model 'gpt-9' is not installed here."
    assert text_of(told)


@pytest.mark.parametrize("error", [NoModel(), Busy(3), ModelLoadFailed("Out of memory.")])
def test_trouble_is_told_in_the_chat(error: Any) -> None:
    reply = failed(error)
    assert (reply.status, reply.content_type) == (200, "text/event-stream")
    assert reply.text is not None
    assert parse(reply.text.encode()) == ("copilotMessageChunk", {"delta": str(error)})


def test_only_what_cannot_be_read_has_a_status() -> None:
    assert failed(BadRequest("No.")).status == 400
    assert failed(ContextOverflow(2, 1)).status == 200
    assert failed(ValueError("secret")).body == {"detail": "Something went wrong inside Moat."}


async def test_a_failing_model_ends_the_stream_with_a_sentence() -> None:
    engine = ScriptedEngine([ModelLoadFailed("The model is broken.")])
    told = await ask(engine, request())
    assert text_of(told) == "The model is broken."


async def test_the_old_path_speaks_the_old_protocol() -> None:
    told = await ask(TalkingEngine(), request(), old_path=True)
    assert {name for name, _ in told} == {"copilotMessageChunk"}
