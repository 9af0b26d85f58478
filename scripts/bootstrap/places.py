"""Where set-up puts things: the environment in the clone, compiled wheels in the user's cache."""

import hashlib
import os
import re
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IS_INSTALLED = (ROOT / "__init__.py").is_file()
"""By pip: then all of Moat is one package, and its root belongs to whoever installed it."""
PROJECT = ROOT / "pyproject.toml"
PINS = ROOT / "constraints.txt"


def wheel_cache() -> Path:
    """Shared by all clones of this user, so that the engine is compiled once."""
    return _user_cache() / "wheels"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ["LOCALAPPDATA"]) / "moat" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "moat"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moat"


def _environment() -> Path:
    """For an installed Moat it holds the engine alone, one for each version of Python."""
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
    """The version of a package in the pins, or nothing."""
    found = re.search(rf"^{re.escape(name)}==(\S+)$", PINS.read_text(encoding="utf-8"), re.M)
    return found.group(1) if found else ""


def fingerprint(*parts: str) -> str:
    """Changes when something changes that set-up would have to act on."""
    digest = hashlib.sha256("\n".join(parts).encode())
    here = ROOT / "scripts" / "bootstrap"
    sources = sorted((*here.glob("*.py"), *here.glob("*.cmake")))
    for path in (PROJECT, PINS, *sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()
