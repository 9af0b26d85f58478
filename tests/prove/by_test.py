"""Rows that existing tests show: the tests are run, instead of being written twice."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.prove.rows import Figure, Measure
from tests.prove.stage import ROOT, Stage

SAID = re.compile(r"^  (\S.*)$", re.MULTILINE)
"""Matches a line with a figure in a test's output. It is indented by two spaces."""
MOST_SAID = 10
"""The most lines with figures that a row shows."""
MOST_REASON = 200
LEFT_OUT = "--deselect="
TESTED = "PROVE_TESTED"
"""The variable with a report of the whole suite. The short form reads it and runs nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    passed: int
    failed: tuple[str, ...]
    skipped: int
    said: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    """The first line of each failure."""

    def figure(self, what: str = "checks") -> Figure:
        total = self.passed + len(self.failed) + self.skipped
        text = f"{self.passed} of {total} {what}"
        if self.failed:
            text += f"; failed: {', '.join(self.failed[:3])} ({self.reasons[0][:MOST_REASON]})"
        if self.skipped:
            text += f"; {self.skipped} could not be run here"
        text = "; ".join([text, *self.said[:MOST_SAID]])
        return Figure(text, self.passed == total > 0)


def shown_by(
    *tests: str, full: Mapping[str, str] | None = None, what: str = "checks pass"
) -> Measure:
    """Makes a measure that runs these tests. The full form sets the variables in `full`."""

    def measure(stage: Stage) -> Figure:
        tested = os.environ.get(TESTED)
        if stage.quick and tested:
            return read(Path(tested), only=tests).figure(what)
        more = {} if stage.quick else full or {}
        return run(stage, tests, {**os.environ, **more}).figure(what)

    return measure


def run(stage: Stage, tests: tuple[str, ...], environment: Mapping[str, str]) -> Outcome:
    report = stage.scratch("tests") / "report.xml"
    ran = subprocess.run(
        [*command(report), *tests],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not report.exists():
        raise RuntimeError((ran.stdout + ran.stderr)[-300:])
    return read(report, ran.stdout)


def command(report: Path) -> list[str]:
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    return [sys.executable, "-m", "pytest", *options]


def read(report: Path, output: str = "", only: Sequence[str] = ()) -> Outcome:
    """Returns the outcome in a report. `only` limits it to these tests, named as for pytest."""
    passed, skipped, failed, reasons = 0, 0, list[str](), list[str]()
    # The last result counts: a test that was tried again is in the report twice.
    cases = {
        f"{case.get('classname')}.{case.get('name')}": case
        for case in ElementTree.parse(report).getroot().iter("testcase")
    }
    for name, case in cases.items():
        if only and not _is_meant(name, only):
            continue
        ends = {part.tag for part in case}
        if ends & {"failure", "error"}:
            failed.append(str(case.get("name")))
            reasons += [str(part.get("message")).partition("\n")[0] for part in case][:1]
        elif "skipped" in ends:
            skipped += 1
        else:
            passed += 1
    said = [line for line in SAID.findall(output) if ":" in line and "::" not in line]
    return Outcome(passed, tuple(failed), skipped, tuple(said), tuple(reasons))


def _is_meant(case: str, named: Sequence[str]) -> bool:
    """Whether tests.a.test_b.test_c[1] is part of tests/a/test_b.py, or of its test_c."""
    left_out = [name.removeprefix(LEFT_OUT) for name in named if name.startswith(LEFT_OUT)]
    meant = [name for name in named if not name.startswith(LEFT_OUT)]
    return _is_any(case, meant) and not _is_any(case, left_out)


def _is_any(case: str, named: Sequence[str]) -> bool:
    dotted = (name.replace(".py", "").replace("::", ".").replace("/", ".") for name in named)
    return any(case == one or case.startswith((f"{one}.", f"{one}[")) for one in dotted)
