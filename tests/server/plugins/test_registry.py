"""One plugin that is not as it should be neither keeps Moat from starting nor ends the watch."""

import json
import os
import sys
from pathlib import Path

import pytest

from server.egress import Egress
from server.engine.base import Engine
from server.face.plugins import PluginCard
from server.plugins import registry as shelf_module
from server.plugins.folder import Loaded
from server.plugins.plugin import Plugin
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.engines import ScriptedEngine

OPENAPI = """openapi: 3.0.0
info: {title: t, version: '1'}
servers: [{url: 'http://127.0.0.1:9'}]
paths: {/things: {get: {description: all, responses: {'200': {description: x}}}}}
"""


def house(tmp_path: Path) -> PluginHouse:
    names = ("shipped", "home", "config", "data", "logs")
    places = PluginPlaces(*(tmp_path / name for name in names))
    shared = Shared(Egress(NetworkSettings), Keychain(tmp_path / "secrets.json"), Redactor())

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    return PluginHouse(places, shared, PluginSettings, engine)


def plugin(tmp_path: Path, key: str, **more: object) -> Path:
    made = tmp_path / "home" / key
    made.mkdir(parents=True)
    said = {"id": key, "name": key, "description": "d", "automatic_flow": True, **more}
    (made / "plugin.json").write_text(json.dumps(said))
    (made / "openapi.yaml").write_text(OPENAPI)
    return made


async def opened(tmp_path: Path) -> dict[str, PluginCard]:
    """What is shown after a start."""
    made = house(tmp_path)
    try:
        await made.open()
        return {card.key: card for card in made.cards.get()}
    finally:
        await made.close()


async def test_an_address_that_was_kept_and_cannot_be_read_is_there_to_be_corrected(
    tmp_path: Path,
) -> None:
    plugin(tmp_path, "p")
    before = house(tmp_path)
    await before.shelf.look()
    await before.enable("p")
    await before.close()
    kept = tmp_path / "config" / "plugins.json"
    said = json.loads(kept.read_text())
    said["p"]["server"] = "http://api.example:80800"
    kept.write_text(json.dumps(said))
    card = (await opened(tmp_path))["p"]
    assert card.enabled
    assert [one.value for one in card.options] == ["http://api.example:80800"]


async def test_a_server_that_is_no_address_is_found_before_it_is_enabled(tmp_path: Path) -> None:
    plugin(tmp_path, "p", mcp={"x": {"url": "http://localhost:99999/mcp"}})
    made = house(tmp_path)
    await made.shelf.look()
    (card,) = made.cards.get()
    assert any(" error mcp " in one for one in card.findings)
    await made.enable("p")
    await made.close()
    assert (await opened(tmp_path))["p"].enabled


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
async def test_a_file_whose_name_is_no_text_is_one_like_others(tmp_path: Path) -> None:
    folder = plugin(tmp_path, "p")
    (folder / os.fsdecode(b"\xff.txt")).write_text("x")
    card = (await opened(tmp_path))["p"]
    assert card.state == "warnings"
    assert any("'?.txt' is not part of a plugin" in one for one in card.findings)


async def test_a_plugin_that_cannot_be_read_is_broken_and_the_others_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin(tmp_path, "bad")
    plugin(tmp_path, "good")
    load = shelf_module.load

    def stumble(folder: Path) -> Loaded:
        if folder.name == "bad":
            raise ValueError("of all things")
        return load(folder)

    monkeypatch.setattr(shelf_module, "load", stumble)
    cards = await opened(tmp_path)
    assert (cards["bad"].state, cards["good"].state) == ("broken", "ok")
    assert "of all things" in cards["bad"].findings[0]


async def test_a_plugin_that_cannot_be_started_is_broken_and_the_others_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin(tmp_path, "bad")
    plugin(tmp_path, "good")
    before = house(tmp_path)
    await before.shelf.look()
    for key in ("bad", "good"):
        await before.enable(key)
    await before.close()
    open_door = Plugin.open_door

    def stumble(one: Plugin) -> None:
        if one.key == "bad":
            raise ValueError("of all things")
        open_door(one)

    monkeypatch.setattr(Plugin, "open_door", stumble)
    cards = await opened(tmp_path)
    assert (cards["bad"].state, cards["bad"].enabled) == ("broken", False)
    assert (cards["good"].state, cards["good"].enabled) == ("ok", True)
