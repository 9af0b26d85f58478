"""A running server reached from a terminal."""

import asyncio
import json
import threading
from contextlib import aclosing
from pathlib import Path

import pytest

from server.errors import AppError, BadRequest, LinkLost
from server.face.client import RunningServer, find
from tests.kit.fake_core import SERVING, FakeCore
from tests.kit.served_core import serve_core


def note(folder: Path, address: str, secret: str = "secret") -> Path:
    path = folder / "control.json"
    path.write_text(json.dumps({"address": address, "secret": secret, "pid": 1}))
    return path


async def test_it_is_found_by_its_note_commanded_and_watched(tmp_path: Path):
    core = FakeCore.ready()
    async with serve_core(core, "secret") as address:
        running = await find(note(tmp_path, address))
        assert running
        await running.command("load_model", name="Qwen3-8B")
        async with aclosing(running.values("server")) as values:
            assert await anext(values) == SERVING
        assert await running.value("server") == SERVING
    assert core.commands[-1] == ("load_model", "Qwen3-8B")


async def test_a_terminal_that_ends_while_the_server_talks_on_ends_in_silence(
    monkeypatch: pytest.MonkeyPatch,
):
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    async with serve_core(FakeCore.ready(), "secret") as address:
        values = RunningServer(address, "secret").values("server")
        loop = asyncio.new_event_loop()
        await asyncio.to_thread(loop.run_until_complete, anext(values))
        (reader,) = [one for one in threading.enumerate() if one.name == "control-stream"]
        loop.close()
        await values.aclose()
        await asyncio.to_thread(reader.join, 5)
    assert not reader.is_alive()
    assert failed == []


async def test_what_it_refuses_is_said(tmp_path: Path):
    core = FakeCore.ready()
    core.refuse = BadRequest("That is not there.")
    async with serve_core(core, "secret") as address:
        running = await find(note(tmp_path, address))
        assert running
        with pytest.raises(AppError, match="not there"):
            await running.command("start")


async def test_a_note_that_is_stale_wrong_or_points_elsewhere_finds_nothing(tmp_path: Path):
    assert await find(tmp_path / "none.json") is None
    async with serve_core(FakeCore.ready(), "secret") as address:
        assert await find(note(tmp_path, address, "another")) is None
        assert await find(note(tmp_path, address.replace("127.0.0.1", "moat.example"))) is None
    assert await find(note(tmp_path, address)) is None
    (tmp_path / "control.json").write_text("{")
    assert await find(tmp_path / "control.json") is None


async def test_a_server_that_is_gone_says_so():
    with pytest.raises(LinkLost):
        await RunningServer("http://127.0.0.1:9", "secret").command("start")
    with pytest.raises(LinkLost):
        await RunningServer("http://127.0.0.1:9", "secret").value("server")


async def test_an_answer_that_cannot_be_read_is_told_as_a_lost_link(
    monkeypatch: pytest.MonkeyPatch,
):
    running = RunningServer("http://127.0.0.1:1", "secret")
    monkeypatch.setattr(RunningServer, "_post", lambda _self, _body: (500, b"500 Error"))
    with pytest.raises(LinkLost):
        await running.command("start")
