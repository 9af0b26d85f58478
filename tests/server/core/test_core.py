import asyncio
import inspect
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import aiohttp
import pytest

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.engine.base import EngineOptions, LoadState
from server.engine.process import WorkerProcess
from server.engine.watch import WatchLimits
from server.errors import BadRequest, ModelLoadFailed, ModelNotFound
from server.events import Failed, Finished, Pieces, TextDelta
from server.face.core import About, ServerStatus
from server.models import library
from server.system.paths import find
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine, says
from tests.kit.gguf_files import write_model

ASK = ChatRequest((Message("user", "hi"),))
MOST_GENERATORS = 6


class Engines:
    """Makes scripted engines and remembers how."""

    def __init__(self) -> None:
        self.made: list[tuple[Path, EngineOptions]] = []
        self.fails = ""

    def __call__(self, path: Path, options: EngineOptions) -> ScriptedEngine:
        self.made.append((path, options))
        return DamagedModel(self.fails) if self.fails else ScriptedEngine(*[says("hello")] * 5)


class DamagedModel(ScriptedEngine):
    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    async def load(self) -> None:
        self.state.set(LoadState("failed", 0.0, self._reason))
        raise ModelLoadFailed(self._reason)


@pytest.fixture
def engines() -> Engines:
    return Engines()


@pytest.fixture
async def core(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Core]:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    core = Core(find(), engines)
    await core.open()
    yield core
    await core.close()


async def test_starting_listens_and_loads_the_starter(core: Core, engines: Engines):
    await core.start_on(0)
    assert core.server.get().phase == "ready"
    assert core.server.get().address.startswith("http://127.0.0.1:")
    status = core.model.get()
    assert (status.phase, status.name, status.context_tokens) == ("ready", library.NAME, 4096)
    assert [path.name for path, _ in engines.made] == ["SmolLM2-135M-Instruct.Q4_1.gguf"]


async def test_without_any_model_lists_are_empty_and_answers_say_so(
    core: Core, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(library, "find_starter", lambda: None)
    core.library.scan()
    await core.start_on(0)
    address = core.server.get().address
    asked = {"messages": [{"role": "user", "content": "hi"}]}
    async with aiohttp.ClientSession() as client:
        for path, field in (("/v1/models", "data"), ("/api/tags", "models")):
            async with client.get(address + path) as reply:
                assert (reply.status, (await reply.json())[field]) == (200, [])
        async with client.get(address + "/agents.json") as reply:
            assert "(none yet)" in (await reply.json())["moat"]["description"]
        for more in ({}, {"stream": True}):
            async with client.post(f"{address}/v1/chat/completions", json=asked | more) as reply:
                assert reply.status == 503
                assert (await reply.json())["error"]["code"] == "no_model"


async def test_stopping_closes_the_port_and_frees_the_model(core: Core):
    await core.start_on(0)
    await core.stop()
    assert core.server.get().phase == "stopped"
    assert core.model.get().phase == "empty"
    await core.start_on(0)
    assert core.model.get().phase == "ready"


async def test_a_conversation_is_answered(core: Core):
    events = [event async for event in core.answer_chat(ASK, About("test"))]
    assert events == [TextDelta("hello"), Finished("stop")]


class DeepEngine(ScriptedEngine):
    """Looks through how many generators each of its pieces passes on its way to the client."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: list[str] = []

    async def generate(self, _request: ChatRequest) -> Pieces:
        for letter in "abc":
            self.passed = []
            frame = sys._getframe().f_back
            while frame is not None:
                if frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR:
                    self.passed.append(frame.f_code.co_qualname)
                frame = frame.f_back
            yield TextDelta(letter)
        yield Finished("stop")


async def test_a_token_passes_few_generators_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Each of them costs time for every token, and one more place to look for a fault."""
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    engine = DeepEngine()
    core = Core(find(), lambda _path, _options: engine)
    await core.open()
    await core.start_on(0)
    url = f"{core.server.get().address}/v1/chat/completions"
    asked = {"messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with aiohttp.ClientSession() as client, client.post(url, json=asked) as answer:
        assert b'"c"' in await answer.read()
    await core.close()
    assert engine.passed[-1] == "render"
    assert len(engine.passed) <= MOST_GENERATORS, engine.passed


async def test_a_model_that_cannot_load_is_a_state_with_its_reason(core: Core, engines: Engines):
    engines.fails = "The file is damaged."
    await core.start_on(0)
    assert core.server.get().phase == "ready"
    assert core.model.get().phase == "failed"
    assert core.model.get().reason == "The file is damaged."
    events = [event async for event in core.answer_chat(ASK, About("test"))]
    assert isinstance(events[0], Failed)
    engines.fails = ""
    await core.load_model(library.NAME)
    assert core.model.get().phase == "ready"


async def test_an_unknown_model_is_refused_and_nothing_changes(core: Core):
    await core.start_on(0)
    with pytest.raises(ModelNotFound):
        await core.load_model("nope")
    assert core.model.get().phase == "ready"
    assert core.settings.get().model.name == ""


async def test_a_changed_setting_is_checked_kept_and_applied(core: Core, engines: Engines):
    await core.start_on(0)
    await core.change_setting("model.slots", 9)
    assert engines.made[-1][1].slots == 9
    assert core.model.get().phase == "ready"
    assert Core(find(), engines).settings.get().model.slots == 9
    with pytest.raises(BadRequest):
        await core.change_setting("model.slots", 0)
    with pytest.raises(BadRequest):
        await core.change_setting("model.colour", 1)


async def test_listening_beyond_this_machine_always_asks_for_the_key(core: Core):
    await core.change_setting("server.listen", "network")
    await core.change_setting("server.require_key", False)
    await core.start_on(0)
    reader, writer = await asyncio.open_connection(*_place(core))
    writer.write(f"GET /v1/models HTTP/1.1\r\nHost: {_host(core)}\r\n\r\n".encode())
    assert b" 401 " in await reader.readline()
    writer.close()
    await writer.wait_closed()


async def test_a_port_set_while_the_server_moves_to_another_one_holds(core: Core):
    await core.start_on(0)
    ports = _free_ports(2)
    changing: list[asyncio.Task[None]] = []

    def change_once_more(status: ServerStatus) -> None:
        if status.phase == "starting" and not changing:
            changing.append(spawn(core.change_setting("server.port", ports[1]), "change"))

    core.server.connect(change_once_more)
    await core.change_setting("server.port", ports[0])
    await changing[0]
    assert core.server.get().phase == "ready"
    assert _place(core)[1] == ports[1]


async def test_the_file_given_for_this_run_is_the_default(core: Core, tmp_path: Path):
    write_model(tmp_path / "mine.gguf")
    core.choose_model(str(tmp_path / "mine.gguf"))
    await core.start_on(0)
    assert core.model.get().name == "mine"
    with pytest.raises(BadRequest, match="no file"):
        core.choose_model(str(tmp_path / "missing.gguf"))


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        doors = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [door.getsockname()[1] for door in doors]


def _host(core: Core) -> str:
    return core.server.get().address.removeprefix("http://")


def _place(core: Core) -> tuple[str, int]:
    host, _, port = _host(core).partition(":")
    return host, int(port)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
async def test_health_tells_of_an_engine_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    patient = WatchLimits(tick_s=0.05, noticed_s=0.5, halted_s=300, silent_s=300)
    made: list[WorkerProcess] = []

    def make(path: Path, options: EngineOptions) -> WorkerProcess:
        made.append(WorkerProcess(path, options, limits=patient))
        return made[-1]

    core = Core(find(), make)
    await core.open()
    try:
        await core.start_on(0)
        assert await _health(core) == (200, "ok")
        pid = made[-1].pid
        assert pid
        os.kill(pid, signal.SIGSTOP)
        asking = spawn(made[-1].tokenize("one more"), "ask")
        async with asyncio.timeout(60):
            while await _health(core) != (503, "not answering"):
                await asyncio.sleep(0.05)
            os.kill(pid, signal.SIGCONT)
            assert await asking
            while await _health(core) != (200, "ok"):
                await asyncio.sleep(0.05)
    finally:
        await core.close()


async def _health(core: Core) -> tuple[int, str]:
    address = core.server.get().address
    async with aiohttp.ClientSession() as client, client.get(f"{address}/health") as reply:
        return reply.status, (await reply.json())["status"]
