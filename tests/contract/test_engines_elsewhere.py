"""Runs Moat in front of llama.cpp's own server: two real programs, called as clients do."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.kit.far_server import ALIAS, LlamaServer, started
from tests.kit.running import Moat, serving, until

Json = dict[str, Any]
USER = {"role": "user", "content": "Say hello."}
CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "enum": ["Oslo", "Rome"]},
        "days": {"$ref": "#/$defs/n"},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
    "$defs": {"n": {"type": "integer", "minimum": 1, "maximum": 9}},
}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": CITY}}
TIME = {"type": "function", "function": {"name": "time", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"MOAT_HOME": str(tmp_path_factory.mktemp("home"))}


@pytest.fixture(scope="module")
def far(starter_model: Path) -> Iterator[LlamaServer]:
    with started(starter_model) as server:
        yield server


@pytest.fixture(scope="module")
def moat(far: LlamaServer, home: dict[str, str]) -> Iterator[Moat]:
    with serving("--engine", far.address, environment=home) as moat:
        yield moat


@contextmanager
def reply_to(
    address: str, path: str, body: Json | None = None
) -> Iterator[http.client.HTTPResponse]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
    method = "GET" if body is None else "POST"
    sent = None if body is None else json.dumps(body)
    with closing(connection):
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        with connection.getresponse() as reply:
            yield reply


def ask(address: str, path: str, body: Json | None = None) -> Any:
    with reply_to(address, path, body) as reply:
        text = reply.read()
    assert reply.status == 200, text
    return json.loads(text)


def chat(moat: Moat, **fields: Any) -> Json:
    body = {"messages": [USER], "temperature": 0, "max_tokens": 12, **fields}
    answer: Json = ask(moat.address, "/v1/chat/completions", body)
    return answer


def test_its_model_is_listed_and_answers_by_default(moat: Moat, far: LlamaServer) -> None:
    cards = {card["id"]: card for card in ask(moat.address, "/v1/models")["data"]}
    assert cards[ALIAS]["meta"]["hosts"] == [far.host]
    assert cards[ALIAS]["meta"]["n_params"] > 100_000_000
    assert cards[ALIAS]["meta"]["n_ctx_train"] == 1024
    tags = {card["name"]: card for card in ask(moat.address, "/api/tags")["models"]}
    assert tags[ALIAS]["remote_host"] == far.host
    assert ask(moat.address, "/api/show", {"model": ALIAS})["capabilities"] == [
        "completion",
        "tools",
    ]
    agent = ask(moat.address, "/agents.json")["moat"]
    assert agent["models"][0]["id"] == ALIAS
    assert "your own computer" in agent["description"]  # it is a server, but on this one


def test_it_chats_with_usage_and_logprobs(moat: Moat) -> None:
    answer = chat(moat, logprobs=True, top_logprobs=2)
    assert answer["model"] == ALIAS
    assert answer["choices"][0]["message"]["content"]
    assert answer["usage"]["prompt_tokens"] > 10
    assert 0 < answer["usage"]["completion_tokens"] <= 12
    assert len(answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]) == 2


def test_it_streams(moat: Moat) -> None:
    body = {"messages": [USER], "stream": True, "max_tokens": 12, "temperature": 0}
    with reply_to(moat.address, "/v1/chat/completions", body) as reply:
        lines = reply.read().decode().splitlines()
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    said = [chunk["choices"][0]["delta"].get("content") for chunk in chunks if chunk["choices"]]
    whole = chat(moat)["choices"][0]["message"]["content"]
    assert "".join(filter(None, said)) == whole
    assert lines[-2] == "data: [DONE]"


@pytest.mark.parametrize("tools", [[WEATHER], [TIME, WEATHER]], ids=["one", "two"])
def test_a_call_that_must_be_made_is_made_and_fits(moat: Moat, tools: list[Json]) -> None:
    """The model's template knows no tools, and its server ignores that silently."""
    named = {"type": "function", "function": {"name": "weather"}}
    message = chat(moat, tools=tools, tool_choice=named, max_tokens=80)["choices"][0]["message"]
    call = message["tool_calls"][0]["function"]
    arguments = json.loads(call["arguments"])
    assert call["name"] == "weather"
    assert arguments["city"] in ("Oslo", "Rome")
    assert 1 <= arguments["days"] <= 9


def test_with_a_choice_it_calls_or_answers(moat: Moat) -> None:
    choice = chat(moat, tools=[WEATHER], max_tokens=120)["choices"][0]
    message = choice["message"]
    assert message["content"] or message["tool_calls"]
    assert not (message["content"] or "").lstrip().startswith('{"response"')


def test_json_fits_its_schema(moat: Moat) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": CITY, "strict": True}}
    said = chat(moat, response_format=form, max_tokens=60)["choices"][0]["message"]["content"]
    assert json.loads(said)["city"] in ("Oslo", "Rome")


def test_whoever_leaves_ends_the_work_over_there(moat: Moat, far: LlamaServer) -> None:
    body = {"messages": [USER], "stream": True, "max_tokens": 900, "ignore_eos": True}
    with reply_to(moat.address, "/v1/chat/completions", body) as reply:
        read_first_words(reply)
        assert any(slot["is_processing"] for slot in ask(far.address, "/slots"))
    until(lambda: not any(slot["is_processing"] for slot in ask(far.address, "/slots")))
    assert all(_written(slot) < 800 for slot in ask(far.address, "/slots"))


def read_first_words(reply: http.client.HTTPResponse) -> None:
    while b'"delta": {"content"' not in (line := reply.readline()):
        assert line


def _written(slot: Json) -> int:
    after = slot.get("next_token") or [{}]
    after = after[0] if isinstance(after, list) else after
    return int(after.get("n_decoded", 0))


def test_embeddings_come_from_a_server_that_has_them(
    starter_model: Path, home: dict[str, str]
) -> None:
    with (
        started(starter_model, "embed") as far,
        serving("--engine", f"embedder={far.address}", environment=home) as moat,
    ):
        body = {"model": "embedder", "input": ["one", "two"]}
        rows = ask(moat.address, "/v1/embeddings", body)["data"]
    assert [row["index"] for row in rows] == [0, 1]
    assert {len(row["embedding"]) for row in rows} == {576}


def test_its_death_is_told_and_models_here_still_answer(
    starter_model: Path, home: dict[str, str]
) -> None:
    with (
        started(starter_model) as far,
        serving(environment={**home, "MOAT_ENGINES": far.address}) as moat,
    ):
        body = {"messages": [USER], "stream": True, "max_tokens": 900, "ignore_eos": True}
        with reply_to(moat.address, "/v1/chat/completions", body) as reply:
            read_first_words(reply)
            far.process.kill()
            assert "cannot be reached or broke off" in reply.read().decode()
        body = {"messages": [USER], "max_tokens": 4, "model": "SmolLM2-135M-Instruct"}
        here = ask(moat.address, "/v1/chat/completions", body)
        assert here["usage"]["completion_tokens"] > 0
        with reply_to(moat.address, "/v1/chat/completions", {"messages": [USER]}) as reply:
            assert far.host in reply.read().decode()
        assert reply.status == 503
