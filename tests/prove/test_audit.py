"""Tests which requirements count as pinned."""

from pathlib import Path

import pytest

from tests.prove.audit import exact
from tests.prove.stage import ROOT

PROJECT = """
[project]
dependencies = ["llama-cpp-python==0.3.36", "aiohttp>=3.14.3,<4"]
[project.optional-dependencies]
window = [
    "PySide6-Essentials==6.8.3; sys_platform == 'win32'",
    "PySide6-Essentials{rest}; sys_platform != 'win32'",
]
"""


def test_qt_and_the_engine_are_pinned_by_the_project_itself() -> None:
    assert {"llama-cpp-python", "pyside6-essentials", "shiboken6"} <= exact(ROOT / "pyproject.toml")


@pytest.mark.parametrize("rest", [">=6.8", "", "==6.*", "==6.11.3,>=6"])
def test_a_range_for_one_system_is_not_a_pin(rest: str, tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text(PROJECT.format(rest=rest), "utf-8")
    assert exact(project) == {"llama-cpp-python"}
