"""The workflows for all systems: what they call is there, and they carry no secret."""

import re
from pathlib import Path

import pytest
import yaml

from scripts.bootstrap.places import ROOT

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
        assert (ROOT / module.replace(".", "/") / "__main__.py").exists(), module
    for target in re.findall(r"\bmake ([\w-]+)", commands):
        assert re.search(rf"^{target}:", MAKEFILE, re.M), target


def test_there_is_one_for_each_system() -> None:
    assert [path.stem for path in WORKFLOWS] == ["linux", "macos", "windows"]
