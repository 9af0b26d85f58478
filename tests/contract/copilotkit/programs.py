"""Installs and starts what the contract tests need: npm and Python packages, Moat itself."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from scripts.bootstrap.lock import held
from tests.kit.programs import need

ROOT = Path(__file__).resolve().parents[3]
CACHE = platformdirs.user_cache_path("moat", appauthor=False)
PAGE = "http://localhost:3000"
INSTALL_S = 900
may_install = pytest.mark.timeout(2 * INSTALL_S)
"""Marks tests whose first run installs packages: network and machine may be slow."""


def packaged(folder: Path) -> Path:
    """Returns a copy of the folder with its npm packages, made once for each lock file."""
    npm = need("npm")
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()[:16]
    cache = CACHE / "npm" / lock
    with _alone(cache):
        if not (cache / "installed").exists():
            shutil.rmtree(cache, ignore_errors=True)
            cache.mkdir(parents=True)
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(folder / name, cache / name)
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"]
            # Like `npm ci` this installs what is locked, but does not insist on other systems'
            # packages in the lock file.
            subprocess.run([npm, "install", *options], cwd=cache, check=True, timeout=INSTALL_S)
            (cache / "installed").touch()
        _copy(folder, cache)
    return cache


def _alone(cache: Path) -> AbstractContextManager[None]:
    """Takes a lock, so that a run in another clone does not delete what this one installs."""
    return held(cache.with_suffix(".lock"), f"waiting for another installation in {cache.name}")


def built(pages: Path, generation: str, form: str = "source") -> Path:
    """Returns the page of a generation as a browser gets it, built once for its sources.

    The files of the folder `form` replace those in `source`.
    """
    home = packaged(pages / generation)
    sources = [*sorted((pages / "source").iterdir()), *sorted((pages / form).iterdir())]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    ready = home / f"built-{digest}"
    with _alone(home):
        _copy(pages / "source", home)
        _copy(pages / form, home)
        if not ready.exists():
            vite = [need("node"), "node_modules/vite/bin/vite.js", "build", "--outDir", "draft"]
            subprocess.run(vite, cwd=home, check=True, timeout=INSTALL_S, capture_output=True)
            (home / "draft").rename(ready)
    return ready


def _copy(folder: Path, target: Path) -> None:
    for source in folder.iterdir():
        if source.is_file():
            shutil.copyfile(source, target / source.name)


@contextmanager
def moat(engine: str, home: Path, **settings: Any) -> Iterator[str]:
    """Yields the address of a Moat that runs until the block ends."""
    given = {name.replace("__", "."): value for name, value in settings.items()}
    given.setdefault("server.origins", [PAGE])
    command = [sys.executable, "-m", "tests.contract.copilotkit.serve", engine, json.dumps(given)]
    environment = {**os.environ, "MOAT_HOME": str(home), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as process:
        assert process.stdout
        assert process.stdin
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), "Moat did not start; its output is above."
        try:
            yield address
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            finally:
                process.kill()


def python_with(requirements: Path) -> Path:
    """Returns an interpreter with the requirements, installed once for each content of the file."""
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    home = CACHE / "peers" / wanted
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    with _alone(home):
        if not (home / "installed").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            install = [str(python), "-m", "pip", "install", "-q", "-r", str(requirements)]
            done = subprocess.run(install, check=False, timeout=INSTALL_S, stderr=subprocess.PIPE)
            if done.returncode:
                reason = done.stderr.decode("utf-8", "replace")[-600:]
                pytest.fail(f"LangGraph and CopilotKit's SDK could not be installed: {reason}")
            (home / "installed").touch()
    return python
