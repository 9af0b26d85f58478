"""Trying a plugin's flow for real, from its page."""

import json
from pathlib import Path

import pytest

from server.egress import Egress
from server.engine.base import Engine
from server.errors import BadRequest
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.engines import ScriptedEngine
from tests.kit.plugin_kits import answer_approvals

OPENAPI = """openapi: 3.0.0
info: {title: t, version: '1'}
servers: [{url: 'http://127.0.0.1:9'}]
paths:
  /things:
    post: {description: one more, responses: {'200': {description: x}}}
"""


async def _engine(_name: str | None) -> Engine:
    return ScriptedEngine()


async def test_every_try_that_changes_something_is_asked_about(tmp_path: Path) -> None:
    folder = tmp_path / "source" / "p"
    folder.mkdir(parents=True)
    told = {"id": "p", "name": "P", "description": "d", "version": "1.0.0", "automatic_flow": True}
    (folder / "plugin.json").write_text(json.dumps(told))
    (folder / "openapi.yaml").write_text(OPENAPI)
    names = ("shipped", "home", "config", "data", "logs")
    door = Egress(NetworkSettings)
    shared = Shared(door, Keychain(tmp_path / "secrets.json"), Redactor())
    places = PluginPlaces(*(tmp_path / name for name in names))
    house = PluginHouse(places, shared, PluginSettings, _engine)
    asked = answer_approvals(house, "once")
    await house.install(str(folder))
    await house.enable("p")
    with pytest.raises(BadRequest, match=r"no usable flow 'addThing'\. It has: POST /things."):
        await house.test("p", "addThing", "one more", "run")
    for _ in range(2):
        await house.test("p", "POST /things", "one more", "run")
    await house.close()
    await door.close()
    assert len(asked) == 2
