"""`moat quit` from the outside: real processes, no model."""

import subprocess
import sys
from pathlib import Path

import pytest

from server.commands.running import NOTHING_TO_QUIT
from server.system import processes
from tests.kit.running import SERVES, all_gone, serving

QUIT = [sys.executable, "-P", "-m", "app", "quit"]


def quit_moat() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        QUIT, env=processes.environment("serve"), capture_output=True, text=True, check=False
    )


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))


def test_a_server_in_a_terminal_ends_when_asked_and_so_do_its_children() -> None:
    with serving(wait_for=SERVES) as moat:
        family = moat.family()
        done = quit_moat()
        assert done.returncode == 0, done.stderr
        all_gone(family)
        assert moat.process.wait() == 0


def test_without_a_running_moat_there_is_nothing_to_do() -> None:
    done = quit_moat()
    assert (done.returncode, done.stdout.strip()) == (0, NOTHING_TO_QUIT)
