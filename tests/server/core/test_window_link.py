"""What only the window asks: its own key, and a document as text."""

from pathlib import Path

import pytest
from pypdf import PdfWriter

from server.core.core import Core
from server.errors import BadRequest
from server.system import paths


def make_core() -> Core:
    return Core(paths.find())


async def test_only_the_key_of_this_core_is_its_own() -> None:
    one, other = make_core(), make_core()
    assert one.is_own(await one.own_key())
    assert not one.is_own(await other.own_key())
    for guess in ("", "guess", "é", b"\xff".decode("utf-8", "surrogateescape")):
        assert not one.is_own(guess)


async def test_tables_and_texts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text('name;price\n"A, B";3\nC;4.5\n')
    found = await make_core().read_document(str(path))
    assert (found.name, found.text) == ("prices.csv", 'name,price\n"A, B",3\nC,4.5')
    page = tmp_path / "page.html"
    page.write_text("<html><script>x</script><p>Hello <b>you</b></p></html>")
    assert (await make_core().read_document(str(page))).text == "Hello you"


async def test_a_scan_says_that_it_holds_no_text(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(path)
    found = await make_core().read_document(str(path))
    assert found.text == ""
    assert "may be a scan" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "held", "why"),
    [
        ("a.pdf", b"%PDF-1.4 broken", "damaged"),
        ("b.zip", b"PK\x03\x04", "damaged"),
        ("c", None, "read"),
    ],
)
async def test_what_cannot_be_read_is_said(
    tmp_path: Path, name: str, held: bytes | None, why: str
) -> None:
    if held is not None:
        (tmp_path / name).write_bytes(held)
    with pytest.raises(BadRequest, match=why):
        await make_core().read_document(str(tmp_path / name))
