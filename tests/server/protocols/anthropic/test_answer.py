"""Our events in Anthropic's messages."""

import json

from anthropic.types import Message as Told
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter

from server.chat import ToolCall
from server.errors import ContextOverflow, EngineCrashed, ModelNotFound
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
from server.protocols.anthropic.answer import collect, failed, render
from server.protocols.base import Facts
from tests.kit.engines import replay

FACTS = Facts("", default_model="small")
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
