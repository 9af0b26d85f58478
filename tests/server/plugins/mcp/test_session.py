"""Servers made with the protocol's own library, of both revisions, over pipes and over HTTP."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from server.chat import Json
from server.egress import Egress
from server.errors import FlowFailed
from server.plugins.mcp import client as mcp_client
from server.plugins.mcp import servers
from server.plugins.mcp import session as mcp_session
from server.plugins.mcp.client import McpClient
from server.plugins.mcp.servers import Hear, Listed, Program, Remote
from server.settings import NetworkSettings
from tests.kit import sdk_mcp
from tests.kit.fake_mcp import RESULTS, piped, program, served
from tests.kit.running import has_ended

OLD, NEW = "2025-11-25", "2026-07-28"
SCRIPT = Path(sdk_mcp.__file__)
WAYS = [("program", NEW), ("program", OLD), ("http", NEW), ("http", OLD)]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of the protocol's library starts slowly on a busy machine."""
    monkeypatch.setattr(mcp_client, "OPEN_S", 240.0)


@asynccontextmanager
async def connected(way: str, revision: str) -> AsyncIterator[McpClient]:
    door = Egress(NetworkSettings)
    app = sdk_mcp.made().streamable_http_app()
    site = sdk_mcp.OldSite(app) if revision == OLD else app
    async with sdk_mcp.serving(lambda _url: site) as url:
        door.allow(url, "plugin p")

        async def make(hear: Hear) -> Program | Remote:
            if way == "http":
                return Remote(f"{url}/mcp", {}, door, "plugin p")
            command = (sys.executable, str(SCRIPT), *(["old"] if revision == OLD else []))
            return Program(command, {}, hear, lambda _line: None)

        client = McpClient("sums", make, lambda value: value)
        try:
            yield client
        finally:
            await client.close()
            await door.close()


def text(answer: Json) -> str:
    (part,) = answer["content"]
    return str(part["text"])


async def ask(message: str, schema: Json) -> Json | None:
    assert (message, schema["required"]) == ("Who are you?", ["name"])
    return {"name": "Ann", "age": 3}


@pytest.mark.parametrize(("way", "revision"), WAYS)
async def test_a_server_of_either_revision_lists_answers_asks_and_is_given_up(
    way: str, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_session, "PROBE_S", 0.1 if revision == OLD else 60)
    before = set(psutil.Process().children())
    async with asyncio.timeout(300), connected(way, revision) as client:
        assert set(await client.tools()) == {"add", "count", "wait", "greet", "large", "grow"}
        assert client.version == revision
        resources = ("today (notes://today)", "day (notes://{day})")
        assert client.listed == Listed(resources, ("summarise",))
        started = set(psutil.Process().children()) - before
        assert len(started) == (way == "program")
        added = await client.call("add", {"a": 1, "b": 2}, 60)
        assert added["structuredContent"] == {"result": 3}
        notes: list[str] = []
        assert text(await client.call("count", {"steps": 2}, 60, None, notes.append)) == "counted"
        assert notes == ["counting (1 of 2)", "counting (2 of 2)"]
        assert text(await client.call("greet", {}, 60, ask)) == "Hello Ann"
        assert text(await client.call("greet", {}, 60)) == "decline"
        await give_up(client)
        assert text(await client.call("add", {"a": 1, "b": 2}, 60)) == "3"
        assert set(psutil.Process().children()) - before == started
    assert all(has_ended(process) for process in started)


@pytest.mark.parametrize("revision", [OLD, NEW])
async def test_a_program_that_gets_another_tool_is_asked_for_it(
    revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_session, "PROBE_S", 0.1 if revision == OLD else 60)
    async with asyncio.timeout(300), connected("program", revision) as client:
        assert "grown" not in await client.tools()
        await client.call("grow", {}, 60)
        while "grown" not in await client.tools():
            await asyncio.sleep(0.01)


async def give_up(client: McpClient) -> None:
    """The call has begun at the server before it is cancelled."""
    began = asyncio.Event()
    call = client.call("wait", {}, 60, None, lambda _note: began.set())
    calling = asyncio.get_running_loop().create_task(call)
    await began.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling


@pytest.mark.parametrize("revision", [OLD, NEW])
async def test_an_answer_over_http_that_is_too_large_is_refused(
    revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "LONGEST_LINE", 20_000)
    async with connected("http", revision) as client:
        with pytest.raises(FlowFailed, match=r"too large|20000 byte limit") as caught:
            await client.call("large", {"size": 50_000}, 60)
        assert caught.value.fault == "too_large"
        assert text(await client.call("add", {"a": 1, "b": 2}, 60)) == "3"


HOSTILE = """
import json, sys
mode = sys.argv[1]
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def question(number):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    params = {"message": "again\\u202e", "requestedSchema": schema}
    say(id=f"q{number}", method="elicitation/create", params=params)
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "server/discover":
        say(id=number, error={"code": -32601, "message": "no"})
    elif method == "initialize" and mode != "mute":
        say(id=number, result={"protocolVersion": "2025-11-25", "capabilities": {}})
    elif method == "tools/call":
        if mode == "roots":
            while True:
                number = f"{number}x"
                say(id=number[-40:] + str(len(number)), method="roots/list")
        if mode == "progress":
            token = asked["params"]["_meta"]["progressToken"]
            for step in range(500):
                params = {"progressToken": token, "progress": step, "message": "on\\u202e"}
                say(method="notifications/progress", params=params)
        if mode == "forms":
            for step in range(100):
                question(step)
                sys.stdin.readline()
        say(id=number, result={"content": [{"type": "text", "text": "done"}]})
"""


def hostile(mode: str) -> McpClient:
    return piped((sys.executable, "-I", "-c", HOSTILE, mode))


async def test_a_server_that_never_greets_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_client, "OPEN_S", 0.5)
    before = set(psutil.Process().children())
    client = hostile("mute")
    with pytest.raises(FlowFailed, match="took longer"):
        await client.tools()
    await client.close()
    assert set(psutil.Process().children()) <= before


async def test_a_server_that_asks_for_ever_is_answered_a_few_times() -> None:
    asked: list[str] = []

    async def fill_in(message: str, _schema: Json) -> Json | None:
        asked.append(message)
        return {"a": "b"}

    client = hostile("forms")
    async with asyncio.timeout(120):
        assert text(await client.call("add", {}, 60, fill_in)) == "done"
        await client.close()
    assert asked == ["again"] * mcp_client.MOST_QUESTIONS


async def test_requests_of_a_server_that_reads_no_answers_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "QUIT_S", 0.2)
    client = hostile("roots")
    with pytest.raises(FlowFailed, match="took longer"):
        await client.call("add", {}, 1)
    assert len(asyncio.all_tasks()) < mcp_session.MOST_OPEN + 20
    async with asyncio.timeout(60):
        await client.close()


async def test_a_flood_of_progress_is_told_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_session, "NOTE_S", 600.0)
    notes: list[str] = []
    client = hostile("progress")
    async with asyncio.timeout(120):
        assert text(await client.call("add", {}, 60, None, notes.append)) == "done"
        await client.close()
    assert notes == [f"on ({step})" for step in range(mcp_session.NOTES_AT_ONCE)]


@pytest.mark.parametrize("way", ["program", "http"])
async def test_an_answer_that_is_nested_too_deep_is_an_error(way: str) -> None:
    deep: Json = {}
    for _ in range(150):
        deep = {"a": deep}
    if way == "program":
        client = piped(program(tools_call={"result": {"structuredContent": deep}}))
        await refused(client)
        return
    async with served() as server:
        server.results["tools/call"] = {"structuredContent": deep}
        door = Egress(NetworkSettings)
        door.allow(server.url, "plugin p")

        async def make(_hear: Hear) -> Remote:
            return Remote(server.url, {}, door, "plugin p")

        await refused(McpClient("sums", make, lambda value: value))
        await door.close()


async def refused(client: McpClient) -> None:
    async with asyncio.timeout(60):
        with pytest.raises(FlowFailed, match="nested too deep"):
            await client.call("add", {}, 60)
        assert "add" in await client.tools()
        await client.close()


ODD = """
import json, sys
RESULTS = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    reply = {"jsonrpc": "2.0", "id": asked["id"]}
    found = RESULTS.get(asked["method"])
    reply |= {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
    %s
"""
WRITE = "sys.stdout.buffer.write({} + b'\\n'); sys.stdout.flush()"
ODD_WAYS = {
    "a list": WRITE.format("json.dumps([reply]).encode()"),
    "another encoding": WRITE.format("json.dumps(reply, ensure_ascii=False).encode('latin-1')"),
    "no version": WRITE.format("json.dumps({'id': reply.pop('id'), **{k: v for k, v in "
                               "reply.items() if k != 'jsonrpc'}}).encode()"),
    "a number as text": WRITE.format("json.dumps({**reply, 'id': str(reply['id'])}).encode()"),
    "a mark first": WRITE.format("b'\\xef\\xbb\\xbf' + json.dumps(reply).encode()"),
    "twice": WRITE.format("json.dumps(reply).encode() + b'\\n' + json.dumps(reply).encode()"),
}  # fmt: skip


@pytest.mark.parametrize("way", ODD_WAYS)
async def test_a_program_that_writes_in_an_odd_way_is_heard(way: str) -> None:
    results = {**RESULTS, "tools/call": {"content": [{"type": "text", "text": "caf\u00e9"}]}}
    client = piped((sys.executable, "-I", "-c", ODD % ODD_WAYS[way], json.dumps(results)))
    async with asyncio.timeout(60):
        try:
            assert set(await client.tools()) == {"add"}
            assert text(await client.call("add", {}, 30)).startswith("caf")
        finally:
            await client.close()
