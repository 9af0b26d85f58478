"""What a change of the settings does to what is kept, logged and served; and what it does not."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.errors import BadRequest
from server.face.core import About
from server.system.paths import find
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine, says

SAID = "the-canary-of-the-prompt"
ASK = ChatRequest((Message("user", SAID),))


def new_core() -> Core:
    return Core(find(), lambda _path, _options: ScriptedEngine(*[says("hello")] * 5))


@pytest.fixture
async def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Core]:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    core = new_core()
    await core.open()
    yield core
    await core.close()


def keep_something() -> Path:
    kept = find().data / "threads" / "one.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    return kept


async def test_kept_conversations_go_when_a_person_switches_them_off(core: Core):
    await core.change_setting("copilot.keep_threads", value=True)
    kept = keep_something()
    await core.change_setting("copilot.keep_threads", value=True)
    assert kept.exists()
    await core.change_setting("copilot.keep_threads", value=False)
    assert not kept.exists()


@pytest.mark.parametrize("damaged", ['{"copilot": {"keep_threads": "sometimes"}}', "\0", ""])
async def test_a_damaged_settings_file_costs_no_conversation(core: Core, damaged: str):
    kept = keep_something()
    find().settings.write_text(damaged)
    again = new_core()
    await again.open()
    await again.change_setting("model.slots", 2)
    await again.close()
    assert not again.settings.get().copilot.keep_threads
    assert kept.exists()


async def answered_log(core: Core) -> str:
    events = core.answer_chat(ASK, About("test"))
    assert [event async for event in events]
    return "\n".join(line.text for line in await core.recent_logs(1000))


async def test_prompts_are_not_logged_unless_that_is_asked_for(core: Core):
    assert SAID not in await answered_log(core)
    await core.change_setting("privacy.log_prompts", value=True)
    core._logs.redactor.hide("canary-of")
    logged = await answered_log(core)
    assert logged.count("the-•••-the-prompt") == 1


@pytest.mark.parametrize("field", ["foo.bar", "server", "server.port.x", "changed.x", ""])
async def test_an_unknown_setting_is_refused(core: Core, field: str):
    with pytest.raises(BadRequest, match="has an invalid value"):
        await core.change_setting(field, 1)


async def test_a_secret_that_is_none_does_not_keep_moat_from_starting(
    core: Core, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    find().secrets.write_text(json.dumps({"access-key": 5, "other": "kept"}))
    core.keychain._usable = False
    await core.change_settings({"server.require_key": True, "model.load_at_start": False})
    await core.start_on(0)
    assert core.server.get().phase == "ready"
    kept = json.loads(find().secrets.read_text())
    assert (kept["access-key"][:5], kept["other"]) == ("moat-", "kept")


def slow_keyring(core: Core) -> asyncio.Event:
    """It answers once the event is set."""
    may_answer = asyncio.Event()

    async def ask() -> str:
        await may_answer.wait()
        return "key"

    core._serving._access_key = ask  # type: ignore[method-assign]
    return may_answer


async def test_a_start_that_was_stopped_loads_no_model(core: Core):
    slow_keyring(core)
    await core.change_setting("server.require_key", value=True)
    starting = spawn(core.start_on(0), "start")
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await core.stop()
        await starting
    assert (core.server.get().phase, core.model.get().phase) == ("stopped", "empty")


async def test_other_settings_do_not_wait_for_the_keyring(core: Core):
    may_answer = slow_keyring(core)
    await core.change_settings({"server.require_key": True, "model.load_at_start": False})
    starting = spawn(core.start_on(0), "start")
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await core.change_setting("window.theme", "dark")
    may_answer.set()
    await starting
