"""A plugin's own code in its child: what it may do, what it may not, and how it is ended."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from server.chat import Json
from server.errors import FlowFailed
from server.plugins.python.host import LibHost, LibPlaces

CODE = """
import asyncio, json, os, sqlite3

class Base:
    description = "d"
    def __init__(self, params):
        self.params = params

class Add(Base):
    name = "add"
    params_schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    async def call(self, given):
        await asyncio.sleep(0)
        print("a line for the log")
        return {"output": given["a"] + 1, "message": given["question"]}

class Plain:
    _name = "plain"
    _description = "old spelling"
    def call(self, given):
        return [1, 2]

class Do(Base):
    name = "do"
    def call(self, given):
        return {"output": eval(given["code"], {"os": os, "sqlite3": sqlite3, "host": self.host})}

class Hang(Base):
    name = "hang"
    def call(self, given):
        while True:
            pass

class Crash(Base):
    name = "crash"
    def call(self, given):
        os._exit(3)

exported = [Add, Plain, Do, Hang, Crash]
"""


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
async def host(tmp_path: Path, log: list[str]) -> AsyncIterator[LibHost]:
    lib = tmp_path / "p" / "lib"
    lib.mkdir(parents=True)
    (lib / "__init__.py").write_text(CODE)
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed" / "a.txt").write_text("may be read")
    (tmp_path / "secret.txt").write_text("may not")

    async def http(asked: Json) -> Json:
        return {"status": 200, "text": f"{asked['method']} {asked['url']}"}

    places = LibPlaces(tmp_path / "p", tmp_path / "data", (str(tmp_path / "allowed"),))
    made = LibHost(places, log.append, http)
    yield made
    await made.close()


async def do(host: LibHost, code: str) -> object:
    return (await host.call("do", {"code": code}, {}))["output"]


async def test_tools_are_found_and_called(host: LibHost, log: list[str]) -> None:
    tools = await host.tools()
    assert list(tools) == ["add", "plain", "do", "hang", "crash"]
    assert tools["add"].schema["properties"] == {"a": {"type": "number"}}
    assert tools["plain"].description == "old spelling"
    assert await host.call("add", {"a": 1}, {"question": "q"}) == {"output": 2, "message": "q"}
    assert await host.call("plain", {}, {}) == {"output": [1, 2], "message": ""}


@pytest.mark.parametrize(
    "code",
    [
        "__import__('socket').create_connection(('127.0.0.1', 9))",
        "__import__('socket').socket()",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1:9')",
        "__import__('subprocess').run(['true'])",
        "os.system('true')",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "__import__('ctypes').CDLL(None)",
        "open('../outside.txt', 'w')",
        "os.open('../outside.txt', os.O_CREAT | os.O_WRONLY)",
        "os.remove('../secret.txt')",
        "os.rename('../secret.txt', 'mine.txt')",
        "os.mkdir('../folder')",
        "os.symlink('/etc/passwd', '../link')",
        "open('../secret.txt').read()",
        "open('/etc/passwd').read()",
        "os.listdir('/')",
        "sqlite3.connect('../outside.db')",
        "sqlite3.connect('file:../outside.db?mode=rwc', uri=True)",
        "sqlite3.connect('file://localhost' + os.path.abspath('../o%75t.db'), uri=True)",
        "sqlite3.Connection(':memory:')",
        "os.kill(os.getppid(), 9)",
    ],
)
async def test_what_it_may_not_do(host: LibHost, tmp_path: Path, code: str) -> None:
    with pytest.raises(FlowFailed, match="may not do this"):
        await do(host, code)
    assert (tmp_path / "secret.txt").read_text() == "may not"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "allowed", "data", "moat-home", "p", "secret.txt",
    ] or not (tmp_path / "outside.txt").exists()  # fmt: skip


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("open('own.txt', 'w').write('abc')", 3),
        ("open('../allowed/a.txt').read()", "may be read"),
        ("sqlite3.connect(':memory:').execute('select 1').fetchone()[0]", 1),
        (
            "sqlite3.connect('file:o%20.db?mode=rwc', uri=True).execute('select 2').fetchone()[0]",
            2,
        ),
        ("sqlite3.connect(':memory:').execute(\"attach 'own.db' as o\").fetchall()", []),
        ("sqlite3.connect('own.db').execute('vacuum').fetchall()", []),
        ("host.http('GET', 'http://declared/')['text']", "GET http://declared/"),
        ("(open('own.txt', 'w').close(), os.utime('own.txt', (1, 2)))[1]", None),
        ("'a' + chr(0xd83d)", "a?"),
        ("sorted(os.environ.keys() & {'HOME', 'PATH', 'MOAT_SECRET_X'})", []),
    ],
)
async def test_what_it_may_do(
    host: LibHost, monkeypatch: pytest.MonkeyPatch, code: str, result: object
) -> None:
    monkeypatch.setenv("MOAT_SECRET_X", "canary")
    assert await do(host, code) == result


async def test_half_a_surrogate_pair_ends_no_child(host: LibHost) -> None:
    assert await do(host, "'" + "\ud83d" + "'") == "?"
    with pytest.raises(FlowFailed, match=r"KeyError: .*a"):
        await do(host, "{}['a' + chr(0xd83d)]")
    with pytest.raises(FlowFailed, match="UnicodeError"):
        await do(host, "(_ for _ in ()).throw(UnicodeError(chr(0xd83d)))")


async def test_only_the_last_rest_ends_the_child(host: LibHost) -> None:
    host._rest()
    first = host._idle
    assert first
    host._rest()
    assert first.cancelled()


async def test_too_much_memory_is_refused(host: LibHost) -> None:
    with pytest.raises(FlowFailed, match="memory"):
        await do(host, "len(bytearray(3_000_000_000))")


async def test_a_crash_is_told_and_the_next_call_works(host: LibHost) -> None:
    with pytest.raises(FlowFailed, match="ended unexpectedly"):
        await host.call("crash", {}, {})
    assert await do(host, "1 + 1") == 2


async def test_a_hang_is_ended_with_its_child(host: LibHost) -> None:
    await host.tools()
    process = host._process
    assert process
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await host.call("hang", {}, {})
    assert not psutil.pid_exists(process.pid)
    assert await do(host, "1 + 1") == 2


async def test_code_that_does_not_import_is_told(host: LibHost, tmp_path: Path) -> None:
    (tmp_path / "p" / "lib" / "__init__.py").write_text("import nothing_like_this")
    with pytest.raises(FlowFailed, match="ModuleNotFoundError"):
        await host.tools()


async def test_what_it_prints_goes_to_the_log(host: LibHost, log: list[str]) -> None:
    await host.call("add", {"a": 1}, {"question": ""})
    await host.close()
    assert "a line for the log" in log


async def test_a_start_that_is_given_up_does_not_spoil_the_next(
    host: LibHost, tmp_path: Path, new_children: Callable[[], list[psutil.Process]]
) -> None:
    code = tmp_path / "p" / "lib" / "__init__.py"
    code.write_text("import time\ntime.sleep(60)")
    opening = asyncio.get_running_loop().create_task(host.tools())
    async with asyncio.timeout(30):
        while not new_children() or host._process is None:
            await asyncio.sleep(0.01)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert new_children() == []
    code.write_text(CODE)
    assert "add" in await host.tools()


async def test_an_answer_without_a_result_ends_the_child(
    host: LibHost, monkeypatch: pytest.MonkeyPatch, new_children: Callable[[], list[psutil.Process]]
) -> None:
    async def forged(_frame: Json) -> Json:
        return {"other": 1}

    for ask in (host.tools(), do(host, "1")):
        with monkeypatch.context() as patched:
            patched.setattr(host, "_exchange", forged)
            with pytest.raises(FlowFailed, match="unexpected answer"):
                await ask
        assert new_children() == []
        assert "add" in await host.tools()


async def test_a_long_line_does_not_stop_the_log(host: LibHost, log: list[str]) -> None:
    async with asyncio.timeout(30):
        await do(host, "print('a' * 300_000)")
        await do(host, "[print('b' * 1000) for _ in range(200)] and print('the last')")
    await host.close()
    assert log[0].startswith("aaa")
    assert log[-1] == "the last"


async def test_a_result_given_up_while_it_comes_does_not_hold_the_end(host: LibHost) -> None:
    await host.tools()
    assert host._process
    assert host._process.stdout
    await host._send({"tool": "do", "arguments": {"code": "'x' * 5_000_000"}, "surroundings": {}})
    await host._process.stdout.readexactly(1000)
    async with asyncio.timeout(30):
        while len(host._process.stdout._buffer) < 100_000:  # type: ignore[attr-defined]
            await asyncio.sleep(0.01)
        await host.close()


@pytest.mark.parametrize(
    "statement",
    [
        "execute(\"attach '../outside.db' as o\")",
        "execute(\"attach 'file:../outside.db?mode=rwc' as o\")",
        "execute('attach ? as o', ('../outside.db',))",
        "execute(\"vacuum into '../outside.db'\")",
    ],
)
async def test_no_statement_opens_a_database_of_others(
    host: LibHost, tmp_path: Path, statement: str
) -> None:
    with pytest.raises(FlowFailed, match=r"not authorized|authorization denied"):
        await do(host, f"sqlite3.connect(':memory:', uri=True).{statement}")
    assert not (tmp_path / "outside.db").exists()
