import plistlib
import shlex
import sys
from pathlib import Path

import pytest

from app import autostart
from app.autostart import AutostartFailed, File, desktop_entry, launch_agent, quoted


@pytest.mark.skipif(sys.platform != "linux", reason="the desktop file is Linux's way")
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


def test_the_launch_agent_is_a_property_list() -> None:
    read = plistlib.loads(launch_agent(["/Applications/Moat", "--hidden"]).encode())
    assert read["ProgramArguments"] == ["/Applications/Moat", "--hidden"]
    assert read["RunAtLoad"] is True


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "autostart").write_text("a file where a folder should be")
    with pytest.raises(AutostartFailed, match="could not be changed"):
        File(tmp_path / "autostart" / "moat.desktop", "x").turn(on=True)
