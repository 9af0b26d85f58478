"""A long command is followed to its end, and ended with all its children when we are."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.say import SetupFailed

ROOT = Path(__file__).resolve().parents[3]
FOLLOWER = """
import signal, sys
from scripts.bootstrap.follow import LongCommand, follow
signal.signal(signal.SIGTERM, signal.default_int_handler)
def show(line):
    print(line.strip(), flush=True)
follow(LongCommand("waiting", ["sh", "-c", "sleep 60 & echo $!; wait"], show))
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_every_line_is_seen_and_logged(tmp_path: Path) -> None:
    seen: list[str] = []
    log = tmp_path / "log"
    follow(LongCommand("counting", python("print(1); print(2)"), seen.append, log))
    assert seen == ["1\n", "2\n"]
    assert log.read_text() == "1\n2\n"


def test_a_failure_shows_the_last_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SetupFailed, match="This failed"):
        follow(LongCommand("failing", python("import nowhere_to_be_found"), lambda _line: None))
    assert "nowhere_to_be_found" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_an_interrupted_follower_leaves_no_process_behind() -> None:
    with subprocess.Popen(
        python(FOLLOWER), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as follower:
        assert follower.stdout
        grandchild = psutil.Process(int(follower.stdout.readline()))
        follower.send_signal(signal.SIGTERM)
        follower.wait(60)
    _, alive = psutil.wait_procs([grandchild], timeout=30)
    assert alive == []
