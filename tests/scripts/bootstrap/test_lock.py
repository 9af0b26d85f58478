"""Two clones that need the same engine wait for each other; a dead one holds nobody up."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bootstrap.lock import held

ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys
from pathlib import Path
from scripts.bootstrap.lock import held
with held(Path(sys.argv[1]), "waiting"):
    print("held", flush=True)
    sys.stdin.readline()
    Path(sys.argv[1]).with_name("left").write_text("yes")
"""


def hold(path: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    assert child.stdout.readline() == "held\n"
    return child


def test_the_second_waits_until_the_first_has_left(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold(path) as first:
        assert first.stdin
        first.stdin.write("leave\n")
        first.stdin.flush()
        with held(path, "waiting"):
            assert (tmp_path / "left").exists()


@pytest.mark.timeout(30)
def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold(path) as first:
        first.kill()
        first.wait()
        with held(path, "waiting"):
            assert not (tmp_path / "left").exists()
