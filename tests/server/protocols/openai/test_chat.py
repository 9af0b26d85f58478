"""Chat completions: every frame is one OpenAI's own types accept, every bad field is named."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from server.chat import ChatRequest, Constraint, Message, ToolCall, ToolChoice
from server.errors import AppError, BadRequest, EngineCrashed
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    OfChoice,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.face.models import ModelCard
from server.protocols.base import KEEP_ALIVE, Facts
from server.protocols.openai.chat import accept, collect, render

FACTS = Facts("http://127.0.0.1", (ModelCard("small", "/m", 1),), "small", "1")
HI = [{"role": "user", "content": "Hi"}]
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
SUB = {"type": "function", "function": {"name": "sub"}}
CALL = ToolCall("call_1", "add", {"a": 1})
USED = Usage(prompt_tokens=7, cached_tokens=3, completion_tokens=5)
LOGPROB = TokenLogprob("hé", "hé".encode(), -0.5, (TokenLogprob("x", b"x", -1.0),))
TOOL_EVENTS: tuple[Event, ...] = (
    CallOpened(3, "call_1", "add"),
    CallArguments(3, '{"a": '),
    CallArguments(3, "1}"),
    ClientToolCall(CALL),
    Finished("tool_calls", USED),
)


async def replay(*events: Event | OfChoice) -> AsyncGenerator[Event | OfChoice, None]:
    for event in events:
        yield event


async def stream(body: dict[str, Any], *events: Event | OfChoice) -> list[dict[str, Any]]:
    frames = [frame async for frame in render(replay(*events), body, FACTS)]
    assert frames[-1] == b"data: [DONE]\n\n"
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in frames[:-1]]
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk, strict=True)
    return chunks


async def whole(body: dict[str, Any], *events: Event | OfChoice) -> ChatCompletion:
    reply = await collect(replay(*events), body, FACTS)
    assert reply.status == 200
    return ChatCompletion.model_validate(reply.body, strict=True)


def test_all_parameters_arrive() -> None:
    body = {
        "model": "small",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": part} for part in "ab"]},
        ],
        "temperature": 0, "top_p": 0.5, "seed": 4, "n": 2, "stop": ["x", ""], "user": "u",
        "max_tokens": 9, "max_completion_tokens": 8, "logprobs": True, "top_logprobs": 2,
        "logit_bias": {"5": -100}, "frequency_penalty": 1, "presence_penalty": -1,
        "parallel_tool_calls": False, "tools": [ADD, SUB], "tool_choice": "required",
        "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}},
        "chat_template_kwargs": {"enable_thinking": False}, "metadata": {"a": "b"}, "store": True,
        "n_gpu_layers": 7,
    }  # fmt: skip
    request = accept(body, FACTS)
    assert request.messages == (Message("system", "Be brief."), Message("user", "ab"))
    assert (request.model, request.choices, request.stop) == ("small", 2, ("x",))
    assert (request.max_tokens, request.top_logprobs, request.client) == (8, 2, "u")
    assert request.sampling.temperature == 0
    assert request.sampling.logit_bias == ((5, -100.0),)
    assert (request.sampling.seed, request.sampling.presence_penalty) == (4, -1.0)
    assert [tool.name for tool in request.tools] == ["add", "sub"]
    assert request.tool_choice == ToolChoice("required")
    assert not request.parallel_calls
    assert request.constraint == Constraint("json_schema", '{"type": "array"}', strict=False)
    assert request.template_options == (("enable_thinking", False),)


@pytest.mark.parametrize(
    ("given", "choice", "names"),
    [
        (None, ToolChoice(), ["add", "sub"]),
        ("none", ToolChoice("none"), ["add", "sub"]),
        ("auto", ToolChoice(), ["add", "sub"]),
        ({"type": "function", "function": {"name": "sub"}},
         ToolChoice("required", ("sub",)), ["add", "sub"]),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [ADD]}},
         ToolChoice("required"), ["add"]),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [SUB]}},
         ToolChoice(), ["sub"]),
    ],
)  # fmt: skip
def test_each_form_of_tool_choice(given: Any, choice: ToolChoice, names: list[str]) -> None:
    request = accept({"messages": HI, "tools": [ADD, SUB], "tool_choice": given}, FACTS)
    assert request.tool_choice == choice
    assert [tool.name for tool in request.tools] == names


def test_a_history_with_calls_and_results_is_read() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    history = [
        *HI,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
    ]
    request = accept({"messages": history}, FACTS)
    assert request.messages[1] == Message(
        "assistant", "", tool_calls=(ToolCall("c", "add", {"a": 1}),)
    )
    assert request.messages[2] == Message("tool", "2", tool_call_id="c", name="add")


def test_an_image_must_come_with_the_request() -> None:
    def ask(url: str) -> ChatRequest:
        part = {"type": "image_url", "image_url": {"url": url}}
        return accept({"messages": [{"role": "user", "content": [part]}]}, FACTS)

    assert ask("data:image/png;base64,YWI=").messages[0].images[0].data == b"ab"
    with pytest.raises(BadRequest, match="nothing is fetched"):
        ask("https://example.com/cat.png")
    with pytest.raises(BadRequest, match="base64"):
        ask("data:image/png;base64,%%%")


async def test_any_text_comes_as_it_was_said() -> None:
    texts = ['"quoted" \\ back', "line\nend\u2028 \x00\x1f", "é 😀", "</script>", "half \ud800", ""]
    body = {"model": 'a "named" one', "stream_options": {"include_usage": True}}
    first, *said, _ = await stream(body, *map(TextDelta, texts))
    assert [one["choices"][0]["delta"]["content"] for one in said] == [
        text.replace("\ud800", "?") for text in texts
    ]
    for one in said:
        assert one == first | {
            "choices": [{**first["choices"][0], "delta": one["choices"][0]["delta"]}]
        }


async def test_text_streams_as_chunks_of_one_answer() -> None:
    events = (TextDelta("Hel"), TextDelta("lo"), Finished("stop", USED))
    chunks = await stream({}, *events)
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    said = [chunk["choices"][0]["delta"].get("content") for chunk in chunks]
    assert said == ["", "Hel", "lo", None]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all("usage" not in chunk for chunk in chunks)


async def test_usage_comes_last_when_asked_for() -> None:
    body = {"stream_options": {"include_usage": True}}
    chunks = await stream(body, TextDelta("x"), Finished("stop", USED))
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 12
    assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * 3


async def test_a_call_streams_its_name_once_then_its_arguments() -> None:
    chunks = await stream({"tools": [ADD]}, *TOOL_EVENTS)
    calls = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in chunks[1:-1]]
    assert calls == [
        {"index": 0, "id": "call_1", "type": "function",
         "function": {"name": "add", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a": '}},
        {"index": 0, "function": {"arguments": "1}"}},
    ]  # fmt: skip
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_call_that_was_not_streamed_is_sent_whole() -> None:
    chunks = await stream({}, ClientToolCall(CALL), Finished("tool_calls"))
    arguments = "".join(
        chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]
        for chunk in chunks[1:-1]
    )
    assert json.loads(arguments) == CALL.arguments


async def test_several_answers_keep_apart() -> None:
    events = (
        OfChoice(0, TextDelta("a")),
        OfChoice(1, TextDelta("b")),
        OfChoice(1, Finished("stop", USED)),
        OfChoice(0, Finished("length", USED)),
    )
    answer = await whole({"n": 2}, *events)
    assert [choice.message.content for choice in answer.choices] == ["a", "b"]
    assert [choice.finish_reason for choice in answer.choices] == ["length", "stop"]
    assert answer.usage
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 10)
    chunks = await stream({"n": 2}, *events)
    assert [chunk["choices"][0]["index"] for chunk in chunks] == [0, 1, 0, 1, 1, 0]


async def test_a_whole_answer_has_thoughts_text_and_log_probabilities() -> None:
    events = (ReasoningDelta("hm"), TextDelta("hé", (LOGPROB,)), Finished("stop", USED))
    answer = await whole({"model": "small"}, *events)
    choice = answer.choices[0]
    assert choice.message.content == "hé"
    assert choice.message.model_extra == {"reasoning_content": "hm"}
    assert choice.logprobs
    assert choice.logprobs.content
    assert choice.logprobs.content[0].bytes == list("hé".encode())
    assert choice.logprobs.content[0].top_logprobs[0].token == "x"
    chunks = await stream({}, *events)
    assert chunks[1]["choices"][0]["delta"] == {"reasoning_content": "hm"}
    assert chunks[2]["choices"][0]["logprobs"]["content"][0]["logprob"] == -0.5


async def test_a_whole_answer_with_calls() -> None:
    answer = await whole({"tools": [ADD]}, *TOOL_EVENTS)
    message = answer.choices[0].message
    assert message.content is None
    assert message.tool_calls
    assert message.tool_calls[0].model_dump() == {
        "id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'},
    }  # fmt: skip


async def test_old_functions_are_answered_in_their_old_form() -> None:
    body = {"messages": HI, "functions": [ADD["function"]], "function_call": {"name": "add"}}
    request = accept(body, FACTS)
    assert request.tool_choice == ToolChoice("required", ("add",))
    answer = await whole(body, *TOOL_EVENTS)
    assert answer.choices[0].finish_reason == "function_call"
    assert answer.choices[0].message.function_call
    assert answer.choices[0].message.function_call.arguments == '{"a": 1}'
    chunks = await stream(body, *TOOL_EVENTS)
    assert chunks[1]["choices"][0]["delta"] == {"function_call": {"name": "add", "arguments": ""}}


async def test_a_failure_in_the_stream_is_an_error_object_and_the_end() -> None:
    events = replay(TextDelta("x"), Failed(EngineCrashed("The engine ended.")))
    frames = [frame async for frame in render(events, {}, FACTS)]
    told = json.loads(frames[-1].removeprefix(b"data: "))
    assert told == {
        "error": {"message": "The engine ended.", "type": "server_error", "param": None,
                  "code": "engine_crashed"}
    }  # fmt: skip


async def test_a_failure_of_a_whole_answer_has_its_status() -> None:
    reply = await collect(replay(Failed(AppError("No."))), {}, FACTS)
    assert (reply.status, reply.body["error"]["code"]) == (500, None)


async def test_reading_a_long_prompt_keeps_the_connection_alive() -> None:
    events = replay(PromptProgress(1, 2), Finished("stop"))
    assert KEEP_ALIVE in [frame async for frame in render(events, {}, FACTS)]


async def test_a_tool_of_a_provider_is_left_out_with_a_word_about_it() -> None:
    custom = {"type": "custom", "custom": {"name": "query"}}
    add = {"type": "function", "function": {"name": "add"}}
    body = {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [custom, add],
        "tool_choice": "auto",
        "web_search_options": {"search_context_size": "low"},
    }
    request = accept(body, FACTS)
    assert [tool.name for tool in request.tools] == ["add"]
    tool, option = request.warnings
    assert "'query' (custom)" in tool
    assert "'web_search_options'" in option
    reply = await collect(replay(TextDelta("x"), Finished("stop", USED)), body, FACTS)
    assert reply.body["warnings"] == list(request.warnings)
    frames = [frame async for frame in render(replay(Finished("stop", USED)), body, FACTS)]
    assert b'"warnings": [' in frames[0]


def test_no_limit_is_said_by_minus_one() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    assert accept({**body, "max_tokens": -1}, FACTS).max_tokens is None
    assert accept({**body, "max_completion_tokens": -1, "max_tokens": 5}, FACTS).max_tokens is None
    assert accept({**body, "n_predict": 7}, FACTS).max_tokens == 7


def test_a_begun_answer_is_gone_on_with() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "So"}]
    assert accept({"messages": messages, "continue_final_message": True}, FACTS).continues
    assert not accept({"messages": messages}, FACTS).continues
    called = {**messages[1], "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    with pytest.raises(BadRequest):
        accept({"messages": [called], "continue_final_message": True}, FACTS)
