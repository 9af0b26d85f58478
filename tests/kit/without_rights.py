"""Runs Python as a user with few rights, even if root runs the tests."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


def said(imports: str, work: str, *arguments: str | Path) -> str:
    """Returns the output of `work`. `imports` runs before the rights are dropped."""
    drop = f"import os, sys\nos.geteuid() or os.setuid({NOBODY})\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}\n{drop}{work}", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    return done.stdout + done.stderr


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """Yields an open folder, and a folder that `lock` closes. At the end it is opened again."""
    with tempfile.TemporaryDirectory() as name:
        opened, locked = Path(name) / "open", Path(name) / "locked"
        Path(name).chmod(0o755)
        opened.mkdir(mode=0o755)
        locked.mkdir()
        try:
            yield opened, locked
        finally:
            locked.chmod(0o700)


def lock(folder: Path) -> None:
    folder.chmod(0 if os.geteuid() else 0o700)
