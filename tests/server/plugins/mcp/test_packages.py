"""Programs that fetch their server first: what they fetched stays, and the wait is shown."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import psutil
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.asking.ask import Means, PluginChoice
from server.chat import ChatRequest, Message
from server.egress import Egress
from server.engine.base import Engine
from server.errors import FlowFailed
from server.plugins.mcp import client as client_module
from server.plugins.mcp import packages as packages_module
from server.plugins.mcp.packages import Packages, find_package, remove
from server.plugins.mcp.servers import Hear, Program, Walls
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.plugins.walls import walls
from server.plugins.walls.doorway import Doorway
from server.settings import NetworkSettings, PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine
from tests.kit.fake_mcp import CODE, RESULTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
KINDS: tuple[walls.Kind, ...] = ("bubblewrap", "namespaces")
NPX = """#!{python}
import os, sys, urllib.request
kept = os.path.join(os.environ["npm_config_cache"], "server.py")
if not os.path.exists(kept):
    if os.environ.get("UV_OFFLINE"):
        sys.exit("error: the package is not here, and the network is off")
    try:
        fetched = urllib.request.urlopen({url!r}, timeout=20).read()
    except OSError as error:
        sys.exit("npm error network request failed: " + str(error))
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    with open(kept, "wb") as file:
        file.write(fetched)
os.execv(sys.executable, [sys.executable, kept, {replies!r}])
"""
REPLIES = json.dumps({method: {"result": result} for method, result in RESULTS.items()})


class Store:
    """A registry of packages. It gives its one package in pieces."""

    def __init__(self) -> None:
        self.asked = 0
        self.body = CODE.encode()
        self.pause_s = 0.0
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        stream = web.StreamResponse()
        await stream.prepare(request)
        size = len(self.body) // 8 + 1
        for start in range(0, len(self.body), size):
            await asyncio.sleep(self.pause_s)
            await stream.write(self.body[start : start + size])
        return stream


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    made, app = Store(), web.Application()
    app.router.add_get("/", made.answer)
    async with TestServer(app, host="127.0.0.1") as server:
        made.url = str(server.make_url("/"))
        yield made


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


@pytest.fixture
def told(house: PluginHouse) -> Iterator[list[str]]:
    """What the plugin's card has shown of its work."""
    words: list[str] = []

    def see(cards: tuple[object, ...]) -> None:
        words.extend(card.working for card in cards if card.working)  # type: ignore[attr-defined]

    disconnect = house.cards.connect(see)
    yield words
    disconnect()


async def enable(house: PluginHouse, tmp_path: Path, store: Store, hosts: bool = True) -> None:
    fake = tmp_path / "bin" / "npx"
    fake.parent.mkdir()
    fake.write_text(NPX.format(python=sys.executable, url=store.url, replies=REPLIES))
    fake.chmod(0o755)
    folder = tmp_path / "home" / "far"
    folder.mkdir(parents=True)
    manifest = {
        "id": "far", "name": "Far", "description": "d",
        "mcp": {"sums": {"command": str(fake), "args": ["-y", "@sums/server"]}},
        "hosts": [store.url] if hosts else [],
    }  # fmt: skip
    (folder / "plugin.json").write_text(json.dumps(manifest))
    await house.shelf.look()
    await house.enable("far")


async def start_anew(house: PluginHouse) -> list[str]:
    await house.shelf.plugins["far"].close()
    return [tool.key for tool in await house.find_tools("far")]


@pytest.mark.parametrize("by", KINDS)
async def test_the_second_start_needs_no_network(
    by: walls.Kind, house: PluginHouse, told: list[str], store: Store, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(walls, "kind", lambda: by)
    await enable(house, tmp_path, store)
    async with asyncio.timeout(90):
        assert await start_anew(house) == ["sums/add"]
        assert told[0] == "Fetching the package @sums/server"
        assert house.cards.get()[0].working == ""
        assert store.asked == 1
        told.clear()
        assert await start_anew(house) == ["sums/add"]
    assert (store.asked, told) == (1, [])
    lines = "\n".join(await house.read_log("far", 20))
    assert "Fetching the package @sums/server" in lines
    assert "It is kept for the next start." in lines


async def test_packages_go_with_their_plugin_and_are_fetched_anew_when_it_is_enabled_again(
    house: PluginHouse, store: Store, tmp_path: Path
) -> None:
    await enable(house, tmp_path, store)
    packages = tmp_path / "data" / "far" / "packages"
    async with asyncio.timeout(90):
        await start_anew(house)
        assert (packages / "npm" / "server.py").is_file()
        await house.disable("far")
        await house.enable("far")
        assert await start_anew(house) == ["sums/add"]
        assert store.asked == 2
        (packages / "npm" / "locked").mkdir(mode=0o500)
        await house.remove("far")
    assert not packages.exists()


async def test_damaged_packages_are_fetched_again(
    house: PluginHouse, told: list[str], store: Store, tmp_path: Path
) -> None:
    await enable(house, tmp_path, store)
    async with asyncio.timeout(90):
        await start_anew(house)
        (tmp_path / "data" / "far" / "packages" / "npm" / "server.py").unlink()
        told.clear()
        assert await start_anew(house) == ["sums/add"]
    assert (store.asked, told[0]) == (2, "Fetching the package @sums/server")


async def test_a_slow_fetch_goes_on_as_long_as_something_arrives(
    house: PluginHouse, told: list[str], store: Store, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(packages_module, "TELL_S", 0.0)
    await enable(house, tmp_path, store)
    async with asyncio.timeout(90):
        await start_anew(house)
        await house.disable("far")
        await house.enable("far")
        store.body, store.pause_s = CODE.encode() + b"#" * 2_000_000, 1.0
        monkeypatch.setattr(client_module, "OPEN_S", 5.0)
        monkeypatch.setattr(packages_module, "SILENCE_S", 5.0)
        assert await start_anew(house) == ["sums/add"]
    assert "Fetching the package @sums/server: 2.0 MB so far" in told


async def test_a_failure_says_what_the_program_said_last(
    house: PluginHouse, store: Store, tmp_path: Path
) -> None:
    await enable(house, tmp_path, store, hosts=False)
    with pytest.raises(FlowFailed, match="It said: npm error network request failed: HTTP Error"):
        await start_anew(house)
    with pytest.raises(FlowFailed, match="It said: npm error network request failed: HTTP Error"):
        await house.shelf.plugins["far"].action("mcp", "sums/add")
    assert "The package @sums/server was not fetched." in "\n".join(await house.read_log("far", 20))


async def test_a_fetch_that_hangs_ends_with_what_has_arrived(
    house: PluginHouse, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "OPEN_S", 2.0)
    monkeypatch.setattr(packages_module, "SILENCE_S", 2.0)
    store.pause_s = 60.0
    await enable(house, tmp_path, store)
    words = "The package @sums/server of sums could not be fetched in time .0.0 MB arrived."
    with pytest.raises(FlowFailed, match=words):
        await start_anew(house)


async def test_a_question_shows_what_it_waits_for(
    house: PluginHouse, store: Store, tmp_path: Path
) -> None:
    store.pause_s = 0.3
    await enable(house, tmp_path, store)
    request = ChatRequest((Message("user", "@far/sums/add one and two"),))
    engine = ScriptedEngine()
    async with asyncio.timeout(90):
        choice = PluginChoice(Means(engine, "", house.talk), request)
        assert "Fetching the package @sums/server" in [note.message async for note in choice.look()]
        again = PluginChoice(Means(engine, "", house.talk), request)
        assert [note.message async for note in again.look()] == []


async def test_a_question_that_is_stopped_ends_the_fetching(
    house: PluginHouse, store: Store, tmp_path: Path
) -> None:
    """Nothing of the program is left, and the next question fetches again."""
    store.pause_s = 60.0
    await enable(house, tmp_path, store)
    request = ChatRequest((Message("user", "@far/sums/add one and two"),))
    choice = PluginChoice(Means(ScriptedEngine(), "", house.talk), request)
    before = psutil.Process().children()
    async with asyncio.timeout(90):
        async with aclosing(choice.look()) as looking:
            assert (await anext(looking)).message == "Fetching the package @sums/server"
            while not store.asked:
                await asyncio.sleep(0.05)
        await house.shelf.plugins["far"].close()
        assert psutil.Process().children() == before
        store.pause_s = 0.0
        assert await start_anew(house) == ["sums/add"]


@pytest.mark.parametrize("by", ["", *KINDS])
@pytest.mark.parametrize("program", ["npx", "uvx", "pipx run", "bunx"])
async def test_a_program_that_fetches_and_is_missing_is_named(
    by: walls.Kind, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(walls, "kind", lambda: by)
    places = walls.Room(tmp_path, tmp_path / "scratch")
    door = Egress(NetworkSettings)
    command = (*program.split(), "one")
    kept = Walls(places, Doorway(door, "x", lambda _why: None))

    async def make(hear: Hear) -> Program:
        return Program(command, {}, hear, lambda _line: None, kept)

    words = f"The program {command[0]} is not installed on this computer, or its folder"
    with pytest.raises(FlowFailed, match=words):
        await client_module.McpClient("x", make, lambda said: said).tools()
    await door.close()


CALLER = """
import json, sys, urllib.request
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "tools/call":
        try:
            urllib.request.urlopen("http://127.0.0.1:9/other", timeout=20)
        except OSError:
            pass
        found = {{"isError": True, "content": [{{"type": "text", "text": "Error executing tool"}}]}}
    else:
        found = {replies}.get(asked["method"])
    if "id" in asked:
        reply = {{"result": found}} if found else {{"error": {{"code": -32601, "message": "no"}}}}
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], **reply}}), flush=True)
"""


async def test_a_call_that_fails_says_which_connection_was_refused(
    house: PluginHouse, store: Store, tmp_path: Path
) -> None:
    """A library of mcp-server-fetch gets packages by npm at its first call, from another host."""
    store.body = CALLER.format(replies=RESULTS).encode()
    await enable(house, tmp_path, store)
    async with asyncio.timeout(90):
        assert await start_anew(house) == ["sums/add"]
        await house.set_policy("far", "sums/add", "allow")
        found = await house.try_tool("far", "sums/add", "{}", "run")
    assert found.failed
    assert "Error executing tool. Moat refused a connection that its program wanted: " in found.text
    assert "127.0.0.1:9 is not allowed for: program of plugin far." in found.text


async def test_a_program_that_writes_too_much_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages_module, "MOST_BYTES", 4_000_000)
    monkeypatch.setattr(packages_module, "WATCH_S", 0.05)
    notes: list[str] = []
    packages = Packages(("npx", "x"), tmp_path / "packages", lambda _words: None, notes.append)
    packages.make_room()
    ended = asyncio.Event()
    watching = spawn(packages.watch(ended.set), "watch")
    await asyncio.sleep(0)
    (tmp_path / "packages" / "large").write_bytes(b"x" * 5_000_000)
    async with asyncio.timeout(30):
        await watching
    assert ended.is_set()
    packages.make_room()
    assert list((tmp_path / "packages").iterdir()) == []
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @sums/server stdio", "@sums/server"),
        ("npx --package=one two", "one"),
        ("C:\\x\\npx.cmd -p one two", "one" if sys.platform == "win32" else ""),
        ("/usr/bin/uvx --from git+https://host/x tool", "git+https://host/x"),
        ("uvx --python 3.12 --with a mcp-server-git --repository /x", "mcp-server-git"),
        ("pipx run --spec one two", "one"),
        ("pipx run one", "one"),
        ("bunx -y one", "one"),
        ("python -m mcp_server_git", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_package_is_named_as_the_command_names_it(command: str, name: str) -> None:
    assert find_package(tuple(command.split())) == name


@contextmanager
def without_root() -> Iterator[int]:
    """Has the rights of an ordinary user meanwhile: root may write into any folder."""
    user, nobody = os.geteuid(), 65534
    if user != 0:
        yield user
        return
    os.seteuid(nobody)
    try:
        yield nobody
    finally:
        os.seteuid(user)


def test_removing_packages_changes_nothing_that_a_link_leads_to() -> None:
    with without_root(), tempfile.TemporaryDirectory() as made:
        packages, outside = Path(made, "packages"), Path(made, "outside")
        folder = packages / "npm" / "deep"
        folder.mkdir(parents=True)
        outside.mkdir()
        (outside / "kept").touch()
        (folder / "link").symlink_to(outside)
        outside.chmod(0o750)
        folder.chmod(0o555)
        folder.parent.chmod(0o555)
        remove(packages)
        assert not packages.exists()
        assert outside.stat().st_mode & 0o777 == 0o750
        assert (outside / "kept").exists()
        packages.symlink_to(outside)
        remove(packages)
        assert (outside / "kept").exists()
