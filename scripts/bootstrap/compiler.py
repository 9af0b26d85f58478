"""Finds the C++ compiler that builds the engine."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TRIAL = "#include <vector>\nint main() { std::vector<int> v(3); return (int) v.size() - 3; }\n"
FIRST_GCC_WITH_AMX = 14


@dataclass(frozen=True)
class Compiler:
    cc: str
    cxx: str
    version: str

    @property
    def drops_tile_configuration(self) -> bool:
        """Whether it drops most of the configuration of AMX tiles, as GCC before 14 does."""
        return "clang" not in self.version.lower() and gcc_major(self.version) < FIRST_GCC_WITH_AMX


def find(*, prefer_new: bool) -> Compiler | None:
    """Returns the compiler to use; None if there is none.

    With `prefer_new`, a later one that keeps AMX's tile configuration is preferred to an old first
    one.
    """
    usable = list(_usable())
    if prefer_new:
        usable.sort(key=lambda one: one.drops_tile_configuration)
    return usable[0] if usable else None


def gcc_major(version: str) -> int:
    found = re.search(r"\)\s+(\d+)\.|\b(\d+)\.\d+\.\d+", version)
    return int(found.group(1) or found.group(2)) if found else 0


def _usable() -> Iterator[Compiler]:
    for cc, cxx in _candidates():
        if shutil.which(cc) and shutil.which(cxx) and _compiles(cxx):
            yield Compiler(cc, cxx, _version(cxx))


def _candidates() -> list[tuple[str, str]]:
    chosen = os.environ.get("CC"), os.environ.get("CXX")
    if chosen[0] and chosen[1]:
        return [(chosen[0], chosen[1])]
    if sys.platform == "darwin":
        return [("clang", "clang++")]
    newer = [(f"gcc-{n}", f"g++-{n}") for n in (16, 15, 14)]
    return [("gcc", "g++"), *newer, ("clang", "clang++"), ("cc", "c++")]


def _version(cxx: str) -> str:
    answer = subprocess.run([cxx, "--version"], capture_output=True, text=True, check=False)
    return (answer.stdout.splitlines() or [cxx])[0]


def _compiles(cxx: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "trial.cpp"
        source.write_text(TRIAL)
        command = [cxx, str(source), "-o", str(Path(folder) / "trial")]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
