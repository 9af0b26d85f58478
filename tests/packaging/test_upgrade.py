"""0.2 → 0.1 → 0.2 over one profile: nothing of it is lost.

The newer version is the profile it would leave behind: every file with something 0.1 cannot know.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from app.chat.chats import ChatStore, Said
from server.core.core import Core
from server.plugins.approvals import Approvals
from server.plugins.plugin import Decided, Decisions
from server.system import paths
from server.system.paths import Paths
from tests.kit.engines import ScriptedEngine

SETTINGS = {
    "server": {"port": 8123, "tomorrow": "yes"},
    "model": {"slots": 3, "flash_attention": "sometimes", "loras": ["/a.gguf"]},
    "weather": {"city": "Basel"},
}
PLUGINS = {"files": {"enabled": True, "reviewed": "abc", "schedule": "daily"}}
PERMISSIONS = {"files/search": {"policy": "allow", "until": 5}}
CHAT = {
    "system": "",
    "said": [{"role": "user", "text": "Hi", "voice": "deep"}],
    "changed_at": 1.0,
    "pinned": True,
}


@pytest.fixture
def profile(moat_home: Path) -> Paths:
    places = paths.find()
    places.make()
    (places.data / "chats").mkdir()
    written: dict[Path, Any] = {
        places.settings: SETTINGS,
        places.config / "plugins.json": PLUGINS,
        places.config / "permissions.json": PERMISSIONS,
        places.data / "chats" / "a.json": CHAT,
    }
    for path, told in written.items():
        path.write_text(json.dumps(told), encoding="utf-8")
    (places.models / "mine.gguf").write_bytes(b"GGUF of mine")
    return places


async def use(places: Paths) -> None:
    """What a person does with the older version: change a setting, go on with a chat."""
    core = Core(places, lambda _path, _options: ScriptedEngine())
    await core.open()
    await core.change_setting("model.threads", 2)
    await core.close()
    Decisions(places.config / "plugins.json").set("another", Decided(enabled=True))
    Approvals(places.config / "permissions.json").forget("another")
    store = ChatStore(places.data / "chats")
    (chat,) = store.all()
    chat.said.append(Said("assistant", "Hello"))
    store.keep(chat)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


async def test_an_older_version_loses_nothing_of_a_newer_one(profile: Paths) -> None:
    await use(profile)
    await use(profile)
    settings = read(profile.settings)
    assert settings["server"]["port"] == 8123
    assert settings["server"]["tomorrow"] == "yes"
    assert settings["model"]["slots"] == 3
    assert settings["model"]["threads"] == 2
    assert settings["weather"] == {"city": "Basel"}
    assert settings["set_aside"] == {"model.flash_attention": "sometimes"}
    plugins = read(profile.config / "plugins.json")
    assert plugins.pop("another")["enabled"]
    assert {name: plugins["files"][name] for name in PLUGINS["files"]} == PLUGINS["files"]
    assert read(profile.config / "permissions.json") == PERMISSIONS
    chat = read(profile.data / "chats" / "a.json")
    assert chat["pinned"] is True
    assert chat["said"][0]["voice"] == "deep"
    assert [said["text"] for said in chat["said"]] == ["Hi", "Hello", "Hello"]
    assert (profile.models / "mine.gguf").read_bytes() == b"GGUF of mine"


async def test_what_an_older_version_wrote_is_read_by_this_one(moat_home: Path) -> None:
    """The files as 0.1.0 wrote them, before there were newer fields."""
    places = paths.find()
    places.make()
    places.settings.write_text(json.dumps({"model": {"name": "", "threads": 4}}))
    (places.config / "plugins.json").write_text(json.dumps({"files": {"enabled": True}}))
    (places.data / "chats").mkdir()
    old = {"id": "a", "system": "", "said": [{"role": "user", "text": "Hi"}], "changed_at": 1.0}
    (places.data / "chats" / "a.json").write_text(json.dumps(old))
    core = Core(places, lambda _path, _options: ScriptedEngine())
    assert core.settings.get().model.threads == 4
    assert core.notices.get() == ()
    await core.close()
    assert [chat.title for chat in ChatStore(places.data / "chats").all()] == ["Hi"]
