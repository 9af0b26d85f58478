"""Runs first in an installed Moat and makes the process look like a frozen program."""

import compileall
import ctypes
import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent
ROOT = PROGRAM.parent


def main() -> int:
    _open_streams()
    # Roles start each other by this name: always the program without a console.
    sys.executable = str(ROOT / "moat.exe")
    sys.frozen = True  # type: ignore[attr-defined]
    sys._MEIPASS = str(PROGRAM)  # type: ignore[attr-defined]
    if sys.argv[1:2] == ["--compile"]:
        return _compile()
    if sys.argv[1:2] == ["--on-path"]:
        return _put_on_path(is_wanted=sys.argv[2:] == ["yes"])

    from app.__main__ import main as begin  # noqa: PLC0415

    return begin()


def _open_streams() -> None:
    """Replaces missing streams. Without a console there are none, and output is dropped."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _compile() -> int:
    """Compiles everything. The installer runs it, so that the first start is as quick as others."""
    folders = (ROOT / "packages", PROGRAM)
    done = [compileall.compile_dir(folder, quiet=2) for folder in folders]
    return 0 if all(done) else 1


def on_path(path: str, folder: str, *, is_wanted: bool) -> str:
    """Returns the user's PATH with our folder at its end, or without it."""
    others = [part for part in path.split(";") if part and part.lower() != folder.lower()]
    return ";".join([*others, folder] if is_wanted else others)


def _put_on_path(*, is_wanted: bool) -> int:
    """Changes the user's PATH. The installer's own language would truncate a long one."""
    if sys.platform != "win32":
        return 1
    import winreg  # noqa: PLC0415

    access = winreg.KEY_READ | winreg.KEY_SET_VALUE
    with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, "Environment", 0, access) as key:
        try:
            path, kind = winreg.QueryValueEx(key, "Path")
        except FileNotFoundError:
            path, kind = "", winreg.REG_EXPAND_SZ
        changed = on_path(path, str(ROOT / "bin"), is_wanted=is_wanted)
        if changed != path:
            winreg.SetValueEx(key, "Path", 0, kind, changed)
            everyone, setting_changed, abort_if_hung = 0xFFFF, 0x1A, 2
            ctypes.windll.user32.SendMessageTimeoutW(
                everyone, setting_changed, 0, "Environment", abort_if_hung, 2000, None
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
