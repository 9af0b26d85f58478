"""Installs atheris, the coverage-guided fuzzer, for the proof: from a wheel, or built from source.

Its source needs libFuzzer, which comes with clang. If clang is not installed, Debian's package with
the library is downloaded and unpacked; nothing is installed in the system. The result is kept in
the user's cache.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.bootstrap import places
from scripts.bootstrap.lock import held
from scripts.bootstrap.say import SetupFailed, say

WANTED = "atheris==3.0.0"
LIBRARY = "LIBFUZZER_LIB"
PACKAGE = "^libclang-rt-[0-9]+-dev$"
ARCHIVE = "libclang_rt.fuzzer_no_main*.a"


def fuzzer(*, may_build: bool) -> Path:
    """Returns the folder to import atheris from. Without `may_build` it must exist already."""
    tag = f"{WANTED.replace('==', '-')}-{sys.implementation.cache_tag}-{sys.platform}"
    cache = places.wheel_cache().parent / "fuzzer"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / tag
    with held(cache / "lock", "another clone is building the fuzzer, waiting"):
        if not folder.exists() and not may_build:
            raise SetupFailed("the full form of the proof brings atheris, the short one uses it")
        if not folder.exists():
            build(folder)
    return folder


def build(folder: Path) -> None:
    say(f"fuzzing: bringing {WANTED} once (some minutes where it must be compiled)")
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target")
        done = subprocess.run(
            [*pip, str(made), WANTED],
            env={**os.environ, **library(Path(scratch))},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise SetupFailed(f"{WANTED} could not be brought: {last[0]}")
        made.rename(folder)


def library(scratch: Path) -> dict[str, str]:
    """Returns the build's variable for libFuzzer's path; empty if the build finds it itself."""
    if os.environ.get(LIBRARY) or shutil.which("clang") or not shutil.which("apt-get"):
        return {}
    names = _output("apt-cache", "search", "--names-only", PACKAGE, at=scratch).split("\n")
    offered = sorted((line.split()[0] for line in names if line), key=_number)
    if not offered:
        return {}
    _output("apt-get", "download", offered[0], at=scratch)
    for package in scratch.glob("*.deb"):
        _output("dpkg-deb", "--extract", package.name, "system", at=scratch)
    found = next((scratch / "system").rglob(ARCHIVE), None)
    return {LIBRARY: str(found)} if found else {}


def _number(package: str) -> int:
    return int(package.split("-")[2])


def _output(*command: str, at: Path) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    say(str(fuzzer(may_build=True)))
