"""The types are checked for every pinned PySide6, by its own stubs."""

import re
import zipfile
from pathlib import Path

import pytest

from scripts import check_types
from scripts.check_types import SYSTEMS, run_mypy

ROOT = Path(check_types.__file__).resolve().parent.parent


def test_every_pinned_version_is_checked() -> None:
    named = re.findall(r'"PySide6-Essentials==([\d.]+)', (ROOT / "pyproject.toml").read_text())
    assert {system.qt for system in SYSTEMS} == set(named)


def test_every_python_and_every_system_is_checked() -> None:
    assert {system.python for system in SYSTEMS} == {"3.11", "3.12", "3.13"}
    assert {system.sys_platform for system in SYSTEMS} == {"linux", "win32", "darwin"}


@pytest.fixture
def stubs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stubs of a PySide6 in which a widget may be without a layout."""
    monkeypatch.setattr(check_types, "CACHES", tmp_path / "caches")
    package = tmp_path / "stubs" / "PySide6"
    package.mkdir(parents=True)
    (package / "py.typed").touch()
    (package / "__init__.py").touch()
    widget = "class QWidget:\n    def layout(self) -> list[int] | None: ...\n"
    (package / "QtWidgets.pyi").write_text(widget)
    return package.parent


def test_the_given_stubs_are_used_and_not_the_installed_ones(
    stubs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source.py"
    source.write_text("from PySide6.QtWidgets import QWidget\nQWidget().layout().append(1)\n")
    assert run_mypy(SYSTEMS[0], stubs, [str(source)]) == 1
    assert 'Item "None" of "list[int] | None"' in capfd.readouterr().out


def test_a_mistake_on_one_system_is_found_on_any(stubs: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("import os\nos.geteuid()\n")
    found = {system.name: run_mypy(system, stubs, [str(source)]) for system in SYSTEMS}
    assert found == {"linux-arm": 0, "linux-x86": 0, "windows": 1, "macos": 0}


def test_libraries_stay_in_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "some.whl"
    names = ("Qt/__init__.py", "Qt/QtCore.pyi", "Qt/py.typed", "Qt/QtCore.so", "Qt/lib/Qt6.dll")
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    check_types._unpack(wheel, tmp_path / "out")
    unpacked = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert unpacked == {"__init__.py", "QtCore.pyi", "py.typed"}
