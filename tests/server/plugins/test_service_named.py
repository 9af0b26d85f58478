"""A plugin that is named but cannot answer, flows that are off, and tools that are tried."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.chat import ChatRequest, Message
from server.egress import Egress
from server.engine.base import Engine
from server.errors import BadRequest
from server.events import TextDelta
from server.face.plugins import PluginTest
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.engines import ScriptedEngine
from tests.kit.fake_mcp import program
from tests.kit.plugin_kits import answer_approvals

OPENAPI = """openapi: 3.0.0
info: {title: t, version: '1'}
paths:
  /flour:
    get: {description: what does flour cost, responses: {'200': {description: x}}}
    delete: {description: delete what flour does cost, responses: {'200': {description: x}}}
"""
CODE = """
class Double:
    name = "double"
    description = "twice as much"
    params_schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    def __init__(self, params): self.x = params["x"]
    def call(self, fixed): return {"output": 2 * self.x, "message": ""}
"""
LIST = {"tools": [{"name": "add", "inputSchema": {
    "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}]}  # fmt: skip


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[PluginHouse]:
    names = ("shipped", "home", "config", "data", "logs")
    door = Egress(NetworkSettings)
    shared = Shared(door, Keychain(tmp_path / "secrets.json"), Redactor())

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    places = PluginPlaces(*(tmp_path / name for name in names))
    made = PluginHouse(places, shared, PluginSettings, engine)
    yield made
    await made.close()
    await door.close()


async def installed(house: PluginHouse, folder: Path, **more: Any) -> None:
    folder.mkdir(parents=True)
    files = more.pop("files", {})
    manifest = {"id": folder.name, "name": folder.name, "description": "d", **more}
    (folder / "plugin.json").write_text(json.dumps(manifest))
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    await house.install(str(folder))
    await house.enable(folder.name)


async def answer(house: PluginHouse, question: str) -> str:
    talk = house.talk_for(is_own=True)
    assert talk
    engine = ScriptedEngine()
    taken = await talk.take(engine, ChatRequest((Message("user", question),)))
    assert taken is not None, "the model would answer by itself"
    text = "".join([event.text async for event in taken if isinstance(event, TextDelta)])
    assert engine.requests == []
    return text


async def test_a_server_that_did_not_start_is_named_with_its_reason(
    house: PluginHouse, tmp_path: Path
) -> None:
    server = {"command": sys.executable, "args": ["-c", "import not_there_at_all"]}
    await installed(house, tmp_path / "source" / "clock", mcp={"time": server})
    said = await answer(house, "@clock what time is it?")
    assert "'clock' cannot answer. Its server 'time' failed:" in said
    assert "not_there_at_all" in said
    (card,) = house.cards.get()
    assert "The server 'time' failed" in card.findings[0]
    assert card.failure_details.startswith("time: ")


async def test_what_is_off_or_unknown_is_said(house: PluginHouse, tmp_path: Path) -> None:
    files = {"openapi.yaml": OPENAPI}
    await installed(house, tmp_path / "source" / "pantry", automatic_flow=True, files=files)
    assert "has no flow 'GET'" in await answer(house, "@pantry/GET flour?")
    assert "Did you mean 'pantry'?" in await answer(house, "@pantri flour?")
    await house.disable("pantry")
    assert "'pantry' is switched off" in await answer(house, "@pantry flour?")


async def test_only_flows_that_are_on_are_offered(house: PluginHouse, tmp_path: Path) -> None:
    files = {"openapi.yaml": OPENAPI}
    await installed(house, tmp_path / "source" / "pantry", automatic_flow=True, files=files)

    async def offered() -> list[str]:
        return [flow.name for flow in await house.flows() if flow.is_usable]

    assert await offered() == ["GET /flour"]
    await house.set_option("pantry", "changing_methods", "true")
    assert await offered() == ["GET /flour", "DELETE /flour"]
    await house.set_policy("pantry", "GET /flour", "block")
    assert await offered() == ["DELETE /flour"]


async def test_a_plugin_without_an_address_says_so(house: PluginHouse, tmp_path: Path) -> None:
    files = {"openapi.yaml": OPENAPI}
    await installed(house, tmp_path / "source" / "pantry", files=files)
    (card,) = house.cards.get()
    assert (card.hosts, card.lacks_address) == ((), True)
    await house.set_option("pantry", "server", "http://127.0.0.1:9")
    (card,) = house.cards.get()
    assert (card.hosts, card.lacks_address) == (("http://127.0.0.1:9",), False)


async def test_tools_of_servers_and_code_are_tried_with_their_arguments(
    house: PluginHouse, tmp_path: Path
) -> None:
    command, *rest = program(tools_list={"result": LIST})
    server = {"command": command, "args": rest}
    files = {"lib/__init__.py": CODE}
    await installed(house, tmp_path / "source" / "p", mcp={"sums": server}, files=files)
    answer_approvals(house, "once")
    tools = {one.key: json.loads(one.schema) for one in await house.find_tools("p")}
    assert tools["sums/add"]["required"] == ["a"]
    assert tools["double"]["required"] == ["x"]
    assert (await house.try_tool("p", "double", '{"x": 4}', "run")).text == "```json\n8\n```"
    found = await house.try_tool("p", "sums/add", '{"a": 1}', "run")
    assert (found.failed, '"sum": 3' in found.text) == (False, True)
    dry: PluginTest = await house.try_tool("p", "sums/add", '{"a": 1}', "dry")
    assert "add of sums" in dry.requests[0]
    with pytest.raises(BadRequest, match="'a' is a required property"):
        await house.try_tool("p", "sums/add", "{}", "run")
    with pytest.raises(BadRequest, match="Did you mean 'double'"):
        await house.try_tool("p", "duble", "{}", "run")
