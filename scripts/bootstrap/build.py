"""Compiles the engine's wheel and shows the progress."""

import os
import re
import sys
import tempfile
from pathlib import Path

from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.recipe import Recipe
from scripts.bootstrap.say import SetupFailed
from scripts.bootstrap.source import PACKAGE, trimmed

STEP = re.compile(r"^\s*(\[\d+/\d+\])")
BYTES_PER_JOB = 1_500_000_000
"""Memory that one compiler process may need."""


def build(python: Path, recipe: Recipe, into: Path, build_pins: Path) -> Path:
    """Builds the wheel and returns it. It is moved into the folder only when it is complete."""
    into.mkdir(parents=True, exist_ok=True)
    log = into / "build.log"
    with tempfile.TemporaryDirectory(prefix="moat-build-") as scratch:
        wanted = f"{PACKAGE}=={recipe.version}"
        if recipe.left_out:
            wanted = str(trimmed(python, recipe.version, recipe.left_out, Path(scratch)))
        command = [
            *(str(python), "-m", "pip", "wheel", "--verbose", "--no-deps", "--no-cache-dir"),
            *("--no-binary", PACKAGE, "--build-constraint", str(build_pins)),
            *("--wheel-dir", scratch, wanted),
        ]
        environment = _environment(recipe, scratch)
        try:
            follow(LongCommand("compiling the engine", command, progress, log, environment))
        except SetupFailed as failure:
            message = f"The engine could not be compiled. The whole story is in {log}."
            raise SetupFailed(message) from failure
        made = next(Path(scratch).glob("*.whl"))
        whole = into / made.name
        draft = whole.with_suffix(".part")
        draft.write_bytes(made.read_bytes())
        draft.replace(whole)
    return whole


def _environment(recipe: Recipe, scratch: str) -> dict[str, str]:
    return {
        **os.environ,
        **_placeless(recipe.environment(), scratch),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs()),
        "TMPDIR": scratch,
        "TEMP": scratch,
    }


def _placeless(variables: dict[str, str], scratch: str) -> dict[str, str]:
    """Adds compiler flags that keep the name of the build folder out of the result."""
    if sys.platform == "win32" or any("_FLAGS=" in text for text in variables.values()):
        return variables
    given = {**os.environ, **variables}
    return variables | {
        name: f"{given.get(name, '')} -ffile-prefix-map={scratch}=.".strip()
        for name in ("CFLAGS", "CXXFLAGS")
    }


def jobs() -> int:
    """Returns how many compilers may run at once, limited by the cores and by memory."""
    cores = os.cpu_count() or 1
    if sys.platform == "win32":
        return cores
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(cores, memory // BYTES_PER_JOB))


def progress(line: str) -> str | None:
    """Returns the step, such as [41/193], from a line of the build tool."""
    found = STEP.match(line)
    return found.group(1) if found else None
