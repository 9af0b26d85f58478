"""Excel's xlsx files: the cells of each sheet, dates as dates."""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, Any
from xml.etree import ElementTree

from server.conversation.xml_parts import elements, open_part

NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
MAX_SHEETS = 8
MAX_CELLS = 1_000_000
EPOCH = datetime(1899, 12, 30)
DATE_FORMATS = frozenset([*range(14, 23), *range(45, 48)])
DATE_CODE = re.compile(r"(?<!\\)[ymdhs]", re.IGNORECASE)
LETTERS = re.compile(r"[A-Z]+")


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    rows: list[list[Any]]
    cut: int = 0
    """Rows that were left out."""


def sheets(archive: zipfile.ZipFile) -> Iterator[Sheet]:
    """As many as there is room for; `count` tells how many there are."""
    shared = _shared_texts(archive)
    dates = _date_styles(archive)
    names = _sheet_names(archive)
    room = MAX_CELLS
    for number, part in enumerate(_parts(archive)[:MAX_SHEETS]):
        if room <= 0:
            return
        name = names[number] if number < len(names) else f"Sheet {number + 1}"
        with open_part(archive, part) as file:
            sheet, room = _sheet(name, file, shared, dates, room)
        yield sheet


def count(archive: zipfile.ZipFile) -> int:
    return len(_parts(archive))


def _parts(archive: zipfile.ZipFile) -> list[str]:
    return sorted(
        (name for name in archive.namelist() if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name)),
        key=lambda name: (len(name), name),
    )


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> Iterator[ElementTree.Element]:
    if part not in archive.namelist():
        return
    with open_part(archive, part) as file:
        yield from elements(file, NS + tag)


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    found = _elements(archive, "xl/sharedStrings.xml", "si")
    return ["".join(one.text or "" for one in element.iter(NS + "t")) for element in found]


def _sheet_names(archive: zipfile.ZipFile) -> list[str]:
    return [one.get("name", "") for one in _elements(archive, "xl/workbook.xml", "sheet")]


def _date_styles(archive: zipfile.ZipFile) -> set[int]:
    """The numbers of cell styles that show dates."""
    own = {
        int(one.get("numFmtId", "0"))
        for one in _elements(archive, "xl/styles.xml", "numFmt")
        if DATE_CODE.search(re.sub(r'"[^"]*"|\[[^\]]*\]', "", one.get("formatCode", "")))
    }
    for formats in _elements(archive, "xl/styles.xml", "cellXfs"):
        numbers = [int(one.get("numFmtId", "0")) for one in formats]
        return {place for place, number in enumerate(numbers) if number in DATE_FORMATS | own}
    return set()


def _sheet(
    name: str, file: IO[bytes], shared: list[str], dates: set[int], room: int
) -> tuple[Sheet, int]:
    """The sheet, and the room that it leaves; a row counts even where it is empty."""
    rows: list[list[Any]] = []
    cut = 0
    for element in elements(file, NS + "row"):
        if room <= 0:
            cut += 1
            continue
        row: list[Any] = []
        for cell in element.iter(NS + "c"):
            place = _place(cell.get("r", ""), len(row))
            row += [None] * (place - len(row)) + [_value(cell, shared, dates)]
        rows.append(row)
        room -= len(row) + 1
    return Sheet(name, rows, cut), room


def _place(reference: str, following: int) -> int:
    letters = LETTERS.match(reference)
    if letters is None:
        return following
    number = 0
    for letter in letters[0][:3]:
        number = number * 26 + ord(letter) - 64
    return max(number - 1, following)


def _value(cell: ElementTree.Element, shared: list[str], dates: set[int]) -> Any:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(one.text or "" for one in cell.iter(NS + "t"))
    held = cell.find(NS + "v")
    if held is None or held.text is None:
        return None
    if kind == "s":
        place = int(held.text)
        return shared[place] if place < len(shared) else None
    if kind in ("str", "e", "d"):
        return held.text
    if kind == "b":
        return held.text == "1"
    return _number(held.text, is_date=int(cell.get("s", "0")) in dates)


def _number(text: str, *, is_date: bool) -> Any:
    number = float(text)
    if is_date and 0 < number < 2_958_466:
        moment = EPOCH + timedelta(days=number)
        whole = moment.hour == moment.minute == moment.second == 0
        return moment.strftime("%Y-%m-%d" if whole else "%Y-%m-%d %H:%M:%S")
    return int(number) if number.is_integer() else number
