"""Odd and broken bodies are read or refused in words, never stumbled over."""

import json
import random
from collections import Counter
from typing import Any

import pytest
from pydantic_core import from_json

from scripts.fuzz_api import made
from scripts.fuzz_api_bodies import broken
from server.chat import ChatRequest
from server.engine.base import ModelFacts
from server.engine.process import job_of
from server.engine.styles import FORMATS
from server.engine.wire import pack
from server.errors import AppError
from server.face.models import ModelCard
from server.models import library
from server.protocols import ENDPOINTS
from server.protocols.base import Endpoint, Facts
from tests.prove.askable import BODIES
from tests.prove.stage import filled

COUNT, PER_ROUTE = 1000, 500
CARDS = (ModelCard("small", "/s", 1), ModelCard(library.NAME, "/l", 1))
PLACES = {"agent": "default", "thread": "t", "id": "x", "digest": "x"}
FACTS = Facts("", CARDS, "small", path=PLACES)
POSTED = {endpoint.path: endpoint for endpoint in ENDPOINTS if endpoint.method == "POST"}
DEEP = 100_000
TEXTS = {
    "half a surrogate pair": '{"a": "\\ud83d"}',
    "70 bits": f'{{"a": {2**70}}}',
    "400 digits": f'{{"a": {10**400}}}',
    "nested without end": '{"a": ' + "[" * DEEP + "]" * DEEP + "}",
}
"""JSON that is itself a text in a body, as a call's arguments are."""
SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "number", "exclusiveMinimum": 10**400},
    {"type": "array", "items": {"enum": ["a"]}, "uniqueItems": True, "minItems": -(10**30)},
    {"type": "object", "properties": {"a": {"const": 2**70}}},
)


def test_most_are_read_and_the_rest_refused() -> None:
    outcomes = Counter(
        _outcome(POSTED[route], body, at)
        for at, (route, body) in enumerate(made(seed=3, count=COUNT, seconds=600))
    )
    assert outcomes.total() == COUNT
    assert outcomes["read"] > COUNT / 2
    assert outcomes["refused"]


@pytest.mark.parametrize("path", POSTED)
def test_every_route_reads_or_refuses_a_body_with_broken_places(path: str) -> None:
    endpoint, chance = POSTED[path], random.Random(7)
    usual = BODIES[filled(path)]
    for at in range(PER_ROUTE):
        body = json.dumps(broken(chance, usual)).encode()
        assert _outcome(endpoint, body, at) in {"read", "refused", "no JSON"}


@pytest.mark.parametrize("arguments", TEXTS.values(), ids=TEXTS)
def test_whatever_stands_in_a_past_call_can_be_sent_to_a_worker(arguments: str) -> None:
    for route, body in _with_a_past_call(arguments).items():
        assert _outcome(POSTED[route], json.dumps(body).encode(), 0) == "read", route


@pytest.mark.parametrize("schema", SCHEMAS)
def test_whatever_stands_in_a_schema_can_be_sent_to_a_worker(schema: dict[str, Any]) -> None:
    for route, body in _with_a_schema(schema).items():
        assert _outcome(POSTED[route], json.dumps(body).encode(), 0) == "read", route


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "max_tokens", "n"])
def test_a_number_of_400_digits_is_refused_by_name(name: str) -> None:
    said = [{"role": "user", "content": "Hi"}]
    for route in ("/v1/chat/completions", "/v1/completions", "/v1/messages", "/api/chat"):
        body = {"messages": said, "prompt": "Hi", "max_tokens": 1, "options": {name: 10**400}}
        told = _outcome(POSTED[route], json.dumps({**body, name: 10**400}).encode(), 0)
        assert told == "refused" or (route, name) in IGNORED


IGNORED = {("/v1/messages", "seed"), ("/v1/messages", "n"), ("/api/chat", "max_tokens")}
IGNORED |= {("/api/chat", "n")}


def _with_a_past_call(arguments: str) -> dict[str, dict[str, Any]]:
    function = {"name": "add", "arguments": arguments}
    user = {"id": "u", "role": "user", "content": "Hi"}
    called = {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}
    chat = {"messages": [user, called, {"role": "tool", "tool_call_id": "c", "content": "2"}]}
    items = [
        {"role": "user", "content": "Hi"},
        {"type": "function_call", "call_id": "c"} | function,
    ]
    items += [{"type": "function_call_output", "call_id": "c", "output": "2"}]
    page_call = {"id": "a", "role": "assistant", "toolCalls": [{"id": "c", "function": function}]}
    run = {"threadId": "t", "runId": "r", "messages": [user, page_call]}
    envelope = {"method": "agent/run", "params": {"agentId": "default"}, "body": run}
    past = {"role": "ai", "content": f'{{"function": "get_widget_data", "x": {arguments}}}'}
    return {
        "/v1/chat/completions": chat,
        "/apply-template": chat,
        "/v1/responses": {"input": items},
        "/api/chat": chat,
        "/api/copilotkit": envelope,
        "/api/copilotkit/agent/{agent}/run": run,
        "/v1/query": {"messages": [past, {"role": "human", "content": "Hi"}]},
    }


def _with_a_schema(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    said = [{"id": "u", "role": "user", "content": "Hi"}]
    function = {"name": "add", "parameters": schema}
    shape = {"type": "json_schema", "name": "x", "json_schema": {"schema": schema}}
    text = {"format": {"type": "json_schema", "schema": schema}}
    chat = {"messages": said, "tools": [{"type": "function", "function": function}]}
    own = {"name": "add", "input_schema": schema}
    return {
        "/v1/chat/completions": chat | {"response_format": shape},
        "/v1/completions": {"prompt": "Hi", "response_format": shape},
        "/v1/responses": {
            "input": "Hi",
            "text": text,
            "tools": [{"type": "function"} | function],
        },
        "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
        | {"tools": [own]},
        "/api/chat": chat | {"format": schema},
        "/api/generate": {"prompt": "Hi", "format": schema},
        "/api/copilotkit/agent/{agent}/run": {"threadId": "t", "runId": "r"}
        | {"messages": said, "tools": [function]},
    }


def _outcome(endpoint: Endpoint, body: bytes, at: int) -> str:
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError:
        return "no JSON"
    try:
        read = endpoint.accept(value, FACTS)
    except AppError:
        return "refused"
    if isinstance(read, ChatRequest) and read.prompt is None:
        prepared = FORMATS[at % len(FORMATS)].prepare(read, ModelFacts())
        assert pack({"op": "generate", "job": job_of(read, prepared)})
    return "read"
