"""Progress is updated in place on a terminal, and said now and then elsewhere."""

import pytest

from scripts.bootstrap import say
from scripts.bootstrap.say import Ticker, duration


def test_durations_are_for_people() -> None:
    assert duration(9.9) == "9 s"
    assert duration(185) == "3 min 05 s"


def test_a_terminal_sees_one_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ticker = Ticker("compiling")
    ticker.show("[1/9]")
    ticker.show("[2/9]")
    assert capsys.readouterr().out == ("\r\x1b[Kcompiling [1/9] … 0 s\r\x1b[Kcompiling [2/9] … 0 s")


def test_a_log_is_not_flooded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticker = Ticker("compiling")
    ticker.show("[1/9]")
    monkeypatch.setattr(say, "EVERY_S", 0.0)
    ticker.show("[2/9]")
    assert capsys.readouterr().out == "compiling [2/9] … 0 s\n"
