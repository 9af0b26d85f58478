"""Paths of the set-up: the environment in the clone, compiled wheels in the user's cache."""

import hashlib
import os
import re
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IS_INSTALLED = (ROOT / "__init__.py").is_file()
"""Whether pip installed Moat. Then it is a single package, and its folder may be read-only."""
PROJECT = ROOT / "pyproject.toml"
PINS = ROOT / "constraints.txt"


def wheel_cache() -> Path:
    """Returns the cache that all clones of this user share, so that the engine is compiled once."""
    return _user_cache() / "wheels"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ["LOCALAPPDATA"]) / "moat" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "moat"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moat"


def _environment() -> Path:
    """Returns the environment. If installed, it holds only the engine, per Python version."""
    version = ".".join(map(str, sys.version_info[:2]))
    return _user_cache() / f"engine-{version}" if IS_INSTALLED else ROOT / ".venv"


ENVIRONMENT = _environment()
STAMP = ENVIRONMENT / "moat-setup.json"
LOCK = _user_cache() / "setup.lock" if IS_INSTALLED else ROOT / "build" / "setup.lock"
SCRIPTS = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin")
PYTHON = SCRIPTS / ("python.exe" if sys.platform == "win32" else "python")
RUNNER = Path(sys.executable) if IS_INSTALLED else PYTHON
"""The Python that runs Moat."""
SITE = Path(sysconfig.get_path("purelib", scheme="venv", vars={"base": str(ENVIRONMENT)}))


def engine_version() -> str:
    found = re.search(r'"llama-cpp-python==([^"]+)"', PROJECT.read_text(encoding="utf-8"))
    assert found, "pyproject.toml names no exact version of llama-cpp-python"
    return found.group(1)


def pinned(name: str) -> str:
    """Returns the version of a package in the pins; empty if it is not pinned."""
    found = re.search(rf"^{re.escape(name)}==(\S+)$", PINS.read_text(encoding="utf-8"), re.M)
    return found.group(1) if found else ""


def fingerprint(*parts: str) -> str:
    """Returns a digest that changes whenever the set-up has something to do."""
    digest = hashlib.sha256("\n".join(parts).encode())
    here = ROOT / "scripts" / "bootstrap"
    sources = sorted((*here.glob("*.py"), *here.glob("*.cmake")))
    for path in (PROJECT, PINS, *sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()
