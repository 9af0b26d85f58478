import json
import math
from typing import Any

import pytest
from openbb_ai import models
from openbb_ai.testing import CopilotResponse

from server.chat import ToolCall
from server.errors import EngineCrashed
from server.events import (
    Artifact,
    Citations,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    PromptProgress,
    StatusNote,
    Suggestions,
    TextDelta,
)
from server.protocols.openbb.writer import artifact_name, frame, keep_alive, write
from tests.contract.openbb.player import parse
from tests.kit.engines import replay

SOURCE = {"widget_uuid": "u1", "origin": "o", "id": "w", "input_args": {}}
CALL = ToolCall("c", "get_widget_data", {"data_sources": [SOURCE], "state": {"hop": 1}})
UUID = "38181a68-9650-4940-84fb-a3f29c8869f3"
CITED = {"name": "Prices", "uuid": UUID, "origin": "o", "widget_id": "w", "details": {"A": "b"}}
GIVEN: list[dict[str, Any]] = [
    {"source_info": {"type": "web", "name": "Site"}, "details": [{"Link": "x"}, 3]},
    {"source_info": {"type": "odd", "uuid": 7, "metadata": 3}, "details": "odd"},
    {},
]
CHART = {"rows": [{"d": "x", "v": 1.0}], "chart": {"kind": "line", "x": "d", "y": ["v"]}}
MODELS = {
    "copilotMessageChunk": models.MessageChunkSSE,
    "copilotPromptSuggestions": models.PromptSuggestionsSSE,
    "copilotMessageArtifact": models.MessageArtifactSSE,
    "copilotFunctionCall": models.FunctionCallSSE,
    "copilotStatusUpdate": models.StatusUpdateSSE,
    "copilotCitationCollection": models.CitationCollectionSSE,
}


async def written(*events: Event, legacy: bool = False) -> list[tuple[str, dict[str, Any]]]:
    return [parse(frame) async for frame in write(replay(*events), legacy=legacy)]


async def test_every_event_is_one_that_the_sdk_accepts() -> None:
    told = await written(
        StatusNote("Reading", details={"Widget": "Prices"}),
        TextDelta("hi"),
        Artifact("chart", "Prices", "v by d", CHART),
        Artifact("chart", "Pie", "", {**CHART, "chart": {"kind": "pie", "x": "d", "y": ["v"]}}),
        Artifact("table", "Rows", "", {"rows": [{"a": 1}]}),
        Artifact("text", "Note", "", {"text": "n"}),
        Citations((CITED, {**CITED, "uuid": f"{UUID}::iframe::inner"})),
        Citations(tuple({"name": "N", "given": one} for one in GIVEN)),
        Suggestions(("More?",)),
        ClientToolCall(CALL),
    )
    assert len(told) == 10
    for name, data in told:
        MODELS[name].model_validate({"event": name, "data": data})


async def test_nothing_follows_a_call() -> None:
    told = await written(ClientToolCall(CALL), TextDelta("late"), Finished("tool_calls"))
    assert told == [
        (
            "copilotFunctionCall",
            {
                "function": "get_widget_data",
                "input_arguments": {"data_sources": [SOURCE]},
                "extra_state": {"hop": 1},
            },
        )
    ]


async def test_state_is_never_empty() -> None:
    told = await written(ClientToolCall(ToolCall("c", "get_skill_content", {"slug": "s"})))
    assert told[0][1]["extra_state"]


async def test_no_empty_text_and_no_step_during_text() -> None:
    told = await written(TextDelta(""), TextDelta("a"), StatusNote("late"), TextDelta("b"))
    assert [data["delta"] for _, data in told] == ["a", "b"]


async def test_waiting_is_shown_hidden_and_not_for_every_batch() -> None:
    told = await written(PromptProgress(0, 0), PromptProgress(5, 9), PromptProgress(9, 9))
    assert [(name, data["hidden"]) for name, data in told] == [("copilotStatusUpdate", True)]


async def test_what_no_json_reader_can_read_is_cleaned() -> None:
    rows = [{"a": math.nan, "b": math.inf, "c": "x\u2028\ud800", "d": object}]
    (frame,) = [one async for one in write(replay(_table(rows)), legacy=False)]
    assert frame.isascii()
    row = json.loads(frame.split(b"data: ")[1])["content"][0]
    assert (row["a"], row["b"], row["c"]) == (None, None, "x\u2028\ufffd")


async def test_a_failure_is_told_as_text() -> None:
    assert await written(Failed(EngineCrashed("It died."))) == [
        ("copilotMessageChunk", {"delta": "It died."})
    ]
    told = await written(TextDelta("So"), Failed(EngineCrashed("It died.")))
    assert told[-1][1] == {"delta": "\n\nIt died."}


async def test_old_clients_get_text_and_one_kind_of_call() -> None:
    told = await written(
        StatusNote("step"),
        PromptProgress(0, 0),
        TextDelta("a"),
        Artifact("table", "T", "", {"rows": [{"x": 1, "y": "a|b"}]}),
        Citations((CITED,)),
        Suggestions(("More?",)),
        legacy=True,
    )
    assert {name for name, _ in told} == {"copilotMessageChunk"}
    text = "".join(data["delta"] for _, data in told)
    assert text == "a\n\n| x | y |\n| --- | --- |\n| 1 | a\\|b |\n\nSources: Prices"
    call = await written(ClientToolCall(CALL), legacy=True)
    assert call[0][1] == {
        "function": "get_widget_data",
        "input_arguments": {"widget_uuid": "u1"},
    }


async def test_old_clients_are_told_of_rows_left_out() -> None:
    rows = [{"a|b": None, "c": "two\nlines"}] * 500
    ((_, data),) = await written(_table(rows), legacy=True)
    assert data["delta"].startswith("\n\n| a\\|b | c |\n| --- | --- |\n|  | two lines |\n")
    assert data["delta"].endswith("450 more rows")


async def test_a_chart_widget_has_the_keys_the_client_wants() -> None:
    arguments = {"widget_type": "chart", "chart": {"kind": "pie", "x": "a", "y": ["b"]}}
    told = await written(ClientToolCall(ToolCall("c", "add_generative_widget", arguments)))
    assert told[0][1]["input_arguments"]["chart_params"] == {
        "chartType": "pie",
        "xKey": "a",
        "yKey": ["b"],
    }


@pytest.mark.parametrize("name", ['A "quoted" <b>\nname', "", "x" * 200])
def test_artifact_names_are_unique_and_harmless(name: str) -> None:
    first, second = artifact_name(name), artifact_name(name)
    assert first != second
    assert not set(first) & set('"<>\n\r ')


def _table(rows: list[dict[str, Any]]) -> Artifact:
    return Artifact("table", "T", "", {"rows": rows})


def test_a_keep_alive_is_hidden_and_read_by_the_sdk_even_where_it_comes_first():
    quiet = keep_alive(b"")
    assert parse(quiet)[1]["hidden"] is True
    step = frame("copilotStatusUpdate", {"eventType": "INFO", "message": "Reading"})
    assert keep_alive(step) == quiet
    text = frame("copilotMessageChunk", {"delta": "Hello"})
    sent = [quiet, step, quiet, text, keep_alive(text), text]
    read = CopilotResponse(b"".join(sent).decode())
    assert read.text == "HelloHello"
    assert [event.event_type for event in read.events] == [
        "copilotStatusUpdate", "copilotStatusUpdate", "copilotStatusUpdate", "copilotMessage",
    ]  # fmt: skip
