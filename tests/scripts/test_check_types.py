"""The types are checked for every pinned PySide6, by its own stubs."""

import os
import re
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from scripts import check_types
from scripts.check_types import SYSTEMS, run_mypy

LATER_S = int(time.time()) + 3600
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
    monkeypatch.setattr(check_types, "KEPT", tmp_path / "kept")
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


class Clone:
    """A program of one line, with a cache of its own; what is kept is shared by all clones."""

    def __init__(self, root: Path, kept: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self._kept, self._patch = root, kept, patch
        (root / "program").mkdir(parents=True)
        settings = '[tool.mypy]\nstrict = true\npackages = ["program"]\n'
        (root / "pyproject.toml").write_text(settings)
        self.write("number: int = 1\n")

    def write(self, source: str) -> None:
        path = self.root / "program" / "__init__.py"
        path.write_text(source)
        os.utime(path, (LATER_S, LATER_S))

    def check(self) -> int:
        self._patch.setattr(check_types, "ROOT", self.root)
        self._patch.setattr(check_types, "PACKAGES", ("program",))
        self._patch.setattr(check_types, "CACHES", self.root / "build" / "mypy")
        self._patch.setattr(check_types, "KEPT", self._kept)
        self._patch.setattr(check_types.sys, "prefix", str(self.root))
        (self.root / "pyvenv.cfg").touch()
        os.utime(self.root / "pyvenv.cfg", (LATER_S, LATER_S))
        return run_mypy(SYSTEMS[0], None)


def test_a_new_clone_begins_with_what_another_found_out_and_sees_its_own_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_types.System, "qt", "6")
    kept = tmp_path / "kept"
    first = Clone(tmp_path / "first", kept, monkeypatch)
    assert first.check() == 0
    (archive,) = kept.iterdir()
    assert check_types.is_usable(archive)
    begun: list[Path] = []
    begin = check_types._begin_with
    monkeypatch.setattr(
        check_types, "_begin_with", lambda *paths: (begun.append(paths[0]), begin(*paths))
    )
    second = Clone(tmp_path / "second", kept, monkeypatch)
    second.write("number: int = ''\n")
    stored = archive.read_bytes()
    assert second.check() == 1
    assert begun == [archive]
    assert archive.read_bytes() == stored  # What fails is not handed on.


def test_what_is_kept_is_left_alone_by_a_clone_that_is_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There mypy might take a file for another one of the same size and second."""
    monkeypatch.setattr(check_types.System, "qt", "6")
    clone = Clone(tmp_path / "clone", tmp_path / "kept", monkeypatch)
    assert clone.check() == 0
    (archive,) = (tmp_path / "kept").iterdir()
    os.utime(archive, (LATER_S, LATER_S))
    assert not check_types.is_usable(archive)
    assert not check_types.is_usable(archive.with_name("none.tar"))


@pytest.mark.parametrize("damage", [b"", b"no archive"])
def test_a_damaged_archive_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setattr(check_types.System, "qt", "6")
    kept = tmp_path / "kept" / f"{SYSTEMS[0].name}.tar"
    kept.parent.mkdir()
    kept.write_bytes(damage)
    assert Clone(tmp_path / "clone", kept.parent, monkeypatch).check() == 0
    with tarfile.open(kept) as archive:
        assert SYSTEMS[0].name in archive.getnames()


def test_libraries_stay_in_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "some.whl"
    names = ("Qt/__init__.py", "Qt/QtCore.pyi", "Qt/py.typed", "Qt/QtCore.so", "Qt/lib/Qt6.dll")
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    check_types._unpack(wheel, tmp_path / "out")
    unpacked = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert unpacked == {"__init__.py", "QtCore.pyi", "py.typed"}
