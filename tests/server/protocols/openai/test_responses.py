"""The Responses API: items, events in order, and a memory for the next turn."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from server.chat import Constraint, Image, Message, ToolCall, ToolChoice
from server.errors import BadRequest, EngineCrashed
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from server.protocols.base import Facts
from server.protocols.openai.responses import (
    MOST_REMEMBERED,
    Memory,
    ResponseNotFound,
    accept,
    collect,
    forget,
    recall,
    render,
)

FACTS = Facts("http://127.0.0.1", default_model="small", version="1")
USED = Usage(prompt_tokens=7, cached_tokens=3, completion_tokens=5)
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TOOL = {"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": True}
CALL = ToolCall("call_1", "add", {"a": 1})
CALLED: tuple[Event, ...] = (
    CallOpened(0, "call_1", "add"),
    CallArguments(0, '{"a": '),
    CallArguments(0, "1}"),
    ClientToolCall(CALL),
    Finished("tool_calls", USED),
)


async def replay(*events: Event) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event


async def whole(memory: Memory, body: dict[str, Any], *events: Event) -> Response:
    reply = await collect(memory, replay(*events), body, FACTS)
    return Response.model_validate(reply.body)


async def stream(body: dict[str, Any], *events: Event) -> list[dict[str, Any]]:
    frames = [frame async for frame in render(Memory(), replay(*events), body, FACTS)]
    told = [json.loads(frame.split(b"data: ", 1)[1]) for frame in frames]
    for one in told:
        EVENT.validate_python(one)
    assert [one["sequence_number"] for one in told] == list(range(len(told)))
    return told


def test_input_items_become_messages() -> None:
    body = {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "rs", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "add", "arguments": '{"a": 1}'},
            {"type": "function_call_output", "call_id": "c", "output": "2"},
        ],
        "tools": [TOOL],
        "tool_choice": {"type": "function", "name": "add"},
        "max_output_tokens": 9,
        "text": {"format": {"type": "json_schema", "name": "o", "schema": {"type": "array"}}},
        "reasoning": {"effort": "low"},
    }
    request = accept(Memory(), body, FACTS)
    assert request.messages == (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(ToolCall("c", "add", {"a": 1}),)),
        Message("tool", "2", tool_call_id="c", name="add"),
    )
    assert request.tool_choice == ToolChoice("required", ("add",))
    assert request.constraint == Constraint("json_schema", '{"type": "array"}')
    assert request.max_tokens == 9
    assert dict(request.template_options)["reasoning_effort"] == "low"
    assert not request.parallel_calls


async def test_a_text_answer_streams_in_the_documented_order() -> None:
    events = (TextDelta("Hel"), TextDelta("lo"), Finished("stop", USED))
    told = await stream({"input": "Hi"}, *events)
    assert [one["type"].removeprefix("response.") for one in told] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert told[-1]["response"]["usage"]["input_tokens_details"]["cached_tokens"] == 3


async def test_a_call_streams_its_arguments() -> None:
    told = await stream({"input": "Hi", "tools": [TOOL]}, *CALLED)
    deltas = [one["delta"] for one in told if one["type"].endswith("arguments.delta")]
    done = next(one for one in told if one["type"].endswith("arguments.done"))
    assert "".join(deltas) == done["arguments"] == '{"a": 1}'


async def test_a_call_that_was_not_streamed_is_told_whole() -> None:
    answer = await whole(Memory(), {"input": "Hi"}, ClientToolCall(CALL), Finished("tool_calls"))
    assert answer.output[0].type == "function_call"
    assert json.loads(answer.output[0].arguments) == {"a": 1}


async def test_a_cut_answer_is_incomplete() -> None:
    answer = await whole(Memory(), {"input": "Hi"}, TextDelta("x"), Finished("length", USED))
    assert answer.status == "incomplete"
    assert answer.incomplete_details
    assert answer.incomplete_details.reason == "max_output_tokens"


async def test_thoughts_come_as_an_item_of_their_own() -> None:
    events = (ReasoningDelta("hm"), TextDelta("so"), Finished("stop", USED))
    answer = await whole(Memory(), {"input": "Hi"}, *events)
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.output_text == "so"
    assert await stream({"input": "Hi"}, *events)


async def test_the_next_request_can_build_on_a_response() -> None:
    memory = Memory()
    first = await whole(memory, {"input": "Hi", "instructions": "Be brief."}, *CALLED)
    body = {
        "previous_response_id": first.id,
        "input": [{"type": "function_call_output", "call_id": "call_1", "output": "2"}],
    }
    request = accept(memory, body, FACTS)
    assert request.messages == (
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(CALL,)),
        Message("tool", "2", tool_call_id="call_1", name="add"),
    )


@pytest.mark.parametrize("instructions", [None, "", "Be brief."])
async def test_only_instructions_hold_for_one_response_alone(instructions: str | None) -> None:
    memory = Memory()
    said = [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
    body = {"input": said, "instructions": instructions}
    first = await whole(memory, body, TextDelta("Yes?"), Finished("stop", USED))
    second = {"previous_response_id": first.id, "input": "Bye", "instructions": "Be gone."}
    expected = (
        Message("system", "Be gone."),
        Message("system", "Be kind."),
        Message("user", "Hi"),
        Message("assistant", "Yes?"),
        Message("user", "Bye"),
    )
    assert accept(memory, second, FACTS).messages == expected
    reply = await whole(memory, second, TextDelta("Oh."), Finished("stop", USED))
    third = accept(memory, {"previous_response_id": reply.id, "input": "?"}, FACTS)
    assert third.messages == (*expected[1:], Message("assistant", "Oh."), Message("user", "?"))


async def test_an_answer_ends_well_though_what_it_went_on_from_is_deleted_meanwhile() -> None:
    memory = Memory()
    first = await whole(memory, {"input": "Hi"}, Finished("stop"))
    body = {"previous_response_id": first.id, "input": "Bye"}
    accept(memory, body, FACTS)
    forget(memory, None, Facts("", path={"id": first.id}))
    answer = await whole(memory, body, TextDelta("Oh."), Finished("stop", USED))
    assert answer.output_text == "Oh."


async def test_the_memory_is_bounded_and_can_be_told_to_forget() -> None:
    memory = Memory()
    first = await whole(memory, {"input": "Hi"}, Finished("stop"))
    again = Facts("", path={"id": first.id})
    assert recall(memory, None, again).body["id"] == first.id
    assert forget(memory, None, again).body["deleted"]
    with pytest.raises(ResponseNotFound):
        recall(memory, None, again)
    await whole(memory, {"input": "Hi", "store": False}, Finished("stop"))
    assert not memory.kept
    for _ in range(MOST_REMEMBERED + 5):
        await whole(memory, {"input": "Hi"}, Finished("stop"))
    assert len(memory.kept) == MOST_REMEMBERED


async def test_a_failure_ends_the_stream_with_its_event() -> None:
    told = await stream({"input": "Hi"}, TextDelta("x"), Failed(EngineCrashed("Gone.")))
    assert told[-1]["type"] == "response.failed"
    assert told[-1]["response"]["error"]["message"] == "Gone."


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": [{"type": "smell"}]}, "input[0].type"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"type": "function_call_output", "call_id": "z", "output": "1"}]},
         "input[0].call_id"),
        ({"input": "a", "tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"input": "a", "text": {"format": {"type": "yaml"}}}, "text.format.type"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept(Memory(), body, FACTS)
    assert refused.value.param == param


async def test_a_thought_before_a_call_comes_back_with_it() -> None:
    memory = Memory()
    answer = await collect(
        memory,
        replay(ReasoningDelta("hm"), CallOpened(0, "c", "shot"), Finished("tool_calls", USED)),
        {"input": "Hi"},
        FACTS,
    )
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    result = {"type": "function_call_output", "call_id": "c", "output": [image]}
    sent_back = [{"role": "user", "content": "Hi"}, *answer.body["output"], result]
    later = {"previous_response_id": answer.body["id"], "input": [result]}
    for body in ({"input": sent_back}, later):
        assert accept(memory, body, FACTS).messages == (
            Message("user", "Hi"),
            Message("assistant", "", tool_calls=(ToolCall("c", "shot", {}),), reasoning="hm"),
            Message("tool", "", (Image("image/png", b"hi"),), tool_call_id="c", name="shot"),
        )


def test_a_thought_is_kept_with_the_answer_that_follows_it() -> None:
    summary = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    said = {"role": "assistant", "content": "Yes."}
    asked = {"role": "user", "content": "Sure?"}
    messages = accept(Memory(), {"input": [summary, said, summary, asked]}, FACTS).messages
    assert messages == (Message("assistant", "Yes.", reasoning="hm"), Message("user", "Sure?"))


def test_two_tools_cannot_have_one_name() -> None:
    assert accept(Memory(), {"input": "Hi", "tools": [TOOL]}, FACTS).tools[0].strict
    with pytest.raises(BadRequest, match="two tools named 'add'"):
        accept(Memory(), {"input": "Hi", "tools": [TOOL, TOOL]}, FACTS)
