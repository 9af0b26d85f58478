"""The installer's script agrees with the program about what both of them write and start."""

import importlib.util
import re
import sys
from types import ModuleType

import pytest

from app import autostart
from scripts.package.windows import check, installer, places
from server import cli, roles

SCRIPT = (places.PARTS / "setup.nsi").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def start() -> ModuleType:
    spec = importlib.util.spec_from_file_location("moat_start", places.PARTS / "start.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_login_entry_is_the_one_the_settings_page_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", r"$INSTDIR\moat.exe")
    line = " ".join(f'"{part}"' for part in roles.command("window", "--hidden"))
    assert f'WriteRegStr HKCU "${{RUN_KEY}}" "Moat" \'{line}\'' in SCRIPT
    assert f'!define RUN_KEY "{autostart._RUN_KEY}"' in SCRIPT


def test_only_one_part_is_chosen_beforehand() -> None:
    assert re.findall(r"^Section (?!/o)\"?(\S+)", SCRIPT, re.M) == ['$(Program)"', 'Uninstall"']


def test_no_administrator_is_needed_and_no_folder_is_emptied_blindly() -> None:
    assert "RequestExecutionLevel user" in SCRIPT
    assert "HKLM" not in SCRIPT
    assert 'RMDir /r "$INSTDIR"' not in SCRIPT


def test_every_folder_of_the_tree_is_removed_again() -> None:
    tops = {name.partition("/")[0] for name in check.NEEDED if "/" in name}
    assert set(re.findall(r'RMDir /r "\$INSTDIR\\(\w+)"', SCRIPT)) == tops | {"packages"}


def test_the_running_one_is_asked_by_a_command_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "bin\\moat.exe\" quit'" in SCRIPT
    with pytest.raises(SystemExit):
        cli.main(["quit", "--help"])
    assert "usage: moat quit" in capsys.readouterr().out


def test_each_text_is_there_in_three_languages() -> None:
    texts = re.findall(r"^LangString (\w+) \$\{LANG_(\w+)\}", SCRIPT, re.M)
    names = {name for name, _language in texts}
    languages = {"ENGLISH", "GERMAN", "SIMPCHINESE"}
    assert set(texts) == {(name, language) for name in names for language in languages}


def test_what_is_packed_is_told_from_what_the_installer_needs_itself() -> None:
    listing = (
        "Path = $PLUGINSDIR/System.dll\nSize = 3\n\nPath = bin\\moat.exe\nPath = uninstall.exe\n"
    )
    assert installer.packed(listing) == {"bin/moat.exe"}


@pytest.mark.parametrize(
    ("path", "is_wanted", "changed"),
    [
        ("", True, r"C:\Moat\bin"),
        (r"C:\a;C:\b", True, r"C:\a;C:\b;C:\Moat\bin"),
        (r"C:\a;c:\moat\BIN;C:\b", True, r"C:\a;C:\b;C:\Moat\bin"),
        (r"C:\a;C:\Moat\bin;;C:\b", False, r"C:\a;C:\b"),
        (r"C:\a", False, r"C:\a"),
    ],
)
def test_the_command_is_put_on_the_path_once(
    start: ModuleType, path: str, is_wanted: bool, changed: str
) -> None:
    assert start.on_path(path, r"C:\Moat\bin", is_wanted=is_wanted) == changed
