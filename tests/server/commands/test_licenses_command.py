"""The list in a terminal, and the text of one."""

import pytest

from server.commands import licenses


def test_the_text_of_one_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert licenses.show("YARL") == 0
    assert "Apache License" in capsys.readouterr().out
    assert licenses.show(None) == 0
    assert "yarl" in capsys.readouterr().out


def test_a_name_that_is_not_inside_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert licenses.show("emacs") == 1
    assert "emacs" in capsys.readouterr().err
