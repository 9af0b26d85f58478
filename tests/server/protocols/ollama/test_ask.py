"""What Ollama's clients send becomes our requests."""

from typing import Any

import pytest

from server.chat import ChatRequest, Constraint, Message, ToolCall
from server.errors import BadRequest, ModelNotFound
from server.face import ModelCard
from server.protocols.base import Facts, Reply
from server.protocols.ollama.ask import accept_chat, accept_generate, streams

FACTS = Facts("", (ModelCard("small", "/s", 1),), "small")
HI = [{"role": "user", "content": "Hi"}]


def chat(**more: Any) -> ChatRequest:
    request = accept_chat({"model": "small:latest", "messages": HI, **more}, FACTS)
    assert isinstance(request, ChatRequest)
    return request


def test_options_and_format_arrive() -> None:
    options = {"temperature": 0, "top_k": 5, "num_predict": 9, "stop": ["x"], "num_ctx": 4096}
    request = chat(options=options, format={"type": "array"}, think=False)
    assert (request.model, request.max_tokens, request.stop) == ("small", 9, ("x",))
    assert (request.sampling.temperature, request.sampling.top_k) == (0, 5)
    assert request.constraint == Constraint("json_schema", '{"type": "array"}')
    assert request.template_options == (("enable_thinking", False),)
    assert f'"{10**400}"' in chat(format={"minimum": 10**400}).constraint.source
    assert chat(format="json").constraint == Constraint("json_schema", '{"type": "object"}')
    assert chat(options={"num_predict": -1}).max_tokens is None


def test_results_answer_the_calls_before_them() -> None:
    call = {"function": {"name": "add", "arguments": {"a": 1}}}
    other = {"function": {"name": "sub", "arguments": {}}}
    history = [
        *HI,
        {"role": "assistant", "content": "", "tool_calls": [call, other]},
        {"role": "tool", "tool_name": "sub", "content": "0"},
        {"role": "tool", "content": "2"},
    ]
    request = chat(messages=history)
    assert request.messages[1].tool_calls[0] == ToolCall("call_1_0", "add", {"a": 1})
    assert request.messages[2] == Message("tool", "0", tool_call_id="call_1_1", name="sub")
    assert request.messages[3] == Message("tool", "2", tool_call_id="call_1_0", name="add")


def test_a_prompt_is_a_question_or_raw_text() -> None:
    asked = accept_generate({"prompt": "Hi", "system": "Be brief."}, FACTS)
    assert isinstance(asked, ChatRequest)
    assert asked.messages == (Message("system", "Be brief."), Message("user", "Hi"))
    raw = accept_generate({"prompt": "Hi", "raw": True}, FACTS)
    assert isinstance(raw, ChatRequest)
    assert raw.prompt == "Hi"


def test_nothing_to_say_only_loads_the_model() -> None:
    loaded = accept_chat({"model": "small", "messages": []}, FACTS)
    assert isinstance(loaded, Reply)
    assert loaded.body["done_reason"] == "load"


def test_it_streams_unless_told_not_to() -> None:
    assert streams({})
    assert not streams({"stream": False})


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelNotFound):
        chat(model="big")


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"content": "x"}]},
        {"messages": [{"role": "tool", "content": "1"}]},
        {"messages": [{"role": "user", "content": "x", "images": [5]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
        {"options": []},
        {"options": {"num_predict": "x"}},
        {"format": 5},
        {"think": []},
    ],
)
def test_a_wrong_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        chat(**change)


def test_log_probabilities_are_asked_for_beside_the_options() -> None:
    assert chat(logprobs=True, top_logprobs=3).top_logprobs == 3
    assert chat(logprobs=True).top_logprobs == 0
    assert chat().top_logprobs is None


@pytest.mark.parametrize(
    ("think", "options"),
    [
        (None, {}),
        (True, {"enable_thinking": True}),
        (False, {"enable_thinking": False}),
        ("high", {"reasoning_effort": "high", "enable_thinking": True}),
    ],
)
def test_how_hard_to_think_reaches_the_template(think: object, options: dict[str, Any]) -> None:
    assert dict(chat(think=think).template_options) == options


@pytest.mark.parametrize(
    ("given", "arguments"),
    [({}, {}), ({"arguments": None}, {}), ({"arguments": '{"a": 1}'}, {"a": 1})],
)
def test_an_earlier_calls_arguments_are_read(given: Any, arguments: dict[str, Any]) -> None:
    call = {"function": {"name": "now", **given}}
    request = chat(messages=[{"role": "assistant", "tool_calls": [call]}])
    assert request.messages[0].tool_calls[0].arguments == arguments


def test_an_image_in_a_tools_result_is_kept() -> None:
    calls = [{"function": {"name": "shot"}}]
    asked = {"role": "assistant", "tool_calls": calls}
    result = {"role": "tool", "content": "Look:", "images": ["aGk="]}
    assert chat(messages=[asked, result]).messages[-1].images[0].data == b"hi"
