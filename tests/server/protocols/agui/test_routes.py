from typing import Any

import pytest
from ag_ui.core import Event as AgUiEvent
from pydantic import TypeAdapter

from server.chat import Message, ToolCall
from server.errors import EngineCrashed
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    Citations,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    PromptProgress,
    ReasoningDelta,
    StateChanged,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.protocols.agui.routes import Encoder

ORACLE: TypeAdapter[Any] = TypeAdapter(AgUiEvent)
CALL = ToolCall("c1", "add", {"a": 1})


def encode(*events: Event, speaks_1_0: bool = False) -> list[dict[str, Any]]:
    encoder = Encoder("t", "r", speaks_1_0)
    told = [encoder.start(), *(one for event in events for one in encoder.encode(event))]
    for one in told:
        ORACLE.validate_python(one)
        assert None not in one.values()
        assert one.get("delta") != ""
    return told


def kinds(told: list[dict[str, Any]]) -> list[str]:
    return [one["type"] for one in told]


def test_text_is_opened_told_and_closed():
    told = encode(
        PromptProgress(1, 2), MessageOpened("m"), TextDelta("a"), TextDelta(""), TextDelta("b"),
        Finished("stop"),
    )  # fmt: skip
    assert kinds(told) == [
        "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END", "RUN_FINISHED",
    ]  # fmt: skip
    assert {one["messageId"] for one in told[1:5]} == {"m"}


def test_a_call_of_the_client_streams_its_arguments_in_the_message_it_belongs_to():
    told = encode(
        MessageOpened("m"), TextDelta("Let me."), CallOpened(0, "c1", "add"), CallArguments(0, ""),
        CallArguments(0, '{"a"'), CallArguments(0, ":1}"), ClientToolCall(CALL),
        Finished("tool_calls"),
    )  # fmt: skip
    assert kinds(told)[3:] == [
        "TEXT_MESSAGE_END", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_ARGS", "TOOL_CALL_END",
        "RUN_FINISHED",
    ]  # fmt: skip
    assert told[4]["parentMessageId"] == "m"


def test_a_call_that_was_not_streamed_is_told_whole():
    told = encode(MessageOpened("m"), ClientToolCall(CALL), Finished("tool_calls"))
    assert kinds(told)[1:4] == ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]
    assert told[2]["delta"] == '{"a": 1}'


def test_our_own_call_is_told_with_its_result():
    told = encode(
        MessageOpened("m"), ToolCallStarted(CALL), ToolCallFinished("c1", "2"),
        MessageOpened("n"), TextDelta("It is 2."), Finished("stop"),
    )  # fmt: skip
    assert kinds(told)[4] == "TOOL_CALL_RESULT"
    assert (told[4]["messageId"], told[4]["content"]) == ("result-c1", "2")


def test_what_is_open_is_closed_before_the_end():
    told = encode(
        StepChanged("one", active=True), StepChanged("one", active=True),
        StepChanged("two", active=True), StepChanged("other", active=False), MessageOpened("m"),
        CallOpened(0, "c1", "add"), CallOpened(1, "c2", "add"), Finished("length"),
    )  # fmt: skip
    assert kinds(told)[1:] == [
        "STEP_STARTED", "STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_START", "TOOL_CALL_END",
        "TOOL_CALL_END", "STEP_FINISHED", "STEP_FINISHED", "RUN_FINISHED",
    ]  # fmt: skip


def test_a_failure_ends_the_run_at_once():
    told = encode(MessageOpened("m"), TextDelta("a"), Failed(EngineCrashed("It broke.")))
    assert told[-1] == {"type": "RUN_ERROR", "message": "It broke.", "code": "engine_crashed"}


def test_a_failure_of_a_run_that_is_over_is_told_before_its_end():
    encoder = Encoder("t", "r", is_over=True)
    events = (MessageOpened("m"), TextDelta("a"), Failed(EngineCrashed("It broke.")))
    told = [one for event in events for one in encoder.encode(event)]
    for one in told:
        ORACLE.validate_python(one)
    assert kinds(told)[2:] == ["CUSTOM", "TEXT_MESSAGE_END", "RUN_FINISHED"]
    assert told[2]["value"] == {"message": "It broke.", "code": "engine_crashed"}


def test_the_state_is_told_once_and_then_what_changed():
    told = encode(
        StateChanged({"a": 1, "b/c": 1}), StateChanged({"a": 1, "b/c": 1}),
        StateChanged({"a": 2, "d~": 3}),
    )  # fmt: skip
    assert told[1] == {"type": "STATE_SNAPSHOT", "snapshot": {"a": 1, "b/c": 1}}
    assert told[2:] == [
        {
            "type": "STATE_DELTA",
            "delta": [
                {"op": "remove", "path": "/b~1c"},
                {"op": "replace", "path": "/a", "value": 2},
                {"op": "add", "path": "/d~0", "value": 3},
            ],
        }
    ]


def test_an_interrupt_is_told_in_the_way_of_the_clients_generation():
    event = Interrupted("i", {"ask": "may I?"})
    older = encode(event, Finished("stop"))
    assert older[1] == {"type": "CUSTOM", "name": "on_interrupt", "value": '{"ask": "may I?"}'}
    assert "outcome" not in older[-1]
    newer = encode(event, Finished("stop"), speaks_1_0=True)
    assert kinds(newer) == ["RUN_STARTED", "RUN_FINISHED"]
    assert newer[-1]["outcome"]["interrupts"][0]["metadata"] == {"value": {"ask": "may I?"}}


def test_a_question_asked_in_messages_is_shown_and_closed_before_the_run_ends():
    event = Interrupted("i", "Which?", (Message("assistant", "Which?"),))
    assert kinds(encode(event, Finished("stop"))) == [
        "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "CUSTOM",
        "TEXT_MESSAGE_END", "RUN_FINISHED",
    ]  # fmt: skip


def test_reasoning_is_told_only_to_those_who_know_it():
    events = (ReasoningDelta("hm"), ReasoningDelta(""), MessageOpened("m"), TextDelta("a"))
    assert not any("REASONING" in kind for kind in kinds(encode(*events)))
    assert kinds(encode(*events, speaks_1_0=True))[1:6] == [
        "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END", "REASONING_END",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (StatusNote("Reading"), "status"),
        (Artifact("table", "t", "", {"rows": []}), "artifact"),
        (Citations(({"id": 1},)), "citations"),
        (Suggestions(("more?",)), "suggestions"),
    ],
)
def test_what_agui_has_no_word_for_is_custom(event: Event, name: str):
    (_, told) = encode(event)
    assert (told["type"], told["name"]) == ("CUSTOM", name)


def test_each_thought_of_a_run_has_an_id_of_its_own():
    encoder = Encoder("t", "r", knows_reasoning=True)
    events = (ReasoningDelta("hm"), MessageOpened("m"), TextDelta("a"), ReasoningDelta("so"))
    told = [one for event in (*events, Finished("stop")) for one in encoder.encode(event)]
    begun = [one["messageId"] for one in told if one["type"] == "REASONING_START"]
    ended = [one["messageId"] for one in told if one["type"] == "REASONING_END"]
    assert begun == ended == ["r-reasoning-1", "r-reasoning-2"]


def test_each_call_after_the_first_gets_a_message_of_its_own():
    other = ToolCall("c2", "add", {"a": 2})
    told = encode(
        MessageOpened("m"), TextDelta("Both."), CallOpened(0, "c1", "add"), ClientToolCall(CALL),
        ClientToolCall(other), MessageOpened("n"), CallOpened(2, "c3", "add"),
        Finished("tool_calls"),
    )  # fmt: skip
    begun = [one for one in told if one["type"] == "TOOL_CALL_START"]
    parents = [(one["toolCallId"], one["parentMessageId"]) for one in begun]
    assert parents == [("c1", "m"), ("c2", "m-call-2"), ("c3", "n")]
