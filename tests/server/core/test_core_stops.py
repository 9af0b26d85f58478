"""A load that is no longer wanted ends at once, with its process, whoever waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from server.core.core import Core
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.engine.watch import WatchLimits
from server.errors import ModelLoadFailed
from server.system import backends
from server.system.paths import find
from server.tasks import spawn
from tests.kit.gguf_files import write_model
from tests.kit.held_workers import Workers, gone, opened
from tests.kit.scripted import scripted


@pytest.fixture
def workers() -> Workers:
    return Workers()


@pytest.fixture
async def core(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Core]:
    monkeypatch.setenv(backends.VARIABLE, "")
    async with opened(workers, tmp_path) as core:
        yield core


async def test_a_load_is_stopped_with_the_server(core: Core, workers: Workers):
    workers.hold()
    loading = spawn(core.load_model("first"), "load")
    await workers.loads_begin.wait()
    async with asyncio.timeout(30):
        await core.stop()
        await loading
    assert workers.made[0].closed.is_set()
    assert (core.model.get().phase, core.model.get().reason) == ("empty", "")


async def test_a_load_is_stopped_by_unloading_though_a_client_waits_for_it(
    core: Core, workers: Workers
):
    workers.hold()
    loading = spawn(core.load_model("first"), "load")
    await workers.loads_begin.wait()
    waiting = spawn(core._engine("first"), "client")
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await core.unload_model()
        await loading
        with pytest.raises(ModelLoadFailed, match="unloaded before it was ready"):
            await waiting
    assert workers.made[0].closed.is_set()
    assert core.model.get().phase == "empty"


async def test_another_model_is_picked_while_one_loads(core: Core, workers: Workers):
    workers.hold()
    first = spawn(core.load_model("first"), "first")
    await workers.loads_begin.wait()
    second = spawn(core.load_model("second"), "second")
    await gone(workers.made[0])
    workers.may_load.set()
    async with asyncio.timeout(30):
        await asyncio.gather(first, second)
    assert workers.loaded == ["second"]
    assert (core.model.get().phase, core.model.get().name) == ("ready", "second")


async def test_or_in_the_settings(core: Core, workers: Workers):
    workers.hold()
    first = spawn(core.load_model("first"), "first")
    await workers.loads_begin.wait()
    second = spawn(core.change_setting("model.name", "second"), "second")
    await gone(workers.made[0])
    workers.may_load.set()
    async with asyncio.timeout(30):
        await asyncio.gather(first, second)
    assert workers.loaded == ["second"]


async def test_a_model_is_deleted_while_it_loads(core: Core, workers: Workers):
    path = find().models / "wrong.gguf"
    write_model(path)
    workers.hold()
    loading = spawn(core.load_model("wrong"), "load")
    await workers.loads_begin.wait()
    async with asyncio.timeout(30):
        assert await core.models.delete("wrong") > 0
        await loading
    assert not path.exists()
    assert core.model.get().reason == ""


async def test_a_stopped_load_is_not_begun_anew_for_a_change(core: Core, workers: Workers):
    workers.hold()
    loading = spawn(core.load_model("first"), "load")
    await workers.loads_begin.wait()
    changing = spawn(core.change_setting("model.slots", 2), "change")
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await core.unload_model()
        await asyncio.gather(loading, changing)
    assert (len(workers.made), core.model.get().phase) == (1, "empty")


async def test_with_the_load_its_process_ends(
    tmp_path: Path, new_children: Callable[[], list[psutil.Process]]
):
    begun = asyncio.Event()

    def make(_path: Path, _options: EngineOptions) -> WorkerProcess:
        made = scripted("hung.gguf", WatchLimits(quit_s=0.2))
        made.state.connect(lambda _state: begun.set() if made.pid else None)
        return made

    core = Core(find(), make)
    write_model(tmp_path / "huge.gguf")
    core.library.add(tmp_path / "huge.gguf")
    await core.open()
    loading = spawn(core.load_model("huge"), "load")
    async with asyncio.timeout(30):
        await begun.wait()
        await core.stop()
        await loading
    assert new_children() == []
    await core.close()
