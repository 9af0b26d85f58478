import tomllib

import pytest

from scripts.bootstrap.places import PINS, PROJECT
from scripts.package.windows import pin, places, wheels


@pytest.fixture(scope="module")
def pinned() -> dict[str, str]:
    return wheels.pinned(places.REQUIREMENTS.read_text(encoding="utf-8"))


def test_each_line_of_the_list_has_a_hash(pinned: dict[str, str]) -> None:
    lines = places.REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    assert len(pinned) == len([line for line in lines if line and not line.startswith("#")])


def test_all_that_moat_needs_is_in_the_list(pinned: dict[str, str]) -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    given = [*project["dependencies"], *project["optional-dependencies"]["window"]]
    assert pin.wanted(given) - pinned.keys() == {pin.ENGINE}


def test_windows_gets_the_versions_the_tests_run_with(pinned: dict[str, str]) -> None:
    tested = dict(line.split("==") for line in PINS.read_text().splitlines() if "==" in line)
    both = pinned.keys() & tested.keys()
    assert len(both) > 30
    assert {name: pinned[name] for name in both} == {name: tested[name] for name in both}


def test_conditions_are_judged_for_windows() -> None:
    lines = [
        "pywin32-ctypes>=0.2; sys_platform == 'win32'",
        "SecretStorage>=3.2; sys_platform == 'linux'",
        "importlib_metadata>=4; python_version < '3.12'",
        "pytest; extra == 'test'",
        "Jinja2",
    ]
    assert pin.wanted(lines) == {"pywin32-ctypes", "jinja2"}


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("PySide6/Qt6Widgets.dll", True),
        ("PySide6/QtWidgets.pyd", True),
        ("PySide6/Qt6Quick.dll", False),
        ("PySide6/designer.exe", False),
        ("PySide6/plugins/platforms/qwindows.dll", True),
        ("PySide6/plugins/sqldrivers/qsqlite.dll", False),
        ("PySide6/translations/qtbase_de.qm", True),
        ("PySide6/translations/qtbase_fr.qm", False),
        ("numpy/_core/tests/test_dtype.py", False),
        ("numpy/_core/numeric.py", True),
        ("keyring-25.7.0.dist-info/entry_points.txt", True),
    ],
)
def test_what_moat_never_uses_stays_out(name: str, kept: bool) -> None:
    assert wheels.is_wanted(name) is kept
