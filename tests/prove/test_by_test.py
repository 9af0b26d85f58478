"""Rows that tests show: the tests are run, or read from the report of a suite that has just run."""

import subprocess
from pathlib import Path

import pytest

from tests.prove.by_test import LEFT_OUT, TESTED, command, read, shown_by
from tests.prove.stage import Stage

SUITE = """
import pytest

@pytest.mark.parametrize("number", [1, 2, 3])
def test_counts(number): assert number < 3

def test_counts_more(): pass

@pytest.mark.skip
def test_waits(): pass
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report that pytest itself writes about two files."""
    root = tmp_path_factory.mktemp("suite")
    for name in ("test_one", "test_one_more"):
        path = root / "tests" / "part" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SUITE, encoding="utf-8")
    made = root / "report.xml"
    subprocess.run(
        [*command(made), "--rootdir", str(root), str(root)],
        cwd=root,
        capture_output=True,
        check=False,
    )
    return made


@pytest.mark.parametrize(
    ("named", "passed", "failed", "skipped"),
    [
        (("tests",), 6, 2, 2),
        (("tests/part/test_one.py",), 3, 1, 1),
        (("tests/part/test_one.py::test_counts",), 2, 1, 0),
        (("tests/part/test_one.py::test_counts_more",), 1, 0, 0),
        (("tests/part/test_one.py", f"{LEFT_OUT}tests/part/test_one.py::test_waits"), 3, 1, 0),
        (("tests/part/test_none.py",), 0, 0, 0),
    ],
)
def test_a_report_tells_of_the_tests_that_are_named(
    report: Path, named: tuple[str, ...], passed: int, failed: int, skipped: int
) -> None:
    outcome = read(report, only=named)
    assert (outcome.passed, len(outcome.failed), outcome.skipped) == (passed, failed, skipped)


def test_a_row_takes_the_word_of_a_report_in_the_short_form(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TESTED, str(report))
    assert shown_by("tests/part/test_one.py::test_counts_more")(Stage(quick=True)).held
    figure = shown_by("tests/part/test_one.py::test_counts")(Stage(quick=True))
    assert not figure.held
    assert figure.text.endswith("; failed: test_counts[3] (assert 3 < 3)")


def test_a_test_that_is_not_in_the_report_shows_nothing(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TESTED, str(report))
    assert not shown_by("tests/part/test_none.py")(Stage(quick=True)).held


def test_the_last_result_of_a_test_that_was_tried_again_counts(tmp_path: Path) -> None:
    passed = '<testcase classname="tests.a" name="test_b"/>'
    failed = '<testcase classname="tests.a" name="test_b"><failure message="no"/></testcase>'
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuite>{passed}{failed}</testsuite>", encoding="utf-8")
    assert (read(report).passed, read(report).failed) == (0, ("test_b",))
    report.write_text(f"<testsuite>{failed}{passed}</testsuite>", encoding="utf-8")
    assert (read(report).passed, read(report).failed) == (1, ())
