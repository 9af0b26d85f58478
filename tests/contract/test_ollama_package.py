"""The ollama package, unmodified, against a running Moat."""

from collections.abc import Iterator

import pytest
from ollama import Client, ResponseError

from tests.running import Moat

NAME = "SmolLM2-135M-Instruct"
SHORT = {"num_predict": 12, "temperature": 0}
SWITCH = {
    "type": "function",
    "function": {
        "name": "switch",
        "description": "Switch the lamp.",
        "parameters": {
            "type": "object",
            "properties": {"on": {"type": "boolean"}},
            "required": ["on"],
        },
    },
}
ASK = [{"role": "user", "content": "Say hello."}]


@pytest.fixture
def client(moat: Moat) -> Iterator[Client]:
    with Client(host=moat.address) as client:
        yield client


def test_models_are_listed_and_shown(client: Client) -> None:
    assert NAME in [model.model for model in client.list().models]
    assert "tools" in (client.show(NAME).capabilities or [])


def test_a_chat_streams_and_comes_whole(client: Client) -> None:
    whole = client.chat(model=f"{NAME}:latest", messages=ASK, options=SHORT)
    parts = list(client.chat(model=NAME, messages=ASK, options=SHORT, stream=True))
    assert whole.message.content
    assert "".join(part.message.content or "" for part in parts) == whole.message.content
    assert parts[-1].done
    assert parts[-1].eval_count


def test_a_schema_binds_the_answer(client: Client) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
              "additionalProperties": False}  # fmt: skip
    answer = client.chat(model=NAME, messages=ASK, format=schema)
    assert answer.message.content in ('{"ok": true}', '{"ok": false}')


def test_tools_are_called_and_their_results_told(client: Client) -> None:
    options = {"num_predict": 120, "temperature": 0}
    answer = client.chat(model=NAME, messages=ASK, tools=[SWITCH], options=options)
    called = answer.message.tool_calls or []
    assert called or answer.message.content
    assert all(isinstance(call.function.arguments.get("on"), bool) for call in called)
    history = [
        *ASK,
        {"role": "assistant", "tool_calls": [
            {"function": {"name": "switch", "arguments": {"on": True}}}]},
        {"role": "tool", "tool_name": "switch", "content": "on"},
    ]  # fmt: skip
    assert client.chat(model=NAME, messages=history, options=SHORT).message.content


def test_a_prompt_is_completed(client: Client) -> None:
    answer = client.generate(model=NAME, prompt="Once upon", raw=True, options=SHORT)
    assert answer.response
    assert answer.done_reason == "length"


def test_an_unknown_model_is_refused_in_words(client: Client) -> None:
    with pytest.raises(ResponseError, match="no model 'nope'"):
        client.chat(model="nope", messages=ASK)
