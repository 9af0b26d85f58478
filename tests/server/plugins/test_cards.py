"""What a plugin's card shows of decisions, and that showing and deciding starts nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.egress import Egress
from server.engine.base import Engine
from server.errors import BadRequest
from server.face.plugins import Approval, OperationCard, PluginCard
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.engines import ScriptedEngine
from tests.kit.fake_mcp import program

CODE = """
from pathlib import Path
Path("{ran}").touch()

class Double:
    name = "double"
    description = "twice as much"
    def call(self, x=1):
        return 2 * x
"""


def new_house(folder: Path) -> PluginHouse:
    names = ("shipped", "home", "config", "data", "logs")
    places = PluginPlaces(*(folder / name for name in names))
    shared = Shared(Egress(NetworkSettings), Keychain(folder / "secrets.json"), Redactor())

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    return PluginHouse(places, shared, PluginSettings, engine)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    command, *rest = program()
    made = tmp_path / "source" / "p"
    (made / "lib").mkdir(parents=True)
    manifest = {
        "id": "p",
        "name": "P",
        "description": "d",
        "mcp": {"sums": {"command": command, "args": rest}},
    }
    (made / "plugin.json").write_text(json.dumps(manifest))
    (made / "lib" / "tool.py").write_text(CODE.format(ran=tmp_path / "data" / "p" / "ran"))
    return made


@pytest.fixture
async def house(tmp_path: Path, folder: Path) -> AsyncIterator[PluginHouse]:
    made = new_house(tmp_path)
    await made.shelf.look()
    await made.install(str(folder))
    yield made
    await made.close()


def card(house: PluginHouse) -> PluginCard:
    (one,) = house.cards.get()
    return one


def operation(house: PluginHouse, key: str) -> OperationCard | None:
    return next((one for one in card(house).operations if one.key == key), None)


async def asked(house: PluginHouse, flow: str, decision: str) -> None:
    """A flow's tool is called, and a person answers the question."""
    found = next(one for one in await house.flows() if one.name == flow)
    kit = house.kit(found, "chat")
    action = await kit.action("mcp", flow)
    opened: asyncio.Future[Approval] = asyncio.get_running_loop().create_future()

    def note(waiting: tuple[Approval, ...]) -> None:
        if waiting and not opened.done():
            opened.set_result(waiting[0])

    house.approvals.connect(note)

    async def answer() -> None:
        await house.answer_approval((await opened).id, decision, "")

    await asyncio.gather(kit.approve(action, {}, confirm=False), answer())


async def test_what_was_decided_about_a_tool_of_its_code_is_shown_and_lost_on_change(
    house: PluginHouse, folder: Path, tmp_path: Path
) -> None:
    for policy in ("allow", "block", "default", "allow"):
        await house.set_policy("p", "double", policy)
        shown = operation(house, "double")
        assert shown == OperationCard("double", "twice as much", "change", policy)  # type: ignore[arg-type]
    (folder / "lib" / "more.py").write_text("x = 1\n")
    await house.install(str(folder))
    assert operation(house, "double").policy == "default"  # type: ignore[union-attr]


async def test_deciding_about_a_plugin_that_is_not_enabled_does_not_run_it(
    house: PluginHouse, tmp_path: Path
) -> None:
    await house.set_policy("p", "double", "block")
    with pytest.raises(BadRequest, match="has no tool"):
        await house.set_policy("p", "sums/add", "block")
    plugin = house.shelf.plugins["p"]
    assert plugin._clients == {}
    assert not (tmp_path / "data" / "p" / "ran").exists()


async def test_always_for_a_tool_of_a_server_is_shown_at_once_and_can_be_undone(
    house: PluginHouse,
) -> None:
    await house.enable("p")
    assert operation(house, "sums/add") is None
    await house.flows()
    assert operation(house, "sums/add") == OperationCard("sums/add", "", "change")
    await asked(house, "sums/add", "always")
    assert operation(house, "sums/add") == OperationCard("sums/add", "", "change", "allow")
    await house.set_policy("p", "sums/add", "default")
    assert operation(house, "sums/add") == OperationCard("sums/add", "", "change", "default")


async def test_a_decision_about_a_server_that_was_not_started_yet_can_be_undone_too(
    house: PluginHouse, tmp_path: Path
) -> None:
    await house.enable("p")
    await asked(house, "sums/add", "always")
    later = new_house(tmp_path)
    await later.shelf.look()
    assert operation(later, "sums/add").policy == "allow"  # type: ignore[union-attr]
    await later.set_policy("p", "sums/add", "block")
    assert operation(later, "sums/add").policy == "block"  # type: ignore[union-attr]
    await later.set_policy("p", "sums/add", "default")
    assert operation(later, "sums/add") is None
    assert later.shelf.plugins["p"]._clients == {}
    await later.close()


async def test_why_a_sign_in_came_to_nothing_stands_on_the_card(
    house: PluginHouse, folder: Path
) -> None:
    told = json.loads((folder / "plugin.json").read_text())
    told["auth"] = {"type": "oidc", "issuer": "https://id.example", "client_id": "moat"}
    (folder / "plugin.json").write_text(json.dumps(told))
    await house.install(str(folder))
    sign_in = house.shelf.plugins["p"].sign_in
    assert sign_in is not None
    sign_in.problem = "Nobody signed in within 300 s."
    house._publish()
    assert card(house).findings[-1] == "Nobody signed in within 300 s."
