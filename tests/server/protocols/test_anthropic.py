"""What Anthropic's clients send becomes our requests."""

import json
from typing import Any

import pytest
from anthropic.types import Message as Told
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter

from server.chat import Constraint, Image, Message, ToolCall, ToolChoice
from server.errors import BadRequest, ContextOverflow, EngineCrashed, ModelNotFound
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
from server.protocols.anthropic import accept, collect, count_tokens, failed, render
from server.protocols.base import Ask, Facts, Reply
from tests.kit.engines import replay

FACTS = Facts("", default_model="small")
TOOL = {"name": "add", "description": "Add.", "input_schema": {"type": "object"}}
BODY: dict[str, Any] = {"max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}


def test_blocks_become_messages() -> None:
    body = {
        **BODY,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "tool_use", "id": "c", "name": "add", "input": {"a": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": [
                    {"type": "text", "text": "2"}]},
                {"type": "text", "text": "And?"}]},
        ],
        "tools": [TOOL],
        "tool_choice": {"type": "tool", "name": "add", "disable_parallel_tool_use": True},
        "stop_sequences": ["x"],
        "thinking": {"type": "disabled"},
    }  # fmt: skip
    request = accept(body, FACTS)
    assert request.messages == (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "", tool_calls=(ToolCall("c", "add", {"a": 1}),), reasoning="hm"),
        Message("tool", "2", tool_call_id="c", name="add"),
        Message("user", "And?"),
    )
    assert request.tool_choice == ToolChoice("required", ("add",))
    assert (request.stop, request.max_tokens, request.parallel_calls) == (("x",), 5, False)
    assert request.template_options == (("enable_thinking", False),)


@pytest.mark.parametrize(
    ("given", "choice"),
    [("auto", ToolChoice()), ("any", ToolChoice("required")), ("none", ToolChoice("none"))],
)
def test_each_kind_of_choice(given: str, choice: ToolChoice) -> None:
    body = {**BODY, "tools": [TOOL], "tool_choice": {"type": given}}
    assert accept(body, FACTS).tool_choice == choice


def test_tokens_are_counted_in_the_rendered_prompt() -> None:
    ask = count_tokens({"messages": BODY["messages"]}, FACTS)
    assert ask.what == "apply_template"
    count = ask.then("<user>Hi")
    assert isinstance(count, Ask)
    assert (count.what, count.arguments) == ("tokenize", {"text": "<user>Hi"})
    reply = count.then([1, 2])
    assert isinstance(reply, Reply)
    assert reply.body == {"input_tokens": 2}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "smell"}]}]},
         "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "z"}]}]},
         "messages[0].content[0].tool_use_id"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"system": 5}, "system"),
        ({"tools": [{"type": "web_search_20250305", "name": "w"}],
          "tool_choice": {"type": "tool", "name": "w"}}, "tool_choice.type"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}], "tool_choice": {"type": "any"}},
         "tool_choice"),
        ({"output_config": {"format": {"type": "yaml", "schema": {}}}},
         "output_config.format.type"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        ({"stop_token_ids": [1]}, "stop_token_ids"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(change: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept({**BODY, **change}, FACTS)
    assert refused.value.param == param


def results(*blocks: dict[str, Any]) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "c", "name": "shot", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": list(blocks)}
    asked = {"role": "assistant", "content": [call]}
    return {**BODY, "messages": [asked, {"role": "user", "content": [result]}]}


def test_an_image_in_a_tools_result_is_kept_in_its_place() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    before, image = {"type": "text", "text": "Look:"}, {"type": "image", "source": source}
    assert accept(results(before, image), FACTS).messages[-1] == Message(
        "tool", "Look:", (Image("image/png", b"hi", at=5),), tool_call_id="c", name="shot"
    )


def test_another_kind_of_block_in_a_result_is_refused_by_its_name() -> None:
    with pytest.raises(BadRequest, match="'document'") as refused:
        accept(results({"type": "document", "source": {}}), FACTS)
    assert refused.value.param == "messages[1].content[0].content[0].type"


@pytest.mark.parametrize(
    ("choice", "several"),
    [
        ({"type": "tool", "name": "add"}, False),
        ({"type": "tool", "name": "add", "disable_parallel_tool_use": False}, True),
        ({"type": "auto"}, True),
    ],
)
def test_one_tool_that_must_be_called_is_called_once(choice: Any, several: bool) -> None:
    assert accept({**BODY, "tools": [TOOL], "tool_choice": choice}, FACTS).parallel_calls is several


def test_two_tools_cannot_have_one_name() -> None:
    with pytest.raises(BadRequest, match="two tools named 'add'"):
        accept({**BODY, "tools": [TOOL, TOOL]}, FACTS)
    strict = accept({**BODY, "tools": [{**TOOL, "strict": True}]}, FACTS)
    assert strict.tools[0].strict


def test_a_structured_output_is_a_constraint_of_the_answer() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    form = {"type": "json_schema", "schema": schema}
    config = {"output_config": {"format": form, "effort": "max"}}
    request = accept({**BODY, **config}, FACTS)
    assert request.constraint == Constraint("json_schema", json.dumps(schema))
    assert request.constraint.param == "output_config.format.schema"
    assert dict(request.template_options)["reasoning_effort"] == "high"
    assert accept({**BODY, "output_format": form}, FACTS).constraint == request.constraint


def test_an_answer_that_was_begun_is_gone_on_with() -> None:
    begun = [*BODY["messages"], {"role": "assistant", "content": "So"}]
    assert accept({**BODY, "messages": begun}, FACTS).continues
    assert not accept(BODY, FACTS).continues


def test_a_tool_of_the_provider_is_left_out_with_a_word_about_it() -> None:
    hosted = [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "bash_20250124", "name": "bash"},
    ]
    request = accept({**BODY, "tools": [*hosted, TOOL]}, FACTS)
    assert [tool.name for tool in request.tools] == ["add"]
    assert request.tools[0].param == "tools[2].input_schema"
    assert len(request.warnings) == 2


EVENT: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)
EVENTS: tuple[Event, ...] = (
    ReasoningDelta("hm"),
    TextDelta("So"),
    CallOpened(0, "c", "add"),
    CallArguments(0, '{"a": '),
    CallArguments(0, "1}"),
    ClientToolCall(ToolCall("c", "add", {"a": 1})),
    Finished("tool_calls", Usage(prompt_tokens=7, cached_tokens=3, completion_tokens=5)),
)


async def test_a_stream_opens_and_closes_its_blocks() -> None:
    frames = [frame async for frame in render(replay(*EVENTS), {}, FACTS)]
    told = [json.loads(frame.split(b"data: ", 1)[1]) for frame in frames]
    assert [EVENT.validate_python(one).type for one in told] == [
        "message_start",
        *("content_block_start", "content_block_delta", "content_block_stop") * 2,
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert told[-2]["delta"]["stop_reason"] == "tool_use"


async def test_a_whole_message() -> None:
    reply = await collect(replay(*EVENTS), {}, FACTS)
    message = Told.model_validate(reply.body)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert reply.body["content"][2]["input"] == {"a": 1}
    assert (message.usage.input_tokens, message.usage.cache_read_input_tokens) == (4, 3)


async def test_a_call_that_was_not_streamed_is_told_whole() -> None:
    call = ClientToolCall(ToolCall("c", "add", {"a": 1}))
    reply = await collect(replay(call, Finished("tool_calls")), {}, FACTS)
    assert reply.body["content"][0]["input"] == {"a": 1}


async def test_a_failure_in_the_stream_and_before_it() -> None:
    gone = Failed(EngineCrashed("Gone."))
    frames = [frame async for frame in render(replay(gone), {}, FACTS)]
    assert json.loads(frames[-1].split(b"data: ", 1)[1])["error"]["message"] == "Gone."
    reply = await collect(replay(gone), {}, FACTS)
    assert (reply.status, reply.body["error"]["type"]) == (502, "api_error")


def test_errors_have_anthropic_types() -> None:
    assert failed(ModelNotFound("x", ())).body["error"]["type"] == "not_found_error"
    assert failed(ContextOverflow(9, 4)).body["error"]["type"] == "invalid_request_error"
    hidden = failed(RuntimeError("secret"))
    assert (hidden.status, "secret" in str(hidden.body)) == (500, False)


async def test_a_stop_text_that_was_met_is_named() -> None:
    events = (TextDelta("So"), Finished("stop", stop_text="END"))
    reply = await collect(replay(*events), {}, FACTS)
    frames = [frame async for frame in render(replay(*events), {}, FACTS)]
    told = json.loads(frames[-2].split(b"data: ", 1)[1])["delta"]
    for ended in (reply.body, told):
        assert (ended["stop_reason"], ended["stop_sequence"]) == ("stop_sequence", "END")


def test_an_overflow_has_the_words_that_clients_look_for() -> None:
    told = failed(ContextOverflow(9000, 8191, 8192)).body["error"]
    assert told["message"] == "prompt is too long: 9000 tokens > 8191 maximum"
    assert told["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "thread",
    [{"type": "create"}, {"type": "continue", "previous_message_id": "msg_56f5a80971284f7f"}],
)
def test_a_thread_is_refused_so_that_the_package_sends_the_whole_conversation(
    thread: dict[str, str],
) -> None:
    """The tool runner of the package 2.9 asks for a thread first. Only these details make it go on
    without one; an answer would have it send the tools' results alone."""
    with pytest.raises(BadRequest) as refused:
        accept({**BODY, "thread": thread}, FACTS)
    reply = failed(refused.value)
    assert reply.status == 400
    assert reply.body["error"]["type"] == "invalid_request_error"
    assert reply.body["error"]["details"] == {
        "error_code": "thread_unsupported_request",
        "unsupported": ["thread"],
    }
    assert accept({**BODY, "thread": None}, FACTS).messages


def test_documents_of_text_and_search_results_are_read() -> None:
    blocks = [
        {"type": "document", "title": "Sky", "context": "A note.", "citations": {"enabled": True},
         "source": {"type": "text", "media_type": "text/plain", "data": "It is green."}},
        {"type": "document", "source": {"type": "content", "content": [
            {"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]}},
        {"type": "search_result", "source": "https://x.test", "title": "Sea", "content": [
            {"type": "text", "text": "It is blue."}]},
        {"type": "text", "text": "Which colour?"},
    ]  # fmt: skip
    request = accept({**BODY, "messages": [{"role": "user", "content": blocks}]}, FACTS)
    written = "Sky\nA note.\nIt is green.\n\nOne.\nTwo.\n\nSea\nIt is blue.\n\nWhich colour?"
    assert request.messages == (Message("user", written),)


@pytest.mark.parametrize("kind", ["base64", "url", "file", None, 7])
def test_a_document_that_is_no_text_is_refused_by_its_place(kind: Any) -> None:
    block = {"type": "document", "source": {"type": kind, "data": "JVBERi0="}}
    with pytest.raises(BadRequest) as refused:
        accept({**BODY, "messages": [{"role": "user", "content": [block]}]}, FACTS)
    assert refused.value.param == "messages[0].content[0].source.type"
