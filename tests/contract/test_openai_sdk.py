"""The openai package, unmodified, against a running Moat."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionToolParam

from tests.running import Moat

ADD: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {"name": "add", "description": "Add.", "parameters": ADD},
}


@pytest.fixture
def client(moat: Moat) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{moat.address}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def model(client: OpenAI) -> str:
    return client.models.list().data[0].id


def test_the_streaming_helper_puts_a_call_together(client: OpenAI, model: str) -> None:
    with client.chat.completions.stream(
        model=model,
        messages=[{"role": "user", "content": "Add 2."}],
        tools=[TOOL],
        tool_choice="required",
        max_tokens=200,
    ) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert "tool_calls.function.arguments.delta" in kinds
    calls = final.choices[0].message.tool_calls
    assert calls
    assert 0 <= json.loads(calls[0].function.arguments)["a"] <= 99


@pytest.mark.parametrize("stream", [False, True])
def test_after_a_result_and_without_tools_plain_text_comes(
    client: OpenAI, model: str, stream: bool
) -> None:
    function = {"name": "add", "arguments": '{"a": 2}'}
    history: Any = [
        {"role": "user", "content": "Add 2."},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "4"},
    ]
    asked: Any = {"model": model, "messages": history, "tools": [TOOL], "tool_choice": "none"}
    answer: Any = client.chat.completions.create(
        **asked, max_tokens=20, temperature=0, stream=stream
    )
    if stream:
        text = "".join(chunk.choices[0].delta.content or "" for chunk in answer)
    else:
        text = answer.choices[0].message.content
    assert text
    assert "tool_calls" not in text


def test_a_conversation_goes_on_through_the_responses_api(client: OpenAI, model: str) -> None:
    tool: Any = {"type": "function", "name": "add", "parameters": ADD, "strict": True}
    first = client.responses.create(
        model=model, input="Add 2.", tools=[tool], tool_choice="required", max_output_tokens=200
    )
    call = next(item for item in first.output if item.type == "function_call")
    second = client.responses.create(
        model=model,
        previous_response_id=first.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "4"}],
        max_output_tokens=16,
    )
    assert second.output_text
    assert second.usage
    assert first.usage
    assert second.usage.input_tokens > 20


def test_responses_stream_through_the_helper(client: OpenAI, model: str) -> None:
    text = ""
    with client.responses.stream(model=model, input="Say hello.", max_output_tokens=24) as stream:
        for event in stream:
            text += event.delta if event.type == "response.output_text.delta" else ""
    assert text


def test_embeddings_come_as_unit_vectors(client: OpenAI, model: str) -> None:
    made = client.embeddings.create(model=model, input=["a", "b"], dimensions=64)
    lengths = [sum(value * value for value in one.embedding) for one in made.data]
    assert lengths == pytest.approx([1.0, 1.0], abs=1e-3)
    assert len(made.data[0].embedding) == 64
