import json
import os
from pathlib import Path

import pytest

from server.core.settings_store import SettingsStore
from server.settings import Settings
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
        imports = "from pathlib import Path\nfrom server.core.settings_store import SettingsStore"
        work = (
            "store = SettingsStore(Path(sys.argv[1]))\n"
            "print(store.load().server.port, store.notices[0])"
        )
        said = without_rights.said(imports, work, locked / "settings.json")
    told = "7777 The settings file could not be read; it was saved as settings.json.\n"
    assert said.startswith(told)
