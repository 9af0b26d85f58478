import json
from pathlib import Path

import pytest

from server.settings import Settings
from server.settings_store import SettingsStore


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
    assert store.load() == Settings()
    assert store.notices


def test_one_bad_field_costs_only_itself(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"server": {"port": 99999, "require_key": True}}))
    store = SettingsStore(path)
    loaded = store.load()
    assert loaded.server.port == Settings().server.port
    assert loaded.server.require_key
    assert "server.port" in store.notices[0]


def test_fields_of_a_newer_version_survive_a_save(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"server": {"tomorrow": 1}, "future": {"x": 2}}))
    store = SettingsStore(path)
    store.save(store.load().changed("server.port", 8123))
    kept = json.loads(path.read_text())
    assert kept["server"]["tomorrow"] == 1
    assert kept["future"] == {"x": 2}
