"""The Responses API: items, events in order, and a memory for the next turn."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from openai.types.responses import (
    InputTokenCountResponse,
    Response,
    ResponseItem,
    ResponseStreamEvent,
)
from pydantic import TypeAdapter

from server.chat import Constraint, Image, Message, ToolCall, ToolChoice
from server.conversation.threads import MOST_OF_ONE, ResponseMemory
from server.core.running_requests import Cancelled
from server.errors import BadRequest, EngineCrashed
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from server.protocols.base import Ask, Cancel, Facts, Reply
from server.protocols.openai.responses import (
    ResponseNotFound,
    accept,
    cancel,
    collect,
    count_tokens,
    forget,
    list_input,
    recall,
    render,
)

FACTS = Facts("http://127.0.0.1", default_model="small", version="1")
USED = Usage(prompt_tokens=7, cached_tokens=3, completion_tokens=5)
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
ITEM: TypeAdapter[Any] = TypeAdapter(ResponseItem)
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


def facts_with(memory: ResponseMemory, owner: str = "", **path: str) -> Facts:
    return replace(FACTS, responses=memory, owner=owner, path=path, request_id=uuid4().hex)


async def whole(memory: ResponseMemory, body: dict[str, Any], *events: Event) -> Response:
    reply = await collect(replay(*events), body, facts_with(memory))
    return Response.model_validate(reply.body)


async def stream(body: dict[str, Any], *events: Event) -> list[dict[str, Any]]:
    frames = [frame async for frame in render(replay(*events), body, facts_with(ResponseMemory()))]
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
    request = accept(body, FACTS)
    assert request.messages == (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(ToolCall("c", "add", {"a": 1}),)),
        Message("tool", "2", tool_call_id="c", name="add"),
    )
    assert request.tool_choice == ToolChoice("required", ("add",))
    assert request.constraint == Constraint("json_schema", '{"type": "array"}', strict=False)
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


async def test_a_prompt_that_is_read_for_long_sends_events_and_not_comments() -> None:
    reading = (PromptProgress(512, 9000), PromptProgress(1024, 9000))
    told = await stream({"input": "Hi"}, *reading, TextDelta("Hello"), Finished("stop", USED))
    kinds = [one["type"] for one in told]
    assert kinds[:4] == ["response.created", *["response.in_progress"] * 3]
    assert kinds[-1] == "response.completed"


async def test_a_call_streams_its_arguments() -> None:
    told = await stream({"input": "Hi", "tools": [TOOL]}, *CALLED)
    deltas = [one["delta"] for one in told if one["type"].endswith("arguments.delta")]
    done = next(one for one in told if one["type"].endswith("arguments.done"))
    assert "".join(deltas) == done["arguments"] == '{"a": 1}'


async def test_a_call_that_was_not_streamed_is_told_whole() -> None:
    answer = await whole(
        ResponseMemory(), {"input": "Hi"}, ClientToolCall(CALL), Finished("tool_calls")
    )
    assert answer.output[0].type == "function_call"
    assert json.loads(answer.output[0].arguments) == {"a": 1}


async def test_a_cut_answer_is_incomplete() -> None:
    answer = await whole(
        ResponseMemory(), {"input": "Hi"}, TextDelta("x"), Finished("length", USED)
    )
    assert answer.status == "incomplete"
    assert answer.incomplete_details
    assert answer.incomplete_details.reason == "max_output_tokens"


async def test_thoughts_come_as_an_item_of_their_own() -> None:
    events = (ReasoningDelta("hm"), TextDelta("so"), Finished("stop", USED))
    answer = await whole(ResponseMemory(), {"input": "Hi"}, *events)
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.output_text == "so"
    assert await stream({"input": "Hi"}, *events)


async def test_the_next_request_can_build_on_a_response() -> None:
    memory = ResponseMemory()
    first = await whole(memory, {"input": "Hi", "instructions": "Be brief."}, *CALLED)
    body = {
        "previous_response_id": first.id,
        "input": [{"type": "function_call_output", "call_id": "call_1", "output": "2"}],
    }
    request = accept(body, facts_with(memory))
    assert request.messages == (
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(CALL,)),
        Message("tool", "2", tool_call_id="call_1", name="add"),
    )


@pytest.mark.parametrize("instructions", [None, "", "Be brief."])
async def test_only_instructions_hold_for_one_response_alone(instructions: str | None) -> None:
    memory = ResponseMemory()
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
    assert accept(second, facts_with(memory)).messages == expected
    reply = await whole(memory, second, TextDelta("Oh."), Finished("stop", USED))
    third = accept({"previous_response_id": reply.id, "input": "?"}, facts_with(memory))
    assert third.messages == (*expected[1:], Message("assistant", "Oh."), Message("user", "?"))


async def test_an_answer_ends_well_though_what_it_went_on_from_is_deleted_meanwhile() -> None:
    memory = ResponseMemory()
    first = await whole(memory, {"input": "Hi"}, Finished("stop"))
    body = {"previous_response_id": first.id, "input": "Bye"}
    accept(body, facts_with(memory))
    forget(None, facts_with(memory, id=first.id))
    answer = await whole(memory, body, TextDelta("Oh."), Finished("stop", USED))
    assert answer.output_text == "Oh."


async def test_the_memory_is_bounded_and_can_be_told_to_forget() -> None:
    memory = ResponseMemory()
    first = await whole(memory, {"input": "Hi"}, Finished("stop"))
    again = facts_with(memory, id=first.id)
    assert recall(None, again).body["id"] == first.id
    assert forget(None, again).body["deleted"]
    with pytest.raises(ResponseNotFound):
        recall(None, again)
    await whole(memory, {"input": "Hi", "store": False}, Finished("stop"))
    assert not len(memory)
    for _ in range(MOST_OF_ONE + 5):
        await whole(memory, {"input": "Hi"}, Finished("stop"))
    assert len(memory) == MOST_OF_ONE


async def test_nobody_sees_deletes_or_goes_on_from_the_response_of_another() -> None:
    memory = ResponseMemory()
    first = await whole(memory, {"input": "Hi"}, Finished("stop"))
    other = facts_with(memory, "somebody else", id=first.id)
    for ask in (recall, forget, list_input, cancel):
        with pytest.raises(ResponseNotFound):
            ask(None, other)
    with pytest.raises(ResponseNotFound) as refused:
        accept({"previous_response_id": first.id, "input": "?"}, other)
    assert refused.value.param == "previous_response_id"
    assert recall(None, facts_with(memory, id=first.id)).body["id"] == first.id


async def test_the_items_of_a_request_are_listed_page_by_page() -> None:
    memory = ResponseMemory()
    items = [{"role": "user", "content": str(number)} for number in range(5)]
    first = await whole(memory, {"input": items}, TextDelta("x"), Finished("stop"))
    facts = facts_with(memory, id=first.id)
    newest = list_input(None, replace(facts, query={"limit": "2"})).body
    assert [item["content"][0]["text"] for item in newest["data"]] == ["4", "3"]
    assert newest["has_more"]
    rest = {"after": newest["last_id"], "order": "desc"}
    older = list_input(None, replace(facts, query=rest)).body
    assert [item["content"][0]["text"] for item in older["data"]] == ["2", "1", "0"]
    assert not older["has_more"]
    for item in older["data"]:
        ITEM.validate_python(item)
    for limit in ("0", "101", "000020999999", "9" * 5000, "\u00b2"):
        with pytest.raises(BadRequest, match="between 1 and 100"):
            list_input(None, replace(facts, query={"limit": limit}))
    assert len(list_input(None, replace(facts, query={"limit": "00100"})).body["data"]) == 5


async def test_a_response_under_way_is_cancelled_by_its_id() -> None:
    memory = ResponseMemory()
    facts = facts_with(memory)
    frames = render(replay(Failed(Cancelled("Enough."))), {"input": "Hi"}, facts)
    begun = json.loads((await anext(frames)).split(b"data: ", 1)[1])["response"]
    by_id = replace(facts, path={"id": begun["id"]})
    with pytest.raises(BadRequest, match="in_progress"):
        accept({"previous_response_id": begun["id"], "input": "?"}, facts)
    ended = cancel(None, by_id)
    assert isinstance(ended, Cancel)
    assert ended.request_id == facts.request_id
    assert Response.model_validate(ended.reply.body).status == "cancelled"
    told = [json.loads(frame.split(b"data: ", 1)[1]) async for frame in frames]
    assert told[-1]["response"]["status"] == "cancelled"
    assert recall(None, by_id).body["status"] == "cancelled"


async def test_what_has_ended_cannot_be_cancelled_and_who_leaves_leaves_nothing() -> None:
    memory = ResponseMemory()
    first = await whole(memory, {"input": "Hi"}, Finished("stop"))
    with pytest.raises(BadRequest, match="completed"):
        cancel(None, facts_with(memory, id=first.id))
    frames = render(replay(TextDelta("x")), {"input": "Hi"}, facts_with(memory))
    await anext(frames)
    assert len(memory) == 2
    await frames.aclose()
    assert len(memory) == 1


def test_the_tokens_of_an_input_are_counted() -> None:
    ask = count_tokens({"input": "Hi", "instructions": "Be brief."}, FACTS)
    assert ask.arguments["request"].messages[0] == Message("system", "Be brief.")
    then = ask.then("<user>Hi")
    assert isinstance(then, Ask)
    reply = then.then([1, 2, 3])
    assert isinstance(reply, Reply)
    assert InputTokenCountResponse.model_validate(reply.body).input_tokens == 3


async def test_a_tool_of_a_provider_is_left_out_with_a_word_about_it() -> None:
    body = {"input": "a", "tools": [{"type": "web_search"}, TOOL], "tool_choice": "required"}
    request = accept(body, FACTS)
    assert [tool.name for tool in request.tools] == ["add"]
    assert "web_search" in request.warnings[0]
    reply = await collect(replay(Finished("stop")), body, facts_with(ResponseMemory()))
    assert reply.body["warnings"] == list(request.warnings)
    alone = accept({**body, "tools": [{"type": "web_search"}], "tool_choice": "auto"}, FACTS)
    assert alone.tools == ()
    allowed = {"type": "allowed_tools", "mode": "auto",
               "tools": [{"type": "web_search"}, {"type": "function", "name": "add"}]}  # fmt: skip
    assert accept({**body, "tool_choice": allowed}, FACTS).tools == request.tools


async def test_a_function_without_a_word_on_strict_is_told_as_openai_does() -> None:
    plain = {"type": "function", "name": "add", "parameters": {"type": "object"}}
    assert not accept({"input": "a", "tools": [plain]}, FACTS).tools[0].strict
    body = {"input": "a", "tools": [plain]}
    reply = await collect(replay(Finished("stop")), body, facts_with(ResponseMemory()))
    assert reply.body["tools"] == [{**plain, "strict": True}]


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
        ({"input": "a", "tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}},
         "tool_choice.type"),
        ({"input": "a", "tools": [{"type": "web_search"}], "tool_choice": "required"},
         "tool_choice"),
        ({"input": "a", "background": True}, "background"),
        ({"input": "a", "prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"input": "a", "grammar": 'root ::= "a"',
          "text": {"format": {"type": "json_object"}}}, "grammar"),
        ({"input": "a", "text": {"format": {"type": "yaml"}}}, "text.format.type"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept(body, FACTS)
    assert refused.value.param == param


async def test_a_thought_before_a_call_comes_back_with_it() -> None:
    memory = ResponseMemory()
    answer = await collect(
        replay(ReasoningDelta("hm"), CallOpened(0, "c", "shot"), Finished("tool_calls", USED)),
        {"input": "Hi"},
        facts_with(memory),
    )
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    result = {"type": "function_call_output", "call_id": "c", "output": [image]}
    sent_back = [{"role": "user", "content": "Hi"}, *answer.body["output"], result]
    later = {"previous_response_id": answer.body["id"], "input": [result]}
    for body in ({"input": sent_back}, later):
        assert accept(body, facts_with(memory)).messages == (
            Message("user", "Hi"),
            Message("assistant", "", tool_calls=(ToolCall("c", "shot", {}),), reasoning="hm"),
            Message("tool", "", (Image("image/png", b"hi"),), tool_call_id="c", name="shot"),
        )


def test_a_thought_is_kept_with_the_answer_that_follows_it() -> None:
    summary = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    said = {"role": "assistant", "content": "Yes."}
    asked = {"role": "user", "content": "Sure?"}
    messages = accept({"input": [summary, said, summary, asked]}, FACTS).messages
    assert messages == (Message("assistant", "Yes.", reasoning="hm"), Message("user", "Sure?"))


def test_two_tools_cannot_have_one_name() -> None:
    assert accept({"input": "Hi", "tools": [TOOL]}, FACTS).tools[0].strict
    with pytest.raises(BadRequest, match="two tools named 'add'"):
        accept({"input": "Hi", "tools": [TOOL, TOOL]}, FACTS)


TIME = {"type": "function", "name": "get_time", "parameters": {"type": "object"}, "strict": False}
OF_A_SERVER = {"type": "namespace", "name": "mcp__time", "description": "Time.", "tools": [TIME]}
"""How Codex 0.169 sends the tools of an MCP server."""


@pytest.mark.parametrize("namespace", ["mcp__time", "mcp__time__"])
async def test_a_tool_in_a_namespace_is_called_by_both_names(namespace: str) -> None:
    """Codex finds the tool by `namespace` and `name`; a call without the first fails there."""
    body = {"input": "Hi", "tools": [TOOL, {**OF_A_SERVER, "name": namespace}]}
    request = accept(body, FACTS)
    assert [tool.name for tool in request.tools] == ["add", "mcp__time__get_time"]
    assert request.warnings == ()
    called = (
        CallOpened(0, "call_1", "mcp__time__get_time"),
        CallArguments(0, "{}"),
        ClientToolCall(ToolCall("call_1", "mcp__time__get_time", {})),
        Finished("tool_calls", USED),
    )
    memory = ResponseMemory()
    answer = await whole(memory, body, *called)
    assert "warnings" not in (answer.model_extra or {})
    item = answer.output[0].model_dump()
    assert (item["name"], item["namespace"]) == ("get_time", namespace)
    done = next(e for e in await stream(body, *called) if e["type"] == "response.output_item.done")
    assert (done["item"]["name"], done["item"]["namespace"]) == ("get_time", namespace)
    result = {"type": "function_call_output", "call_id": "call_1", "output": "noon"}
    again = {**body, "input": [{"role": "user", "content": "Hi"}, item, result]}
    later = {**body, "previous_response_id": answer.id, "input": [result]}
    for request in (accept(again, FACTS), accept(later, facts_with(memory))):
        assert request.messages[1].tool_calls[0].name == "mcp__time__get_time"
        assert request.messages[2] == Message(
            "tool", "noon", tool_call_id="call_1", name="mcp__time__get_time"
        )


def test_what_is_no_function_in_a_namespace_is_left_out_and_two_of_one_name_are_refused() -> None:
    odd = {**OF_A_SERVER, "tools": [{"type": "custom", "name": "patch"}, TIME]}
    request = accept({"input": "Hi", "tools": [odd, {"type": "namespace"}]}, FACTS)
    assert [tool.name for tool in request.tools] == ["mcp__time__get_time"]
    assert len(request.warnings) == 2
    with pytest.raises(BadRequest, match="two tools"):
        accept({"input": "Hi", "tools": [OF_A_SERVER, OF_A_SERVER]}, FACTS)


async def test_a_kept_response_is_not_streamed_again() -> None:
    """OpenAI's package asks for that by the address; it would find no event in a whole response."""
    memory = ResponseMemory()
    kept = await whole(memory, {"input": "Hi"}, TextDelta("a"), Finished("stop", USED))
    facts = facts_with(memory, id=kept.id)
    assert recall({}, replace(facts, query={"stream": "false"})).body["id"] == kept.id
    with pytest.raises(BadRequest, match="'stream' is not supported"):
        recall({}, replace(facts, query={"stream": "true"}))
