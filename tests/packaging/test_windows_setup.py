"""The installer's script agrees with the program about what both of them write and start."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from app.desktop import autostart
from scripts.package import pictures
from scripts.package.windows import check, installer, places
from server import cli
from server.system import processes
from tests.kit.programs import need

SCRIPT = (places.PARTS / "setup.nsi").read_text(encoding="utf-8")
REFUSED = ["SetErrorLevel ${NOT_OURS}", "Quit"]


def part(begin: str, end: str) -> str:
    return begin + SCRIPT.partition(begin)[2].partition(f"\n{end}")[0]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


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
    line = " ".join(f'"{part}"' for part in processes.command("window", "--hidden"))
    assert f'WriteRegStr HKCU "${{RUN_KEY}}" "Moat" \'{line}\'' in SCRIPT
    assert f'!define RUN_KEY "{autostart._RUN_KEY}"' in SCRIPT


def test_only_one_part_is_chosen_beforehand() -> None:
    assert re.findall(r"^Section (?!/o)\"?(\S+)", SCRIPT, re.M) == ['$(Program)"', 'Uninstall"']


def test_no_administrator_is_needed() -> None:
    assert "RequestExecutionLevel user" in SCRIPT
    assert "HKLM" not in SCRIPT


def test_no_folder_is_emptied_that_is_not_known_to_be_a_moat() -> None:
    """C:\\dev given as the folder must keep its bin and its python."""
    removal = part("!macro RemoveProgram", "!macroend")
    assert SCRIPT.count("RMDir /r") == removal.count("RMDir /r")
    assert 'RMDir /r "$INSTDIR"' not in SCRIPT
    steps = lines(part('Section "$(Program)"', "SectionEnd"))
    guarded = [
        '${If} ${FileExists} "$INSTDIR\\uninstall.exe"',
        "!insertmacro RemoveProgram",
        "${EndIf}",
    ]
    assert steps[2:7] == ["Call RefuseStrangers", "Call QuitFirst", *guarded]
    assert steps.count("!insertmacro RemoveProgram") == 1


def test_what_would_be_replaced_in_a_folder_of_others_is_looked_for() -> None:
    looking = part("Function FindStranger", "FunctionEnd")
    removal = part("!macro RemoveProgram", "!macroend")
    written = {name.partition("/")[0] for name in check.NEEDED} | {installer.UNINSTALLER}
    removed = set(re.findall(r'RMDir /r "\$INSTDIR\\(\w+)"', removal))
    assert set(re.findall(r'!insertmacro Strange "(.+)"', looking)) == written | removed


def test_the_folder_of_others_is_refused_on_its_page_and_silently() -> None:
    page = "!define MUI_PAGE_CUSTOMFUNCTION_LEAVE LeaveDirectory\n!insertmacro MUI_PAGE_DIRECTORY"
    assert page in SCRIPT
    for name, end in (("LeaveDirectory", ["Abort"]), ("RefuseStrangers", REFUSED)):
        steps = lines(part(f"Function {name}\n", "FunctionEnd"))
        assert steps[1:3] == ["Call FindStranger", '${If} $0 != ""']
        assert steps[3].startswith("MessageBox")
        assert steps[4:] == [*end, "${EndIf}"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_the_script_compiles_and_an_interrupted_installation_is_known_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the two files that FindStranger asks for: they come before all folders."""
    need("makensis")
    need("7z")
    monkeypatch.setattr(places, "WORK", tmp_path)
    monkeypatch.setenv("QUICK", "1")
    pictures.write_ico(tmp_path / "moat.ico")
    tree = tmp_path / "tree"
    for name in check.NEEDED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(b"x")
    setup = installer.build(tree, tmp_path / places.SETUP.name)
    installer.check(setup, tree)
    listing = subprocess.run(["7z", "l", "-slt", "-ba", setup], capture_output=True, check=True)
    paths = re.findall(r"^Path = ([^$].*)", listing.stdout.decode().replace("\\", "/"), re.M)
    first = next(at for at, path in enumerate(paths) if "/" in path)
    assert "moat.exe" in paths[:first]
    steps = lines(part('Section "$(Program)"', "SectionEnd"))
    packing = steps.index('File /r "${FILES}"')
    assert steps[packing - 1] == 'WriteUninstaller "$INSTDIR\\uninstall.exe"'


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


def test_nothing_is_removed_under_a_command_in_a_terminal() -> None:
    """`moat models pull` runs for hours inside bin\\moat.exe, and nobody can ask it to quit."""
    waiting = lines(part("!macro QuitFirst", "!macroend"))
    first = waiting.index("StrCpy $2 0")
    looked_at = ["moat.exe", "bin\\moat.exe", "python\\python312.dll"]
    assert {name.replace("\\", "/") for name in looked_at} <= set(check.NEEDED)
    assert waiting[first + 1 : first + 6] == [
        *(f'!insertmacro SeeIfUsed "{name}"' for name in looked_at),
        "${If} $2 == 0",
        "Return",
    ]
    # Opening for appending makes a file that is not there.
    assert '${If} ${FileExists} "$INSTDIR\\${FILE}"' in part("!macro SeeIfUsed", "!macroend")


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
