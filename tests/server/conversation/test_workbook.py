import io
import zipfile

import pytest

from server.conversation import workbook, xml_parts
from server.conversation.workbook import Sheet
from tests.office_files import MAIN, xlsx, zipped


def test_cells_with_their_kinds() -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx())) as archive:
        found = list(workbook.sheets(archive))
    assert found == [
        Sheet("Fills", [["day", "amount", None, "ok"], ["2025-01-01", 12.5, None, True]]),
    ]


def test_a_part_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_parts, "MAX_PART_BYTES", 10)
    with zipfile.ZipFile(io.BytesIO(xlsx())) as archive, pytest.raises(zipfile.BadZipFile):
        list(workbook.sheets(archive))


def test_a_sheet_without_names_or_references() -> None:
    rows = "<row><c><v>1</v></c><c><v>2.5</v></c></row>"
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(io.BytesIO(zipped(xl__worksheets__a_dot_xml=sheet))) as archive:
        assert list(workbook.sheets(archive)) == [Sheet("Sheet 1", [[1, 2.5]])]


def sheets(rows: str, monkeypatch: pytest.MonkeyPatch, most: int) -> list[Sheet]:
    monkeypatch.setattr(workbook, "MAX_CELLS", most)
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(io.BytesIO(zipped(xl__worksheets__a_dot_xml=sheet))) as archive:
        return list(workbook.sheets(archive))


def test_rows_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = sheets("<row><c><v>1</v></c></row>" * 10, monkeypatch, 6)
    assert (len(found.rows), found.cut) == (3, 7)


def test_empty_rows_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = sheets("<row/>" * 1000, monkeypatch, 10)
    assert (len(found.rows), found.cut) == (10, 990)
