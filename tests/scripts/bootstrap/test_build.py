"""The build is followed line by line, its wheel appears whole, its failure is told."""

import sys
from pathlib import Path

import pytest

from scripts.bootstrap.build import build, jobs, progress
from scripts.bootstrap.compiler import Compiler
from scripts.bootstrap.recipe import Recipe, recipes
from scripts.bootstrap.say import SetupFailed
from server.system.hardware import Processor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")

PIP = """#!/bin/sh
echo "cmake arguments: $CMAKE_ARGS"
echo "  [1/2] g++ -c one.cpp"
echo "  [2/2] g++ -c two.cpp"
while [ "$1" != --wheel-dir ]; do shift; done
{ending}
"""


@pytest.fixture
def recipe() -> Recipe:
    compiler = Compiler("gcc", "g++", "g++ (GCC) 14.1.0")
    return recipes("1.0", Processor("aarch64", "One", ()), compiler)[0]


def stand_in(folder: Path, ending: str) -> Path:
    python = folder / "python"
    python.write_text(PIP.format(ending=ending))
    python.chmod(0o755)
    return python


def test_the_wheel_is_kept_with_its_log(tmp_path: Path, recipe: Recipe) -> None:
    python = stand_in(tmp_path, 'echo content > "$2/llama_cpp_python-1.0-py3-none-any.whl"')
    wheel = build(python, recipe, tmp_path / "cache", tmp_path / "pins.txt")
    assert wheel == tmp_path / "cache" / "llama_cpp_python-1.0-py3-none-any.whl"
    assert wheel.read_text() == "content\n"
    log = (tmp_path / "cache" / "build.log").read_text()
    assert "-DGGML_NATIVE=ON" in log
    assert "[2/2]" in log


def test_a_failed_build_says_why_and_leaves_no_wheel(
    tmp_path: Path, recipe: Recipe, capsys: pytest.CaptureFixture[str]
) -> None:
    python = stand_in(tmp_path, "echo 'error: no such header'; exit 1")
    with pytest.raises(SetupFailed, match=r"build\.log"):
        build(python, recipe, tmp_path / "cache", tmp_path / "pins.txt")
    assert "no such header" in capsys.readouterr().out
    assert list((tmp_path / "cache").glob("*.whl")) == []


def test_steps_are_read_from_the_build_tool() -> None:
    assert progress("  [41/193] /usr/bin/g++ -O3") == "[41/193]"
    assert progress("  -- Detecting [1/2]") is None


def test_there_is_always_at_least_one_job() -> None:
    assert jobs() >= 1
