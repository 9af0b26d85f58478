import json

import pytest

from app.chat.dialects import (
    BROKEN_OFF,
    AgUi,
    ImagesNotCarried,
    OpenAI,
    OpenBB,
    Options,
    failure,
    of,
)
from server.chat import Image, Message
from server.errors import AppError
from server.events import (
    Artifact,
    Finished,
    ReasoningDelta,
    StatusNote,
    Suggestions,
    TextDelta,
)

SAID = [Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Yes?")]


def test_sampling_is_sent_only_when_chosen() -> None:
    assert "temperature" not in OpenAI().body(SAID, Options())
    body = OpenAI().body(SAID, Options(temperature=0.0, top_p=0.9, max_tokens=64))
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.0, 0.9, 64)


def test_openbb_has_its_own_roles_and_events() -> None:
    dialect = of(Options("openbb"))
    assert isinstance(dialect, OpenBB)
    assert dialect.body(SAID, Options())["messages"] == [
        {"role": "human", "content": "Hi"},
        {"role": "ai", "content": "Yes?"},
    ]
    assert dialect.read("copilotMessageChunk", '{"delta": "A"}') == [TextDelta("A")]
    step = json.dumps({"eventType": "INFO", "message": "Reading"})
    assert dialect.read("copilotStatusUpdate", step) == [StatusNote("Reading")]
    assert dialect.read("copilotStatusUpdate", '{"hidden": true, "message": "x"}') == []
    assert dialect.read("copilotCitationCollection", "{}") == []
    assert dialect.end() == Finished("stop")


def test_openbb_refuses_an_image_rather_than_drop_it() -> None:
    seen = Message("user", "What is it?", (Image("image/png", b"x"),))
    with pytest.raises(ImagesNotCarried, match="does not support images"):
        OpenBB().body([seen], Options())


def test_ag_ui_must_say_that_it_is_over() -> None:
    dialect = AgUi()
    assert dialect.body(SAID, Options(max_tokens=5))["forwardedProps"] == {"maxOutputTokens": 5}
    heard = [
        *dialect.read("", '{"type": "TOOL_CALL_START", "toolCallName": "prices"}'),
        *dialect.read("", '{"type": "REASONING_MESSAGE_CONTENT", "delta": "Hm"}'),
        *dialect.read("", '{"type": "TEXT_MESSAGE_CONTENT", "delta": "A"}'),
    ]
    assert heard == [StatusNote("Tool: prices"), ReasoningDelta("Hm"), TextDelta("A")]
    with pytest.raises(AppError, match="interrupted"):
        dialect.end()
    dialect.read("", '{"type": "RUN_FINISHED"}')
    assert dialect.end() == Finished("stop")
    with pytest.raises(AppError, match="No model"):
        dialect.read("", '{"type": "RUN_ERROR", "message": "No model"}')


def test_charts_and_tables_are_heard_in_both() -> None:
    rows = [{"day": "Mon", "price": 3}]
    told = {"type": "chart", "name": "Price_of_it_1a2b3c", "description": "d", "content": rows,
            "chart_params": {"chartType": "line", "xKey": "day", "yKey": ["price"]}}  # fmt: skip
    (line,) = OpenBB().read("copilotMessageArtifact", json.dumps(told))
    chart = {"kind": "line", "x": "day", "y": ["price"]}
    assert line == Artifact("chart", "Price of it", "d", {"rows": rows, "chart": chart})
    told["chart_params"] = {"chartType": "pie", "angleKey": "price", "calloutLabelKey": "day"}
    (pie,) = OpenBB().read("copilotMessageArtifact", json.dumps(told))
    assert isinstance(pie, Artifact)
    assert pie.content["chart"] == {"kind": "pie", "x": "day", "y": ["price"]}
    table = {"type": "table", "name": "t", "content": rows}
    (found,) = OpenBB().read("copilotMessageArtifact", json.dumps(table))
    assert found == Artifact("table", "t", "", {"rows": rows})
    value = {"kind": "chart", "name": "n", "content": {"rows": rows, "chart": chart}}
    event = {"type": "CUSTOM", "name": "artifact", "value": value}
    (same,) = AgUi().read("", json.dumps(event))
    assert same == Artifact("chart", "n", "", value["content"])
    told = {"suggestions": ["And then?"]}
    next_one = [Suggestions(("And then?",))]
    assert OpenBB().read("copilotPromptSuggestions", json.dumps(told)) == next_one
    offered = {"type": "CUSTOM", "name": "suggestions", "value": {"prompts": ["And then?"]}}
    assert AgUi().read("", json.dumps(offered)) == next_one
    status = {"type": "CUSTOM", "name": "status", "value": {"message": "Calling"}}
    assert AgUi().read("", json.dumps(status)) == [StatusNote("Calling")]
    assert AgUi().read("", '{"type": "CUSTOM", "name": "x", "value": 3}') == []


def test_an_error_is_read_in_any_shape() -> None:
    assert str(failure({"error": {"message": "a", "code": "c"}})) == "a"
    assert str(failure({"error": "b"})) == "b"
    assert str(failure({"message": "c"})) == "c"
    for odd in ([], ["x"], None, 5, {"error": ["x"]}, {"message": ["x"], "code": 5}):
        assert (str(failure(odd)), failure(odd).code) == (BROKEN_OFF, AppError("").code)
