"""Runs the ollama package, unmodified, against a running Moat."""

import json
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from ollama import Client, ResponseError

from tests.kit.running import Moat

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


def test_what_runs_says_which_file_it_is_and_until_when(client: Client) -> None:
    client.generate(model=NAME, keep_alive="30m")
    (running,) = [model for model in client.ps().models if model.model == NAME]
    (listed,) = [model for model in client.list().models if model.model == NAME]
    assert len(running.digest or "") == 64
    assert running.digest == listed.digest
    assert running.expires_at
    assert running.expires_at > datetime.now(UTC)
    client.generate(model=NAME, keep_alive=-1)


def test_a_model_is_copied_made_used_and_deleted(client: Client) -> None:
    client.copy(NAME, "second-name")
    made = client.create("brief", from_="second-name", system="Be brief.", parameters={"seed": 1})
    assert made.status == "success"
    assert "Be brief." in (client.show("brief").modelfile or "")
    assert client.chat(model="brief", messages=ASK, options=SHORT).message.content
    for name in ("brief", "second-name"):
        client.delete(name)
        with pytest.raises(ResponseError, match="not found"):
            client.show(name)
    with pytest.raises(ResponseError, match="belongs to another program"):
        client.delete(NAME)


def test_both_forms_of_embeddings_agree(client: Client) -> None:
    (new,) = client.embed(NAME, "A moat.").embeddings
    assert list(client.embeddings(NAME, "A moat.").embedding) == pytest.approx(list(new))


def test_the_question_ollamas_documentation_sends_by_curl_is_answered(moat: Moat) -> None:
    asked = {"model": NAME, "prompt": "Hi", "stream": False, "options": {"num_predict": 2}}
    form = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "curl/8.5.0"}
    for headers in (form, {**form, "Content-Type": "text/plain"}):
        request = urllib.request.Request(
            f"{moat.address}/api/generate", json.dumps(asked).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=180) as reply:
            assert json.load(reply)["done"]
