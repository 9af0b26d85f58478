"""Reads the XML of office files, and the cells of xlsx sheets with their dates."""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from posixpath import join, normpath
from typing import IO, Any
from xml.etree import ElementTree

MAX_PART_BYTES = 64 * 1024 * 1024
"""The most bytes of an unpacked part of the archive. Guards against zip bombs."""
MOST_INSIDE = 500_000
"""The most elements inside an element that is yielded: a row's cells, a paragraph's words."""
DEEPEST = 500


def open_part(archive: zipfile.ZipFile, part: str) -> IO[bytes]:
    if archive.getinfo(part).file_size > MAX_PART_BYTES:
        raise zipfile.BadZipFile("a part of the file is too big")
    return archive.open(part)


def elements(file: IO[bytes], tag: str) -> Iterator[ElementTree.Element]:
    """Yields each element with this tag when it ends, with all that is inside. Frees what it has
    read. Raises BadZipFile if an element holds too much or is nested too deep."""
    opened: list[ElementTree.Element] = []
    wanted = inside = 0
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        if event == "start":
            opened.append(element)
            wanted += element.tag == tag
            inside = inside + 1 if wanted else 0
            if inside > MOST_INSIDE or len(opened) > DEEPEST:
                raise zipfile.BadZipFile("a part of the file has too many parts")
            continue
        opened.pop()
        if element.tag == tag:
            wanted -= 1
            yield element
        if not wanted and opened:
            # Otherwise the parent keeps this element and all its siblings until the file ends.
            opened[-1].clear()


NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
MAX_SHEETS = 8
MAX_CELLS = 1_000_000
RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}"
RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PART = re.compile(r"xl/worksheets/[^/]+\.xml")
EPOCH = datetime(1899, 12, 30)
"""Day 0 of a workbook. Dates from 1900-03-01 on come out right: Excel takes 1900 for a leap
year."""
MAC_EPOCH = datetime(1904, 1, 1)
DATE = "date"
KNOWN_FORMATS = {**dict.fromkeys(range(14, 23), DATE), 45: "m", 46: "h", 47: "m"}
UNITS_PER_DAY = {"h": 24, "m": 24 * 60, "s": 24 * 60 * 60}
AS_WRITTEN = re.compile(r'"[^"]*"|\\.|_.|\*.', re.DOTALL)
"""The literal parts of a format code: quoted texts, escaped, padding and filling characters."""
ELAPSED = re.compile(r"\[([hms])\1*\]|^(m)m?:?ss?(?:\.0+)?$", re.IGNORECASE)
BRACKETED = re.compile(r"\[[^\[\]]*\]")
DATE_CODE = re.compile(r"[ymdhs]", re.IGNORECASE)
LETTERS = re.compile(r"[A-Z]+")


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    rows: list[list[Any]]
    cut: int = 0
    """The number of rows that were left out."""


@dataclass(frozen=True, slots=True)
class _Book:
    """The tables of a workbook to which the cells of all sheets refer."""

    texts: list[str]
    formats: dict[int, str]
    """Maps a cell style's number to "date" or to the unit in which a duration is shown."""
    epoch: datetime


def sheets(archive: zipfile.ZipFile) -> Iterator[Sheet]:
    """Yields sheets in the workbook's order, at most `MAX_SHEETS` and `MAX_CELLS` cells in all."""
    book = _Book(_shared_texts(archive), _formats(archive), _epoch(archive))
    room = MAX_CELLS
    for name, part in _parts(archive)[:MAX_SHEETS]:
        if room <= 0:
            return
        with open_part(archive, part) as file:
            sheet, room = _sheet(name, file, book, room)
        yield sheet


def count(archive: zipfile.ZipFile) -> int:
    return len(_parts(archive))


def _parts(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Lists each sheet's name and part in the workbook's order. Leaves out chart sheets."""
    listed = list(_elements(archive, "xl/workbook.xml", NS + "sheet"))
    targets = {
        element.get("Id", ""): normpath(join("/xl", element.get("Target", ""))).lstrip("/")
        for element in _elements(archive, "xl/_rels/workbook.xml.rels", RELATION + "Relationship")
    }
    held = {name for name in archive.namelist() if PART.fullmatch(name)}
    found = [
        (element.get("name", ""), targets.get(element.get(RELATION_ID, ""), ""))
        for element in listed
    ]
    found = [(name, part) for name, part in found if part in held]
    if found:
        return found
    names = [element.get("name", "") for element in listed]
    return [
        (names[number] if number < len(names) else f"Sheet {number + 1}", part)
        for number, part in enumerate(sorted(held, key=lambda part: (len(part), part)))
    ]


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> Iterator[ElementTree.Element]:
    if part not in archive.namelist():
        return
    with open_part(archive, part) as file:
        yield from elements(file, tag)


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    found = _elements(archive, "xl/sharedStrings.xml", NS + "si")
    return ["".join(text.text or "" for text in element.iter(NS + "t")) for element in found]


def _epoch(archive: zipfile.ZipFile) -> datetime:
    for properties in _elements(archive, "xl/workbook.xml", NS + "workbookPr"):
        return MAC_EPOCH if properties.get("date1904") in ("1", "true") else EPOCH
    return EPOCH


def _formats(archive: zipfile.ZipFile) -> dict[int, str]:
    own = {
        int(style.get("numFmtId", "0")): _format_of(style.get("formatCode", ""))
        for style in _elements(archive, "xl/styles.xml", NS + "numFmt")
    }
    known = KNOWN_FORMATS | own
    for styles in _elements(archive, "xl/styles.xml", NS + "cellXfs"):
        numbers = [int(style.get("numFmtId", "0")) for style in styles]
        return {place: known[number] for place, number in enumerate(numbers) if known.get(number)}
    return {}


def _format_of(code: str) -> str:
    """Returns a format code's value for `_Book.formats`, or "" for plain numbers."""
    plain = AS_WRITTEN.sub("", code).partition(";")[0]
    elapsed = ELAPSED.search(plain)
    if elapsed:
        return (elapsed[1] or elapsed[2]).lower()
    return DATE if DATE_CODE.search(BRACKETED.sub("", plain)) else ""


def _sheet(name: str, file: IO[bytes], book: _Book, room: int) -> tuple[Sheet, int]:
    """Reads a sheet. Returns it and what is left of `room`, in cells. A row costs one cell more."""
    rows: list[list[Any]] = []
    cut = 0
    for element in elements(file, NS + "row"):
        if room <= 0:
            cut += 1
            continue
        row: list[Any] = []
        for cell in element.iter(NS + "c"):
            place = _place(cell.get("r", ""), len(row))
            row += [None] * (place - len(row)) + [_value(cell, book)]
        rows.append(row)
        room -= len(row) + 1
    return Sheet(name, rows, cut), room


def _place(reference: str, following: int) -> int:
    """Returns a cell's column, counted from 0, for a reference such as "BC7"."""
    letters = LETTERS.match(reference)
    if letters is None:
        return following
    number = 0
    for letter in letters[0][:3]:
        number = number * 26 + ord(letter) - 64
    return max(number - 1, following)


def _value(cell: ElementTree.Element, book: _Book) -> Any:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(NS + "t"))
    held = cell.find(NS + "v")
    # An error counts as missing: a single #DIV/0! must not turn its column into text.
    if held is None or held.text is None or kind == "e":
        return None
    if kind == "s":
        place = int(held.text)
        return book.texts[place] if place < len(book.texts) else None
    if kind in ("str", "d"):
        return held.text
    if kind == "b":
        return held.text == "1"
    return _number(float(held.text), book.formats.get(int(cell.get("s", "0")), ""), book.epoch)


def _number(number: float, shown: str, epoch: datetime) -> Any:
    """Returns a date or a time as text, a duration in its unit, or the plain number."""
    if shown == DATE and 0 < number <= (datetime.max - epoch).days:
        moment = epoch + timedelta(seconds=round(number * UNITS_PER_DAY["s"]))
        if number < 1:
            return moment.strftime("%H:%M:%S")
        whole = moment.hour == moment.minute == moment.second == 0
        return moment.strftime("%Y-%m-%d" if whole else "%Y-%m-%d %H:%M:%S")
    if shown in UNITS_PER_DAY:
        number = round(number * UNITS_PER_DAY[shown], 6)
    return int(number) if number.is_integer() else number
