import asyncio
import json
import time
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from server.conversation.agents.base import AgentCard, Agents
from server.errors import AppError
from server.events import Finished, TextDelta
from server.protocols.copilotkit.response import INTERNAL
from server.web import stream
from tests.contract.copilotkit import house
from tests.contract.copilotkit.recordings import parts
from tests.kit.engines import EndlessEngine, ScriptedEngine

BASE = "/api/copilotkit"
CLIENT = (
    "application/graphql-response+json, application/graphql+json, application/json, "
    "text/event-stream, multipart/mixed"
)
MUTATION = "mutation g($data: GenerateCopilotResponseInput!) "
PLAIN = (
    MUTATION
    + """{ generateCopilotResponse(data: $data) {
  threadId
  status { ... on BaseResponseStatus { code } }
  messages { ... on TextMessageOutput { content } }
} }"""
)
STREAMED = (
    MUTATION
    + """{ generateCopilotResponse(data: $data) {
  threadId
  messages @stream { __typename ... on TextMessageOutput { content @stream } }
  ... on CopilotResponse @defer {
    status { __typename ... on FailedResponseStatus { reason details } }
  }
} }"""
)
INLINE = """mutation { generateCopilotResponse(
  data: {metadata: {}, frontend: {actions: []}, messages: []}
) { threadId } }"""


def body(query: str, text: str = "hi", **more: Any) -> dict[str, Any]:
    message = {"id": "1", "createdAt": "2026-01-01T00:00:00Z"}
    message["textMessage"] = {"role": "user", "content": text}
    data = {"metadata": {}, "frontend": {"actions": []}, "messages": [message]} | more
    return {"query": query, "variables": {"data": data}}


async def post(client: TestClient[Any, Any], sent: Any, accept: str = CLIENT) -> tuple[Any, ...]:
    data = sent if isinstance(sent, str) else json.dumps(sent)
    headers = {"Accept": accept, "Content-Type": "application/json"}
    async with client.post(BASE, data=data, headers=headers) as reply:
        return reply.status, reply.content_type, await reply.text()


@pytest.mark.parametrize(
    ("sent", "accept", "status", "kind", "code"),
    [
        ({"query": "{ nope }"}, "*/*", 200, "application/json", "GRAPHQL_VALIDATION_FAILED"),
        ({"query": "{ nope }"}, CLIENT, 400, "application/graphql-response+json", "GRAPHQL"),
        ({"query": "{ broken"}, "*/*", 200, "application/json", "Syntax Error"),
        ({"query": 7}, "*/*", 200, "application/json", "Must provide query string"),
        ({"query": "subscription { x }"}, "*/*", 200, "application/json", "errors"),
        ({"query": PLAIN, "variables": {"data": {}}}, CLIENT, 400,
         "application/graphql-response+json", "required field"),
        ({"query": PLAIN, "variables": []}, CLIENT, 400,
         "application/graphql-response+json", "errors"),
        ({"query": "mutation { __typename }"}, "*/*", 200, "application/json", "once"),
        ("{nope", "*/*", 400, "application/json", "BAD_REQUEST"),
        ("[]", "*/*", 400, "application/json", "Missing method field"),
        ({"query": "{" + "hello " * 9000 + "}"}, "*/*", 200, "application/json", "token"),
        (body(STREAMED), "application/json", 406, "application/json", ""),
    ],
)  # fmt: skip
async def test_a_bad_request_is_answered_as_the_runtime_does(
    sent: Any, accept: str, status: int, kind: str, code: str
):
    async with house.visit(house.agents()) as client:
        answered = await post(client, sent, accept)
    assert answered[:2] == (status, kind)
    assert code in answered[2]


async def test_without_increments_the_answer_is_one_json():
    async with house.visit(house.agents()) as client:
        status, kind, text = await post(client, body(PLAIN), "application/json")
    answer = json.loads(text)["data"]["generateCopilotResponse"]
    assert (status, kind) == (200, "application/json")
    assert "".join(answer["messages"][0]["content"]) == "Hello from the fake model."
    assert answer["status"] == {"code": "Success"}


async def test_the_parts_are_framed_as_the_client_splits_them():
    async with house.visit(house.agents()) as client:
        _, kind, text = await post(client, body(STREAMED))
    assert kind == "multipart/mixed"
    assert text.startswith("\r\n---\r\nContent-Type: application/json; charset=utf-8\r\n")
    assert text.endswith("\r\n-----\r\n")
    for part in text.split("\r\n---")[1:-1]:
        head, _, payload = part.partition("\r\n\r\n")
        assert f"Content-Length: {len(payload.encode())}" in head
    assert parts(text.encode())[-1]["hasNext"] is False


async def test_a_client_of_server_sent_events_gets_the_same_payloads():
    async with house.visit(house.agents()) as client:
        _, kind, text = await post(client, body(STREAMED), "text/event-stream")
    assert kind == "text/event-stream"
    assert "\r" not in text
    assert text.endswith("event: complete\ndata:\n\n")


async def test_nothing_of_the_inside_is_ever_told():
    class Broken(ScriptedEngine):
        async def generate(self, request):
            yield TextDelta("a")
            raise AppError("The model failed.")

    async with house.visit(house.agents(Broken())) as client:
        _, _, text = await post(client, body(STREAMED))
    assert "The model failed." in text
    assert "UNKNOWN_ERROR" in text
    assert "Traceback" not in text
    assert ".py" not in text


async def test_a_refused_topic_is_told_as_the_page_expects():
    rules = {"guardrails": {"inputValidationRules": {"denyList": ["weather"]}}}
    async with house.visit(house.agents()) as client:
        _, _, text = await post(client, body(STREAMED, "the weather?", cloud=rules))
    (status,) = [
        one["data"]["status"]
        for part in parts(text.encode())
        for one in part.get("incremental", ())
        if "status" in one.get("data", {})
    ]
    assert status["reason"] == "GUARDRAILS_VALIDATION_FAILED"
    assert "weather" in status["details"]["guardrailsReason"]


async def test_a_client_that_leaves_stops_the_model():
    engine = EndlessEngine()
    async with house.visit(house.agents(engine)) as client:
        reply = await client.post(BASE, json=body(STREAMED))
        await reply.content.readany()
        reply.close()
        await engine.stopped.wait()


class Quick(ScriptedEngine):
    """3000 pieces as fast as they are taken."""

    async def generate(self, request):
        for _ in range(3000):
            yield TextDelta("word ")
            await asyncio.sleep(0)
        yield Finished("stop")


async def test_parts_cost_no_more_than_half_as_much_again_as_plain_events():
    plain = {"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": "hi"}]}
    ways = ((BASE, body(STREAMED)), (f"{BASE}/agent/default/run", plain))
    spent: list[list[float]] = [[], []]
    async with house.visit(house.agents(Quick())) as client:
        for _ in range(3):
            for (path, sent), times in zip(ways, spent, strict=True):
                begun = time.process_time()
                async with client.post(path, json=sent) as reply:
                    await reply.read()
                times.append(time.process_time() - begun)
    assert min(spent[0]) <= 1.5 * min(spent[1])


async def test_many_pieces_at_once_are_told_in_few_parts():
    async with house.visit(house.agents(Quick())) as client:
        _, _, text = await post(client, body(STREAMED))
    told = [one for part in parts(text.encode()) for one in part.get("incremental", ())]
    words = [item for one in told for item in one.get("items", ()) if isinstance(item, str)]
    assert "".join(words) == "word " * 3000
    assert len(words) < 300


async def test_a_long_silence_is_bridged_by_parts_that_carry_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    may_speak = asyncio.Event()

    class Slow(ScriptedEngine):
        async def generate(self, request):
            await may_speak.wait()
            yield TextDelta("at last")
            yield Finished("stop")

    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.05)
    headers = {"Accept": CLIENT, "Content-Type": "application/json"}
    async with (
        house.visit(house.agents(Slow())) as client,
        client.post(BASE, json=body(STREAMED), headers=headers) as reply,
    ):
        came = b""
        async with asyncio.timeout(30):
            while came.count(b'{"hasNext":true}') < 2:
                came += await reply.content.readany()
        may_speak.set()
        came += await reply.read()
    told = parts(came)
    assert told.count({"hasNext": True}) >= 2
    assert "data" in told[0]
    assert told[-1]["hasNext"] is False
    assert b"at last" in came


async def test_a_query_by_get_reads_and_never_changes():
    async with house.visit(house.agents()) as client:
        async with client.get(BASE, params={"query": "{hello}"}) as reply:
            assert await reply.json() == {"data": {"hello": "Hello World"}}
        async with client.get(BASE, params={"query": INLINE}) as reply:
            assert reply.status == 405


async def test_what_breaks_is_hidden_from_the_page_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def broken(_agents: Agents) -> tuple[AgentCard, ...]:
        raise IndexError("a secret detail")

    monkeypatch.setattr(Agents, "cards", broken)
    async with house.visit(house.agents()) as client:
        sent = {"query": "query { availableAgents { agents { id } } }"}
        told = await (await client.post(BASE, json=sent)).json()
    assert [error["message"] for error in told["errors"]] == [INTERNAL]
    assert "a secret detail" in caplog.text
