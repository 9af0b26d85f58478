"""New models are asked of the hub only when a person wants them, and kept."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.egress import Egress
from server.errors import AppError, BadRequest
from server.models import catalogue
from server.models.service import ModelShelf
from server.settings import NetworkSettings, Settings
from server.system.keychain import Keychain
from tests.kit.fake_hub import FakeHub, Fault
from tests.kit.gguf_files import write_model

NEW, EYES, DAMAGED = "Qwen/Qwen9-1B-GGUF", "google/gemma9-it-GGUF", "unsloth/broken-GGUF"
FOREIGN, KNOWN, COPY = "stranger/model-GGUF", "Qwen/Qwen3-4B-GGUF", "bartowski/Qwen9-1B-GGUF"


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[FakeHub]:
    write_model(tmp_path / "a.gguf")
    model = (tmp_path / "a.gguf").read_bytes()
    repos = {repo: {"m-Q4_K_M.gguf": model} for repo in (NEW, EYES, FOREIGN, KNOWN, COPY)}
    repos[EYES]["mmproj-F16.gguf"] = model
    repos[DAMAGED] = {"m-Q4_K_M.gguf": b"no model" * 100}
    template = "{% if tools %}<tool_call>{% endif %}<think>"
    async with FakeHub(repos, template=template).running() as running:
        yield running


@pytest.fixture
async def shelf(tmp_path: Path, hub: FakeHub) -> AsyncIterator[ModelShelf]:
    settings = Settings(network=NetworkSettings(hub=hub.address, hub_storage=("localhost",)))
    door = Egress(lambda: settings.network)

    async def change(_field: str, _value: Any) -> None: ...

    (tmp_path / "models").mkdir()
    keychain = Keychain(tmp_path / "secrets.json")
    made = ModelShelf(tmp_path / "models", (door, keychain), lambda: settings, change)
    yield made
    await made.close()
    await door.close()


async def offered(shelf: ModelShelf) -> dict[str, tuple[str, ...]]:
    own = {entry.repo for entry in catalogue.read().models}
    return {one.repo: one.uses for one in await shelf.suggest() if one.repo not in own}


async def test_new_models_of_known_publishers_are_offered_and_kept(
    shelf: ModelShelf, hub: FakeHub
) -> None:
    assert await offered(shelf) == {}
    assert hub.seen == []
    steps: list[str] = []
    shelf.refreshing.connect(steps.append)
    assert await shelf.refresh_suggestions() == 2
    wanted = {NEW: ("chat", "tools", "thinking"), EYES: ("chat", "tools", "thinking", "vision")}
    assert await offered(shelf) == wanted
    assert "Asking for the models of Qwen (2 of 10)." in steps
    assert (f"Reading {NEW} (1 of 3)." in steps, steps[-1]) == (True, "")
    asked = len(hub.seen)
    again = ModelShelf(
        shelf._models, (shelf._hub._egress, shelf._keychain), Settings, shelf._change
    )
    assert await offered(again) == wanted
    found = next(one for one in await again.suggest() if one.repo == NEW)
    assert (found.fit.verdict, found.recommended, found.licence) == (
        "runs well",
        False,
        "apache-2.0",
    )
    assert found.context_tokens > 0
    eyes = next(one for one in await again.suggest() if one.repo == EYES)
    assert eyes.size_bytes == 2 * found.size_bytes
    assert len(hub.seen) == asked


async def test_a_refresh_that_fails_keeps_what_was_found(shelf: ModelShelf, hub: FakeHub) -> None:
    await shelf.refresh_suggestions()
    hub.api_faults.append(Fault("status", status=503))
    with pytest.raises(AppError, match="503"):
        await shelf.refresh_suggestions()
    assert set(await offered(shelf)) == {NEW, EYES}
    hub.files.clear()
    with pytest.raises(AppError, match="no new model"):
        await shelf.refresh_suggestions()
    assert set(await offered(shelf)) == {NEW, EYES}


async def test_offline_nothing_is_asked(shelf: ModelShelf, hub: FakeHub) -> None:
    network = NetworkSettings(hub=hub.address, offline=True)
    ways = (Egress(lambda: network), shelf._keychain)
    offline = ModelShelf(shelf._models, ways, lambda: Settings(network=network), shelf._change)
    with pytest.raises(AppError, match=r"(?i)offline"):
        await offline.refresh_suggestions()
    assert hub.seen == []
    await ways[0].close()


async def test_a_refresh_can_be_cancelled_and_runs_once_at_a_time(
    shelf: ModelShelf, hub: FakeHub
) -> None:
    hub.holds_search = True
    running = asyncio.get_running_loop().create_task(shelf.refresh_suggestions())
    await hub.is_asked.wait()
    with pytest.raises(BadRequest, match="already"):
        await shelf.refresh_suggestions()
    await shelf.cancel_refresh()
    with pytest.raises(BadRequest, match="cancelled"):
        await running
    assert shelf.refreshing.get() == ""
    hub.holds_search = False
    assert await shelf.refresh_suggestions() == 2


@pytest.mark.parametrize("content", ["", "{", '[{"repo": 1}]', "[" * 9999])
async def test_a_damaged_list_is_as_none(shelf: ModelShelf, content: str) -> None:
    (shelf._models / ".catalogue.json").write_text(content)
    assert await offered(shelf) == {}


def test_every_publisher_is_a_name() -> None:
    assert all(name.isascii() and "/" not in name for name in catalogue.PUBLISHERS)
