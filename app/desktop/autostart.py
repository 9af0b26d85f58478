"""Start at login, by each desktop's own means: a file, a registry value or a launch agent."""

import os
import plistlib
import sys
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from server.errors import AppError
from server.sentences import Sentence
from server.system import files, processes

LABEL = "app.moat"
_RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
_RESERVED = '\\"`$'
_DECIDING = ("Exec=", "Hidden=true", "X-GNOME-Autostart-enabled=false")
"""The starts of lines in a desktop entry that decide whether and what it starts."""


class AutostartFailed(AppError):
    code = "autostart_failed"

    def __init__(self, error: OSError) -> None:
        super().__init__(
            Sentence("Starting at login could not be changed: {0}.", error.strerror or error)
        )


class Autostart(Protocol):
    """Start at login. `turn` raises AutostartFailed."""

    def is_on(self) -> bool: ...
    def turn(self, *, on: bool) -> None: ...


def find() -> Autostart:
    command = processes.command("window", "--hidden")
    if sys.platform == "win32":
        return RunKey(command)
    if sys.platform == "darwin":
        return File(Path.home() / f"Library/LaunchAgents/{LABEL}.plist", launch_agent(command))
    given = os.environ.get("XDG_CONFIG_HOME")
    config = Path(given) if given else Path.home() / ".config"
    return File(config / "autostart" / "moat.desktop", desktop_entry(command))


class File:
    """Start at login by a file. It is on while the file exists and starts this program."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._text = text

    def is_on(self) -> bool:
        try:
            found = self.path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return False
        return deciding(found) == deciding(self._text)

    def turn(self, *, on: bool) -> None:
        try:
            if on:
                files.write_atomically(self.path, self._text)
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise AutostartFailed(error) from error


class RunKey:
    """Start at login on Windows, by a value of the user's Run key."""

    def __init__(self, command: list[str]) -> None:
        self._line = " ".join(f'"{part}"' for part in command)

    if sys.platform == "win32":

        def is_on(self) -> bool:
            import winreg  # noqa: PLC0415

            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN_KEY) as key:
                    found, _kind = winreg.QueryValueEx(key, "Moat")
            except OSError:
                return False
            return str(found).casefold() == self._line.casefold()

        def turn(self, *, on: bool) -> None:
            import winreg  # noqa: PLC0415

            access = winreg.KEY_SET_VALUE
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN_KEY, 0, access) as key:
                    if on:
                        winreg.SetValueEx(key, "Moat", 0, winreg.REG_SZ, self._line)
                    else:
                        with suppress(FileNotFoundError):
                            winreg.DeleteValue(key, "Moat")
            except OSError as error:
                raise AutostartFailed(error) from error

    else:

        def is_on(self) -> bool:
            return False

        def turn(self, *, on: bool) -> None:
            raise AutostartFailed(OSError(f"there is no registry here to turn it {on}"))


def deciding(text: str) -> list[str]:
    """Returns the lines that decide what is started. Desktops change the other lines."""
    lines = text.splitlines()
    return [line for line in lines if line.startswith(_DECIDING)] or lines


def desktop_entry(command: list[str]) -> str:
    # With TryExec, nothing is started and no error is shown once the program was removed.
    program = command[0].replace("\\", "\\\\")
    return (
        "[Desktop Entry]\n"
        "Type=Application\n"
        "Name=Moat\n"
        "Comment=Language models on your own computer\n"
        f"TryExec={program}\n"
        f"Exec={' '.join(quoted(part) for part in command)}\n"
        "Icon=moat\n"
        "Terminal=false\n"
        "X-GNOME-Autostart-enabled=true\n"
    )


def quoted(part: str) -> str:
    """Quotes an argument of Exec as the Desktop Entry Specification requires."""
    escaped = "".join(f"\\{letter}" if letter in _RESERVED else letter for letter in part)
    # The file's own escaping doubles each backslash again.
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


def launch_agent(command: list[str]) -> str:
    entry = {"Label": LABEL, "ProgramArguments": command, "RunAtLoad": True}
    return plistlib.dumps(entry).decode()
