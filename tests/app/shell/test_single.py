import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.shell import session
from tests.kit.until import until

RAISED_WITHIN_S = float(os.environ.get("MOAT_RAISED_WITHIN_S", "60"))
"""The proof sets its limit; as a test it shows that the first window is raised at all."""


async def test_a_second_start_raises_the_first(qapp: object, tmp_path: Path) -> None:
    first = session.claim(tmp_path)
    assert first
    shown: list[str] = []
    first.on_show(lambda: shown.append("shown"))
    assert session.claim(tmp_path) is None
    await until(lambda: shown, RAISED_WITHIN_S)
    first.close()


async def test_a_knock_before_there_is_a_window_is_not_lost(qapp: object, tmp_path: Path) -> None:
    first = session.claim(tmp_path)
    assert first
    assert session.claim(tmp_path) is None
    shown: list[str] = []
    await until(lambda: first.knocks)
    first.on_show(lambda: shown.append("shown"))
    assert shown == ["shown"]
    first.close()


def test_after_the_first_left_another_may_come(qapp: object, tmp_path: Path) -> None:
    first = session.claim(tmp_path)
    assert first
    first.close()
    second = session.claim(tmp_path)
    assert second
    second.close()


def test_a_lock_left_by_a_killed_window_does_not_stop_the_next(
    qapp: object, tmp_path: Path
) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from PySide6.QtCore import QCoreApplication; from app.shell import session\n"
        "app = QCoreApplication([]); held = session.claim(Path(sys.argv[1])); assert held\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert (tmp_path / "window.lock").exists()
    next_one = session.claim(tmp_path)
    assert next_one
    next_one.close()


def test_a_lock_of_a_process_that_is_no_window_is_taken_over(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_PATIENCE_S", 0.1)
    script = (
        "import sys; from PySide6.QtCore import QLockFile\n"
        "lock = QLockFile(sys.argv[1]); lock.setStaleLockTime(0); assert lock.tryLock(0)\n"
        "print('locked', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "window.lock")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        first = session.claim(tmp_path)
        assert first
        first.close()


def test_a_long_folder_gets_a_short_socket(qapp: object, tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    first = session.claim(deep)
    assert first
    assert session.claim(deep) is None
    first.close()
