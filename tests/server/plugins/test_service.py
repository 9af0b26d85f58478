"""Enabling, reviewing, changing, updating and removing plugins, as a screen would."""

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.egress import Egress
from server.engine.base import Engine
from server.errors import BadRequest
from server.face.plugins import PluginCard
from server.plugins import registry
from server.plugins.install import PluginRefused
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.plugins.walls import walls
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.engines import ScriptedEngine

OPENAPI = """openapi: 3.0.0
info: {title: t, version: '1'}
servers: [{url: 'http://127.0.0.1:9'}]
paths:
  /things:
    get: {description: all, responses: {'200': {description: x}}}
    post: {description: one more, responses: {'200': {description: x}}}
    delete: {description: away, responses: {'200': {description: x}}}
"""
REASON = "plugin p"


def manifest(**more: object) -> str:
    return json.dumps({"id": "p", "name": "P", "description": "d", "version": "1.0.0", **more})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "source" / "p"
    made.mkdir(parents=True)
    (made / "plugin.json").write_text(manifest(automatic_flow=True))
    (made / "openapi.yaml").write_text(OPENAPI)
    return made


@pytest.fixture
def door() -> Egress:
    return Egress(NetworkSettings)


@pytest.fixture
async def house(tmp_path: Path, door: Egress) -> AsyncIterator[PluginHouse]:
    names = ("shipped", "home", "config", "data", "logs")
    places = PluginPlaces(*(tmp_path / name for name in names))
    shared = Shared(door, Keychain(tmp_path / "secrets.json"), Redactor())

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    made = PluginHouse(places, shared, PluginSettings, engine)
    await made.shelf.look()
    yield made
    await made.close()


def card(house: PluginHouse) -> PluginCard:
    (one,) = house.cards.get()
    return one


async def test_a_new_plugin_does_nothing_until_it_is_enabled(
    house: PluginHouse, folder: Path, door: Egress
) -> None:
    assert await house.install(str(folder)) == "p"
    shown = card(house)
    assert (shown.enabled, shown.review, shown.state) == (False, True, "warnings")
    assert shown.hosts == ("http://127.0.0.1:9",)
    assert [(one.key, one.risk) for one in shown.operations] == [
        ("GET /things", "read"),
        ("POST /things", "change"),
        ("DELETE /things", "danger"),
    ]
    assert await house.flows() == []
    assert ("127.0.0.1:9", REASON) not in door._allowed
    await house.enable("p")
    assert card(house).enabled
    assert [flow.name for flow in await house.flows()] == [
        "GET /things", "POST /things", "DELETE /things",
    ]  # fmt: skip
    assert ("127.0.0.1:9", REASON) in door._allowed
    await house.disable("p")
    assert ("127.0.0.1:9", REASON) not in door._allowed


async def test_what_changed_is_seen_before_a_plugin_is_used(
    house: PluginHouse, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "FRESH_S", 0.0)
    await house.install(str(folder))
    await house.enable("p")
    assert len(await house.flows()) == 3
    installed = house.shelf.places.home / "p" / "openapi.yaml"
    installed.write_text(OPENAPI.replace("127.0.0.1:9", "127.0.0.1:10"))
    assert await house.flows() == []
    assert card(house).review


class SlowKeychain(Keychain):
    """Says nothing before the person has unlocked it."""

    unlocked: asyncio.Event

    async def get(self, name: str) -> str | None:
        await self.unlocked.wait()
        return await super().get(name)


async def test_a_keychain_that_is_slow_holds_up_no_start(tmp_path: Path, door: Egress) -> None:
    made = tmp_path / "home" / "p"
    made.mkdir(parents=True)
    auth = {"type": "header", "args": {"K": "${secret:key}"}}
    (made / "plugin.json").write_text(manifest(auth=auth))
    names = ("shipped", "home", "config", "data", "logs")
    places = PluginPlaces(*(tmp_path / name for name in names))
    keychain = SlowKeychain(tmp_path / "secrets.json")
    keychain.unlocked = asyncio.Event()

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    house = PluginHouse(places, Shared(door, keychain, Redactor()), PluginSettings, engine)
    await house.open()
    assert card(house).missing_secrets == ()
    keychain.unlocked.set()
    async with asyncio.timeout(30):
        while not card(house).missing_secrets:
            await asyncio.sleep(0.005)
    assert card(house).missing_secrets == ("key",)
    await house.close()


class CountingKeychain(Keychain):
    asked = 0

    async def get(self, name: str) -> str | None:
        self.asked += 1
        return await super().get(name)


async def test_the_keychain_is_not_asked_about_an_example_that_nobody_has_used(
    tmp_path: Path, door: Egress
) -> None:
    example = tmp_path / "shipped" / "p"
    example.mkdir(parents=True)
    auth = {"type": "header", "args": {"K": "${secret:key}"}}
    (example / "plugin.json").write_text(manifest(auth=auth))
    names = ("shipped", "home", "config", "data", "logs")
    places = PluginPlaces(*(tmp_path / name for name in names))

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    async def opened() -> tuple[PluginHouse, CountingKeychain]:
        keychain = CountingKeychain(tmp_path / "secrets.json")
        house = PluginHouse(places, Shared(door, keychain, Redactor()), PluginSettings, engine)
        await house.open()
        await asyncio.wait([house._asking_keychain])  # type: ignore[list-item]
        return house, keychain

    house, keychain = await opened()
    assert (card(house).missing_secrets, keychain.asked) == (("key",), 0)
    await house.set_secret("p", "key", "canary")
    assert card(house).missing_secrets == ()
    await house.close()
    house, keychain = await opened()
    assert card(house).missing_secrets == ()
    assert keychain.asked > 0
    await house.close()


async def test_a_plugin_that_reaches_elsewhere_must_be_looked_at_again(
    house: PluginHouse, folder: Path, door: Egress
) -> None:
    await house.install(str(folder))
    await house.enable("p")
    installed = house.shelf.places.home / "p" / "openapi.yaml"
    installed.write_text(OPENAPI.replace("127.0.0.1:9", "127.0.0.1:10"))
    await house.shelf.look()
    shown = card(house)
    assert (shown.enabled, shown.review) == (False, True)
    assert [entry for entry in door._allowed if entry[1] == REASON] == []


@pytest.mark.parametrize("added", ["native.so", "lent.pyc", "__pycache__/tool.cpython-311.pyc"])
async def test_code_of_any_kind_must_be_looked_at_again(
    house: PluginHouse, folder: Path, added: str
) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "tool.py").write_text("x = 1\n")
    await house.install(str(folder))
    await house.enable("p")
    archive = folder.parent / "p.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(folder / "plugin.json", "plugin.json")
        packed.write(folder / "openapi.yaml", "openapi.yaml")
        packed.write(folder / "lib" / "tool.py", "lib/tool.py")
        packed.writestr(f"lib/{added}", b"code")
    await house.install(str(archive))
    assert (card(house).enabled, card(house).review) == (False, True)


@pytest.mark.parametrize(
    "changed",
    [
        {"command": "sh", "env": {"LD_PRELOAD": "./x.so"}},
        {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Forwarded-For": "me"}},
    ],
)
async def test_what_a_program_or_server_is_given_must_be_looked_at_again(
    house: PluginHouse, folder: Path, changed: dict[str, object]
) -> None:
    before = {name: value for name, value in changed.items() if name in ("command", "url")}
    (folder / "plugin.json").write_text(manifest(mcp={"s": before}))
    await house.install(str(folder))
    await house.enable("p")
    (folder / "plugin.json").write_text(manifest(mcp={"s": changed}))
    await house.install(str(folder))
    assert (card(house).enabled, card(house).review) == (False, True)


async def test_what_was_accepted_within_walls_does_not_run_without_them(
    house: PluginHouse, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls, "kind", lambda: "namespaces")
    (folder / "plugin.json").write_text(manifest(mcp={"s": {"command": "python3 s.py"}}))
    await house.install(str(folder))
    await house.enable("p")
    assert (card(house).enabled, card(house).walled) == (True, True)
    monkeypatch.setattr(walls, "kind", lambda: "")
    await house.install(str(folder))
    assert (card(house).enabled, card(house).review, card(house).walled) == (False, True, False)
    await house.enable("p")
    assert card(house).enabled


@pytest.mark.parametrize("name", ["server.py", "openapi.yaml", "flows/f.yaml", "data/x.bin"])
async def test_any_changed_file_waits_for_a_review(
    house: PluginHouse, folder: Path, name: str
) -> None:
    for each in ("server.py", "flows/f.yaml", "data/x.bin"):
        (folder / each).parent.mkdir(exist_ok=True)
        (folder / each).write_text("")
    await house.install(str(folder))
    await house.enable("p")
    assert (card(house).enabled, card(house).changes) == (True, ())
    changed = house.shelf.places.home / "p" / name
    changed.write_text(changed.read_text() + "\n# another")
    await house.shelf.look()
    assert (card(house).enabled, card(house).review) == (False, True)
    assert card(house).changes == (f"{name} has changed",)
    assert f"{name} has changed" in await house.explain("p", None)


async def test_a_changed_flow_is_read_at_once_and_waits_for_a_review(
    house: PluginHouse, folder: Path
) -> None:
    await house.install(str(folder))
    await house.enable("p")
    (house.shelf.places.home / "p" / "flows").mkdir()
    flow = house.shelf.places.home / "p" / "flows" / "f.yaml"
    flow.write_text("name: f\ndescription: d\nsteps:\n  - {name: start, call_type: none}\n")
    await house.shelf.look()
    assert (card(house).enabled, card(house).review) == (False, True)
    assert card(house).changes == ("flows/f.yaml is new",)
    await house.enable("p")
    assert card(house).enabled
    assert "f" in [one.key for one in card(house).flows]
    flow.write_text("name: f\ndescription: d\nsteps:\n  - {name: start, call_type: nonee}\n")
    await house.shelf.look()
    assert card(house).state == "partly broken"
    assert any("Did you mean 'none'?" in finding for finding in card(house).findings)


async def test_decisions_outlive_a_restart(house: PluginHouse, folder: Path) -> None:
    await house.install(str(folder))
    await house.enable("p")
    await house.set_policy("p", "POST /things", "allow")
    again = PluginHouse(house.shelf.places, house.shelf._shared, PluginSettings, house._engine)
    await again.shelf.look()
    assert card(again).enabled
    assert [one.policy for one in card(again).operations] == ["default", "allow", "default"]
    await again.close()


async def test_changing_an_operation_takes_its_permission_away(
    house: PluginHouse, folder: Path
) -> None:
    await house.install(str(folder))
    await house.set_policy("p", "POST /things", "allow")
    (folder / "openapi.yaml").write_text(OPENAPI.replace("127.0.0.1:9", "127.0.0.1:10"))
    await house.install(str(folder))
    assert [one.policy for one in card(house).operations] == ["default"] * 3


async def test_an_update_can_be_rolled_back(house: PluginHouse, folder: Path) -> None:
    await house.install(str(folder))
    (folder / "plugin.json").write_text(manifest(version="2.0.0"))
    await house.install(str(folder))
    assert (card(house).version, card(house).previous_version) == ("2.0.0", "1.0.0")
    await house.roll_back("p")
    assert (card(house).version, card(house).previous_version) == ("1.0.0", "2.0.0")


async def test_removing_takes_files_permissions_and_secrets(
    house: PluginHouse, folder: Path
) -> None:
    auth = {"type": "header", "args": {"K": "${secret:key}"}}
    (folder / "plugin.json").write_text(manifest(auth=auth))
    await house.install(str(folder))
    assert card(house).missing_secrets == ("key",)
    await house.set_secret("p", "key", "canary")
    assert card(house).missing_secrets == ()
    await house.remove("p")
    assert house.cards.get() == ()
    assert not await house.shelf.sealed("p").has("key")
    assert not (house.shelf.places.home / "p").exists()


async def test_removing_a_broken_plugin_takes_its_secrets_too(
    house: PluginHouse, folder: Path
) -> None:
    auth = {"type": "header", "args": {"K": "${secret:key}"}}
    (folder / "plugin.json").write_text(manifest(auth=auth))
    await house.install(str(folder))
    await house.set_secret("p", "key", "canary")
    (house.shelf.places.home / "p" / "plugin.json").write_text("{")
    await house.shelf.look()
    assert card(house).state == "broken"
    await house.remove("p")
    assert not await house.shelf.sealed("p").has("key")


async def test_a_broken_plugin_is_shown_with_its_findings(
    house: PluginHouse, tmp_path: Path
) -> None:
    broken = house.shelf.places.home / "broken"
    broken.mkdir(parents=True)
    (broken / "plugin.json").write_text('{"name": ')
    await house.shelf.look()
    assert card(house).state == "broken"
    assert card(house).findings[0].startswith("plugin.json:1:10 error syntax")
    with pytest.raises(BadRequest):
        await house.enable("broken")


async def test_a_plugin_comes_from_a_zip(house: PluginHouse, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"p/{file.name}")
    assert await house.install(str(path)) == "p"
    with pytest.raises(PluginRefused, match="no file"):
        await house.install(str(tmp_path / "nothing.zip"))


async def test_the_folder_a_plugin_came_from_stays(house: PluginHouse, folder: Path) -> None:
    await house.install(str(folder))
    assert card(house).key == "p"
    await house.remove("p")
    assert house.cards.get() == ()
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server", "ftp://x"),
        ("nothing", "x"),
        ("server", "127.0.0.1"),
        ("server", "http://api.example:80800"),
        ("server", "http://localhost:80 80"),
        ("server", "http://no host/"),
    ],
)
async def test_options_are_checked(house: PluginHouse, folder: Path, name: str, value: str) -> None:
    await house.install(str(folder))
    await house.enable("p")
    with pytest.raises(BadRequest):
        await house.set_option("p", name, value)
    assert house.shelf.kept.get("p").server == ""
