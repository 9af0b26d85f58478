"""Lets CopilotKit's npm clients talk to agents: a plugin's flow, and a graph that asks."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.chat import ChatRequest
from server.events import Pieces
from server.web import stream
from tests.contract.copilotkit import house
from tests.contract.copilotkit.obedient import ObedientEngine
from tests.contract.copilotkit.programs import may_install, moat, packaged, python_with
from tests.kit.programs import free_port, need, program

pytestmark = may_install
OWN = Path(__file__).parent / "copilotkit"
KIT = OWN.parents[1] / "conformance" / "copilotkit"
TALK_S = 180
CSV = "symbol,quantity,price,cost\nAAA,10,5.5,4\nBBB,3,100,120\n"
NETWORKS = ["auto", "rest", "single"]


@pytest.fixture(scope="module")
def kit() -> Path:
    return packaged(KIT)


def talk(kit: Path, address: str, transport: str, agent: str, *turns: dict[str, str]) -> Any:
    script = kit / "agents.mjs"
    script.write_bytes((OWN / "agents.mjs").read_bytes())
    command = [need("node"), script.name, f"{address}/api/copilotkit", transport, agent]
    done = subprocess.run(
        [*command, json.dumps(turns)],
        cwd=kit, capture_output=True, text=True, timeout=TALK_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def with_flows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("flows")
    positions = home / "positions.csv"
    positions.write_text(CSV)
    enabled = {"portfolio": {"positions": str(positions)}}
    with moat("obedient", home, enabled=enabled, plugins__serve_clients=True) as address:
        yield address


def statuses(state: dict[str, Any]) -> list[str]:
    return [f"{step['name']} {step['status']}" for step in state["steps"]]


def test_a_page_of_the_first_generation_watches_the_steps_of_a_flow(kit: Path, with_flows: str):
    (turn,) = talk(kit, with_flows, "gql", "portfolio.weights", {"say": "Chart my weights"})
    assert (turn["status"], turn["errors"], turn["kept"]) == ("Success", [], 1)
    nodes = list(dict.fromkeys(one["node"] for one in turn["states"]))
    assert nodes == ["start", "chart", "end"]
    last = turn["states"][-1]
    assert statuses(last["state"]) == ["start done", "chart done", "end done"]
    assert not last["active"]
    made = {one["kind"]: json.dumps(one["content"]) for one in last["state"]["artifacts"]}
    assert "BBB" in made["chart"]
    assert turn["text"]


@pytest.mark.parametrize("transport", NETWORKS)
def test_a_page_of_the_second_generation_watches_the_steps_of_a_flow(
    kit: Path, with_flows: str, transport: str
):
    (turn,) = talk(kit, with_flows, transport, "portfolio.weights", {"say": "Chart my weights"})
    assert turn["errors"] == []
    assert turn["steps"] == [
        "start start", "end start", "start chart", "end chart", "start end", "end end",
    ]  # fmt: skip
    assert statuses(turn["states"][0]) == ["start running"]
    assert statuses(turn["states"][-1]) == ["start done", "chart done", "end done"]
    assert "artifact" in turn["custom"]
    assert turn["text"]


@pytest.fixture(scope="module")
def with_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if sys.version_info >= (3, 14):
        pytest.skip("needs a Python before 3.14")
    folder = tmp_path_factory.mktemp("graph")
    for name in ("graph.py", "langgraph.json"):
        (folder / name).write_bytes((OWN / "peers" / name).read_bytes())
    port = free_port()
    cli = python_with(OWN / "peers" / "requirements.txt").with_name("langgraph")
    options = ["--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", port]
    with (
        program([cli, "dev", *options], port, folder) as graph,
        moat("obedient", folder, copilot__remote_agents=[f"langgraph {graph}"]) as address,
    ):
        yield address


class Slow(ObedientEngine):
    """An engine that reads its prompt for longer than a stream may be silent."""

    async def generate(self, request: ChatRequest) -> Pieces:
        await asyncio.sleep(1)
        async for piece in super().generate(request):
            yield piece


@pytest.mark.parametrize("transport", ["gql", "auto"])
async def test_clients_wait_through_a_prompt_that_is_read_for_long(
    kit: Path, transport: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.2)
    async with house.visit(house.agents(Slow())) as client:
        address = f"http://{client.host}:{client.port}"
        (turn,) = await asyncio.to_thread(talk, kit, address, transport, "default", {"say": "hi"})
    assert (turn["text"], turn["errors"]) == ("Hello from the fake model.", [])


def test_a_question_asked_in_messages_is_a_message_and_what_is_said_next_answers_it(
    kit: Path, with_graph: str
):
    first, second = talk(kit, with_graph, "gql", "counter", {"say": "KITASK"}, {"say": "blue"})
    assert first["asked"] == [{"name": "CopilotKitLangGraphInterruptEvent", "value": None}]
    assert (first["text"], first["status"]) == ("Which colour?", "Success")
    assert (second["text"], second["asked"]) == ("It is blue.", [])


def test_an_action_asked_in_messages_is_run_by_the_page_and_its_result_answers(
    kit: Path, with_graph: str
):
    first, second = talk(kit, with_graph, "gql", "counter", {"say": "KITACT"}, {"result": "hi Ada"})
    assert first["calls"] == [
        {"name": "sayHello", "arguments": {"name": "Ada"}, "status": "Success"}
    ]
    assert second["text"] == "The page answered hi Ada."


def test_a_plain_interrupt_is_asked_again_until_it_is_answered(kit: Path, with_graph: str):
    turns = ({"say": "INTERRUPT"}, {"say": "what?"}, {"answer": "yes"})
    first, second, third = talk(kit, with_graph, "gql", "counter", *turns)
    (asked,) = first["asked"]
    assert asked["name"] == "LangGraphInterruptEvent"
    assert second["asked"] == first["asked"]
    assert third["text"] == "You said yes."


def test_the_second_generation_sees_and_answers_a_question_asked_in_messages(
    kit: Path, with_graph: str
):
    turns = ({"say": "KITASK"}, {"answer": "green"})
    first, second = talk(kit, with_graph, "auto", "counter", *turns)
    assert first["errors"] == []
    assert first["text"] == "Which colour?"
    assert [one["value"] for one in first["asked"]] == ["Which colour?"]
    assert second["text"] == "It is green."
