"""A skipped test needs another system, and the end of a run tells how many need what."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDS = {
    "needs Linux", "needs Linux with the right to mount", "needs a POSIX system", "needs glibc",
    "needs a graphics card", "needs a Python before 3.14",
}  # fmt: skip
"""Everything else is brought by the set-up, or the test fails with a sentence."""
ABOVE = re.compile(
    r"__file__\)(?:\.resolve\(\))?"
    r"(?:(?P<each>(?:\.parent\b)+)|\.parents\[(?P<count>\d+)\])"
)
FOLDERS = ("tests", "scripts")
SOME = """import pytest

def test_passes():
    pass

@pytest.mark.skipif(True, reason="needs Windows")
@pytest.mark.parametrize("number", [1, 2])
def test_elsewhere(number):
    pass

def test_somewhere_else():
    pytest.skip("needs macOS")
"""


def summary(tmp_path: Path, source: str) -> str:
    """The line before the verdict of a run of these tests."""
    (tmp_path / "test_some.py").write_text(source)
    options = ["-p", "tests.conftest", "-c", os.devnull, "--rootdir", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout.splitlines()[-2]


def test_the_end_of_a_run_tells_how_many_were_skipped_and_why(tmp_path: Path) -> None:
    assert summary(tmp_path, SOME) == "3 skipped: 2 need Windows, 1 needs macOS"


def test_a_run_without_skipped_tests_says_so(tmp_path: Path) -> None:
    assert summary(tmp_path, "def test_passes():\n    pass\n") == "0 skipped"


def reasons(source: str) -> Iterator[str]:
    """Why tests of this source are skipped; a reason that is not written out counts as none."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name not in ("pytest.skip", "pytest.importorskip", "pytest.mark.skipif"):
            continue
        told = [word.value for word in node.keywords if word.arg == "reason"]
        told += node.args[:1] if name == "pytest.skip" else []
        is_written = told and isinstance(told[0], ast.Constant)
        yield str(told[0].value) if is_written else ""  # type: ignore[attr-defined]


def test_nothing_is_skipped_for_want_of_a_tool_or_of_data() -> None:
    found = {
        (str(path.relative_to(ROOT)), reason)
        for path in (ROOT / "tests").rglob("*.py")
        for reason in reasons(path.read_text("utf-8"))
    }
    assert len(found) > 20
    assert {one for one in found if one[1] not in NEEDS} == set()


def test_the_reader_of_reasons_sees_every_form() -> None:
    source = """
pytest.skip("a")
pytest.skip(reason="b")
pytest.skip(message)
pytest.importorskip("module")
pytest.importorskip("module", reason="c")
@pytest.mark.skipif(True, reason="d")
def f(): pass
"""
    assert sorted(reasons(source)) == ["", "", "a", "b", "c", "d"]


def climbs(source: str) -> Iterator[int]:
    """How many folders above its own file each path of this source begins, by parent or parents."""
    for found in ABOVE.finditer(source):
        yield int(found["count"]) if found["count"] else found["each"].count("parent") - 1


def test_no_path_leads_out_of_the_clone() -> None:
    """Data and kits lie in tests/data and tests/conformance, nothing beside the clone."""
    paths = [path for name in FOLDERS for path in (ROOT / name).rglob("*.py")]
    begun = [(path, count) for path in paths for count in climbs(path.read_text("utf-8"))]
    assert len(begun) > 40
    outside = [path for path, count in begun if not path.parents[count].is_relative_to(ROOT)]
    assert outside == []


def test_the_reader_of_paths_sees_every_form() -> None:
    forms = ".parent", ".resolve().parent.parent", ".parents[3]", ".resolve().parents[0]"
    source = "\n".join(f"Path({'__file__'}){form}" for form in forms)
    assert list(climbs(source)) == [0, 1, 3, 0]
