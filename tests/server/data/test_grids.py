from typing import Any

import pytest

from server.data import tables
from server.data.tables import Table, table

HEADER = ["Region", "Q1", "Q2"]
ROWS = [["EU", 10, 20], ["US", 30, 40]]


def made(*rows: list[Any], decimal: str = ".") -> Table:
    found = table(rows, "T", decimal=decimal)
    assert found is not None
    return found


def names(found: Table) -> list[str]:
    return [column.name for column in found.columns]


@pytest.mark.parametrize(
    ("above", "heading"),
    [
        ([], ""),
        ([["Quarterly report"], []], "Quarterly report"),
        ([["Quarterly report", None, ""], ["in", "thousands"]], "Quarterly report\nin thousands"),
        ([["Date:", "2025-01-01"], [None, None], []], "Date: 2025-01-01"),
    ],
)
def test_the_header_may_stand_below_titles(above: list[list[Any]], heading: str) -> None:
    found = made(*above, HEADER, *ROWS)
    assert (names(found), found.rows) == (HEADER, [("EU", 10, 20), ("US", 30, 40)])
    assert found.heading == heading


def test_years_head_columns_too() -> None:
    found = made(["Currency:", "EUR"], ["Region", 2024, "2025"], *ROWS)
    assert names(found) == ["Region", "2024", "2025"]


def test_rows_wider_than_the_header_lose_nothing() -> None:
    found = made(["a", "b"], [1, 2, 3, None, 5], [1, 2, 3], [1, 2, 3])
    assert names(found) == ["a", "b", "column", "column_2"]
    assert found.rows[0] == (1, 2, 3, 5)


def test_columns_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_COLUMNS", 3)
    found = made(["a", "b"], [1, 2, 3, 4, 5])
    assert (len(found.columns), found.cut_columns) == (3, 2)


def test_one_column_is_headed_by_its_first_row() -> None:
    found = made(["price"], [1.5], [2.5, "estimated"], [3])
    assert names(found) == ["price", "column"]
    assert found.values("price") == [1.5, 2.5, 3]


@pytest.mark.parametrize("rows", [[], [["a", "b"]], [[], [None, ""], ["title"]]])
def test_without_rows_there_is_no_table(rows: list[list[Any]]) -> None:
    assert table(rows, "T") is None


def test_decimal_commas_only_in_columns_of_amounts() -> None:
    found = made(["price", "note"], ["1.599,5", "1,5"], ["-", "about 2"], decimal=",")
    assert found.rows == [(1599.5, "1,5"), (None, "about 2")]
