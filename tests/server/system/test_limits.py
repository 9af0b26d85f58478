import json

import pytest

from server.system.limits import one_line, printable, printable_json


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[2Jgone", "[2Jgone"),
        ("over\rwritten", "overwritten"),
        ("\x9b31mred", "31mred"),
        ("abc\u202egpj.exe", "abcgpj.exe"),
        ("\u2066isolated\u2069", "isolated"),
        ("Größe 模型 👩‍💻", "Größe 模型 👩‍💻"),
    ],
)
def test_nothing_that_steers_a_screen_is_left(given: str, shown: str) -> None:
    assert printable(given) == shown


def test_a_name_is_one_line() -> None:
    assert one_line(" a\n\nb\tc\u2028d ") == "a b cd"


def test_json_for_a_terminal_steers_nothing_and_loses_nothing() -> None:
    held = {"name": "a\x1b[31m\x9b31m\u202egnp\ud800 Größe 模型", "tab": "a\tb\n"}
    written = printable_json(held)
    assert json.loads(written) == held
    assert written.isprintable()
    assert "Größe 模型" in written
