"""moat ps, load, unload and logs: a Moat that runs, from a terminal of the same user."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server import cli
from server.commands import running
from server.commands.running import NOT_RUNNING, _lines, _log_line
from server.face import client
from server.face.core import LogLine, ModelStatus, RunningRequest, ServerStatus
from server.system import paths
from server.tasks import spawn
from server.web import app as web_app
from tests.kit.fake_core import FakeCore
from tests.kit.served_core import serve_core

FIRST = LogLine(0.0, "info", "engine", "loaded")
Printed = pytest.CaptureFixture[str]


@pytest.fixture
async def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeCore]:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    note = paths.find().control
    note.parent.mkdir(parents=True)
    fake = FakeCore.ready()
    fake.earlier = [FIRST]
    async with serve_core(fake, "secret") as address:
        note.write_text(json.dumps({"address": address, "secret": "secret", "pid": 1}))
        yield fake


async def moat(*arguments: str) -> int:
    return await asyncio.to_thread(cli.main, arguments)


async def test_what_runs_is_listed(core: FakeCore, capsys: Printed):
    core.requests.set((RunningRequest(1, "python", "/v1", "m", 0.0, "writing", 12),))
    assert await moat("ps") == 0
    server, model, answer = capsys.readouterr().out.splitlines()
    assert core.server.get().address in server
    assert core.model.get().name in model
    assert "12 tokens" in answer
    assert "for python" in answer


async def test_a_script_reads_the_same_as_json(core: FakeCore, capsys: Printed):
    assert await moat("ps", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"]["name"] == core.model.get().name
    assert found["requests"] == []


async def test_a_model_is_loaded_and_unloaded(core: FakeCore, capsys: Printed):
    assert await moat("load", "Qwen3-8B") == 0
    assert "Ready: Qwen3-8B" in capsys.readouterr().out
    assert await moat("unload") == 0
    assert core.commands[-2:] == [("load_model", "Qwen3-8B"), ("unload_model",)]


async def test_the_log_is_shown(core: FakeCore, capsys: Printed):
    assert await moat("logs") == 0
    assert capsys.readouterr().out.endswith("info    engine: loaded\n")
    assert await moat("logs", "--json") == 0
    assert json.loads(capsys.readouterr().out)["text"] == "loaded"


async def test_the_log_is_followed(core: FakeCore):
    found = await client.find(paths.find().control)
    assert found
    async with found.listen("logged") as coming:
        core.logged.emit(FIRST)
        async with asyncio.timeout(30):
            assert await anext(coming) == FIRST


class WritesInBetween(FakeCore):
    """Logs a line as soon as the recent ones were read, and one while they are read."""

    async def recent_logs(self, count: int) -> list[LogLine]:
        self.write("read")
        found = self.earlier[-count:]
        self.write("after")
        return found

    def write(self, text: str) -> None:
        line = LogLine(0.0, "info", "engine", text, len(self.earlier) + 1)
        self.earlier = [*self.earlier, line]
        self.logged.emit(line)


async def test_no_line_is_lost_or_shown_twice_between_the_recent_and_the_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
):
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    note = paths.find().control
    note.parent.mkdir(parents=True)
    core = WritesInBetween()
    core.write("before")
    async with serve_core(core, "secret") as address:
        note.write_text(json.dumps({"address": address, "secret": "secret", "pid": 1}))
        following = spawn(moat("logs", "-f"), "follow")
        shown = ""
        async with asyncio.timeout(60):
            while "engine: last" not in shown:
                if "engine: after" in shown:
                    core.write("last")
                await asyncio.wait([following], timeout=0.05)
                shown += capsys.readouterr().out
    await following
    said = [line.rpartition(": ")[2] for line in shown.splitlines()]
    assert said[:4] == ["before", "read", "after", "last"]


async def test_lines_that_came_too_fast_are_asked_for(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch, capsys: Printed
):
    monkeypatch.setattr(web_app, "MAX_SIGNALS", 2)
    core.earlier = [LogLine(0.0, "info", "engine", "first", 1)]
    following = spawn(moat("logs", "-f"), "follow")
    shown = ""
    async with asyncio.timeout(60):
        while "engine: first" not in shown:
            await asyncio.wait([following], timeout=0.05)
            shown += capsys.readouterr().out
        for number in range(2, 8):
            core.earlier.append(LogLine(0.0, "info", "engine", f"line {number}", number))
            core.logged.emit(core.earlier[-1])
        while "engine: line 8" not in shown:
            await asyncio.sleep(0.1)
            line = LogLine(0.0, "info", "engine", "line 8", 8)
            core.earlier = [*core.earlier[:7], line]
            core.logged.emit(line)
            shown += capsys.readouterr().out
    said = [line.rpartition(": ")[2] for line in shown.splitlines()]
    assert said == ["first", *(f"line {number}" for number in range(2, 9))]
    following.cancel()


async def test_whoever_follows_the_log_is_told_that_moat_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
):
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    note = paths.find().control
    note.parent.mkdir(parents=True)
    fake = FakeCore.ready()
    async with serve_core(fake, "secret") as address:
        note.write_text(json.dumps({"address": address, "secret": "secret", "pid": 1}))
        following = spawn(moat("logs", "-f"), "follow")
        shown = ""
        while "engine: loaded" not in shown:
            fake.logged.emit(FIRST)
            await asyncio.wait([following], timeout=0.05)
            shown += capsys.readouterr().out
    assert await following == NOT_RUNNING
    assert capsys.readouterr().err == "Moat has ended.\n"


def test_long_lines_of_the_log_are_broken_between_words_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = LogLine(0.0, "info", "engine", "a sentence that is far too long for this terminal")
    assert "\n" not in _log_line(line, as_json=False)
    monkeypatch.setattr(running, "columns_of", lambda _out: 40)
    first, *rest = _log_line(line, as_json=False).split("\n")
    assert first.endswith("engine: a sentence that")
    assert [part.strip() for part in rest] == ["is far too long for", "this terminal"]
    assert all(part.startswith(" " * 17) and len(part) <= 40 for part in rest)


async def test_without_a_running_moat_the_status_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
):
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    for command in (["ps"], ["load", "x"], ["unload"], ["logs"], ["logs", "-f"]):
        assert await moat(*command) == NOT_RUNNING
        assert "moat serve" in capsys.readouterr().err


def test_a_model_that_is_not_in_memory_is_called_so() -> None:
    lines = _lines(ServerStatus("ready", "http://x"), ModelStatus("empty", "tiny"), ())
    assert lines == ["server   ready  http://x", "model    not loaded  tiny"]
