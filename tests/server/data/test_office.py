import io
import zipfile

import pytest

from server.data import office
from server.data.office import Sheet
from tests.kit.office_files import MAIN, xlsx, zipped

MAIN_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def test_cells_with_their_kinds() -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx())) as archive:
        found = list(office.sheets(archive))
    assert found == [
        Sheet("Fills", [["day", "amount", None, "ok"], ["2025-01-01", 12.5, None, True]]),
    ]


def test_a_part_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_PART_BYTES", 10)
    with zipfile.ZipFile(io.BytesIO(xlsx())) as archive, pytest.raises(zipfile.BadZipFile):
        list(office.sheets(archive))


def test_a_sheet_without_names_or_references() -> None:
    rows = "<row><c><v>1</v></c><c><v>2.5</v></c></row>"
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(io.BytesIO(zipped(xl__worksheets__a_dot_xml=sheet))) as archive:
        assert list(office.sheets(archive)) == [Sheet("Sheet 1", [[1, 2.5]])]


def book(styles: str = "", related: str = "", **sheets: str) -> list[Sheet]:
    """`related` is the workbook; each of the sheets is its rows."""
    named = f'xmlns="{MAIN}" xmlns:r="{MAIN_RELATIONS}"'
    parts = {
        f"xl__worksheets__{name}_dot_xml": f"<worksheet {named}><sheetData>{rows}</sheetData>"
        "</worksheet>"
        for name, rows in sheets.items()
    }
    parts["xl__workbook_dot_xml"] = f"<workbook {named}>{related}</workbook>"
    parts["xl__styles_dot_xml"] = f"<styleSheet {named}>{styles}</styleSheet>"
    relations = "".join(
        f'<Relationship Id="r{number}" Target="{target}"/>'
        for number, target in enumerate(
            ("/xl/worksheets/one.xml", "worksheets/two.xml", "chartsheets/one.xml"), 1
        )
    )
    parts["xl___rels__workbook_dot_xml_dot_rels"] = (
        f'<Relationships xmlns="{RELATIONS}">{relations}</Relationships>'
    )
    with zipfile.ZipFile(io.BytesIO(zipped(**parts))) as archive:
        return list(office.sheets(archive))


def test_names_go_with_the_parts_they_refer_to() -> None:
    related = (
        '<sheets><sheet name="Chart" r:id="r3"/><sheet name="Budget" r:id="r2"/>'
        '<sheet name="Actuals" r:id="r1"/></sheets>'
    )
    found = book(
        related=related,
        one="<row><c><v>1</v></c></row>",
        two="<row><c><v>2</v></c></row>",
    )
    assert found == [Sheet("Budget", [[2]]), Sheet("Actuals", [[1]])]


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("[h]:mm", 1.5, 36),
        ("[hh]:mm:ss", 0.1, 2.4),
        ("mm:ss", 0.0625, 90),
        ("[ss].00", 0.5, 43200),
        ("yyyy\\-mm\\-dd", 45658, "2025-01-01"),
        ("[$-407]d/mm/yy h:mm;@", 45658 + 13 / 24, "2025-01-01 13:00:00"),
        ("h:mm AM/PM", 0.5, "12:00:00"),
        ("_-* #,##0.00\\ _D_M_-", 1234.5, 1234.5),
        ("#,##0 [$SEK-41D]", 7, 7),
        ('0.0 "days"', 2.5, 2.5),
    ],
)
def test_what_a_number_s_format_shows(code: str, value: float, shown: object) -> None:
    code = code.replace('"', "&quot;")
    styles = (
        f'<numFmts><numFmt numFmtId="164" formatCode="{code}"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>'
    )
    assert book(styles, one=f'<row><c s="1"><v>{value!r}</v></c></row>')[0].rows == [[shown]]


def test_hours_in_the_format_that_excel_knows_by_number() -> None:
    styles = '<cellXfs><xf numFmtId="46"/></cellXfs>'
    assert book(styles, one="<row><c><v>1.25</v></c></row>")[0].rows == [[30]]


@pytest.mark.parametrize(
    ("serial", "shown"),
    [(43830, "2024-01-01"), (2_957_003, "9999-12-31"), (2_957_004, 2_957_004)],
)
def test_days_counted_from_1904(serial: int, shown: object) -> None:
    styles = '<cellXfs><xf numFmtId="14"/></cellXfs>'
    related = '<workbookPr date1904="1"/>'
    (found,) = book(styles, related, one=f"<row><c><v>{serial}</v></c></row>")
    assert found.rows == [[shown]]


def test_an_error_is_no_value() -> None:
    rows = '<row><c><v>1</v></c><c t="e"><v>#DIV/0!</v></c></row>'
    assert book(one=rows)[0].rows == [[1, None]]


def sheets(rows: str, monkeypatch: pytest.MonkeyPatch, most: int) -> list[Sheet]:
    monkeypatch.setattr(office, "MAX_CELLS", most)
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(io.BytesIO(zipped(xl__worksheets__a_dot_xml=sheet))) as archive:
        return list(office.sheets(archive))


def test_rows_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = sheets("<row><c><v>1</v></c></row>" * 10, monkeypatch, 6)
    assert (len(found.rows), found.cut) == (3, 7)


def test_empty_rows_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = sheets("<row/>" * 1000, monkeypatch, 10)
    assert (len(found.rows), found.cut) == (10, 990)
