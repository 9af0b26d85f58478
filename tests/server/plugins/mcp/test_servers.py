"""How an MCP server is started, heard and ended, whatever it leaves behind."""

import asyncio
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from server.errors import FlowFailed
from server.plugins.mcp import servers
from server.plugins.mcp.servers import Program
from tests.kit.fake_mcp import piped, program
from tests.kit.running import has_ended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
EARLIER: set[psutil.Process] = set()


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "QUIT_S", 0.2)


def silent(*command: str) -> Program:
    return Program(command, {}, lambda _message: None, lambda _line: None)


def started_now() -> list[psutil.Process]:
    return [one for one in psutil.Process().children(recursive=True) if one not in EARLIER]


@pytest.fixture(autouse=True)
def earlier() -> None:
    """Servers that several tests share are none of the program's."""
    EARLIER.clear()
    EARLIER.update(psutil.Process().children(recursive=True))


async def descendants(count: int) -> list[psutil.Process]:
    """The program and what it has started, once all are there."""
    async with asyncio.timeout(30):
        while len(found := started_now()) < count:
            await asyncio.sleep(0.01)
    return found


async def gone(processes: list[psutil.Process]) -> None:
    async with asyncio.timeout(30):
        while not all(has_ended(one) for one in processes):
            await asyncio.sleep(0.01)


async def test_closing_ends_what_the_program_has_started() -> None:
    wire = silent("sh", "-c", "sleep 1000; true")
    await wire.open()
    started = await descendants(2)
    async with asyncio.timeout(30):
        await wire.close()
    await gone(started)


async def test_closing_ends_a_process_in_a_session_of_its_own() -> None:
    """It also holds our pipes, which must not hold us."""
    code = "import os, time\nif not os.fork(): os.setsid()\ntime.sleep(1000)"
    wire = silent(sys.executable, "-c", code)
    await wire.open()
    started = await descendants(2)
    async with asyncio.timeout(30):
        await wire.close()
    await gone(started)


async def test_a_daemon_that_got_away_does_not_hold_us() -> None:
    log: list[str] = []
    code = "import os, time; print('here:', os.getpid(), flush=True); time.sleep(1000)"
    daemon = f"setsid {shlex.join((sys.executable, '-c', code))} & sleep 0.1"
    wire = Program(("sh", "-c", daemon), {}, lambda _message: None, log.append)
    await wire.open()
    async with asyncio.timeout(30):
        while not log or started_now():
            await asyncio.sleep(0.01)
    try:
        async with asyncio.timeout(30):
            await wire.close()
    finally:
        psutil.Process(int(log[0].split()[1])).kill()


async def test_a_server_whose_helper_holds_its_pipes_is_closed() -> None:
    server = shlex.join(program())
    client = piped(("sh", "-c", f"sleep 1000 & {server}"))
    assert list(await client.tools()) == ["add"]
    started = await descendants(3)
    async with asyncio.timeout(30):
        await client.close()
    await gone(started)


async def test_a_program_is_ended_by_a_task_that_is_cancelled() -> None:
    wire = silent("sh", "-c", "sleep 1000; true")
    await wire.open()
    started = await descendants(2)

    async def close_when_cancelled() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await wire.close()

    closing = asyncio.get_running_loop().create_task(close_when_cancelled())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.sleep(0.05)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await gone(started)


async def test_a_question_given_up_ends_the_program_it_has_started() -> None:
    client = piped(("sh", "-c", "sleep 1000; true"))
    asking = asyncio.get_running_loop().create_task(client.tools())
    started = await descendants(2)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await gone(started)
    await client.close()


async def test_closing_while_it_is_greeted_ends_the_program() -> None:
    client = piped(("sh", "-c", "sleep 1000; true"))
    asking = asyncio.get_running_loop().create_task(client.tools())
    started = await descendants(2)
    await client.close()
    with pytest.raises(FlowFailed, match="has ended"):
        await asking
    await gone(started)
    await client.close()


async def test_a_program_whose_line_is_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "LONGEST_LINE", 1000)
    client = piped(program(tools_call={"result": {"text": "x" * 5000}}))
    await client.tools()
    started = await descendants(1)
    with pytest.raises(FlowFailed, match="answer is too large") as failed:
        await client.call("add", {}, 5)
    assert failed.value.fault == "too_large"
    await gone(started)
    assert list(await client.tools()) == ["add"]
    await client.close()


async def test_a_long_line_in_the_log_does_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "LONGEST_LINE", 1000)
    log: list[str] = []
    noise = "import sys; sys.stderr.write('a' * 300_000 + '\\nand then\\n')"
    client = piped((sys.executable, "-c", noise), log.append)
    with pytest.raises(FlowFailed):
        await client.tools()
    async with asyncio.timeout(30):
        while len(log) < 2:
            await asyncio.sleep(0.01)
    assert (log[0][:3], log[1]) == ("aaa", "and then")
    await client.close()


async def test_a_command_is_looked_for_where_the_program_would_look(tmp_path: Path) -> None:
    tool = tmp_path / "mcp-tool"
    tool.write_text(f"#!/bin/sh\nexec {shlex.join(program())}\n")
    tool.chmod(0o755)
    assert servers.resolved(("mcp-tool", "-x"), {"PATH": str(tmp_path)}) == (str(tool), "-x")
    assert servers.resolved(("mcp-tool",), {"PATH": "/nowhere"}) == ("mcp-tool",)
    client = piped(("mcp-tool",), env={"PATH": str(tmp_path)})
    assert list(await client.tools()) == ["add"]
    await client.close()


async def test_closing_a_program_that_floods_hears_no_more_of_it() -> None:
    begun, noted = asyncio.Event(), 0

    def note(_line: str) -> None:
        nonlocal noted
        noted += 1
        begun.set()

    code = "import sys\nwhile True: sys.stdout.write('no json\\n' * 1000)"
    flooding = Program((sys.executable, "-c", code), {}, lambda _message: None, note)
    async with asyncio.timeout(60):
        await flooding.open()
        await begun.wait()
        before = noted
        await flooding.close()
    assert noted <= before + 1


INDENTED = "json.dumps(said, indent=2)"
FRAMED = """
import builtins, json, sys

def print(text, flush):
    head = f"Content-Length: {len(text.encode())}\\r\\nContent-Type: application/json\\r\\n\\r\\n"
    sys.stdout.buffer.write(head.encode() + text.encode())
    sys.stdout.flush()
"""


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda code: code.replace("json.dumps(said)", INDENTED), id="several lines"),
        pytest.param(lambda code: FRAMED + code, id="Content-Length"),
        pytest.param(lambda code: "print('[')\nprint('Content-Length: 5')\n" + code, id="log"),
    ],
)
async def test_messages_are_read_however_they_are_set(change: Callable[[str], str]) -> None:
    python, isolated, c, code, replies = program()
    client = piped((python, isolated, c, change(code), replies))
    async with asyncio.timeout(60):
        assert list(await client.tools()) == ["add"]
        found = await client.call("add", {}, 30)
    assert found["content"] == [{"type": "text", "text": '{"sum": 3}'}]
    await client.close()


async def test_what_looks_like_a_message_and_is_none_is_in_the_log() -> None:
    log: list[str] = []
    code = "print('{'); print('half a message'); print('Content-Length: 9'); print('no header')"
    wire = Program((sys.executable, "-c", code), {}, lambda _message: None, log.append)
    await wire.open()
    async with asyncio.timeout(30):
        await wire.has_ended.wait()
    assert log == ["{", "half a message", "Content-Length: 9", "no header"]
    await wire.close()


@pytest.mark.parametrize("said", ["Content-Length: 999999999\\r\\n\\r\\n", "{\\n" + "x\\n" * 40])
async def test_a_message_without_end_is_given_up(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "LONGEST_LINE", 50)
    code = f"import sys, time; sys.stdout.write('{said}'); sys.stdout.flush(); time.sleep(1000)"
    wire = silent(sys.executable, "-c", code)
    await wire.open()
    async with asyncio.timeout(30):
        await wire.has_ended.wait()
        await wire.close()


async def test_a_program_that_never_answers_is_told_what_it_must_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.plugins.mcp.client.OPEN_S", 0.5)
    client = piped(("sleep", "1000"))
    with pytest.raises(FlowFailed, match="one JSON message per line, without Content-Length"):
        await client.tools()
    await client.close()
