"""Our events in Ollama's lines."""

import json
from typing import Any

from ollama import ChatResponse, GenerateResponse

from server.chat import ToolCall
from server.errors import EngineCrashed
from server.events import (
    ClientToolCall,
    Event,
    Failed,
    Finished,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.protocols.base import Facts
from server.protocols.ollama.answer import (
    collect_chat,
    collect_generate,
    render_chat,
    render_generate,
)
from tests.kit.engines import replay

FACTS = Facts("", default_model="small")
EVENTS: tuple[Event, ...] = (
    ReasoningDelta("hm"),
    TextDelta("Hel"),
    TextDelta("lo"),
    ClientToolCall(ToolCall("c", "add", {"a": 1})),
    Finished("tool_calls", Usage(7, 0, 5, 0, 0.5, 0.25)),
)


async def test_a_chat_comes_line_by_line() -> None:
    frames = [frame async for frame in render_chat(replay(*EVENTS), {}, FACTS)]
    lines = [ChatResponse.model_validate_json(frame) for frame in frames]
    assert [line.message.content for line in lines] == ["", "Hel", "lo", "", ""]
    assert lines[0].message.thinking == "hm"
    assert lines[3].message.tool_calls
    assert lines[3].message.tool_calls[0].function.arguments == {"a": 1}
    assert (lines[-1].done, lines[-1].done_reason, lines[-1].eval_count) == (True, "stop", 5)
    assert lines[-1].prompt_eval_duration == 500_000_000


async def test_a_chat_comes_whole() -> None:
    reply = await collect_chat(replay(*EVENTS), {"model": "small"}, FACTS)
    whole = ChatResponse.model_validate(reply.body)
    assert (whole.message.content, whole.message.thinking) == ("Hello", "hm")
    assert whole.message.tool_calls
    assert whole.prompt_eval_count == 7


async def test_a_completion_comes_both_ways() -> None:
    events = (TextDelta("a"), TextDelta("b"), Finished("length", Usage(1, 0, 2)))
    frames = [frame async for frame in render_generate(replay(*events), {}, FACTS)]
    lines = [GenerateResponse.model_validate_json(frame) for frame in frames]
    assert "".join(line.response for line in lines) == "ab"
    assert lines[-1].done_reason == "length"
    reply = await collect_generate(replay(*events), {}, FACTS)
    assert GenerateResponse.model_validate(reply.body).response == "ab"


async def test_a_failure_is_told() -> None:
    failed = Failed(EngineCrashed("Gone."))
    frames = [frame async for frame in render_chat(replay(failed), {}, FACTS)]
    line: dict[str, Any] = json.loads(frames[-1])
    assert line["error"] == "Gone."
    reply = await collect_chat(replay(failed), {}, FACTS)
    assert (reply.status, reply.body) == (502, {"error": "Gone."})


async def test_log_probabilities_come_with_the_text_both_ways() -> None:
    token = TokenLogprob("a", b"a", -0.5, (TokenLogprob("b", b"b", -1.5),))
    events = (TextDelta("a", (token,)), TextDelta("a", (token,)), Finished("stop", Usage()))
    frames = [frame async for frame in render_chat(replay(*events), {}, FACTS)]
    streamed = [ChatResponse.model_validate_json(frame).logprobs for frame in frames]
    whole = ChatResponse.model_validate((await collect_chat(replay(*events), {}, FACTS)).body)
    written = (await collect_generate(replay(*events), {}, FACTS)).body
    assert [len(found or ()) for found in streamed] == [1, 1, 0]
    assert whole.logprobs
    assert [one.logprob for one in whole.logprobs] == [-0.5, -0.5]
    assert written["logprobs"][0]["top_logprobs"][0]["token"] == "b"
