"""A fresh clone: its commands, its pins, and what they leave behind."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.package.windows import pin

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.]*")
LEFT_TO_PYPROJECT = {"llama-cpp-python", "pyside6-essentials"}

needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    found = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in found if not PIN.fullmatch(line)] == []
    return dict(line.split("==") for line in found)


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for group in (project["dependencies"], *extras) for line in group]


def test_every_direct_dependency_is_pinned_within_its_range() -> None:
    known = pins()
    for requirement in requirements():
        name = canonicalize_name(requirement.name)
        if name not in LEFT_TO_PYPROJECT:
            assert requirement.specifier.contains(known[name], prereleases=True), name


def test_nothing_committed_is_a_link_or_of_one_machine() -> None:
    """A committed link to somebody's environment made every clone elsewhere unusable."""
    command = ["git", "ls-files", "--stage"]
    staged = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line for line in staged.splitlines() if line.startswith("120000")] == []
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert ignored == ""


MACHINES = [
    ("linux", "aarch64", "3.11", "6.8.0.2"),
    ("linux", "aarch64", "3.14", "6.11.3"),
    ("linux", "x86_64", "3.11", "6.11.3"),
    ("linux", "x86_64", "3.14", "6.11.3"),
    ("darwin", "arm64", "3.12", "6.11.3"),
    ("darwin", "x86_64", "3.12", "6.11.3"),
    ("win32", "AMD64", "3.12", "6.8.3"),
    ("win32", "AMD64", "3.14", "6.11.3"),
]


@pytest.mark.parametrize(("system", "machine", "python", "version"), MACHINES)
def test_every_machine_gets_one_qt_and_old_pythons_not_the_one_that_aborts(
    system: str, machine: str, python: str, version: str
) -> None:
    """6.12 aborts before Python 3.12. Linux on ARM and Windows 10 have older ones."""
    there = {"sys_platform": system, "platform_machine": machine, "python_version": python}
    found = [
        str(one.specifier)
        for one in requirements()
        if one.name == "PySide6-Essentials" and (not one.marker or one.marker.evaluate(there))
    ]
    assert found == [f"=={version}"]


def test_the_windows_package_has_the_qt_of_a_clone_on_windows() -> None:
    assert ("win32", "AMD64", "3.12", pin.PYSIDE) in MACHINES


def test_any_python_can_read_the_sentence_that_refuses_it() -> None:
    source = (ROOT / "scripts" / "setup.py").read_text()
    ast.parse(source, feature_version=(3, 6))


@needs_shell
def test_the_set_up_of_this_clone_is_done_and_asking_starts_nothing() -> None:
    watched = (
        "import runpy, sys\n"
        "def refuse(event, told):\n"
        "    if event in ('subprocess.Popen', 'os.posix_spawn', 'os.fork', 'socket.connect'):\n"
        "        raise SystemExit(f'{event} {told}')\n"
        "sys.addaudithook(refuse)\n"
        "runpy.run_path('scripts/setup.py', run_name='__main__')\n"
    )
    command = [sys.executable, "-c", watched, "--for", "test", "--check"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = (run.returncode, run.stdout, run.stderr)
    assert said == (0, "", ""), "run 'make setup' or 'make test'"


def python_that_is(folder: Path, name: str, version: tuple[int, int]) -> None:
    program = folder / name
    check = "import sys; sys.version_info = {v}; exec(sys.argv[1])"
    script = check.format(v=(*version, 0))
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{script}" "$2"\n')
    program.chmod(0o755)


def find_python(path: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", str(ROOT / "scripts" / "find_python.sh")],
        env={"PATH": str(path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_shell
@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        ({"python3": (3, 12), "python3.11": (3, 11)}, "python3"),
        ({"python3": (3, 9), "python3.13": (3, 13)}, "python3.13"),
        ({"python3": (3, 15), "python3.11": (3, 11)}, "python3.11"),
        ({"python3": (3, 15)}, "python3"),
    ],
)
def test_a_python_is_found(there: dict[str, tuple[int, int]], chosen: str, tmp_path: Path) -> None:
    for name, version in there.items():
        python_that_is(tmp_path, name, version)
    assert find_python(tmp_path).stdout.strip() == chosen


@needs_shell
def test_a_python_that_is_too_old_is_refused_with_advice(tmp_path: Path) -> None:
    python_that_is(tmp_path, "python3", (3, 9))
    run = find_python(tmp_path)
    assert run.returncode == 1
    assert "3.11 or newer" in run.stderr


@needs_shell
def test_the_user_may_name_the_python(tmp_path: Path) -> None:
    python_that_is(tmp_path, "python3", (3, 12))
    python_that_is(tmp_path, "mine", (3, 11))
    assert find_python(tmp_path, PYTHON="mine").stdout.strip() == "mine"


@needs_shell
def test_distclean_leaves_only_the_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "server" / "engine").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", clone)
    (clone / "server" / "engine" / "base.py").write_text("")
    before = sorted(clone.rglob("*"))
    for made in (".venv/bin", "moat.egg-info", ".mypy_cache", "server/engine/__pycache__", "dist"):
        (clone / made).mkdir(parents=True)
    subprocess.run(["make", "-s", "distclean"], cwd=clone, check=True, capture_output=True)
    assert sorted(clone.rglob("*")) == before


@needs_shell
def test_ci_runs_the_tests() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
