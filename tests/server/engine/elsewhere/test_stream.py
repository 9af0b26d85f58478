"""An answer is read whatever its gaps."""

from server.chat import ToolCall
from server.engine.elsewhere.engine import RemoteAnswer
from server.events import CallArguments, CallOpened, Finished, TextDelta, ToolCallRequested, Usage


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
