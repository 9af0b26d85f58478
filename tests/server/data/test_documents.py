import random

import pytest

from server.data import documents, office, tables
from server.data.documents import (
    Box,
    Document,
    Unreadable,
    find_on_page,
    from_text,
    html_text,
    read,
)
from tests.kit.office_files import MAIN, docx, pdf, png, xlsx, zipped


def test_a_pdf_by_pages() -> None:
    found = read(pdf("The first page.", "The secret word is MARZIPAN."), "report.pdf")
    assert found.is_paged
    assert found.pages == ("The first page.", "The secret word is MARZIPAN.")


def test_a_pdf_without_text_says_so() -> None:
    assert "may be a scan" in read(pdf(""), "scan.pdf").notes[0]


def test_pages_beyond_the_limit_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_PAGES", 1)
    assert read(pdf("a", "b"), "r.pdf").notes == (
        "Only the first 1 of 2 pages of r.pdf were read.",
    )


def test_content_counts_more_than_the_name() -> None:
    assert read(docx("One.", "Two."), "wrong.pdf").pages == ("One.\nTwo.",)
    assert read(png(), "wrong.txt").image is not None


def test_a_workbook_becomes_tables() -> None:
    table = read(xlsx(), "t.xlsx").tables[0]
    assert table.name == "t.xlsx: Fills"
    assert [column.kind for column in table.columns] == ["date", "number", "empty", "text"]


@pytest.mark.parametrize("text", ["a;b\n1;2\n3;4\n", "a,b\n1,2\n3,4\n", "a\tb\n1\t2\n3\t4\n"])
def test_separated_values(text: str) -> None:
    table = read(text.encode("utf-8-sig"), "t.csv").tables[0]
    assert table.records() == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_quotes_doubled_after_many_rows_shift_nothing() -> None:
    many = "".join(f'"Firm {number}, Inc",X{number},{number}\n' for number in range(300))
    text = f'name,isin,value\n{many}"The ""Big, Bad"" Co",Y,1000\n'
    table = read(text.encode(), "t.csv").tables[0]
    assert table.rows[-1] == ('The "Big, Bad" Co', "Y", 1000)


def test_semicolons_leave_the_comma_to_decimals() -> None:
    table = read(b"day;price\n2025-01-01;1,599\n2025-01-02;1,609\n", "t.csv").tables[0]
    assert table.values("price") == [1.599, 1.609]


def test_a_title_above_the_header_is_kept_beside_the_table() -> None:
    found = read(b"Prices in cents\n\nsymbol,price\nA,1\nB,2\n", "t.csv")
    assert found.tables[0].records() == [{"symbol": "A", "price": 1}, {"symbol": "B", "price": 2}]
    assert found.pages == ("t.csv: Prices in cents",)


def test_a_title_above_the_header_of_a_sheet() -> None:
    texts = ("Quarterly report", "Region", "Q1")
    cells = [f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts]
    rows = (
        f"<row>{cells[0]}</row><row/><row>{cells[1]}{cells[2]}</row>"
        "<row><c><v>1</v></c><c><v>10</v></c></row><row><c><v>2</v></c><c><v>20</v></c></row>"
    )
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    parts = {"xl__workbook_dot_xml": "<workbook/>", "xl__worksheets__a_dot_xml": sheet}
    found = read(zipped(**parts), "t.xlsx")
    assert found.tables[0].records() == [{"Region": 1, "Q1": 10}, {"Region": 2, "Q1": 20}]
    assert found.pages == ("t.xlsx: Sheet 1: Quarterly report",)


def test_a_page_of_html_without_its_scripts() -> None:
    page = "<html><head><title>t</title></head><script>evil()</script><p>One &amp; two</p></html>"
    assert from_text(page, "p").pages == ("One & two",)
    assert html_text("<table><tr><td>a</td><td>b</td></tr></table>") == "| a | b"


def test_texts_of_other_encodings() -> None:
    assert read("Grüße".encode("cp1252"), "a.txt").pages == ("Grüße",)
    assert read("Grüße".encode("utf-16"), "a.txt").pages == ("Grüße",)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"%PDF-1.4 junk", "damaged"),
        (b"PK\x03\x04junk", "damaged"),
        (zipped(a="b"), "archive"),
        (zipped(word__document_dot_xml="<w"), "damaged"),
        (b"\xd0\xcf\x11\xe0old", "old format"),
        (b"abc\x00\x01\x02", "not text"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(data, "file")


def test_a_file_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_BYTES", 10)
    with pytest.raises(Unreadable, match="too big"):
        read(b"x" * 11, "big.txt")


@pytest.mark.parametrize("whole", [pdf("One.", "Two."), xlsx(), docx("One.")])
def test_damaged_files_are_read_or_refused_never_more(whole: bytes) -> None:
    dice = random.Random(7)
    outcomes = set()
    for _ in range(400):
        broken = bytearray(whole)
        for _ in range(dice.randint(1, 6)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            outcomes.add(type(read(bytes(broken), "file")))
        except Unreadable as error:
            outcomes.add(type(error))
    assert outcomes == {Document, Unreadable}


def test_rows_and_columns_left_out_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    monkeypatch.setattr(tables, "MAX_COLUMNS", 1)
    assert read(b"a,b\n1,2\n3,4\n5,6\n", "t.csv").notes == (
        "Only the first 2 of 3 rows of t.csv were read.",
        "Only the first 1 of 2 columns of t.csv were read.",
    )


def test_sheets_and_cells_left_out_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_CELLS", 5)
    rows = "<row><c><v>1</v></c></row>" * 4
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    parts = {f"xl__worksheets__s{number}_dot_xml": sheet for number in range(9)}
    found = read(zipped(xl__workbook_dot_xml="<workbook/>", **parts), "t.xlsx")
    assert [(len(one.rows), one.cut) for one in found.tables] == [(2, 1)]
    assert found.notes == (
        "Only the first 2 of 3 rows of t.xlsx: Sheet 1 were read.",
        "Only the first 1 of 9 sheets of t.xlsx were read.",
    )


def test_a_page_too_big_to_read_in_time_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents, "MOST_PAGE_BYTES", 100)
    found = read(pdf("One.", "x" * 200, "Three."), "r.pdf")
    assert found.pages == ("One.", "", "Three.")
    assert found.notes == ("1 of 3 pages of r.pdf were too big to read.",)


FIRST = "Letter to shareholders. It was a good year."
RISK = "Risk factors. A strike in the port of Trieste could delay shipments."
QUESTION = "What could delay the shipments?"
TWO_LINES = "Risk factors. A strike in the port) Tj 0 -14 Td (of Trieste could delay shipments."


def test_the_sentence_nearest_to_the_question_is_boxed_where_it_stands():
    document = read(pdf(FIRST, RISK), "report.pdf")
    # What pdfplumber says of these words in Helvetica at 12 points.
    (box,) = find_on_page(document, 2, QUESTION)
    assert box.text == "A strike in the port of Trieste could delay shipments."
    assert (box.page, box.x0, box.x1) == (2, pytest.approx(141.3, abs=0.1), 416.8)
    assert (box.top, box.bottom) == (pytest.approx(62.5, abs=0.2), pytest.approx(74.5, abs=0.2))


def test_a_sentence_over_two_lines_has_a_box_for_each():
    first, second = find_on_page(read(pdf(TWO_LINES), "r.pdf"), 1, QUESTION)
    assert (first.text, second.text) == (
        "A strike in the port", "of Trieste could delay shipments.",
    )  # fmt: skip
    assert second.x0 == 72.0
    assert second.top == pytest.approx(first.top + 14)


@pytest.mark.parametrize(("page", "question"), [(0, QUESTION), (9, QUESTION), (1, "Zebras?")])
def test_what_is_not_there_has_no_box(page: int, question: str):
    assert find_on_page(read(pdf(FIRST), "r.pdf"), page, question) == ()


def test_a_file_that_broke_since_has_no_box():
    broken = Document("r.pdf", (RISK,), is_paged=True, raw=b"%PDF-1.4 nonsense")
    assert find_on_page(broken, 1, QUESTION) == ()
    assert find_on_page(Document("note.txt", (RISK,)), 1, QUESTION) == ()


def test_a_font_that_tells_no_widths_is_taken_as_usual():
    data = pdf(RISK).replace(b"/BaseFont /Helvetica", b"/BaseFont /Unheard0f")
    (box,) = find_on_page(read(data, "r.pdf"), 1, QUESTION)
    assert isinstance(box, Box)
    assert 72 < box.x0 < box.x1
