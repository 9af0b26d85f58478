"""A plugin at work: its servers asked side by side, and what its code reads over HTTP."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.egress import Egress
from server.engine.base import Engine
from server.errors import AppError, BadRequest, EgressRefused
from server.face.plugins import PluginTest
from server.plugins import plugin as plugin_module
from server.plugins.mcp import client as mcp_client
from server.plugins.mcp import servers as mcp_servers
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.engines import ScriptedEngine
from tests.kit.fake_mcp import program, served
from tests.kit.slow_network import in_halves

FETCH = """
class Fetch:
    name = "fetch"
    description = "reads an address"
    params_schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    def call(self, given):
        return {"output": self.host.http("GET", given["url"])["text"]}
exported = [Fetch]
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[PluginHouse]:
    names = ("shipped", "home", "config", "data", "logs")
    places = PluginPlaces(*(tmp_path / name for name in names))
    door = Egress(NetworkSettings)
    shared = Shared(door, Keychain(tmp_path / "secrets.json"), Redactor())

    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    made = PluginHouse(places, shared, PluginSettings, engine)
    await made.shelf.look()
    yield made
    await made.close()
    await door.close()


async def enable(house: PluginHouse, folder: Path, code: str = "", **more: Any) -> None:
    folder.mkdir(parents=True)
    said = {"id": folder.name, "name": folder.name, "description": "d", **more}
    (folder / "plugin.json").write_text(json.dumps(said))
    if code:
        (folder / "lib").mkdir()
        (folder / "lib" / "__init__.py").write_text(code)
    await house.shelf.look()
    await house.enable(folder.name)


def started(command: tuple[str, ...]) -> dict[str, object]:
    return {"command": command[0], "args": list(command[1:])}


async def test_servers_are_asked_at_the_same_time(house: PluginHouse, tmp_path: Path) -> None:
    """Each tells its tools only after all were asked."""
    async with served() as first, served() as second, served() as third:
        first.may_answer = second.asked
        second.may_answer = third.asked
        third.may_answer = first.asked
        mine = {"one": {"url": first.url}, "two": {"url": second.url}}
        await enable(house, tmp_path / "home" / "a", mcp=mine)
        await enable(house, tmp_path / "home" / "b", mcp={"three": {"url": third.url}})
        async with asyncio.timeout(30):
            flows = await house.flows()
        assert [flow.key for flow in flows] == ["a/one/add", "a/two/add", "b/three/add"]


@pytest.mark.parametrize(
    "listed", [{"result": {"tools": None}}, {"result": []}, {"error": "all wrong"}, {"result": 3}]
)
async def test_a_server_that_misspeaks_is_left_out(
    house: PluginHouse, tmp_path: Path, listed: Any
) -> None:
    servers = {"bad": started(program(tools_list=listed)), "good": started(program())}
    await enable(house, tmp_path / "home" / "a", mcp=servers)
    async with asyncio.timeout(30):
        assert [flow.name for flow in await house.flows()] == ["good/add"]
    assert "bad did not list its tools" in "\n".join(await house.read_log("a", 10))


async def test_a_server_that_hangs_is_left_out_and_ended(
    house: PluginHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_client, "OPEN_S", 2.0)
    monkeypatch.setattr(mcp_servers, "QUIT_S", 0.1)
    servers = {"bad": started(("sh", "-c", "sleep 1000; true")), "good": started(program())}
    await enable(house, tmp_path / "home" / "a", mcp=servers)
    async with asyncio.timeout(30):
        assert [flow.name for flow in await house.flows()] == ["good/add"]
        log = "\n".join(await house.read_log("a", 10))
        assert "bad took longer than 2 s. It must read and write one JSON message per line" in log
        await house.close()


async def test_a_server_that_starts_slowly_is_not_ended(
    house: PluginHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tools come later; nobody who asks meanwhile waits again."""
    monkeypatch.setattr(plugin_module, "LISTING_S", 0.2)
    slow = f"sleep 2; exec {shlex.join(program())}"
    await enable(house, tmp_path / "home" / "a", mcp={"slow": started(("sh", "-c", slow))})
    plugin = house.shelf.plugins["a"]
    async with asyncio.timeout(60):
        assert not await house.flows()
        assert plugin.working["slow"] == "slow has not listed its tools yet …"
        assert not await house.flows()
        while not (found := await house.flows()):
            await asyncio.sleep(0.05)
    assert [flow.name for flow in found] == ["slow/add"]
    assert not plugin.working
    assert not plugin.failures


async def test_a_program_that_is_fetched_first_is_waited_for(
    house: PluginHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """npx and uvx load the server before they start it, behind walls each time."""
    monkeypatch.setattr(plugin_module, "LISTING_S", 0.5)
    fake = tmp_path / "bin" / "npx"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nsleep 2\nexec {shlex.join(program())}\n")
    fake.chmod(0o755)
    await enable(house, tmp_path / "home" / "a", mcp={"far": started((str(fake),))})
    async with asyncio.timeout(90):
        assert [flow.name for flow in await house.flows()] == ["far/add"]


async def test_code_reads_an_answer_that_comes_in_pieces(
    house: PluginHouse, tmp_path: Path
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        await in_halves(stream, b"the first half, and the second")
        return stream

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app, host="127.0.0.1") as server:
        url = str(server.make_url("/"))
        await enable(house, tmp_path / "home" / "a", FETCH, hosts=[url.rstrip("/")])
        action = await house.shelf.plugins["a"].action("lib", "fetch")
        output = await action.call({"url": url}, {}, 5)
    assert output.data == "the first half, and the second"


async def rehearse(house: PluginHouse, folder: Path, step: str, **more: Any) -> PluginTest:
    """A dry run of a plugin nobody has enabled."""
    await enable(house, folder, **more)
    await house.disable(folder.name)
    (folder / "flows").mkdir()
    text = f"name: f\ndescription: d\nsteps:\n  - {{name: start, {step}}}\n"
    (folder / "flows" / "f.yaml").write_text(text)
    await house.shelf.look()
    return await house.test(folder.name, "f", "q", "dry")


async def test_not_even_a_rehearsal_runs_code_before_it_is_enabled(
    house: PluginHouse, tmp_path: Path
) -> None:
    code = f"{FETCH}\nprint('it has run')\n"
    step = "call_type: fetch, params: {url: x}"
    told = await rehearse(house, tmp_path / "home" / "p", step, code=code)
    assert told.failed
    assert "Enable p first" in told.text
    assert not any("it has run" in line for line in await house.read_log("p", 10))
    await house.enable("p")
    told = await house.test("p", "f", "q", "dry")
    assert "Enable" not in told.text
    await house.close()
    assert any("it has run" in line for line in await house.read_log("p", 10))


async def test_not_even_a_rehearsal_starts_a_program_before_it_is_enabled(
    house: PluginHouse, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    server = started((sys.executable, "-c", f"open({str(ran)!r}, 'w').close()"))
    step = "call_type: mcp, params: {server: s, tool: t}"
    told = await rehearse(house, tmp_path / "home" / "p", step, mcp={"s": server})
    assert told.failed
    assert "Enable p first" in told.text
    assert not ran.exists()


async def test_a_call_is_rehearsed_before_it_is_enabled(house: PluginHouse, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "p"
    await enable(house, folder, automatic_flow=True)
    await house.disable("p")
    paths = "{/x: {get: {description: d, responses: {'200': {description: x}}}}}"
    said = f"openapi: 3.0.0\nservers: [{{url: 'http://127.0.0.1:9'}}]\npaths: {paths}\n"
    (folder / "openapi.yaml").write_text(said)
    await house.shelf.look()
    told = await house.test("p", "GET /x", "q", "dry")
    assert told.requests == ("GET http://127.0.0.1:9/x",)


async def test_an_enabled_plugin_is_not_led_elsewhere(house: PluginHouse, tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(f"{request.method} {request.path}")
        raise web.HTTPTemporaryRedirect("/elsewhere")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        url = str(server.make_url("/x"))
        await enable(house, tmp_path / "home" / "p", hosts=[url])
        door = house.shelf._shared.door
        with pytest.raises(EgressRefused, match="second time"):
            async with door.request("POST", url, "plugin p", data=b"once"):
                pass
    assert asked == ["POST /x"]


async def test_imported_servers_wait_for_a_review_and_keep_their_secrets_apart(
    house: PluginHouse, tmp_path: Path
) -> None:
    command, *arguments = program()
    entry = {"command": command, "args": [*arguments, str(tmp_path)], "env": {"A_KEY": "canary"}}
    path = tmp_path / "claude_desktop_config.json"
    path.write_text(json.dumps({"mcpServers": {"Sums": entry}}), "utf-8")
    assert await house.import_servers(str(path)) == ["sums"]
    card = next(card for card in house.cards.get() if card.key == "sums")
    assert (card.enabled, card.review, card.missing_secrets) == (False, True, ())
    assert command in card.commands[0]
    assert [option.value for option in card.options] == [str(tmp_path)]
    assert "canary" not in (tmp_path / "home" / "sums" / "plugin.json").read_text("utf-8")
    await house.enable("sums")
    async with asyncio.timeout(60):
        assert [tool.key for tool in await house.find_tools("sums")] == ["Sums/add"]


async def test_a_common_server_waits_for_a_review_and_starts_with_what_was_chosen(
    house: PluginHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in place of the store's: what is fetched there is not here."""
    fake = tmp_path / "bin" / "uvx"
    fake.parent.mkdir()
    command = shlex.join(program())
    fake.write_text(f'#!/bin/sh\necho "$@" >&2\nexec {command}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    (tmp_path / "repo").mkdir()
    assert await house.add_server("git", "") == "git"
    with pytest.raises(BadRequest, match="already"):
        await house.add_server("git", "")
    assert [server.name for server in await house.common_servers() if server.added] == ["git"]
    card = next(card for card in house.cards.get() if card.key == "git")
    assert (card.enabled, card.review) == (False, True)
    await house.enable("git")
    with pytest.raises(AppError, match="Choose 'repository'"):
        await house.find_tools("git")
    await house.set_option("git", "repository", str(tmp_path / "repo"))
    async with asyncio.timeout(60):
        assert [tool.key for tool in await house.find_tools("git")] == ["git/add"]
    log = await house.read_log("git", 10)
    assert any(f"mcp-server-git --repository {tmp_path / 'repo'}" in line for line in log)


NODE = """node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module './tools.js'
Require stack:
- /opt/server/index.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Module._load (node:internal/modules/cjs/loader:1051:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/opt/server/index.js' ]
}

Node.js v20.19.2"""
UV = """error: Failed to fetch: https://pypi.org/simple/mcp-server-time/
  cause: client error (Connect)
  cause: invalid peer certificate: UnknownIssuer
hint: Consider enabling use of system TLS certificates"""
PYTHON = """Traceback (most recent call last):
  File "/opt/server.py", line 1, in <module>
    import beside
ModuleNotFoundError: No module named 'beside'"""


@pytest.mark.parametrize(
    ("said", "telling"),
    [
        (NODE, "Error: Cannot find module './tools.js'"),
        (PYTHON, "ModuleNotFoundError: No module named 'beside'"),
        (UV, "cause: invalid peer certificate: UnknownIssuer"),
        ("Starting\nPlease give a folder\n}", "Please give a folder"),
        ("}", "}"),
    ],
)
def test_of_the_last_words_the_line_that_names_the_failure_is_shown(
    said: str, telling: str, tmp_path: Path
) -> None:
    """Node's own last words are a brace and its version."""
    journal = plugin_module.Journal(tmp_path / "log", str)
    journal.note("an error of an earlier start")
    before = journal.recent(1)
    assert journal.since(before) == []
    journal.note(said)
    assert plugin_module.choose_telling(journal.since(before)) == telling
