"""Calls a real LangGraph server and a real CopilotKit endpoint through Moat's own routes."""

import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from server.conversation.agents.copilotkit import CopilotKitEndpoint
from server.conversation.agents.langgraph import LangGraphServer
from server.conversation.agents.remote import REASON, Elsewhere
from server.egress import Egress
from server.settings import NetworkSettings
from tests.contract.copilotkit import house
from tests.contract.copilotkit.programs import may_install, python_with
from tests.contract.copilotkit.recordings import parts
from tests.kit.programs import free_port, program

pytestmark = may_install
PEERS = Path(__file__).parent / "copilotkit" / "peers"
BASE = "/api/copilotkit"
TOOL = {
    "name": "sayHello",
    "description": "Greets",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
}
MUTATION = """mutation g($data: GenerateCopilotResponseInput!) {
  generateCopilotResponse(data: $data) {
    threadId
    messages @stream {
      __typename
      ... on TextMessageOutput { content @stream }
      ... on AgentStateMessageOutput { state nodeName active }
      ... on ResultMessageOutput { actionName result }
    }
    metaEvents @stream { ... on LangGraphInterruptEvent { name value } }
  }
}"""

LOAD = """query load($data: LoadAgentStateInput!) {
  loadAgentState(data: $data) { threadExists state messages }
}"""


@pytest.fixture(scope="session")
def python() -> Path:
    if sys.version_info >= (3, 14):
        pytest.skip("needs a Python before 3.14")
    return python_with(PEERS / "requirements.txt")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(PEERS, tmp_path_factory.mktemp("peers") / "peers"))


@pytest.fixture(scope="session")
def langgraph(python: Path, folder: Path) -> Iterator[str]:
    port = free_port()
    cli = python.with_name("langgraph")
    options = ["--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", port]
    with program([cli, "dev", *options], port, folder) as address:
        yield address


@pytest.fixture(scope="session")
def endpoint(python: Path, folder: Path) -> Iterator[str]:
    port = free_port()
    with program([python, "endpoint.py", port], port, folder) as address:
        yield f"{address}/copilotkit"


@pytest.fixture
async def door() -> AsyncIterator[Egress]:
    door = Egress(NetworkSettings)
    yield door
    await door.close()


@pytest.fixture
async def client(
    door: Egress, langgraph: str, endpoint: str
) -> AsyncIterator[TestClient[Any, Any]]:
    kinds = {"copilotkit": CopilotKitEndpoint, "langgraph": LangGraphServer}
    listed = (f"langgraph {langgraph}", f"copilotkit {endpoint}", "copilotkit http://127.0.0.1:9/x")
    elsewhere = Elsewhere(door, kinds, lambda: listed)
    async with house.visit(house.agents(elsewhere=elsewhere)) as client:
        yield client


async def run(
    client: TestClient[Any, Any], agent: str, thread: str, text: str, **more: Any
) -> list[dict[str, Any]]:
    said = {"id": f"u-{text}", "role": "user", "content": text}
    body = {"threadId": thread, "runId": f"r-{text}", "messages": [said], "tools": [TOOL]} | more
    reply = await client.post(f"{BASE}/agent/{agent}/run", json=body)
    lines = (await reply.text()).split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data:")]


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


def kinds_of(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


async def mutate(client: TestClient[Any, Any], text: str, **data: Any) -> dict[str, Any]:
    message = {"id": text, "createdAt": "2026-01-01T00:00:00Z"}
    message["textMessage"] = {"role": "user", "content": text}
    variables = {"metadata": {}, "frontend": {"actions": []}, "messages": [message]} | data
    reply = await client.post(BASE, json={"query": MUTATION, "variables": {"data": variables}})
    found: dict[str, list[Any]] = {"messages": [], "metaEvents": [], "content": []}
    for part in parts(await reply.read())[1:]:
        for one in part.get("incremental", ()):
            name = one["path"][-2] if "items" in one else ""
            found.get(name, []).extend(one.get("items", ()))
    return found


async def test_graphs_and_agents_elsewhere_are_listed_and_a_dead_place_is_left_out(client):
    agents = (await (await client.get(f"{BASE}/info")).json())["agents"]
    assert set(agents) == {"default", "counter", "greeter"}


async def test_a_graph_streams_its_steps_its_state_and_its_words(client):
    events = await run(client, "counter", "t-1", "hello", state={"count": 4})
    assert text_of(events) == "Counted to 5."
    kinds = kinds_of(events)
    assert kinds.count("TEXT_MESSAGE_CONTENT") > 2
    assert kinds.count("STEP_STARTED") == kinds.count("STEP_FINISHED") == 2
    assert [e["delta"] for e in events if e["type"] == "STATE_DELTA"] == [
        [{"op": "replace", "path": "/count", "value": 5}]
    ]
    assert kinds[-1] == "RUN_FINISHED"


async def test_a_graph_waits_for_a_person_and_goes_on_with_the_answer(client):
    events = await run(client, "counter", "t-2", "INTERRUPT")
    asked = next(event for event in events if event["type"] == "CUSTOM")
    assert (asked["name"], json.loads(asked["value"])) == ("on_interrupt", {"ask": "may I?"})
    forwarded = {"command": {"resume": "yes", "interruptEvent": asked["value"]}}
    events = await run(client, "counter", "t-2", "INTERRUPT", forwardedProps=forwarded)
    assert text_of(events) == "You said yes."


async def test_an_ag_ui_1_0_client_answers_an_interrupt_by_its_id(client):
    events = await run(client, "counter", "t-3", "INTERRUPT", protocolVersion="1.0")
    (interrupt,) = events[-1]["outcome"]["interrupts"]
    resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": "maybe"}]
    events = await run(client, "counter", "t-3", "x", protocolVersion="1.0", resume=resume)
    assert text_of(events) == "You said maybe."


async def test_a_graph_calls_an_action_of_the_page_and_hears_its_result(client):
    events = await run(client, "counter", "t-4", "CALL")
    call = next(event for event in events if event["type"] == "TOOL_CALL_START")
    assert call["toolCallName"] == "sayHello"
    result = {"id": "r1", "role": "tool", "toolCallId": call["toolCallId"], "content": "hello Ada"}
    events = await run(client, "counter", "t-4", "CALL", messages=[result])
    assert text_of(events) == "The page said hello Ada"


async def test_a_graph_that_fails_says_so_without_a_trace(client):
    events = await run(client, "counter", "t-5", "FAIL")
    assert events[-1]["type"] == "RUN_ERROR"
    assert "graph" in events[-1]["message"]
    assert "Traceback" not in json.dumps(events)
    assert "/" not in events[-1]["message"]


async def test_a_page_of_the_first_generation_talks_to_a_graph(client):
    session = {"agentName": "counter", "threadId": "t-6"}
    found = await mutate(client, "INTERRUPT", agentSession=session, threadId="t-6")
    states = [json.loads(m["state"]) for m in found["messages"] if "state" in m]
    assert states[-1] == {"count": 1}
    (asked,) = found["metaEvents"]
    answer = {"name": asked["name"], "value": asked["value"], "response": "fine"}
    found = await mutate(
        client, "INTERRUPT", agentSession=session, threadId="t-6", metaEvents=[answer]
    )
    assert "".join(found["content"]) == "You said fine."


async def test_the_state_of_a_graphs_thread_is_loaded_from_it(client):
    await run(client, "counter", "t-7", "hello")
    variables = {"data": {"agentName": "counter", "threadId": "t-7"}}
    reply = await client.post(BASE, json={"query": LOAD, "variables": variables})
    loaded = (await reply.json())["data"]["loadAgentState"]
    assert loaded["threadExists"]
    assert json.loads(loaded["state"]) == {"count": 1}
    assert [m["content"] for m in json.loads(loaded["messages"])] == ["hello", "Counted to 1."]


async def test_an_agent_of_the_sdk_talks_and_tells_its_state(client):
    events = await run(client, "greeter", "t-8", "hello", state={"seen": 1})
    assert text_of(events) == "Hello from Python."
    snapshot = next(event for event in events if event["type"] == "STATE_SNAPSHOT")
    assert snapshot["snapshot"] == {"seen": 2}


async def test_an_agent_of_the_sdk_interrupts_and_is_answered(client):
    session = {"agentName": "greeter", "threadId": "t-9"}
    found = await mutate(client, "INTERRUPT", agentSession=session)
    assert json.loads(found["metaEvents"][0]["value"]) == {"ask": "may I?"}
    answer = {"name": "LangGraphInterruptEvent", "value": "", "response": "me"}
    found = await mutate(client, "INTERRUPT", agentSession=session, metaEvents=[answer])
    assert "".join(found["content"]) == "Hello from me"


async def test_an_agent_of_the_sdk_calls_an_action_of_the_page(client):
    events = await run(client, "greeter", "t-10", "CALL")
    arguments = "".join(e["delta"] for e in events if e["type"] == "TOOL_CALL_ARGS")
    assert json.loads(arguments) == {"name": "Ada"}


async def test_actions_elsewhere_are_run_for_the_model_and_their_failures_told(client):
    found = await mutate(client, 'call:add:{"a":2,"b":3}')
    assert [json.loads(m["result"]) for m in found["messages"] if "result" in m] == [{"sum": 5}]
    found = await mutate(client, "call:boom:{}")
    (result,) = [json.loads(m["result"]) for m in found["messages"] if "result" in m]
    assert result["error"]["code"] == "HANDLER_ERROR"
    assert "broke" in result["error"]["message"]


async def test_every_connection_went_through_the_door_for_the_reason_given(client, door: Egress):
    await run(client, "greeter", "t-11", "hello")
    assert {use.reason for use in door.uses.get()} == {REASON}
