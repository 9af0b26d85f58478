import importlib.util
import plistlib
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from app.desktop import autostart
from app.desktop.autostart import AutostartFailed, File, desktop_entry, launch_agent, quoted


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_it_is_a_desktop_file_in_the_autostart_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    found = autostart.find()
    assert not found.is_on()
    found.turn(on=True)
    text = (tmp_path / "autostart" / "moat.desktop").read_text(encoding="utf-8")
    assert "--hidden" in text
    assert found.is_on()
    found.turn(on=False)
    found.turn(on=False)
    assert not found.is_on()


def test_a_command_with_odd_letters_is_quoted() -> None:
    assert quoted("/opt/my apps/moat") == '"/opt/my apps/moat"'
    assert quoted("100%") == '"100%%"'
    line = next(one for one in desktop_entry(['/a "b"c']).splitlines() if one[:5] == "Exec=")
    unescaped = line[5:].replace("\\\\", "\\")
    assert shlex.split(unescaped) == ['/a "b"c']
    assert quoted("a$b") == '"a\\\\$b"'


def test_an_entry_left_behind_starts_nothing_after_the_program_is_gone() -> None:
    lines = desktop_entry(["/usr/lib/moat/moat", "--hidden"]).splitlines()
    assert "TryExec=/usr/lib/moat/moat" in lines
    assert r"TryExec=/a\\b" in desktop_entry([r"/a\b"]).splitlines()


def test_an_entry_for_a_folder_that_was_moved_does_not_count(tmp_path: Path) -> None:
    old, new = (
        File(tmp_path / "moat.desktop", desktop_entry([f"{folder}/moat", "--hidden"]))
        for folder in ("/media/old", "/media/new")
    )
    old.turn(on=True)
    assert old.is_on()
    assert not new.is_on()
    new.turn(on=True)
    assert new.is_on()
    assert not old.is_on()


@pytest.mark.parametrize(
    ("line", "instead", "counts"),
    [
        ("Comment=Language models on your own computer", "Comment=Mine", True),
        ("Terminal=false", "Terminal=false\nHidden=true", False),
        ("X-GNOME-Autostart-enabled=true", "X-GNOME-Autostart-enabled=false", False),
    ],
)
def test_what_the_desktop_changed_in_the_entry_counts(
    line: str, instead: str, counts: bool, tmp_path: Path
) -> None:
    entry = File(tmp_path / "moat.desktop", desktop_entry(["/usr/lib/moat/moat"]))
    entry.turn(on=True)
    text = entry.path.read_text("utf-8")
    assert line in text
    entry.path.write_text(text.replace(line, instead), "utf-8")
    assert entry.is_on() is counts


def test_an_unreadable_entry_does_not_count(tmp_path: Path) -> None:
    entry = File(tmp_path / "moat.plist", launch_agent(["/Applications/Moat"]))
    entry.path.write_bytes(b"\xff\xfe\x00")
    assert not entry.is_on()


class Registry(ModuleType):
    """One key with values, behind the names of `winreg`."""

    HKEY_CURRENT_USER = KEY_SET_VALUE = REG_SZ = 1

    def __init__(self) -> None:
        super().__init__("winreg")
        self.values: dict[str, str] = {}

    @contextmanager
    def OpenKey(self, *_where: object) -> Iterator[None]:  # noqa: N802
        yield

    def QueryValueEx(self, _key: None, name: str) -> tuple[str, int]:  # noqa: N802
        if name not in self.values:
            raise FileNotFoundError(name)
        return self.values[name], self.REG_SZ

    def SetValueEx(self, _key: None, name: str, *value: object) -> None:  # noqa: N802
        self.values[name] = str(value[-1])

    def DeleteValue(self, _key: None, name: str) -> None:  # noqa: N802
        if name not in self.values:
            raise FileNotFoundError(name)
        del self.values[name]


def test_on_windows_a_value_for_another_folder_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = Registry()
    monkeypatch.setitem(sys.modules, "winreg", registry)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.find_spec("app.desktop.autostart")
    assert spec
    assert spec.loader
    there = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(there)
    key = there.RunKey([r"C:\Moat\moat.exe", "--hidden"])
    key.turn(on=True)
    assert registry.values == {"Moat": r'"C:\Moat\moat.exe" "--hidden"'}
    assert key.is_on()
    assert there.RunKey([r"c:\moat\MOAT.EXE", "--hidden"]).is_on()
    moved = there.RunKey([r"D:\Moat\moat.exe", "--hidden"])
    assert not moved.is_on()
    moved.turn(on=False)
    moved.turn(on=False)
    assert registry.values == {}


def test_the_launch_agent_is_a_property_list() -> None:
    read = plistlib.loads(launch_agent(["/Applications/Moat", "--hidden"]).encode())
    assert read["ProgramArguments"] == ["/Applications/Moat", "--hidden"]
    assert read["RunAtLoad"] is True


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "autostart").write_text("a file where a folder should be")
    with pytest.raises(AutostartFailed, match="could not be changed"):
        File(tmp_path / "autostart" / "moat.desktop", "x").turn(on=True)
