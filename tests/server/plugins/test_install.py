"""Archives that lie, climb, link and explode: refused before anything is unpacked."""

import io
import json
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from server.plugins import install
from server.plugins.folder import MAX_FILES, load
from server.plugins.install import PluginRefused

MANIFEST = json.dumps({"id": "p", "name": "P", "description": "d", "version": "1.0.0"})


def archive(path: Path, entries: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return path


def home_is_clean(home: Path) -> bool:
    return not home.exists() or list(home.iterdir()) == []


def test_a_zip_with_one_folder_or_files_at_its_root(tmp_path: Path) -> None:
    home = tmp_path / "home"
    one = archive(tmp_path / "x.zip", {"p/plugin.json": MANIFEST, "p/flows/": b""})
    assert install.install(one, home).key == "p"
    two = archive(tmp_path / "q.zip", {"plugin.json": MANIFEST})
    assert install.install(two, home).key == "q"


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "p/../../evil.txt", "/etc/evil", "C:\\evil.txt", "p\\..\\..\\evil.txt"],
)
def test_an_entry_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    bad = archive(tmp_path / "bad.zip", {"p/plugin.json": MANIFEST, name: "x"})
    with pytest.raises(PluginRefused, match="outside"):
        install.install(bad, tmp_path / "home")
    assert home_is_clean(tmp_path / "home")
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("key", ["..", "...", ".hidden", "p.", "a..b", "con", "NUL", "com1.x"])
def test_a_name_that_is_no_folder_of_its_own_is_refused(tmp_path: Path, key: str) -> None:
    home = tmp_path / "home"
    kept = install.install(archive(tmp_path / "kept.zip", {"plugin.json": MANIFEST}), home)
    bad = archive(tmp_path / f"{key}.zip", {"plugin.json": MANIFEST})
    with pytest.raises(PluginRefused, match="cannot be a plugin's name"):
        install.install(bad, home)
    assert [one.name for one in home.iterdir()] == [kept.key]


@pytest.mark.parametrize("key", ["", ".", "..", "../kept", "/", "kept/../.."])
def test_nothing_around_a_plugin_is_rolled_back_or_removed(tmp_path: Path, key: str) -> None:
    home = tmp_path / "home"
    for _ in range(2):
        install.install(archive(tmp_path / "kept.zip", {"plugin.json": MANIFEST}), home)
    for undo in (install.roll_back, install.remove):
        with pytest.raises(PluginRefused, match="cannot be a plugin's name"):
            undo(home, key)
    assert sorted(one.name for one in home.iterdir()) == [install.PREVIOUS, "kept"]


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("p/plugin.json", MANIFEST)
        link = zipfile.ZipInfo("p/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    with pytest.raises(PluginRefused, match="not a file"):
        install.install(path, tmp_path / "home")
    assert home_is_clean(tmp_path / "home")


def test_bombs_are_refused(tmp_path: Path) -> None:
    bomb = archive(tmp_path / "bomb.zip", {"p/plugin.json": MANIFEST, "p/x": bytes(10_000_000)})
    with pytest.raises(PluginRefused, match="at most"):
        install.install(bomb, tmp_path / "home")
    assert home_is_clean(tmp_path / "home")


def test_a_header_that_lies_about_the_size_is_noticed(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("p/plugin.json", MANIFEST)
        made.writestr("p/x", bytes(50_000))
    raw = bytearray(packed.getvalue())
    raw = raw.replace(struct.pack("<I", 50_000), struct.pack("<I", 10))
    path = tmp_path / "liar.zip"
    path.write_bytes(raw)
    with pytest.raises(PluginRefused):
        install.install(path, tmp_path / "home")
    assert home_is_clean(tmp_path / "home")


def test_a_million_entries_are_refused_before_unpacking(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<HHH", 3, 0, 0) + bytes(12) + b"p/x"
    count = 1_000_000
    head = b"PK\x03\x04" + bytes(22) + struct.pack("<HH", 3, 0) + b"p/x"
    size = len(entry) * count
    end64 = b"PK\x06\x06" + struct.pack(
        "<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, len(head)
    )
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, len(head) + size, 1)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    with path.open("wb") as file:
        file.write(head)
        file.write(entry * count)
        file.write(end64 + locator + end)
    with pytest.raises(PluginRefused, match="1000000 entries"):
        install.install(path, tmp_path / "home")
    assert home_is_clean(tmp_path / "home")


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all"])
def test_what_is_no_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    with pytest.raises(PluginRefused):
        install.install(path, tmp_path / "home")


def test_what_is_no_plugin_is_refused_with_its_findings(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"p/plugin.json": '{"name": 3}'})
    with pytest.raises(PluginRefused, match=r"plugin\.json:1:10"):
        install.install(path, tmp_path / "home")
    assert home_is_clean(tmp_path / "home")


def test_an_update_keeps_the_old_version_for_a_rollback(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "plugin.json").write_text(MANIFEST)
    install.install(folder, home)
    (folder / "plugin.json").write_text(MANIFEST.replace("1.0.0", "2.0.0"))
    updated = install.install(folder, home)
    assert updated.manifest
    assert updated.manifest.version == "2.0.0"
    install.roll_back(home, "p")
    assert "1.0.0" in (home / "p" / "plugin.json").read_text()
    install.roll_back(home, "p")
    assert "2.0.0" in (home / "p" / "plugin.json").read_text()
    install.remove(home, "p")
    with pytest.raises(PluginRefused, match="earlier version"):
        install.roll_back(home, "p")


def test_a_folder_with_a_link_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "plugin.json").write_text(MANIFEST)
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(PluginRefused, match="link"):
        install.install(folder, tmp_path / "home")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_what_is_installed_is_its_owners_and_can_still_be_run(tmp_path: Path) -> None:
    source = tmp_path / "p"
    (source / "bin").mkdir(parents=True)
    (source / "plugin.json").write_text(MANIFEST)
    (source / "bin" / "tool").write_text("#!/bin/sh")
    for path, mode in ((source, 0o755), (source / "bin", 0o755), (source / "bin" / "tool", 0o755)):
        path.chmod(mode)
    (source / "plugin.json").chmod(0o644)
    home = tmp_path / "home"
    install.install(source, home)
    install.install(archive(tmp_path / "q.zip", {"plugin.json": MANIFEST, "x/y": "z"}), home)
    modes = {str(one.relative_to(home)): one.stat().st_mode & 0o777 for one in home.rglob("*")}
    assert modes == {
        "p": 0o700,
        "p/plugin.json": 0o600,
        "p/bin": 0o700,
        "p/bin/tool": 0o700,
        "q": 0o700,
        "q/plugin.json": 0o600,
        "q/x": 0o700,
        "q/x/y": 0o600,
    }


def test_what_a_mac_adds_to_an_archive_is_passed_over(tmp_path: Path) -> None:
    entries: dict[str, str | bytes] = {
        "p/": b"", "p/plugin.json": MANIFEST, "p/.DS_Store": b"x",
        "__MACOSX/": b"", "__MACOSX/p/._plugin.json": b"x",
    }  # fmt: skip
    loaded = install.install(archive(tmp_path / "mac.zip", entries), tmp_path / "home")
    assert loaded.key == "p"
    assert [path.name for path in loaded.folder.iterdir()] == ["plugin.json"]


def test_a_leading_dot_in_an_archive_says_nothing(tmp_path: Path) -> None:
    entries: dict[str, str | bytes] = {"./": b"", "./plugin.json": MANIFEST}
    loaded = install.install(archive(tmp_path / "dot.zip", entries), tmp_path / "home")
    assert (loaded.key, loaded.state) == ("dot", "warnings")
    with pytest.raises(PluginRefused, match=r"no plugin\.json"):
        install.install(archive(tmp_path / "none.zip", {"./": b""}), tmp_path / "home")


def test_the_history_of_a_folder_is_no_part_of_the_plugin(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / "plugin.json").write_text(MANIFEST)
    before = load(folder)
    for number in range(MAX_FILES + 1):
        (folder / ".git" / "objects" / str(number)).write_text("x")
    linked = load(folder)
    assert (linked.state, linked.digest) == ("warnings", before.digest)
    installed = install.install(folder, tmp_path / "home")
    assert [path.name for path in installed.folder.iterdir()] == ["plugin.json"]
