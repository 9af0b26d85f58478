"""moat plugins from the outside: alone, and beside a Moat that runs."""

import asyncio
import io
import json
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import keyring.core
import pytest
from keyring.backends import fail

from server import cli
from server.core.core import Core
from server.face.plugins import PluginCard
from server.models.downloads.journal import DownloadJournal, DownloadPlan
from server.models.downloads.queue import FOLDER
from server.models.hub import RemoteFile
from server.plugins import registry
from server.system import paths
from tests.kit.fake_core import FakeCore
from tests.kit.fake_hub import COMMIT, FakeHub
from tests.kit.fake_mcp import program
from tests.kit.fake_plugins import FORM, ORDER
from tests.kit.memory_keyring import MemoryKeyring
from tests.kit.served_core import serve_core

ROOT = Path(__file__).resolve().parents[3]
DOUBLE = """
class Double:
    name = "double"
    description = "twice as much"
    params_schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    def __init__(self, params): self.x = params["x"]
    def call(self, fixed): return {"output": 2 * self.x, "message": ""}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    manifest = {"id": "mine", "name": "Mine", "description": "d", "version": "1.2.3"}
    (made / "plugin.json").write_text(json.dumps(manifest))
    return made


def test_check_lists_every_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "check", str(ROOT / "plugins" / "files")]) == 0
    assert capsys.readouterr().out == "files: ok, 0 operations, 2 flows\n"
    (folder / "openapi.yaml").write_text('a: "\\d"')
    assert cli.main(["plugins", "check", str(folder)]) == 1
    assert "openapi.yaml:1:6 error syntax" in capsys.readouterr().out


def test_install_enable_list_and_disable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "install", str(folder)]) == 0
    assert "mine 1.2.3 is installed, disabled." in capsys.readouterr().out
    assert cli.main(["plugins", "enable", "mine"]) == 0
    assert cli.main(["plugins", "list"]) == 0
    listed = capsys.readouterr().out
    assert "mine       enabled   warnings       Mine 1.2.3" in listed
    assert "portfolio  disabled  ok             Portfolio 1.0.0" in listed
    assert cli.main(["plugins", "disable", "mine"]) == 0
    assert cli.main(["plugins", "enable", "nobody"]) == 1
    assert "There is no plugin 'nobody'." in capsys.readouterr().err


@asynccontextmanager
async def served(core: Core | FakeCore) -> AsyncIterator[None]:
    """With its control link, and the note by which terminals find it."""
    async with serve_core(core, "secret") as address:  # type: ignore[arg-type]
        note = paths.find().control
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"address": address, "secret": "secret", "pid": 1}))
        yield


@pytest.fixture
async def running() -> AsyncIterator[Core]:
    core = Core(paths.find())
    await core.open()
    async with served(core):
        yield core
    await core.close()


async def moat(*arguments: str) -> int:
    return await asyncio.to_thread(cli.main, ["plugins", *arguments])


def card(core: Core, key: str) -> PluginCard:
    return next(one for one in core.plugins.cards.get() if one.key == key)


async def test_what_is_said_to_be_enabled_is_what_the_folder_holds_now(
    running: Core, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "FRESH_S", 0.0)
    assert await moat("install", str(folder)) == 0
    manifest = paths.find().data / "plugins" / "mine" / "plugin.json"
    for host in ("one.example", "two.example"):
        changed = {"mcp": {"sums": {"command": "sums"}}, "hosts": [host]}
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changed))
        assert await moat("enable", "mine") == 0
        found = card(running, "mine")
        assert (found.hosts, found.enabled) == ((f"https://{host}",), True)
        assert host in capsys.readouterr().out


async def test_a_running_moat_does_it_so_that_it_holds(
    running: Core, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert await moat("install", "mine") == 0
    assert card(running, "mine").version == "1.2.3"
    assert await moat("enable", "mine") == 0
    assert card(running, "mine").enabled
    assert await moat("list") == 0
    assert await moat("disable", "mine") == 0
    assert not card(running, "mine").enabled
    said = capsys.readouterr().out
    assert "mine 1.2.3 is installed, disabled. It does not connect to anything outside." in said
    assert "mine is enabled. It does not connect to anything outside." in said
    assert "mine       enabled   warnings       Mine 1.2.3" in said
    await running.plugins.set_option("portfolio", "positions", "x.csv")
    kept = json.loads((paths.find().config / "plugins.json").read_text())
    assert kept["mine"]["enabled"] is False


async def test_what_a_running_moat_refuses_is_said(
    running: Core, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await moat("enable", "nobody") == 1
    assert capsys.readouterr().err == "There is no plugin 'nobody'.\n"


async def test_beside_a_running_moat_no_second_one_is_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    core = FakeCore.ready()
    core.plugins.cards.set((PluginCard("p", "P", "", "1.0", "ok", True, False, True),))
    monkeypatch.delattr(Core, "open")
    async with served(core):
        assert await moat("list") == 0
        assert await moat("disable", "p") == 0
    assert capsys.readouterr().out == "p  enabled   ok             P 1.0\np is disabled.\n"
    assert core.commands == [("plugins.disable", "p")]


@pytest.mark.parametrize("action", [("list",), ("run", "files/none", "x")])
async def test_alone_it_leaves_the_downloads_to_the_window(action: tuple[str, ...]) -> None:
    """A second program at one download would tear it; a folder without a journal is being made."""
    places = paths.find()
    async with FakeHub({"a/b": {"x.gguf": b"x" * 1000}}).running() as hub:
        places.config.mkdir(parents=True)
        places.settings.write_text(json.dumps({"network": {"hub": hub.address}}))
        plan = DownloadPlan("one", "x.gguf", "a/b", COMMIT, (RemoteFile("x.gguf", 1000, "0"),), 100)
        DownloadJournal.create(places.models / FOLDER / "one", plan)
        (places.models / FOLDER / "begun").mkdir()
        await moat(*action)
        assert hub.seen == []
    assert sorted(one.name for one in (places.models / FOLDER).iterdir()) == ["begun", "one"]


PANTRY = """openapi: 3.0.0
info: {title: t, version: '1'}
paths:
  /items:
    get: {description: all, responses: {'200': {description: x}}}
"""
KEYED = {"type": "header", "args": {"X-Key": "${secret:key}"}}


@pytest.fixture
def pantry(tmp_path: Path) -> Path:
    made = tmp_path / "pantry"
    (made / "flows").mkdir(parents=True)
    manifest = {"id": "pantry", "name": "Pantry", "description": "d", "auth": KEYED}
    (made / "plugin.json").write_text(json.dumps(manifest))
    (made / "openapi.yaml").write_text(PANTRY)
    return made


def test_errors_come_first_and_many_of_one_kind_are_one_line(
    pantry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(9):
        flow = f"name: f{number}\ndescription: d\nsteps: [{{name: start, call_type: none}}]\n"
        (pantry / "flows" / f"other{number}.yaml").write_text(flow + "odd_key: 1\n")
    (pantry / "flows" / "z.yaml").write_text("name: [\n")
    assert cli.main(["plugins", "check", str(pantry)]) == 1
    head, first, *rest = capsys.readouterr().out.splitlines()
    assert "errors: 1" in head
    assert " error " in first
    assert sum("unknown-key" in line for line in rest) == 1
    assert any("and 8 more unknown-key" in line for line in rest)
    assert cli.main(["plugins", "check", "--all", str(pantry)]) == 1
    assert capsys.readouterr().out.count(" unknown-key ") == 9
    assert cli.main(["plugins", "check", str(pantry / "nowhere")]) == 1
    assert "There is no folder" in capsys.readouterr().err


def test_an_address_that_is_not_set_is_said_and_can_be_set(
    pantry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["plugins", "install", str(pantry)]) == 0
    said = capsys.readouterr().out
    assert "The address of its API is not set" in said
    assert "does not connect to anything outside" not in said
    assert cli.main(["plugins", "set", "pantry", "servr", "http://127.0.0.1:9"]) == 1
    assert "Did you mean 'server'?" in capsys.readouterr().err
    assert cli.main(["plugins", "set", "pantry", "server", "http://127.0.0.1:9"]) == 0
    assert cli.main(["plugins", "enable", "pantry"]) == 0
    assert "It may connect to http://127.0.0.1:9." in capsys.readouterr().out


def test_a_secret_is_read_from_a_pipe_and_a_plugin_is_removed(
    pantry: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", MemoryKeyring())
    assert cli.main(["plugins", "install", str(pantry)]) == 0
    for given, code in (("", 1), ("s3cret\n", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO(given))
        assert cli.main(["plugins", "secret", "pantry", "key"]) == code
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n"))
    assert cli.main(["plugins", "secret", "pantry", "kee"]) == 1
    said = capsys.readouterr()
    assert "key of pantry is stored in the keychain." in said.out
    assert "s3cret" not in said.out + said.err
    assert "Did you mean 'key'?" in said.err
    assert cli.main(["plugins", "secret", "pantry", "key", "--forget"]) == 0
    assert cli.main(["plugins", "remove", "pantrie"]) == 1
    assert "Did you mean 'pantry'?" in capsys.readouterr().err
    assert cli.main(["plugins", "remove", "pantry"]) == 0
    assert cli.main(["plugins", "remove", "files"]) == 1
    assert "comes with Moat" in capsys.readouterr().err


async def test_what_waits_in_a_running_moat_is_listed_and_answered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    core = FakeCore.ready()
    core.plugins.approvals.set((replace(ORDER, client="http://page.example"),))
    core.plugins.forms.set((FORM,))
    async with served(core):
        assert await moat("answer") == 0
        assert await moat("answer", "zz", "once") == 1
        assert await moat("answer", "a1", "always") == 0
        assert await moat("answer", "f1", "account=cash", "quantity=five", "statement=/x.csv") == 0
    listed = capsys.readouterr().out
    assert "for http://page.example, which uses it for the first time" in listed
    assert "account: cash | margin, required" in listed
    values = '{"account": "cash", "quantity": 5, "statement": "/x.csv"}'
    assert core.commands == [
        ("plugins.answer_approval", "a1", "always", ""),
        ("plugins.answer_form", "f1", values),
    ]


def test_without_a_running_moat_nothing_waits(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "answer"]) == 0
    assert "No Moat is running" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_the_fetching_of_a_package_is_shown(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = tmp_path / "bin" / "npx"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nsleep 2\nexec {shlex.join(program())}\n")
    fake.chmod(0o755)
    manifest = json.loads((folder / "plugin.json").read_text())
    server = {"command": str(fake), "args": ["-y", "mcp-server-sums"]}
    (folder / "plugin.json").write_text(json.dumps({**manifest, "mcp": {"sums": server}}))
    assert cli.main(["plugins", "install", str(folder)]) == 0
    assert cli.main(["plugins", "enable", "mine"]) == 0
    assert cli.main(["plugins", "tools", "mine"]) == 0
    shown = capsys.readouterr()
    assert "Fetching the package mcp-server-sums\n" in shown.err
    assert "mine/sums/add" in shown.out


def test_a_tool_is_listed_and_run_with_its_arguments(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "__init__.py").write_text(DOUBLE)
    assert cli.main(["plugins", "install", str(folder)]) == 0
    assert cli.main(["plugins", "enable", "mine"]) == 0
    assert cli.main(["plugins", "tools", "mine"]) == 0
    assert "  x: integer, required" in capsys.readouterr().out
    assert cli.main(["plugins", "run", "mine/double", "--set", "x=4", "--yes"]) == 0
    assert "8" in capsys.readouterr().out
    assert cli.main(["plugins", "run", "mine/double", "--yes"]) == 1
    assert "This argument is missing: x" in capsys.readouterr().err
    assert cli.main(["plugins", "run", "mine/double", "--set", "x=4"]) == 1
    assert "--yes allows every call" in capsys.readouterr().err


def test_without_a_keyring_the_command_says_where_a_secret_lies(
    pantry: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["plugins", "install", str(pantry)]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("s3cret\n"))
    monkeypatch.setattr(keyring.core, "_keyring_backend", fail.Keyring())
    assert cli.main(["plugins", "secret", "pantry", "key"]) == 0
    said = capsys.readouterr().out
    assert "unencrypted in" in said
    assert "kept in the keychain" not in said


def test_without_a_keyring_an_import_says_where_its_secrets_lie(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", fail.Keyring())
    servers = {"notes": {"command": "notes", "env": {"NOTES_TOKEN": "hidden-123", "LEVEL": "2"}}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert cli.main(["plugins", "import", str(tmp_path / "mcp.json")]) == 0
    said = capsys.readouterr().out
    assert "NOTES_TOKEN of notes is stored. This system has no usable keyring" in said
    assert "LEVEL" not in said
    assert "hidden-123" not in said


def test_a_common_server_is_listed_and_added(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "servers"]) == 0
    assert "uvx mcp-server-fetch  [MIT]" in capsys.readouterr().out
    assert cli.main(["plugins", "servers", "--json"]) == 0
    assert "fetch" in {server["name"] for server in json.loads(capsys.readouterr().out)}
    assert cli.main(["plugins", "add", "fetch"]) == 1
    assert "Name the hosts" in capsys.readouterr().err
    assert cli.main(["plugins", "add", "fetch", "--host", "wiki.test"]) == 0
    said = capsys.readouterr().out
    assert "fetch is installed, disabled." in said
    assert "https://wiki.test" in said
