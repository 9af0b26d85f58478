"""Runs the openai package, unmodified, against a running Moat."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from openai import BadRequestError, NotFoundError, OpenAI
from openai.types.chat import ChatCompletionToolParam

from tests.kit.running import Moat

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


def test_llama_cpps_and_vllms_constraints_are_kept_to(client: OpenAI, model: str) -> None:
    for extra, fits in (
        ({"grammar": 'root ::= "cat" | "dog"'}, "cat|dog"),
        ({"guided_choice": ["red", "blue"]}, "red|blue"),
        ({"structured_outputs": {"regex": "[0-9]{4}"}}, "[0-9]{4}"),
    ):
        answer = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Hi"}], extra_body=extra
        )
        assert re.fullmatch(fits, answer.choices[0].message.content or "")


def test_a_response_is_listed_hidden_from_other_keys_and_deleted(
    moat: Moat, client: OpenAI, model: str
) -> None:
    made = client.responses.create(model=model, input="Say hi.", max_output_tokens=3)
    (item,) = client.responses.input_items.list(made.id).data
    assert item.type == "message"
    with OpenAI(base_url=f"{moat.address}/v1", api_key="another", max_retries=0) as other:
        for use in (other.responses.retrieve, other.responses.delete, other.responses.cancel):
            with pytest.raises(NotFoundError):
                use(made.id)
    assert client.responses.input_tokens.count(model=model, input="Say hi.").input_tokens > 1
    client.responses.delete(made.id)
    with pytest.raises(NotFoundError):
        client.responses.retrieve(made.id)


def test_a_response_under_way_is_cancelled(client: OpenAI, model: str) -> None:
    stream = client.responses.create(
        model=model, input="Count.", stream=True, extra_body={"ignore_eos": True}
    )
    made, last = "", ""
    for event in stream:
        if event.type == "response.created":
            made = event.response.id
        elif event.type == "response.output_text.delta" and last != "cancelled":
            last = client.responses.cancel(made).status or ""
    assert last == "cancelled"
    assert client.responses.retrieve(made).status == "cancelled"


def test_tokens_are_taken_in_place_of_text(client: OpenAI, model: str) -> None:
    vectors = client.embeddings.create(model=model, input=[[1, 2, 3], [4]]).data
    assert len(vectors) == 2
    assert client.completions.create(model=model, prompt=[1, 2, 3], max_tokens=2).choices


def test_paths_work_without_v1(moat: Moat, model: str) -> None:
    with OpenAI(base_url=moat.address, api_key="none", max_retries=0) as client:
        assert client.models.list().data[0].id == model
        assert client.completions.create(model=model, prompt="a", max_tokens=1).choices
        assert client.embeddings.create(model=model, input="a").data


def test_a_schema_that_cannot_be_kept_is_named_by_its_path(client: OpenAI, model: str) -> None:
    parameters = {"type": "object", "properties": {"x": {"not": {}}}, "required": ["x"]}
    tool: Any = {"type": "function", "function": {"name": "add", "parameters": parameters}}
    with pytest.raises(BadRequestError) as refused:
        client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Hi"}], tools=[tool]
        )
    assert refused.value.param == "tools[0].function.parameters.properties.x.not"


def test_a_schema_that_nothing_fits_is_named_by_its_path(client: OpenAI, model: str) -> None:
    schema: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {}}}}
    with pytest.raises(BadRequestError) as refused:
        client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Hi"}], response_format=schema
        )
    assert refused.value.param == "response_format.json_schema.schema.not"


def test_a_tool_without_members_is_called_without_any(client: OpenAI, model: str) -> None:
    nothing = {"type": "object", "properties": {}}
    tool: Any = {"type": "function", "function": {"name": "now", "parameters": nothing}}
    answer = client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "What time is it?"}],
        tools=[tool],
        tool_choice="required",
        max_tokens=60,
    )
    calls: Any = answer.choices[0].message.tool_calls
    assert {call.function.arguments for call in calls} == {"{}"}


def test_a_hosted_tool_is_left_out_with_a_word_about_it(client: OpenAI, model: str) -> None:
    told = client.responses.with_raw_response.create(
        model=model, input="Hi", max_output_tokens=2, tools=[{"type": "web_search"}]
    )
    assert "web_search" in told.headers["X-Moat-Warning"]
    assert told.parse().output


def test_an_overflow_and_an_image_are_refused_once(client: OpenAI, model: str) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    for content, code in (("word " * 30000, "context_length_exceeded"), ([image], "not_supported")):
        messages: Any = [{"role": "user", "content": content}]
        with pytest.raises(BadRequestError) as refused:
            client.chat.completions.create(model=model, messages=messages)
        assert refused.value.code == code
