import time

from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication

import app.logs as log_lines
from app.logs import MOST_LINES, LogLines, as_text
from server.face.core import LogLine


def line(number: int, level: str = "info") -> LogLine:
    return LogLine(float(number), level, "source", f"line {number}")


def filled(count: int) -> LogLines:
    lines = LogLines()
    for number in range(count):
        lines.add(line(number))
    lines.flush()
    return lines


def test_it_obeys_the_rules_of_a_model(qapp: QApplication) -> None:
    lines = LogLines()
    mode = QAbstractItemModelTester.FailureReportingMode.Fatal
    tester = QAbstractItemModelTester(lines, mode)
    for number in range(100):
        lines.add(line(number, log_lines.LEVELS[number % 4]))
    lines.flush()
    lines.filter("error", "")
    lines.recall([line(-1, "error")])
    assert lines.rowCount() == 26
    lines.clear()
    assert lines.rowCount() == 0
    tester.deleteLater()


def test_it_never_grows_beyond_its_bound(qapp: QApplication) -> None:
    lines = filled(MOST_LINES)
    for number in range(MOST_LINES, MOST_LINES + 2500):
        lines.add(line(number))
    lines.flush()
    assert lines.rowCount() <= MOST_LINES
    assert lines.lines()[-1] == line(MOST_LINES + 2499)


def test_a_flood_while_paused_keeps_the_newest(qapp: QApplication) -> None:
    lines = LogLines()
    lines.pause(paused=True)
    for number in range(MOST_LINES + 10):
        lines.add(line(number))
    assert lines.waiting == MOST_LINES
    lines.pause(paused=False)
    assert lines.lines()[-1] == line(MOST_LINES + 9)


def test_what_was_known_is_not_recalled_twice(qapp: QApplication) -> None:
    lines = filled(3)
    lines.recall([line(-1), line(0), line(1)])
    assert [one.at for one in lines.lines()] == [-1, 0, 1, 2]


def test_an_unknown_level_is_shown_with_everything(qapp: QApplication) -> None:
    lines = LogLines()
    lines.add(line(1, "trace"))
    lines.filter("debug", "")
    lines.flush()
    assert lines.rowCount() == 1


def test_a_line_as_text_has_all_its_parts() -> None:
    text = as_text([LogLine(0.25, "warning", "server.core.core", "Look out.")])
    assert text.endswith(".250 warning server.core.core: Look out.")


def test_what_was_cleared_does_not_come_back(qapp: QApplication) -> None:
    lines = filled(3)
    lines.clear()
    later = LogLine(time.time() + 1, "info", "source", "later")
    lines.recall([line(0), line(1), line(2), later])
    assert lines.lines() == (later,)
