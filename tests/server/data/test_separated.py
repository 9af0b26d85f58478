from pathlib import Path

import pytest

from server.data.cells import decimal_sign, delimiter
from tests.kit.csv_rows import rows


@pytest.mark.parametrize(
    ("start", "sign"),
    [
        ("a;b\n1;2\n", ";"),
        ("Report\n\nRegion;Q1;Q2\nEU;1,5;2,5\nUS;3,5;4,5\n", ";"),
        ("Export of 2025-01-01\nsymbol,price\nA,1\n", ","),
        ("price\n1.5\n", ","),
    ],
)
def test_what_separates(start: str, sign: str) -> None:
    assert delimiter(start) == sign


@pytest.mark.parametrize(
    ("line", "separated_by", "sign"),
    [
        ("x;1,599;y", ";", ","),
        ('"-1.234,50";y', ";", ","),
        ("x;1.599;y", ";", "."),
        ("x;1,234.50;0,5", ";", "."),
        ("x;1,234,567", ";", "."),
        ("Smith, Ada;1.5", ";", "."),
        ("1,599", ",", "."),
    ],
)
def test_which_sign_stands_before_decimals(line: str, separated_by: str, sign: str) -> None:
    assert decimal_sign([line], separated_by) == sign


def test_a_plugin_s_file_with_decimal_commas(tmp_path: Path) -> None:
    text = "day;price;amount\n01.02.2025;1,599;1.200\n02.02.2025;1,601;300\n"
    assert rows(tmp_path, text, "SELECT sum(price), sum(amount), min(day) FROM t") == [
        (pytest.approx(3.2), 1500, "01.02.2025")
    ]


def test_quotes_doubled_late_in_a_plugin_s_file(tmp_path: Path) -> None:
    many = "".join(f'"Firm {number}, Inc",{number}\n' for number in range(800))
    text = f'name,value\n{many}"The ""Big, Bad"" Co",1000\n'
    found = rows(tmp_path, text, "SELECT name FROM t WHERE value = 1000")
    assert found == [('The "Big, Bad" Co',)]


def test_amounts_of_several_currencies_are_not_added(tmp_path: Path) -> None:
    text = "amount\n$1\n€2\n"
    assert rows(tmp_path, text, "SELECT typeof(amount) FROM t") == [("text",), ("text",)]
