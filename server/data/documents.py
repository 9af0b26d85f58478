"""Reads files into text and tables: pdf, docx, workbooks, csv, html and plain text.

It recognises a file by its content. For citations, it finds a sentence's place on a PDF page.
"""

import base64
import binascii
import csv
import io
import logging
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

from server.chat import Image
from server.data import office, old_workbook
from server.data import tables as grids
from server.data.cells import decimal_sign, delimiter
from server.data.tables import Table
from server.language.ranking import rank
from server.sentences import Sentence
from server.system.lazy import Late
from server.system.limits import try_json, without_halves

MAX_BYTES = 48 * 1024 * 1024
MAX_PAGES = 400
PDF_S = 20.0
MOST_PAGE_BYTES = 2 * 1024 * 1024
"""The most bytes of drawing commands on a page. A bigger page is a line drawing, and its text would
take minutes to extract."""
OPEN_SHEETS = b"application/vnd.oasis.opendocument.spreadsheet"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HIDDEN_TAGS = frozenset({"script", "style", "head", "noscript", "template"})
BREAKING_TAGS = frozenset({"p", "br", "div", "tr", "li", "h1", "h2", "h3", "h4", "table", "td"})

pypdf = Late("pypdf")
pdf_errors = Late("pypdf.errors")
fonts = Late("pypdf.generic._font")

# What parsers raise for a damaged or hostile file.
DAMAGE = (
    zipfile.BadZipFile, ElementTree.ParseError, zlib.error, struct.error, EOFError,
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError,
    RuntimeError, MemoryError,
)  # fmt: skip

# pypdf warns about every oddity of a file.
logging.getLogger("pypdf").setLevel(logging.ERROR)


BINARY_KINDS = frozenset({"pdf", "png", "jpg", "jpeg", "xlsx", "xls", "docx"})
ENCODED_STARTS = ("JVBERi0", "UEsDB", "iVBORw0KGgo", "/9j/", "0M8R4KGxGuE")
"""The first base64 characters of PDF, ZIP, PNG, JPEG and old Office files."""
MAX_TEXT = 2_000_000
MAX_BASE64 = 64 * 1024 * 1024
BASE64 = re.compile(r"^[A-Za-z0-9+/\s]+(?:=\s*){0,2}$")
DATA_URL = re.compile(r"data:(?:[\w.+-]+/[\w.+-]+)?(?:;[\w.=%-]+)*,", re.ASCII)
NOTHING = frozenset({"", "null", "{}"})


class Unreadable(Exception):
    """The file cannot be read. The message says why, in words for users."""


@dataclass(frozen=True, slots=True)
class Document:
    """The contents of a file. `pages` are texts in order; a file without pages has one text."""

    name: str
    pages: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    image: Image | None = None
    is_paged: bool = False
    notes: tuple[str, ...] = field(default=())
    raw: bytes = field(default=b"", repr=False)
    """The file's bytes, kept only for a PDF, in which a sentence's place can be shown."""


def read(data: bytes, name: str, declared: str = "") -> Document:
    """Reads a file, recognised by its content. Raises Unreadable. `declared` is the type that the
    sender gave, such as "csv". It decides only between texts."""
    if len(data) > MAX_BYTES:
        raise Unreadable(Sentence("{0} is too big to read.", name))
    try:
        return _read(data, name, declared)
    except (*DAMAGE, pdf_errors.PyPdfError) as error:
        raise Unreadable(Sentence("{0} is damaged or not what it claims to be.", name)) from error


def _read(data: bytes, name: str, declared: str) -> Document:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Document(name, image=Image("image/png", data))
    if data.startswith(b"\xff\xd8\xff"):
        return Document(name, image=Image("image/jpeg", data))
    if b"%PDF" in data[:1024]:
        return _pdf(data, name)
    if data.startswith(b"PK\x03\x04"):
        return _read_archive(data, name)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        old = Sentence(
            "{0} has Excel's or Word's old format and cannot be read; save it as xlsx or docx.",
            name,
        )
        return _workbook(data, name, old)
    text = decode(data)
    if "\x00" in text[:2000]:
        raise Unreadable(Sentence("{0} is not text.", name))
    return from_text(text, name, declared)


def from_text(text: str, name: str, declared: str = "") -> Document:
    """Reads a text that may be CSV or HTML by its declared type, its name or its start."""
    if declared == "csv" or name.lower().endswith((".csv", ".tsv")):
        table = from_csv(text, name)
        if table is not None:
            return of_tables(name, (table,))
    if declared == "html" or re.match(r"\s*<(!doctype html|html)\b", text, re.IGNORECASE):
        text = html_text(text)
    return Document(name, (text,))


def read_content(content: str, name: str, kind: str = "", read_as: str = "") -> Document:
    """Reads what came as a string: a file in base64, JSON rows, a JSON text, or a plain text.

    `kind` and `read_as` are what the sender declares. Raises Unreadable.
    """
    head = DATA_URL.match(content)
    content = content[head.end() :] if head else content
    if kind in BINARY_KINDS or content.startswith(ENCODED_STARTS):
        return read(_decoded(content, name), name, kind)
    if kind in ("csv", "txt", "md", "html"):
        return _text_file(content, name, kind)
    if read_as == "html":
        found = _parsed(content)
        page = found if isinstance(found, str) else content
        return Document(name, (html_text(page[:MAX_TEXT]),))
    return _object(content, name)


def _decoded(content: str, name: str) -> bytes:
    if len(content) > MAX_BASE64:
        raise Unreadable(Sentence("{0} is too big to read.", name))
    try:
        return base64.b64decode(content)
    except (binascii.Error, ValueError):
        raise Unreadable(
            Sentence("{0} is damaged: its contents could not be decoded.", name)
        ) from None


def _text_file(content: str, name: str, kind: str) -> Document:
    """Reads a text file that may be in base64. It counts as base64 if it decodes without error."""
    if len(content) >= 16 and len(content.strip()) % 4 == 0 and BASE64.match(content[:4000]):
        try:
            return read(base64.b64decode(content, validate=True), name, kind)
        except (binascii.Error, ValueError):
            pass
    return from_text(content, name, kind)


def _object(content: str, name: str) -> Document:
    """Reads JSON rows, a JSON text or plain text. Nothing says which, so JSON is tried first."""
    found = _parsed(content)
    table = grids.from_json(found, name)
    if table is not None:
        return of_tables(name, (table,))
    if content.strip() in NOTHING or (isinstance(found, list) and not any(found)):
        return Document(name)
    if isinstance(found, list) and all(isinstance(line, str) for line in found):
        content = "\n".join(found)
    elif isinstance(found, str):
        content = found
    return from_text(without_halves(content[:MAX_TEXT]), name)


def _parsed(content: str) -> object:
    start = content[:64].lstrip()[:1]
    return try_json(content) if start in ("[", "{", '"') else None


def of_tables(name: str, tables: Sequence[Table], *notes: str) -> Document:
    """Makes a document of tables, with the texts above them and notes about what was left out."""
    headings = [f"{table.name}: {table.heading}" for table in tables if table.heading]
    left_out = []
    for table in tables:
        rows, columns = len(table.rows), len(table.columns)
        if table.cut:
            total = rows + table.cut
            left_out.append(
                Sentence(
                    "Only the first {0} of {1} rows of {2} were read.", rows, total, table.name
                )
            )
        if table.cut_columns:
            total = columns + table.cut_columns
            left_out.append(
                Sentence(
                    "Only the first {0} of {1} columns of {2} were read.",
                    columns,
                    total,
                    table.name,
                )
            )
    pages = ("\n".join(headings),) if headings else ()
    return Document(name, pages, tuple(tables), notes=(*left_out, *notes))


def decode(data: bytes) -> str:
    """Decodes UTF-8, UTF-16 with a byte order mark, or Windows-1252. Never fails."""
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def from_csv(text: str, name: str) -> Table | None:
    sign = delimiter(text[:4000])
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=sign, skipinitialspace=True))
    except csv.Error:
        return None
    return grids.table(rows, name, decimal=decimal_sign(text.splitlines(), sign))


def html_text(source: str) -> str:
    stripper = _TagStripper()
    stripper.feed(source)
    stripper.close()
    lines = (" ".join(line.split()) for line in "".join(stripper.texts).splitlines())
    return "\n".join(line for line in lines if line)


class _TagStripper(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._hidden += tag in HIDDEN_TAGS
        if tag in BREAKING_TAGS:
            self.texts.append(" | " if tag == "td" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN_TAGS and self._hidden:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _pdf(data: bytes, name: str) -> Document:
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable(Sentence("{0} is protected by a password.", name))
    end = time.monotonic() + PDF_S
    pages: list[str] = []
    notes: list[str] = []
    total, too_big = len(reader.pages), 0
    for page in reader.pages[:MAX_PAGES]:
        if time.monotonic() > end:
            break
        is_big = is_too_big(page)
        too_big += is_big
        pages.append("" if is_big else page.extract_text().strip())
    if len(pages) < total:
        notes.append(
            Sentence("Only the first {0} of {1} pages of {2} were read.", len(pages), total, name)
        )
    if too_big:
        notes.append(
            Sentence("{0} of {1} pages of {2} were too big to read.", too_big, total, name)
        )
    elif not any(pages):
        notes.append(
            Sentence("{0} holds no text; it may be a scan, and Moat does not read pictures.", name)
        )
    return Document(name, tuple(pages), is_paged=True, notes=tuple(notes), raw=data)


def is_too_big(page: Any) -> bool:
    contents = page.get_contents()
    return contents is not None and len(contents.get_data()) > MOST_PAGE_BYTES


def _read_archive(data: bytes, name: str) -> Document:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if "word/document.xml" in names:
            return Document(name, (_docx(archive),))
        if "xl/workbook.xml" in names:
            return _of_sheets(office.sheets(archive), office.count(archive), name)
        if "xl/workbook.bin" in names or _is_open_sheets(archive):
            return _workbook(data, name, Sentence("{0} cannot be read; save it as xlsx.", name))
    raise Unreadable(Sentence("{0} is an archive, not a document.", name))


def _is_open_sheets(archive: zipfile.ZipFile) -> bool:
    if "mimetype" not in archive.namelist():
        return False
    with archive.open("mimetype") as kind:
        return kind.read(len(OPEN_SHEETS)) == OPEN_SHEETS


def _workbook(data: bytes, name: str, problem: str) -> Document:
    """Reads xls, xlsb and ods. Raises Unreadable with the text in `problem`."""
    try:
        found, total = old_workbook.read_sheets(data)
    except ValueError as error:
        raise Unreadable(problem) from error
    return _of_sheets(found, total, name)


def _of_sheets(found: Iterable[office.Sheet], total: int, name: str) -> Document:
    tables: list[Table] = []
    read_sheets = 0
    for sheet in found:
        read_sheets += 1
        table = grids.table(sheet.rows, f"{name}: {sheet.name}", sheet.cut)
        if table is not None:
            tables.append(table)
    left_out = (
        [Sentence("Only the first {0} of {1} sheets of {2} were read.", read_sheets, total, name)]
        if read_sheets < total
        else []
    )
    return of_tables(name, tables, *left_out)


def _docx(archive: zipfile.ZipFile) -> str:
    paragraphs = []
    with office.open_part(archive, "word/document.xml") as file:
        for element in office.elements(file, WORD + "p"):
            paragraphs.append("".join(word.text or "" for word in element.iter(WORD + "t")))
            # An inner paragraph must not appear again with the outer one.
            element.clear()
    return "\n".join(text for text in paragraphs if text)


SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}")
SPACES = re.compile(r"\s+")
MOST_SEARCHED_BYTES = 32 * 1024 * 1024
LONGEST_SENTENCE = 600
ASCENT, DESCENT = 0.8, 0.2
"""The heights of letters above and below the baseline, as parts of the font's size."""
USUAL_WIDTH = 500.0
"""A letter's width in thousandths of the font's size, where the font does not give one."""
SAME_LINE = 0.4
"""Letters whose baselines differ by less, as a part of the font's size, are on one line."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box on a page, in points from the page's top left corner. Pages count from 1."""

    text: str
    page: int
    x0: float
    top: float
    x1: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Run:
    """Text that the PDF draws in one go, with its origin and the width of each letter."""

    text: str
    x: float
    line: float
    size: float
    widths: tuple[float, ...]


def find_on_page(document: Document, page: int, question: str) -> tuple[Box, ...]:
    """Returns boxes around the page's sentence that is nearest to the question, one per line.
    Returns () if there is no such sentence, or the file is damaged or too big to search."""
    if (
        not document.raw
        or len(document.raw) > MOST_SEARCHED_BYTES
        or not 0 < page <= len(document.pages)
    ):
        return ()
    quote = nearest_sentence(document.pages[page - 1], question)
    if not quote:
        return ()
    try:
        source = pypdf.PdfReader(io.BytesIO(document.raw)).pages[page - 1]
        runs = list(_runs(source))
        corner = source.mediabox
        place = (page, float(corner.left), float(corner.top))
        return tuple(_boxes(runs, quote, place))
    except (*DAMAGE, pdf_errors.PyPdfError):
        return ()


def nearest_sentence(text: str, question: str) -> str:
    """Returns the sentence nearest to the question, or "" if none shares a word with it."""
    sentences = [sentence.strip() for sentence in SENTENCE.split(text) if sentence.strip()]
    order = rank(question, [{sentence: 1.0} for sentence in sentences])
    return sentences[order[0].index][:LONGEST_SENTENCE] if order else ""


def _runs(page: Any) -> Iterator[_Run]:
    found: list[_Run] = []
    known: dict[int, dict[str, float]] = {}

    def see(text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        if not text.strip():
            return
        x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
        y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        high = abs(size * tm[3] * cm[3]) or abs(size) or 1.0
        across = abs(size * tm[0] * cm[0]) or high
        if id(font) not in known:
            known[id(font)] = _letter_widths(font)
        widths = known[id(font)]
        usual = widths.get("", USUAL_WIDTH)
        wide = tuple(
            0.0 if letter in "\r\n" else widths.get(letter, usual) * across / 1000
            for letter in text
        )
        found.append(_Run(text, x, y, high, wide))

    page.extract_text(visitor_text=see)
    yield from found


def _letter_widths(font: Any) -> dict[str, float]:
    """Maps each letter to its width in the font; the key "" holds the width of all others."""
    try:
        read = fonts.Font.from_font_resource(font)
        spelt, widths = read.character_map, read.character_widths
    except (*DAMAGE, ImportError, pdf_errors.PyPdfError):
        return {}
    usual = float(widths.get("default") or USUAL_WIDTH)
    return {"": usual} | {str(spelt.get(code, code)): float(widths[code]) for code in widths}


def _boxes(runs: list[_Run], quote: str, place: tuple[int, float, float]) -> Iterator[Box]:
    """Yields a box for each line of the quote. Ignores spaces, which PDFs often leave out."""
    letters = [
        (run, at) for run in runs for at, letter in enumerate(run.text) if not letter.isspace()
    ]
    whole = "".join(run.text[at] for run, at in letters)
    wanted = SPACES.sub("", quote)
    start = whole.find(wanted)
    if start < 0:
        return
    line: list[tuple[_Run, int]] = []
    for run, at in letters[start : start + len(wanted)]:
        if line and abs(run.line - line[-1][0].line) > SAME_LINE * run.size:
            yield _around(line, place)
            line = []
        line.append((run, at))
    yield _around(line, place)


def _around(line: list[tuple[_Run, int]], place: tuple[int, float, float]) -> Box:
    page, left, top = place
    starts = [run.x + sum(run.widths[:at]) - left for run, at in line]
    ends = [run.x + sum(run.widths[: at + 1]) - left for run, at in line]
    high = max(run.size for run, _ in line)
    base = top - line[0][0].line
    first, last = line[0], line[-1]
    text = "".join(run.text[at] for run, at in line)
    if first[0] is last[0]:
        text = first[0].text[first[1] : last[1] + 1]
    shown = SPACES.sub(" ", text)
    bounds = (min(starts), base - ASCENT * high, max(ends), base + DESCENT * high)
    return Box(shown, page, *(round(bound, 2) for bound in bounds))
