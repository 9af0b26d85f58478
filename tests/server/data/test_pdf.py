import pytest

from server.data import pdf as quotes
from server.data.documents import Document, read
from server.data.pdf import Box
from tests.kit.office_files import pdf

FIRST = "Letter to shareholders. It was a good year."
RISK = "Risk factors. A strike in the port of Trieste could delay shipments."
QUESTION = "What could delay the shipments?"
TWO_LINES = "Risk factors. A strike in the port) Tj 0 -14 Td (of Trieste could delay shipments."


def test_the_sentence_nearest_to_the_question_is_boxed_where_it_stands():
    document = read(pdf(FIRST, RISK), "report.pdf")
    # What pdfplumber says of these words in Helvetica at 12 points.
    (box,) = quotes.find(document, 2, QUESTION)
    assert box.text == "A strike in the port of Trieste could delay shipments."
    assert (box.page, box.x0, box.x1) == (2, pytest.approx(141.3, abs=0.1), 416.8)
    assert (box.top, box.bottom) == (pytest.approx(62.5, abs=0.2), pytest.approx(74.5, abs=0.2))


def test_a_sentence_over_two_lines_has_a_box_for_each():
    first, second = quotes.find(read(pdf(TWO_LINES), "r.pdf"), 1, QUESTION)
    assert (first.text, second.text) == (
        "A strike in the port", "of Trieste could delay shipments.",
    )  # fmt: skip
    assert second.x0 == 72.0
    assert second.top == pytest.approx(first.top + 14)


@pytest.mark.parametrize(("page", "question"), [(0, QUESTION), (9, QUESTION), (1, "Zebras?")])
def test_what_is_not_there_has_no_box(page: int, question: str):
    assert quotes.find(read(pdf(FIRST), "r.pdf"), page, question) == ()


def test_a_file_that_broke_since_has_no_box():
    broken = Document("r.pdf", (RISK,), is_paged=True, raw=b"%PDF-1.4 nonsense")
    assert quotes.find(broken, 1, QUESTION) == ()
    assert quotes.find(Document("note.txt", (RISK,)), 1, QUESTION) == ()


def test_a_font_that_tells_no_widths_is_taken_as_usual():
    data = pdf(RISK).replace(b"/BaseFont /Helvetica", b"/BaseFont /Unheard0f")
    (box,) = quotes.find(read(data, "r.pdf"), 1, QUESTION)
    assert isinstance(box, Box)
    assert 72 < box.x0 < box.x1
