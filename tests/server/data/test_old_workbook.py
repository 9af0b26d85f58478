import base64
import sys
from pathlib import Path

import pytest

from server.dashboard.materials import read_item
from server.dashboard.query import Item
from server.data import old_workbook
from server.data.documents import Unreadable, read
from server.data.old_workbook import read_sheets
from tests.kit.office_files import xls

CELLS = [
    (0, 0, "name"), (0, 1, "amount"), (1, 0, "Überweisung"), (1, 1, 12.5), (2, 0, "b"), (2, 1, 7),
]  # fmt: skip


def test_an_old_workbook_is_read_as_tables() -> None:
    found = read(xls(*CELLS), "t.xls")
    (table,) = found.tables
    assert table.name == "t.xls: Fills"
    assert table.records() == [
        {"name": "Überweisung", "amount": 12.5},
        {"name": "b", "amount": 7},
    ]


@pytest.mark.parametrize("kind", ["xls", ""])
def test_a_client_sends_it_encoded(kind: str) -> None:
    content = base64.b64encode(xls(*CELLS)).decode()
    assert read_item(Item(content, kind, filename="t.xls"), "t.xls").tables[0].rows[1] == ("b", 7)


def test_what_was_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_workbook, "MAX_CELLS", 3)

    class Book:
        sheet_names = ("A", "B")

        def get_sheet_by_index(self, _number: int) -> "Book":
            return self

        total_height = 4

        def iter_rows(self) -> list[list[object]]:
            return [["a", ""], [1.0, 2], [3, 4], [5, 6]]

    (sheet,) = old_workbook._sheets(Book())
    assert (sheet["rows"], sheet["cut"]) == ([["a", None]], 3)


@pytest.mark.parametrize(
    "cells",
    [
        [(0, 0, "a"), (65535, 65535, 1.0)],
        [(0, 0, "a"), (65535, 16383, 1.0)],
    ],
)
def test_a_file_that_claims_billions_of_cells_harms_nothing(cells: list[tuple[int, int, float]]):
    with pytest.raises(Unreadable, match="old format"):
        read(xls(*cells), "bomb.xls")


@pytest.mark.parametrize("size", [8, 512, 1500, 2600])
def test_half_a_file_is_no_file(size: int) -> None:
    with pytest.raises(Unreadable):
        read(xls(*CELLS)[:size], "t.xls")


def test_a_reader_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_workbook, "TIME_LIMIT_S", 0.0)
    with pytest.raises(ValueError, match="too long"):
        read_sheets(xls(*CELLS))


def test_this_process_never_loads_the_reader() -> None:
    read(xls(*CELLS), "t.xls")
    assert "python_calamine" not in sys.modules


WORKBOOKS = Path(__file__).resolve().parents[2] / "data" / "workbooks"


@pytest.mark.parametrize("name", ["date.xlsb", "date.ods"])
def test_binary_and_open_workbooks_are_read_as_tables(name: str) -> None:
    data = (WORKBOOKS / name).read_bytes()
    (sheet,), total = read_sheets(data)
    assert ([row[1] for row in sheet.rows][:3], total) == ([15, 16, 17], 1)
    assert sheet.rows[0][0] == "2021-01-01"
    (table,) = read(data, name).tables
    assert table.name == f"{name}: Sheet1"


@pytest.mark.parametrize("name", ["issue_594_dos.ods", "pass_protected.ods", "short_cells.xlsb"])
def test_a_workbook_that_cannot_be_read_whole_is_refused(name: str) -> None:
    """One claims billions of rows, one is encrypted, one has cells that the library passes over."""
    with pytest.raises(Unreadable, match="save it as xlsx"):
        read((WORKBOOKS / name).read_bytes(), name)
