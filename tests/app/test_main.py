import subprocess
import sys
from pathlib import Path

import pytest

from app import __main__ as entry


@pytest.mark.parametrize(
    ("given", "role", "rest"),
    [
        ([], "window", []),
        (["--hidden"], "window", ["--hidden"]),
        (["serve", "--port", "7000"], "command", ["serve", "--port", "7000"]),
        (["chat", "Hi"], "command", ["chat", "Hi"]),
        (["--version"], "command", ["--version"]),
        (["--role", "serve", "--child"], "command", ["serve", "--child"]),
        (["--role", "worker"], "worker", []),
        (["--role", "window"], "window", []),
    ],
)
def test_the_role_follows_from_the_arguments(given: list[str], role: str, rest: list[str]) -> None:
    assert entry.choose(given) == (role, rest)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize(
    ("environment", "obstacle"),
    [
        ({}, entry.NO_DISPLAY),
        ({"DISPLAY": ":4711"}, entry.NO_DISPLAY),
        ({"WAYLAND_DISPLAY": "wayland-0"}, ""),
        ({"QT_QPA_PLATFORM": "offscreen"}, ""),
        ({"DISPLAY": "remote:10.0"}, ""),
    ],
)
def test_without_a_display_there_is_no_window(environment: dict[str, str], obstacle: str) -> None:
    assert entry.obstacle(environment) == obstacle


def test_a_command_does_not_load_qt() -> None:
    script = (
        "import sys; from app.__main__ import main\n"
        "try: main(['--version'])\n"
        "except SystemExit: pass\n"
        "print('PySide6' in sys.modules)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_who_is_interrupted_while_modules_come_in_ends_without_a_traceback() -> None:
    script = (
        "import os, signal, sys\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_more):\n"
        "        if name == 'server.cli': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from app.__main__ import main\n"
        "sys.exit(main(['ps']))\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, b"")
