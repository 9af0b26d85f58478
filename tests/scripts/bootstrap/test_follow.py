"""A long command is followed to its end, and ended with all its children when we are."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from scripts.bootstrap.follow import LongCommand, follow, running_beside
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


COMPILE = """
import signal, subprocess, sys, time
# As build tools do: a compiler in a group of its own. The other does not heed a signal.
plain = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], process_group=0)
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True)"
deaf += "; time.sleep(600)"
deaf = subprocess.Popen([sys.executable, "-c", deaf], process_group=0, stdout=subprocess.PIPE)
deaf.stdout.readline()
print(plain.pid, deaf.pid, flush=True)
plain.wait()
time.sleep(600)
"""
SET_UP = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from scripts.bootstrap import __main__ as bootstrap, follow, places
follow.PATIENCE_S = float(sys.argv[2])
places.LOCK = follow.Path(sys.argv[1]) / "lock"
bootstrap.is_ready = lambda _purpose: False
command = [sys.executable, "-c", {COMPILE!r}]
def compile_it(_purpose):
    show = lambda line: print(line.strip(), flush=True)
    follow.follow(follow.LongCommand("compiling the engine", command, show))
bootstrap.prepare = compile_it
sys.exit(bootstrap.make_ready("run"))
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
@pytest.mark.parametrize("signals", [("SIGTERM",), ("SIGINT",), ("SIGHUP",), ("SIGTERM", "SIGINT")])
def test_a_set_up_that_is_ended_ends_its_compilers(
    signals: tuple[str, ...], tmp_path: Path
) -> None:
    # The second signal comes while the deaf compiler is waited for, also on a busy machine.
    patience = "10" if len(signals) > 1 else "1"
    with subprocess.Popen(
        [*python(SET_UP), str(tmp_path), patience], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as setup:
        assert setup.stdout
        compilers = [psutil.Process(int(pid)) for pid in setup.stdout.readline().split()]
        started = [psutil.Process(setup.pid), *psutil.Process(setup.pid).children(recursive=True)]
        assert set(compilers) < set(started)
        try:
            for name in signals:
                setup.send_signal(getattr(signal, name))
                psutil.wait_procs([compilers[0]], timeout=10)
            assert setup.wait(60) == 130
            assert "interrupted" in setup.stdout.read()
            _, alive = psutil.wait_procs(started, timeout=10)
            assert alive == []
        finally:
            for process in started:
                with suppress(psutil.NoSuchProcess):
                    process.kill()


@pytest.mark.parametrize("status", [0, 1])
def test_a_command_beside_is_waited_for_and_may_fail(tmp_path: Path, status: int) -> None:
    mark = tmp_path / "mark"
    program = f"import pathlib, sys; sys.stdin.read(); pathlib.Path({str(mark)!r}).touch()"
    with running_beside(LongCommand("beside", python(f"{program}; sys.exit({status})"), str)):
        pass
    assert mark.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_a_command_beside_ends_with_what_it_runs_beside(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = ["sh", "-c", f"sleep 600 & echo $! > {pipe}; wait"]
    with (
        pytest.raises(SetupFailed, match="cannot be compiled"),
        running_beside(LongCommand("beside", command, str)),
    ):
        started = psutil.Process(int(pipe.read_text()))
        raise SetupFailed("It cannot be compiled.")
    _, alive = psutil.wait_procs([started], timeout=30)
    assert alive == []
