"""The machine and the versions of a proof, without anything that identifies the machine's owner."""

import platform
import subprocess
from importlib import metadata
from pathlib import Path

import psutil

from server import VERSION
from server.system import hardware
from tests.prove.stage import ROOT

PARTS = ("llama-cpp-python", "llguidance", "aiohttp", "pydantic", "jinja2", "graphql-core")


def machine() -> str:
    memory_gb = psutil.virtual_memory().total / 2**30
    return f"{hardware.read().model}, {psutil.cpu_count()} cores, {memory_gb:.0f} GB of memory"


def system() -> str:
    release = _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"')
    return (
        f"{release or platform.system()}, {platform.machine()}, Python {platform.python_version()}"
    )


def versions() -> str:
    return ", ".join(f"{name} {metadata.version(name)}" for name in PARTS)


def state() -> str:
    """Returns Moat's version, and the commit if this is a clone."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = ", with changes" if _git("status", "--porcelain", "server", "app") else ""
    return f"Moat {VERSION}" + (f" on commit {commit}{changed}" if commit else "")


def _git(*arguments: str) -> str:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip()


def _field(path: Path, name: str, between: str) -> str:
    if not path.exists():
        return ""
    for line in path.read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition(between)
        if key.strip() == name:
            return value.strip()
    return ""
