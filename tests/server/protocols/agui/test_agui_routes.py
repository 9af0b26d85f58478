import asyncio
import json
from typing import Any

from aiohttp.test_utils import TestClient

from server.chat import ChatRequest
from server.errors import EngineCrashed
from server.events import Pieces, TextDelta
from tests.contract.copilotkit import house
from tests.kit.engines import EndlessEngine, ScriptedEngine

BASE = "/api/copilotkit"


class BreakingEngine(ScriptedEngine):
    """Says a word, and breaks when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks = asyncio.Event()

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        yield TextDelta("Well")
        await self.breaks.wait()
        raise EngineCrashed("It broke.")


def body(text: str, thread: str = "t", **more: Any) -> dict[str, Any]:
    said = {"id": f"u-{text}", "role": "user", "content": text}
    return {"threadId": thread, "runId": f"r-{text}", "messages": [said]} | more


async def events(client: TestClient[Any, Any], path: str, sent: Any) -> list[dict[str, Any]]:
    async with client.post(BASE + path, json=sent) as reply:
        assert reply.status == 200
        text = await reply.text()
    return [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line]


async def test_both_addresses_and_both_routes_answer_alike():
    async with house.visit(house.agents()) as client:
        one = await (await client.get(f"{BASE}/info")).json()
        other = await (await client.get("/copilotkit/info")).json()
        single = await (await client.post(BASE, json={"method": "info"})).json()
    assert one == other == single
    assert set(one["agents"]) == {"default", "demo", "second"}
    assert one["mode"] == "sse"


async def test_a_run_is_kept_and_replayed_with_what_was_said():
    async with house.visit(house.agents()) as client:
        await events(client, "/agent/default/run", body("hi"))
        replayed = await events(client, "/agent/default/connect", body("x"))
        listed = await (await client.get(f"{BASE}/threads?agentId=default")).json()
        kept = await (await client.get(f"{BASE}/threads/t/messages")).json()
        told = await (await client.get(f"{BASE}/threads/t/events")).json()
    assert replayed[0]["input"]["messages"] == [{"id": "u-hi", "role": "user", "content": "hi"}]
    assert replayed[2]["delta"] == "Hello from the fake model."
    assert told["events"] == replayed
    assert [thread["id"] for thread in listed["threads"]] == ["t"]
    assert [message["role"] for message in kept["messages"]] == ["user", "assistant"]


async def test_a_message_without_an_id_gets_one_and_is_told_with_it():
    sent = body("hi")
    del sent["messages"][0]["id"]
    async with house.visit(house.agents()) as client:
        told = await events(client, "/agent/default/run", sent)
        replayed = await events(client, "/agent/default/connect", body("x"))
    (message,) = told[0]["input"]["messages"]
    assert message == {"id": message["id"], "role": "user", "content": "hi"}
    assert message["id"]
    assert replayed[0]["input"]["messages"] == [message]


def verify(told: list[dict[str, Any]]) -> list[str]:
    """As the public client does: nothing follows a failure, and a run begins where none goes on."""
    kinds = [one["type"] for one in told]
    assert "RUN_ERROR" not in kinds[:-1]
    runs = [kind for kind in kinds if kind in ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR")]
    assert all(kind == "RUN_STARTED" for kind in runs[::2])
    assert all(kind != "RUN_STARTED" for kind in runs[1::2])
    return kinds


async def test_a_run_that_failed_is_replayed_as_one_that_is_over():
    async with house.visit(house.agents()) as client:
        failed = await events(client, "/agent/demo/run", body("AGENTERR"))
        await events(client, "/agent/demo/run", body("hi"))
        replayed = await events(client, "/agent/demo/connect", body("x"))
        told = await (await client.get(f"{BASE}/threads/t/events")).json()
    assert failed[-1]["type"] == "RUN_ERROR"
    kinds = verify(replayed)
    end = kinds.index("RUN_FINISHED")
    assert kinds[end - 2 : end + 2] == ["CUSTOM", "STEP_FINISHED", "RUN_FINISHED", "RUN_STARTED"]
    value = {"message": failed[-1]["message"], "code": failed[-1]["code"]}
    assert replayed[end - 2] == {"type": "CUSTOM", "name": "run_error", "value": value}
    assert told["events"] == replayed


async def test_a_run_that_fails_while_it_is_followed_ends_the_replay():
    engine = BreakingEngine()
    run, connect = f"{BASE}/agent/default/run", f"{BASE}/agent/default/connect"
    async with (
        house.visit(house.agents(engine)) as client,
        client.post(run, json=body("one")) as one,
        client.post(run, json=body("other")) as other,
        client.post(connect, json=body("x")) as following,
    ):
        for reply in (one, other, following):
            await reply.content.readuntil(b"TEXT_MESSAGE_CONTENT")
        engine.breaks.set()
        rest = (await following.text()).strip().split("\n\n")
    assert ['"type": "RUN_ERROR"' in line for line in rest[1:]] == [True]


async def test_suggestions_are_not_kept():
    async with house.visit(house.agents()) as client:
        told = await events(client, "/agent/default/suggest", body("hi"))
        assert "input" not in told[0]
        assert await events(client, "/agent/default/connect", body("x")) == []


async def test_the_state_of_a_thread_is_shown():
    async with house.visit(house.agents()) as client:
        await events(client, "/agent/demo/run", body("hi", state={"count": 1}))
        reply = await (await client.get(f"{BASE}/threads/t/state")).json()
        assert reply == {"state": {"count": 2, "done": True}}
        assert (await client.get(f"{BASE}/threads/t/colour")).status == 404
        await client.post(f"{BASE}/threads/clear", json={})
        assert await (await client.get(f"{BASE}/threads/t/state")).json() == {"state": None}


async def test_stopping_ends_the_stream_cleanly_and_the_model_at_once():
    engine = EndlessEngine()
    async with house.visit(house.agents(engine)) as client:
        async with client.post(f"{BASE}/agent/default/run", json=body("LONG")) as reply:
            await reply.content.readuntil(b"TEXT_MESSAGE_CONTENT")
            stopped = await (await client.post(f"{BASE}/agent/default/stop/t", json={})).json()
            rest = await reply.text()
        async with asyncio.timeout(30):
            await engine.stopped.wait()
    assert stopped["stopped"] is True
    assert stopped["interrupt"]["code"] == "STOPPED"
    assert rest.rstrip().endswith('"runId": "r-LONG"}')


async def test_a_client_that_leaves_stops_the_model():
    engine = EndlessEngine()
    async with house.visit(house.agents(engine)) as client:
        reply = await client.post(f"{BASE}/agent/default/run", json=body("LONG"))
        await reply.content.readany()
        reply.close()
        async with asyncio.timeout(30):
            await engine.stopped.wait()


async def test_a_second_page_follows_a_run_that_goes_on():
    async with house.visit(house.agents()) as client:
        async with client.post(f"{BASE}/agent/default/run", json=body("LONG")) as reply:
            await reply.content.readuntil(b"TEXT_MESSAGE_CONTENT")
            following = asyncio.get_running_loop().create_task(
                events(client, "/agent/default/connect", body("x"))
            )
            await reply.read()
        followed = await following
    said = "".join(one["delta"] for one in followed if one["type"] == "TEXT_MESSAGE_CONTENT")
    assert said.startswith("word0 word1")
    assert said.endswith("word199.")


def enveloped(method: str) -> dict[str, Any]:
    params = {"agentId": "nobody", "threadId": "t"}
    return {"method": f"agent/{method}", "params": params, "body": body("hi")}


async def test_failures_before_a_run_have_their_status_and_shape():
    async with house.visit(house.agents()) as client:
        for path, sent, status, error in (
            ("/agent/nobody/run", body("hi"), 404, "Agent not found"),
            ("/agent/nobody/connect", body("hi"), 404, "Agent not found"),
            ("/agent/nobody/stop/t", {}, 404, "Agent not found"),
            ("/agent/default/run", {}, 400, "Invalid request body"),
            ("", {"method": "zzz"}, 400, "invalid_request"),
            ("", {"method": "agent/zzz", "params": {"agentId": "x"}}, 400, "invalid_request"),
            ("", {"method": "agent/run"}, 400, "Invalid request body"),
            ("", enveloped("run"), 404, "Agent not found"),
            ("", enveloped("connect"), 404, "Agent not found"),
            ("", enveloped("stop"), 404, "Agent not found"),
            ("", {"method": "resource/request", "params": {"path": "/x"}}, 404, "Not found"),
            ("/transcribe", {"audio": ""}, 503, "service_not_configured"),
        ):
            async with client.post(BASE + path, json=sent) as reply:
                assert (reply.status, (await reply.json())["error"]) == (status, error), path
