"""Tests tools of plugins and MCP servers as server actions, beside a page's own actions."""

import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.chat import ToolCall, ToolChoice
from server.core.core import Core
from server.engine.base import EngineOptions
from server.events import Finished, ToolCallRequested
from server.system.paths import find
from tests.contract.copilotkit.recordings import parts
from tests.kit.engines import ScriptedEngine, count_as_able, says
from tests.kit.plugin_kits import answer_approvals

PLUGIN = {
    "id": "clock",
    "name": "Clock",
    "description": "Tells the time",
    "version": "1.0.0",
    "mcp": {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}},
}
CSV = "symbol,quantity,price,cost\nAAA,10,5.5,4\nBBB,3,100,120\n"
HELLO = {"type": "object", "properties": {"name": {"type": "string"}}}
MUTATION = """mutation g($data: GenerateCopilotResponseInput!) {
  generateCopilotResponse(data: $data) {
    messages @stream {
      __typename
      ... on ActionExecutionMessageOutput { name arguments @stream }
      ... on ResultMessageOutput { actionName result }
    }
  }
}"""


@dataclass
class Running:
    core: Core
    engine: ScriptedEngine

    def decide(self, decision: str) -> None:
        answer_approvals(self.core.plugins, decision)

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        address = self.core.server.get().address
        async with (
            aiohttp.ClientSession(address) as client,
            client.post(f"/api/copilotkit{path}", json=body) as reply,
        ):
            assert reply.status == 200
            return await reply.read()

    async def run(self) -> list[dict[str, Any]]:
        tool = {"name": "sayHello", "description": "Greets", "parameters": HELLO}
        said = {"id": "u1", "role": "user", "content": "please"}
        body = {"threadId": "t", "runId": "r", "messages": [said], "tools": [tool]}
        lines = (await self.post("/agent/default/run", body)).decode().split("\n\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]

    async def mutate(self) -> list[dict[str, Any]]:
        action = {"name": "sayHello", "description": "Greets", "jsonSchema": json.dumps(HELLO)}
        text = {"role": "user", "content": "please"}
        said = {"id": "1", "createdAt": "2026-01-01T00:00:00Z", "textMessage": text}
        data = {"metadata": {}, "frontend": {"actions": [action]}, "messages": [said]}
        answer = await self.post("", {"query": MUTATION, "variables": {"data": data}})
        told = [one for part in parts(answer) for one in part.get("incremental", ())]
        return [item for one in told for item in one.get("items", ()) if isinstance(item, dict)]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    folder = tmp_path / "clock"
    folder.mkdir()
    (folder / "plugin.json").write_text(json.dumps(PLUGIN))
    positions = tmp_path / "positions.csv"
    positions.write_text(CSV)
    engine = ScriptedEngine()

    def make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
        return engine

    count_as_able(engine, find().data)
    core = Core(find(), make)
    await core.open()
    await core.plugins.install(str(folder))
    await core.plugins.enable("clock")
    await core.plugins.enable("portfolio")
    await core.plugins.set_option("portfolio", "positions", str(positions))
    await core.change_setting("plugins.serve_clients", True)
    await core.start_on(0)
    yield Running(core, engine)
    await core.close()


def calls(name: str, **arguments: Any) -> list[Any]:
    return [ToolCallRequested(ToolCall("c1", name, arguments)), Finished("tool_calls")]


async def test_an_mcp_tool_is_run_once_allowed_and_the_model_goes_on(running: Running) -> None:
    running.decide("once")
    zone = "Europe/Vienna"
    running.engine._scripts[:] = [
        calls("clock_time_get_current_time", timezone=zone), says("It is late."),
    ]  # fmt: skip
    events = await running.run()
    (result,) = [event for event in events if event["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"])["timezone"] == zone
    assert events[-1]["type"] == "RUN_FINISHED"
    told = {tool.name: tool for tool in running.engine.requests[0].tools}
    assert told["clock_time_get_current_time"].parameters["required"] == ["timezone"]
    assert told["sayHello"].run is None
    assert running.engine.requests[1].messages[-1].role == "tool"


async def test_a_server_action_that_was_not_allowed_is_a_failure_of_its_own(
    running: Running,
) -> None:
    running.decide("deny")
    running.engine._scripts[:] = [calls("clock_time_get_current_time", timezone="Europe/Vienna")]
    action, result = await running.mutate()
    assert action["name"] == result["actionName"] == "clock_time_get_current_time"
    error = json.loads(result["result"])["error"]
    assert error["code"] == "HANDLER_ERROR"
    assert "not allowed" in error["message"]


async def test_arguments_the_schema_does_not_know_are_refused_in_words(running: Running) -> None:
    running.decide("once")
    name = "clock_time_get_current_time"
    running.engine._scripts[:] = [calls(name), calls(name)]
    action, result = await running.mutate()
    assert action["name"] == result["actionName"] == name
    assert "not valid" in json.loads(result["result"])["error"]["message"]
    _, again = running.engine.requests
    assert "fit the schema" in again.messages[-1].content
    assert again.tool_choice == ToolChoice("required", (name,))


async def test_arguments_that_fit_the_second_time_are_run(running: Running) -> None:
    running.decide("once")
    name, zone = "clock_time_get_current_time", "Europe/Vienna"
    running.engine._scripts[:] = [calls(name), calls(name, timezone=zone)]
    _, result = await running.mutate()
    assert json.loads(result["result"])["timezone"] == zone


async def test_a_flow_is_an_action_that_is_asked_in_words(running: Running) -> None:
    running.decide("once")
    running.engine._scripts[:] = [calls("portfolio_weights", question="chart the weights")]
    _, result = await running.mutate()
    assert result["actionName"] == "portfolio_weights"
    assert result["result"]
    assert "error" not in result["result"]
