"""Where on a page of a PDF a sentence stands: boxes around its lines, from the top left corner."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from server.data.documents import DAMAGE, Document
from server.language.ranking import rank
from server.system.lazy import Late

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}")
SPACES = re.compile(r"\s+")
MOST_BYTES = 32 * 1024 * 1024
LONGEST_SENTENCE = 600
ASCENT, DESCENT = 0.8, 0.2
"""How far letters reach above and below their line, as a part of the font's size."""
USUAL_WIDTH = 500.0
"""The width of a letter in thousandths of the font's size, if the font does not give it."""
SAME_LINE = 0.4

pypdf = Late("pypdf")
pdf_errors = Late("pypdf.errors")
fonts = Late("pypdf.generic._font")


@dataclass(frozen=True, slots=True)
class Box:
    """A box in points from the top left corner of the page. Pages count from 1."""

    text: str
    page: int
    x0: float
    top: float
    x1: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Run:
    """Text that was set in one go: where it begins and how wide each letter is."""

    text: str
    x: float
    line: float
    size: float
    widths: tuple[float, ...]


def find(document: Document, page: int, question: str) -> tuple[Box, ...]:
    """Returns boxes around the sentence of that page that is nearest to the question, if any is."""
    if not document.raw or len(document.raw) > MOST_BYTES or not 0 < page <= len(document.pages):
        return ()
    quote = nearest(document.pages[page - 1], question)
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


def nearest(text: str, question: str) -> str:
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
            known[id(font)] = _widths(font)
        widths = known[id(font)]
        usual = widths.get("", USUAL_WIDTH)
        wide = tuple(
            0.0 if letter in "\r\n" else widths.get(letter, usual) * across / 1000
            for letter in text
        )
        found.append(_Run(text, x, y, high, wide))

    page.extract_text(visitor_text=see)
    yield from found


def _widths(font: Any) -> dict[str, float]:
    """Maps each letter to its width in the font. The empty text stands for all other letters."""
    try:
        read = fonts.Font.from_font_resource(font)
        spelt, widths = read.character_map, read.character_widths
    except (*DAMAGE, ImportError, pdf_errors.PyPdfError):
        return {}
    usual = float(widths.get("default") or USUAL_WIDTH)
    return {"": usual} | {str(spelt.get(code, code)): float(widths[code]) for code in widths}


def _boxes(runs: list[_Run], quote: str, place: tuple[int, float, float]) -> Iterator[Box]:
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
