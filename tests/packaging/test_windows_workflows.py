"""The workflows for all systems: what they call is there, and they carry no secret."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import check_types
from scripts.bootstrap.places import ROOT
from scripts.package.macos import bundle

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", s["uses"]) for s in steps if "uses" in s)
    assert "secrets." not in text
    assert flow["permissions"] == {"contents": "read"}
    commands = "\n".join(step.get("run", "") for step in steps).replace("\\", "/")
    for name in re.findall(r"\b(?:packaging|scripts)/[\w./]+", commands):
        assert (ROOT / name).exists(), name
    for module in re.findall(r"-m (scripts[\w.]+)", commands):
        path = ROOT / module.replace(".", "/")
        assert (path / "__main__.py").exists() or path.with_suffix(".py").exists(), module
    for target in re.findall(r"\bmake ([\w-]+)", commands):
        assert re.search(rf"^{target}:", MAKEFILE, re.M), target


def job(workflow: str, name: str) -> dict[str, Any]:
    path = ROOT / ".github" / "workflows" / f"{workflow}.yml"
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"][name]
    return found


def test_the_deb_is_made_on_the_oldest_system_it_is_for() -> None:
    assert "| Debian 12 and newer" in (ROOT / "docs" / "packaging.md").read_text(encoding="utf-8")
    linux = job("linux", "package")
    assert linux["container"] == "debian:12"
    calls = [step.get("uses") or step["run"] for step in linux["steps"]]
    first = next(at for at, call in enumerate(calls) if call.startswith("actions/checkout"))
    assert re.search(r"apt-get install .*\bgit\b", " ".join(calls[:first]))
    packs = next(at for at, call in enumerate(calls) if call.endswith("make package"))
    assert "safe.directory" in " ".join(calls[first:packs])
    # Debian 12's own headers are too old for a package with Vulkan.
    assert calls[packs].startswith("packaging/linux/vulkan_tools ")


def test_the_engine_is_compiled_for_the_oldest_macos_the_app_says_it_runs_on() -> None:
    macos = job("macos", "package")
    assert macos["env"]["MACOSX_DEPLOYMENT_TARGET"] == bundle.OLDEST_SYSTEM
    oldest = bundle.OLDEST_SYSTEM.partition(".")[0]
    told = {"docs/packaging-other.md": "macOS {} and newer", "packaging/macos/README.md": "({} or"}
    for name, words in told.items():
        assert words.format(oldest) in (ROOT / name).read_text(encoding="utf-8"), name


def test_no_workflow_waits_for_a_runner_that_was_withdrawn() -> None:
    runners = {*job("macos", "package")["strategy"]["matrix"]["runner"]}
    assert runners == {"macos-15", "macos-15-intel"}


def test_windows_is_set_up_with_the_python_the_workflow_asked_for() -> None:
    """`py` would take the newest one of the runner."""
    native = job("windows", "native")
    assert not [step for step in native["steps"] if step.get("run", "").startswith("py ")]


def test_there_is_one_for_each_system_for_cards_and_for_the_checks() -> None:
    assert [path.stem for path in WORKFLOWS] == ["checks", "graphics", "linux", "macos", "windows"]


def test_a_pull_request_is_tested_on_both_processors_and_every_python() -> None:
    path = ROOT / ".github" / "workflows" / "checks.yml"
    # YAML reads the key "on" as true.
    assert "pull_request" in yaml.safe_load(path.read_text(encoding="utf-8"))[True]
    test = job("checks", "test")
    matrix = test["strategy"]["matrix"]
    assert matrix["runner"] == ["ubuntu-24.04", "ubuntu-24.04-arm"]
    assert {*matrix["python"]} == {system.python for system in check_types.SYSTEMS}
    commands = [step["run"] for step in test["steps"] if "run" in step]
    assert [command.split()[:2] for command in commands[-2:]] == [
        ["make", "check"],
        ["make", "test"],
    ]


def test_the_checks_of_a_pull_request_are_ruff_format_types_and_contracts() -> None:
    """Each is a line of `make check`, and `make format` mends what the first two find."""
    recipe = re.search(r"^check:\n((?:\t.*\n)+)", MAKEFILE, re.M)
    assert recipe
    for tool in ("ruff check .", "ruff format --check .", "scripts.check_types", "lint-imports"):
        assert tool in recipe[1], tool
    mending = re.search(r"^format:\n((?:\t.*\n)+)", MAKEFILE, re.M)
    assert mending
    assert "ruff check --fix ." in mending[1]
    assert "ruff format ." in mending[1]
