"""A request as an OpenAI-compatible server reads it."""

from dataclasses import replace
from typing import Literal

import pytest

from server.chat import (
    ChatRequest,
    Constraint,
    Image,
    Message,
    Sampling,
    Tool,
    ToolCall,
    ToolChoice,
)
from server.engine.elsewhere.engine import body_of
from server.errors import NotSupported

CALL = ToolCall("c1", "add", {"a": 1})
EVERYTHING = ChatRequest(
    (
        Message("user", "look", images=(Image("image/png", b"png", at=4),)),
        Message("assistant", "", tool_calls=(CALL,), reasoning="hm"),
        Message("tool", "4", tool_call_id="c1"),
    ),
    tools=(Tool("add", "adds", {"type": "object"}), Tool("other", "", {})),
    tool_choice=ToolChoice("required", ("add",)),
    sampling=Sampling(temperature=0, top_k=7, seed=3, logit_bias=((5, -100.0),)),
    max_tokens=9,
    stop=("END",),
    constraint=Constraint("json_schema", '{"type": "object"}'),
    top_logprobs=2,
    template_options=(("enable_thinking", False),),
)


def test_what_is_asked_is_sent() -> None:
    schema = {"name": "answer", "schema": {"type": "object"}, "strict": True}
    function = {"name": "add", "description": "adds", "parameters": {"type": "object"}}
    sent = body_of(EVERYTHING, "large")
    del sent["messages"]
    assert sent == {
        "model": "large",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "top_p": 0.95,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        "top_k": 7,
        "seed": 3,
        "logit_bias": {"5": -100.0},
        "max_tokens": 9,
        "stop": ["END"],
        "logprobs": True,
        "top_logprobs": 2,
        "chat_template_kwargs": {"enable_thinking": False},
        "response_format": {"type": "json_schema", "json_schema": schema},
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
        "parallel_tool_calls": True,
    }


def test_messages_keep_their_pictures_calls_and_thoughts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}
    asked = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    answer = {"role": "assistant", "content": "", "tool_calls": [asked], "reasoning_content": "hm"}
    assert body_of(EVERYTHING, "large")["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
        answer,
        {"role": "tool", "content": "4", "tool_call_id": "c1"},
    ]


@pytest.mark.parametrize(
    "request_",
    [
        ChatRequest(prompt="go", constraint=Constraint("json_schema", "{}")),
        ChatRequest((Message("user", "hi"),), constraint=Constraint("regex", ".*")),
    ],
)
def test_a_constraint_it_cannot_keep_is_refused(request_: ChatRequest) -> None:
    with pytest.raises(NotSupported):
        body_of(request_, "large")


@pytest.mark.parametrize(
    ("choice", "sent"),
    [(ToolChoice(), "auto"), (ToolChoice("required"), "required"), (ToolChoice("none"), None)],
)
def test_the_choice_of_tools_is_kept(choice: ToolChoice, sent: str | None) -> None:
    request = ChatRequest(tools=(Tool("add", "", {}),), tool_choice=choice)
    assert body_of(request, "large").get("tool_choice") == sent


def test_llama_server_reads_the_prompt_anew_where_a_seed_is_to_repeat() -> None:
    assert body_of(EVERYTHING, "m", "llama-server")["cache_prompt"] is False
    assert "cache_prompt" not in body_of(EVERYTHING, "m", "vllm")
    assert "cache_prompt" not in body_of(ChatRequest(EVERYTHING.messages), "m", "llama-server")


@pytest.mark.parametrize("kind", ["", "llama-server", "vllm"])
@pytest.mark.parametrize("mode", ["auto", "required"])
def test_vllm_binds_the_calls_that_must_be_made(kind: str, mode: Literal["auto", "required"]):
    request = replace(EVERYTHING, tool_choice=ToolChoice(mode))
    sent = [tool["function"].get("strict") for tool in body_of(request, "m", kind)["tools"]]
    is_bound = kind == "vllm" and mode == "required"
    assert sent == [True if is_bound else None] * 2
