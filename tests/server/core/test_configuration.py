"""Settings that are secrets do not stay settings."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from server.core.configuration import SettingsStore
from server.core.core import Core
from server.errors import BadRequest
from server.settings import Settings
from server.system import paths
from server.tasks import spawn
from tests.kit import without_rights


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def test_nothing_saved_gives_the_defaults(path: Path):
    store = SettingsStore(path)
    assert store.load() == Settings()
    assert store.notices == []


def test_what_was_saved_is_loaded(path: Path):
    changed = Settings().changed("server.port", 8123)
    SettingsStore(path).save(changed)
    assert SettingsStore(path).load() == changed
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_broken_file_is_kept_aside_and_the_backup_used(path: Path):
    store = SettingsStore(path)
    store.save(Settings().changed("server.port", 8123))
    store.save(Settings().changed("server.port", 8124))
    path.write_text("{ not json")
    fresh = SettingsStore(path)
    assert fresh.load().server.port == 8123
    assert "settings.broken-1.json" in fresh.notices[0]
    assert (path.parent / "settings.broken-1.json").read_text() == "{ not json"


@pytest.mark.parametrize("content", ["", "[]", "null", "\x00\x01", '{"server": 5}'])
def test_no_content_keeps_the_app_from_starting(path: Path, content: str):
    path.parent.mkdir()
    path.write_text(content)
    store = SettingsStore(path)
    assert store.load().model_dump(exclude={"set_aside"}) == Settings().model_dump()
    assert store.notices


def test_one_bad_field_costs_only_itself(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"server": {"port": 99999, "require_key": True}}))
    store = SettingsStore(path)
    loaded = store.load()
    assert loaded.server.port == Settings().server.port
    assert loaded.server.require_key
    assert "server.port" in store.notices[0]


def test_a_bad_proxy_costs_only_itself_and_one_without_a_scheme_nothing(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"network": {"proxy": "socks5://h:1", "hub": "https://h"}}))
    network = SettingsStore(path).load().network
    assert (network.proxy, network.hub) == ("", "https://h")
    path.write_text(json.dumps({"network": {"proxy": "h:3128"}}))
    assert SettingsStore(path).load().network.proxy == "http://h:3128"


def test_several_bad_items_of_one_setting_cost_only_that_setting(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"server": {"origins": [1, 2], "require_key": True}}))
    store = SettingsStore(path)
    loaded = store.load()
    assert loaded.server.origins == Settings().server.origins
    assert loaded.server.require_key
    assert store.notices == [
        "The setting server.origins was not valid and was reset to its default."
    ]


def test_a_page_that_may_no_longer_be_allowed_costs_only_itself(path: Path):
    path.parent.mkdir()
    mine = ["https://mine.example", "null", "https://other.example", "*"]
    path.write_text(json.dumps({"server": {"origins": mine, "port": 8123}}))
    store = SettingsStore(path)
    loaded = store.load()
    assert loaded.server.origins == ("https://mine.example", "https://other.example")
    assert loaded.server.port == 8123
    assert store.notices == ["Part of the setting server.origins was not valid and was ignored."]
    store.save(loaded)
    assert json.loads(path.read_text())["set_aside"] == {"server.origins": mine}
    assert SettingsStore(path).load().server.origins == loaded.server.origins


def test_fields_of_a_newer_version_survive_a_save(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"server": {"tomorrow": 1}, "future": {"x": 2}}))
    store = SettingsStore(path)
    store.save(store.load().changed("server.port", 8123))
    kept = json.loads(path.read_text())
    assert kept["server"]["tomorrow"] == 1
    assert kept["future"] == {"x": 2}


def test_a_value_of_another_version_comes_back_with_it(path: Path):
    """0.2 → 0.1 → 0.2: what 0.1 cannot read is kept for 0.2."""
    path.parent.mkdir()
    path.write_text(json.dumps({"model": {"flash_attention": "sometimes", "slots": 7}}))
    older = SettingsStore(path)
    settings = older.load()
    assert settings.model.flash_attention == "auto"
    older.save(settings.changed("model.threads", 3))
    again = SettingsStore(path)
    again.save(again.load())
    assert again.notices == []
    written = json.loads(path.read_text())
    assert written["set_aside"] == {"model.flash_attention": "sometimes"}
    path.write_text(path.read_text().replace("sometimes", "on"))
    newer = SettingsStore(path).load()
    assert (newer.model.flash_attention, newer.model.threads, newer.model.slots) == ("on", 3, 7)
    assert "set_aside" not in newer.model_dump()


def test_a_list_of_another_version_comes_back_with_it(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"model": {"loras": [3]}}))
    older = SettingsStore(path)
    older.save(older.load())
    written = json.loads(path.read_text())
    assert (written["model"]["loras"], written["set_aside"]) == ([], {"model.loras": [3]})
    written["set_aside"]["model.loras"] = ["style.gguf"]
    path.write_text(json.dumps(written))
    assert SettingsStore(path).load().model.loras == ("style.gguf",)


def test_a_later_choice_wins_over_the_value_of_another_version(path: Path):
    path.parent.mkdir()
    aside = {"model.flash_attention": "on", "gone.away": 1}
    path.write_text(json.dumps({"model": {"flash_attention": "off"}, "set_aside": aside}))
    assert SettingsStore(path).load().model.flash_attention == "off"


def test_a_whole_group_of_another_version_comes_back_with_it(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"window": ["dark"], "model": {"slots": 3}}))
    for _ in range(3):
        store = SettingsStore(path)
        store.save(store.load().changed("model.threads", 2))
    written = json.loads(path.read_text())
    assert written["set_aside"] == {"window": ["dark"]}
    written["set_aside"]["window"] = {"theme": "dark"}
    path.write_text(json.dumps(written))
    newer = SettingsStore(path).load()
    assert (newer.window.theme, newer.model.slots, newer.model.threads) == ("dark", 3, 2)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_file_that_may_not_be_reached_gives_the_defaults_and_a_notice():
    with without_rights.folders() as (_opened, locked):
        SettingsStore(locked / "settings.json").save(Settings().changed("server.port", 8123))
        without_rights.lock(locked)
        imports = "from pathlib import Path\nfrom server.core.configuration import SettingsStore"
        work = (
            "store = SettingsStore(Path(sys.argv[1]))\n"
            "print(store.load().server.port, store.notices[0])"
        )
        said = without_rights.said(imports, work, locked / "settings.json")
    told = "7777 The settings file could not be read; it was saved as settings.json.\n"
    assert said.startswith(told)


PROXY = "http://user:pa%40ss-word@proxy.example:3128"


@asynccontextmanager
async def opened() -> AsyncIterator[Core]:
    core = Core(paths.find())
    await core.open()
    try:
        yield core
    finally:
        await core.close()


async def test_the_password_of_a_proxy_goes_to_the_keyring():
    async with opened() as core:
        await core.change_setting("network.proxy", PROXY)
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert await core._configuration.proxy_password() == "pa@ss-word"
        assert "ss-word" not in paths.find().settings.read_text()


async def test_one_written_by_hand_is_taken_out_of_the_file():
    places = paths.find()
    places.make()
    places.settings.write_text(json.dumps({"network": {"proxy": PROXY}}))
    async with opened() as core:
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert await core._configuration.proxy_password() == "pa@ss-word"
    assert "ss-word" not in places.settings.read_text()


async def test_what_cannot_be_is_refused_and_nothing_changes():
    async with opened() as core:
        for field, value in (("network.proxy", 5), ("server.port", "x"), ("server.no", 1)):
            with pytest.raises(BadRequest):
                await core.change_setting(field, value)
        assert core.settings.get().network.proxy == ""


async def test_a_change_made_while_the_keyring_is_asked_is_not_undone(
    monkeypatch: pytest.MonkeyPatch,
):
    async with opened() as core:
        asked, goes_on = asyncio.Event(), asyncio.Event()
        keep = core.keychain.set

        async def slowly(name: str, secret: str) -> None:
            asked.set()
            await goes_on.wait()
            await keep(name, secret)

        monkeypatch.setattr(core.keychain, "set", slowly)
        changing = spawn(core.change_setting("network.proxy", PROXY), "change")
        await asked.wait()
        await core.change_setting("server.max_requests", 7)
        goes_on.set()
        await changing
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert core.settings.get().server.max_requests == 7


async def test_a_password_before_a_proxy_without_a_scheme_goes_to_the_keyring_as_well():
    async with opened() as core:
        await core.change_setting("network.proxy", PROXY.removeprefix("http://"))
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert "ss-word" not in paths.find().settings.read_text()


async def test_a_proxy_that_cannot_be_is_refused_without_showing_its_password():
    async with opened() as core:
        with pytest.raises(BadRequest) as refused:
            await core.change_setting("network.proxy", "http://user:pa-word@proxy.example:99999")
    said = "The setting network.proxy has an invalid value: A proxy is written as http://host:port."
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("MOAT_SERVER__LISTEN", "network", "network"),
        ("MOAT_SERVER__PORT", "8123", 8123),
        ("MOAT_SERVER__REQUIRE_KEY", "true", True),
        ("MOAT_SERVER__ORIGINS", "https://a.example, https://b.example", None),
        ("MOAT_SERVER__ORIGINS", '["https://a.example", "https://b.example"]', None),
        ("MOAT_MODEL__GPU_SPLIT", "3,1", (3.0, 1.0)),
        ("MOAT_SERVER__HOST_NAMES", "", ()),
    ],
)
def test_a_variable_stands_before_what_is_saved(
    variable: str, text: str, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    group, name = variable.removeprefix("MOAT_").lower().split("__")
    found = getattr(getattr(Core(paths.find()).settings.get(), group), name)
    assert found == (("https://a.example", "https://b.example") if expected is None else expected)


def test_engines_in_a_variable_stand_apart_by_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_ENGINES__ELSEWHERE", "a=http://one:1,http://two:2 b=three:3")
    engines = Core(paths.find()).settings.get().engines.elsewhere
    assert [(engine.name, len(engine.urls)) for engine in engines] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        (
            "MOAT_SERVER__PORT",
            "high",
            "MOAT_SERVER__PORT has an invalid value: Input should be a valid",
        ),
        ("MOAT_SERVER__PORT", "", "MOAT_SERVER__PORT has an invalid value"),
        ("MOAT_SERVER__LISTEN", "moon", "'loopback' or 'network'"),
        ("MOAT_SERVER__PROT", "1", "MOAT_SERVER__PROT: there is no setting 'prot' in server"),
        ("MOAT_SEVRER__PORT", "1", "no group of settings 'sevrer'. There are: server, model"),
        ("MOAT_SERVER__ORIGINS", "[nothing", "MOAT_SERVER__ORIGINS begins like JSON"),
        ("MOAT_ENGINES__ELSEWHERE", "ftp://x", "MOAT_ENGINES__ELSEWHERE has an invalid value"),
    ],
)
def test_a_variable_that_cannot_be_is_named(
    variable: str, text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(BadRequest, match=re.escape(words)):
        Core(paths.find())


async def test_what_a_variable_decides_is_neither_changed_nor_saved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MOAT_SERVER__MAX_REQUESTS", "7")
    monkeypatch.setenv("MOAT_SECRET_ENGINE_A__B", "no setting")
    async with opened() as core:
        with pytest.raises(BadRequest, match="MOAT_SERVER__MAX_REQUESTS decides"):
            await core.change_setting("server.max_requests", 9)
        await core.change_setting("server.max_body_mb", 9)
        assert core.settings.get().server.max_requests == 7
    saved = json.loads(paths.find().settings.read_text())["server"]
    assert (saved["max_requests"], saved["max_body_mb"]) == (512, 9)
