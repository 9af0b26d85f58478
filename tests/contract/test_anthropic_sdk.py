"""Runs the anthropic package, unmodified, against a running Moat."""

import json
from collections.abc import Iterator

import httpx
import pytest
from anthropic import Anthropic, BadRequestError, NotFoundError, beta_tool
from anthropic.types import MessageParam, ToolParam

from tests.kit.running import Moat

NAME = "SmolLM2-135M-Instruct"
SWITCH: ToolParam = {
    "name": "switch",
    "description": "Switch the lamp.",
    "input_schema": {
        "type": "object",
        "properties": {"on": {"type": "boolean"}},
        "required": ["on"],
    },
}
ASK: list[MessageParam] = [{"role": "user", "content": "Switch the lamp on."}]


@pytest.fixture
def client(moat: Moat) -> Iterator[Anthropic]:
    with Anthropic(base_url=moat.address, api_key="none", max_retries=0) as client:
        yield client


def test_a_message_is_answered(client: Anthropic) -> None:
    answer = client.messages.create(model=NAME, max_tokens=8, system="Be brief.", messages=ASK)
    assert answer.content[0].type == "text"
    assert answer.stop_reason in ("end_turn", "max_tokens")
    assert answer.usage.output_tokens > 0


def test_a_tool_is_used_and_its_result_told(client: Anthropic) -> None:
    with client.messages.stream(
        model=NAME,
        max_tokens=400,
        messages=ASK,
        tools=[SWITCH],
        tool_choice={"type": "any"},
        extra_body={"temperature": 0},
    ) as stream:
        answer = stream.get_final_message()
    used = answer.content[-1]
    assert answer.stop_reason == "tool_use"
    assert used.type == "tool_use"
    assert isinstance(used.input, dict)
    assert isinstance(used.input["on"], bool)
    history: list[MessageParam] = [
        *ASK,
        {"role": "assistant", "content": [block.model_dump() for block in answer.content]},  # type: ignore[list-item,misc]
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": used.id, "content": "on"}]},
    ]  # fmt: skip
    told = client.messages.create(
        model=NAME,
        max_tokens=8,
        messages=history,
        tools=[SWITCH],
        tool_choice={"type": "none"},
        extra_body={"temperature": 0},
    )
    assert told.content


def test_a_path_without_its_version_is_answered_too(moat: Moat) -> None:
    """DSPy takes the address as it is and adds /messages to it."""
    with httpx.Client(base_url=moat.address) as web:
        body = {"model": NAME, "max_tokens": 2, "messages": ASK}
        assert web.post("/messages", json=body).json()["type"] == "message"
        refused = web.post("/messages", json={**body, "model": "none"})
        assert refused.json()["error"]["type"] == "not_found_error"


def test_tokens_are_counted(client: Anthropic) -> None:
    assert client.messages.count_tokens(model=NAME, messages=ASK).input_tokens > 5


def test_an_unknown_model_is_not_found(client: Anthropic) -> None:
    with pytest.raises(NotFoundError, match="no model 'nope'"):
        client.messages.create(model="nope", max_tokens=8, messages=ASK)


def test_a_structured_output_fits_its_schema(client: Anthropic) -> None:
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    answer = client.messages.create(
        model=NAME,
        max_tokens=60,
        messages=ASK,
        output_config={"format": {"type": "json_schema", "schema": schema}},
    )
    assert answer.content[0].type == "text"
    assert isinstance(json.loads(answer.content[0].text)["on"], bool)


def test_an_answer_that_was_begun_is_gone_on_with(client: Anthropic) -> None:
    begun: list[MessageParam] = [*ASK, {"role": "assistant", "content": "1, 2, 3,"}]
    answer = client.messages.create(model=NAME, max_tokens=4, messages=begun)
    assert answer.content[0].type == "text"
    assert not answer.content[0].text.startswith("1,")


def test_models_are_listed_in_anthropics_shape(client: Anthropic) -> None:
    (model,) = client.models.list()
    assert (model.type, model.id, client.models.retrieve(NAME).display_name) == (
        "model",
        NAME,
        NAME,
    )
    with pytest.raises(NotFoundError):
        client.models.retrieve("none")


def test_a_server_tool_is_left_out_and_an_overflow_has_anthropics_words(client: Anthropic) -> None:
    answer = client.messages.create(
        model=NAME,
        max_tokens=2,
        messages=ASK,
        tools=[{"type": "web_search_20250305", "name": "web_search"}],
    )
    assert answer.model_extra
    assert "web_search" in answer.model_extra["warnings"][0]
    with pytest.raises(BadRequestError, match=r"prompt is too long: \d+ tokens > \d+ maximum"):
        client.messages.create(
            model=NAME, max_tokens=2, messages=[{"role": "user", "content": "word " * 30000}]
        )


def test_the_tool_runner_sends_the_results_with_the_whole_conversation(client: Anthropic) -> None:
    """It asks the server to keep the conversation first, and goes on without that."""

    @beta_tool
    def switch(on: bool) -> str:
        """Switch the lamp."""
        return f"switched: {on}"

    runner = client.beta.messages.tool_runner(
        model=NAME,
        max_tokens=200,
        messages=ASK,
        tools=[switch],
        tool_choice={"type": "any"},
        max_iterations=2,
    )
    assert [answer.stop_reason for answer in runner] == ["tool_use", "tool_use"]
