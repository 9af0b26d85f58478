"""An event stream is read whatever its cuts, and an answer whatever its gaps."""

from collections.abc import AsyncIterator

import pytest

from server.chat import ToolCall
from server.engine.elsewhere.engine import RemoteAnswer, data_lines
from server.events import CallArguments, CallOpened, Finished, TextDelta, ToolCallRequested, Usage

STREAM = 'event: x\ndata: {"a": "ü"}\r\n\n: note\n\ndata:[DONE]\n\n'.encode()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_lines_are_whole_in_any_cut(size: int) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(STREAM), size):
            yield STREAM[at : at + size]

    assert [line async for line in data_lines(chunks())] == ['{"a": "ü"}', "[DONE]"]


def test_a_call_that_the_server_ends_with_stop_is_still_a_call() -> None:
    answer = RemoteAnswer()
    call = {"index": 0, "function": {"name": "now", "arguments": "{}"}}
    pieces = answer.feed({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "stop"}]})
    assert pieces == [CallOpened(0, "call_0", "now"), CallArguments(0, "{}")]
    assert answer.finish() == [
        ToolCallRequested(ToolCall("call_0", "now", {})),
        Finished("tool_calls", Usage()),
    ]


def test_empty_fields_are_nothing() -> None:
    answer = RemoteAnswer()
    empty = {"delta": {"content": None, "tool_calls": None}, "logprobs": None}
    assert answer.feed({"choices": [empty], "usage": None}) == []
    assert answer.feed({"choices": [{"delta": None, "finish_reason": "content_filter"}]}) == []
    assert answer.feed({"choices": [{"delta": {"content": "late"}}]}) == [TextDelta("late")]
    assert answer.finish() == [Finished("stop", Usage())]
