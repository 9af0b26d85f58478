"""Fills in the placeholders of the model's prose, and checks every number in it."""

import bisect
import itertools
import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeGuard

from server.dashboard.results import YEARS, Results, write_value
from server.data.cells import CURRENCIES
from server.data.tables import Cell
from server.events import Event, Finished, Pieces, PromptProgress, StatusNote, TextDelta

PLACE = re.compile(r"\{\{\s?(q\d{1,3})(?:\[(\d{1,4})\])?(?:\.([^{}]{1,80}))?\}\}")
DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-(\d{2})(?!\d)")
NUMBER = re.compile(
    "(?<![A-Za-z0-9_.-])[-+\u2212]?(?:\\d{1,3}(?: \\d{3}){1,6}(?!\\d|\\.\\d)(?:,\\d{1,9})?"
    "|\\d(?:[\\d.,'\u2019\u00a0\u202f]*\\d)?)"
)
PERCENT = re.compile(
    r"[\s-]?(?:%|\uff05|percent|per cent|pct\b|prozent|pour cent|por ciento|por cento|per cento)"
    r"|\s?(?:个)?百分点",
    re.IGNORECASE,
)
BASIS_POINTS = re.compile(
    r"[\s-]?(?:bps?\b|basis[\s-]|basispunkt|points? de base|puntos b|个?基点)", re.IGNORECASE
)
SCALES = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "tsd": 1e3, "mille": 1e3, "mila": 1e3, "mil": 1e3,
    "千": 1e3, "万": 1e4, "萬": 1e4, "lakh": 1e5, "m": 1e6, "mm": 1e6, "mn": 1e6, "mio": 1e6,
    "million": 1e6, "millions": 1e6, "millionen": 1e6, "millón": 1e6, "millones": 1e6,
    "milione": 1e6, "milioni": 1e6, "milhão": 1e6, "milhões": 1e6, "百万": 1e6, "crore": 1e7,
    "千万": 1e7, "亿": 1e8, "億": 1e8, "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9,
    "mrd": 1e9, "md": 1e9, "milliarde": 1e9, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9,
    "miliardo": 1e9, "miliardi": 1e9, "bilhão": 1e9, "bilhões": 1e9, "mil millones": 1e9,
    "t": 1e12, "tn": 1e12, "trillion": 1e12, "trillions": 1e12, "billionen": 1e12, "billones": 1e12,
    "万亿": 1e12, "兆": 1e12,
}  # fmt: skip
_WORDS = sorted(SCALES, key=len, reverse=True)
SCALE = re.compile(
    rf"[\s-]?((?:{'|'.join(one for one in _WORDS if one[0] < chr(0x3000))})\b"
    rf"|(?:{'|'.join(one for one in _WORDS if one[0] >= chr(0x3000))}))",
    re.IGNORECASE,
)
UNIT = re.compile(r"\s?(?:[kMGT]?Wh?|[kMG]?t|tonn\w{1,3}|tons?|[kmc]?m|k?g|[KMGT]i?B)\b")
"""Behind it the same amount may be told a thousand times larger or smaller: GWh, TWh."""
MONEY_BEFORE = re.compile(rf"(?:[{CURRENCIES}]|\b(?:USD|EUR|GBP|CHF|JPY|CNY))\s?$")
MONEY_BEHIND = re.compile(
    rf"\s?(?:[{CURRENCIES}]|(?:USD|EUR|GBP|CHF|JPY|CNY|euros?|dollars?|pounds?)\b)", re.IGNORECASE
)
ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.|nearly|almost|some|over|under|above|below"
    r"|than|circa|ca\.|rund|etwa|knapp|fast|gut|über|unter|ungefähr|environ|près de|presque|quelque"
    r"|plus de|moins de|autour de|unos|unas|casi|cerca de|alrededor de|aproximadamente|más de"
    r"|menos de|quasi|oltre)\s{1,3}|[~\u2248约近逾]\s?|超过|不到)(?:[$€£¥]\s?)?$",
    re.IGNORECASE,
)
"""Before a round number: it may be rounded as far as it has zeros at its end."""
MOST_ROUNDED = 0.1
MONTH = (
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mär|Mai|Okt|Dez|janv|févr|mars|avr|juin"
    r"|juil|août|déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out)[\w.]{0,9}"
)
NO_FIGURE = re.compile(
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d{2}\b|(?<!\d)\d{1,2}[月日号]|\b24/7\b|\b50/50\b|\b100\s?%"
    r"|(?<!\d)(?:19|20)\d\d[/\u2013-]\d{2}\b"
    rf"|\b\d{{1,2}}\.?\s(?:de\s)?{MONTH}|\b\d{{1,2}}\sde\b|\b{MONTH}\s\d{{1,2}}(?![\d%]|[.,]\d)"
    r"|\b\d{1,4}(?:st|nd|rd|th|er|ère|e|ème|º|ª)\b|^\s{0,8}\d{1,3}[.)](?=\s)"
    r"|\b\d{1,4}-(?:years?|months?|weeks?|days?|hours?|minutes?|jahres?|jährig\w{0,3}|[A-Z]{1,4})\b"
    r"|\b\d{3}\([a-z]\)"
    r"|(?:S&P|\b(?:Nikkei|\w{0,5}DAX|FTSE|CAC|Stoxx|Nasdaq|Russell|IBEX|SMI|AEX|TOPIX|CSI|ASX|Nifty"
    r"|Dow|MSCI|Fortune|Boeing|Airbus|Windows|Python|ISO|DIN|IFRS|IAS|ASC|Section|Article|Artikel"
    r"|Rule|Form|Chapter|Title|Schedule|Note|Page|Seite|Level|Tier|Basel|Agenda|Top|No\.|Nr\.)|§)"
    r"\s?\d{1,5}(?!\d|[.,]\d|\s?%)",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers that are none of the data's: dates, times, ordinals, lists, and those of names."""
UNKNOWN = " [not in the data]"
NOTHING = "\u2013"
"""Stands for an empty cell."""
CUT = re.compile(
    r"(?<![\d}])(?<!\d\.)(?<!\d (?:por|per|mil))(?<!\d pour)(?<!\d basis)\s(?=\S)"
    r"|(?<=[\u3001-\u9fff])(?<![万亿])(?=[\u3001-\u9fff])(?![万亿])"
)
"""White space, but for that behind a number or a placeholder, where a word such as million follows;
or the place between two signs of a script without spaces."""
JOINS = re.compile(r",(?=\S)")
LARGEST = 1e15
"""Nothing that is told of is larger: who writes 246,765,000,000 million adds a word too many."""
SMALL = 12
"""Whole numbers up to this are counting, not figures."""
SIGNIFICANT, NO_DIGIT = re.compile(r"[1-9]\d"), re.compile(r"\D")

MOST_LISTED = 12
HELD = 200
"""An unfinished placeholder is waited for over so many characters."""
SEEN = 40
"""So many characters before a number say what it is."""
MOST_KNOWN = 400_000
LARGEST_CELL = 1e300


@dataclass(frozen=True, slots=True)
class Written:
    """A number in a text, and what is said around it."""

    start: int
    stop: int
    end: int
    """Behind the word that says its size, or the percent sign."""
    digits: str
    word: str
    """Such as million."""
    factors: tuple[float, ...]
    """What its digits may have to be multiplied by."""
    is_amount: bool
    """In percent, in money or in millions: it is not counting."""
    is_about: bool

    @property
    def is_count(self) -> bool:
        """Whether it counts few things, or names a year."""
        if self.digits.isdecimal() and YEARS[0] <= int(self.digits[:9]) <= YEARS[1]:
            return not self.is_amount
        return any(
            value == int(value) and abs(value) <= SMALL and not self.is_amount
            for value, _ in readings(self.digits)
        )


def read_numbers(text: str, begin: int = 0) -> Iterator[Written]:
    """The figures of a text from a place on. Dates, ordinals and names are left out."""
    others = [one.span() for one in NO_FIGURE.finditer(text)]
    for start, stop in find_numbers(text):
        if start < begin or any(first < stop and start < last for first, last in others):
            continue
        digits, before = text[start:stop], text[max(0, start - SEEN) : start]
        percent, points = PERCENT.match(text, stop), BASIS_POINTS.match(text, stop)
        scale = None if percent or points else SCALE.match(text, stop)
        word = scale[1] if scale else ""
        factors = [1.0]
        if percent:
            factors.append(0.01)
        elif points:
            factors += [0.01, 0.0001]
        elif scale:
            size = SCALES[word.lower()]
            # The data may be in thousands or in millions itself.
            less = [size / 1e3, size / 1e6] if SIGNIFICANT.search(NO_DIGIT.sub("", digits)) else []
            factors += [size, *(one for one in less if one > 1.0)]
        elif UNIT.match(text, stop):
            factors += [1e3, 1e-3]
        found = percent or points or scale
        end = found.end() if found else stop
        is_amount = bool(MONEY_BEFORE.search(before) or MONEY_BEHIND.match(text, stop) or found)
        is_about = ABOUT.search(before) is not None
        yield Written(start, stop, end, digits, word, tuple(factors), is_amount, is_about)


@dataclass(slots=True)
class KnownNumbers:
    """Whether a number is one of those that were read, computed or asked about."""

    _sorted: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, cells: Iterable[Cell], texts: Iterable[str]) -> "KnownNumbers":
        numbers = (float(abs(cell)) for cell in cells if is_number(cell))
        found = list(itertools.islice(numbers, MOST_KNOWN))
        for text in texts:
            for start, end in find_numbers(text):
                found += [abs(value) for value, _ in readings(text[start:end])]
            # 2026-10-30 may be written out: October 30.
            found += [float(day) for day in DAY.findall(text)]
        return cls(sorted(set(found)))

    def has(self, one: Written) -> bool:
        """Rounding is allowed as far as it is written; percent may stand for a share of one."""
        if one.is_count:
            return True
        parts = one.digits.split(" ")
        return self.holds(one) or (
            len(parts) > 1 and all(self.holds(replace(one, digits=part)) for part in parts)
        )

    def holds(self, one: Written) -> bool:
        for value, decimals in readings(one.digits):
            step = 0.5000001 * 10.0**-decimals
            if one.is_about and not decimals and (zeros := _zeros(value)):
                step = min(10.0**zeros, MOST_ROUNDED * abs(value)) * 1.0000001
            if any(self._is_near(abs(value) * factor, step * factor) for factor in one.factors):
                return True
        return False

    def _is_near(self, value: float, distance: float) -> bool:
        at = bisect.bisect_left(self._sorted, value - distance)
        return at < len(self._sorted) and self._sorted[at] <= value + distance


def is_number(cell: Cell) -> TypeGuard[float]:
    return isinstance(cell, int | float) and abs(cell) < LARGEST_CELL


def _zeros(value: float) -> int:
    """Returns the number of zeros at the end of a whole number."""
    digits = f"{abs(value):.0f}"
    return len(digits) - len(digits.rstrip("0")) if digits.strip("0") else 0


def find_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each number. Commas without spaces separate numbers.

    Models list data in this form: 2026-09-15,38841.33,12. A comma in 1,234 groups digits.
    """
    for match in NUMBER.finditer(text):
        is_joined = JOINS.match(text, match.end()) or text.endswith(",", 0, match.start())
        if "," not in match[0] or (readings(match[0]) and not is_joined):
            yield match.span()
            continue
        at = match.start()
        for part in match[0].split(","):
            if part:
                yield at, at + len(part)
            at += len(part) + 1


def is_told(value: float, text: str) -> bool:
    """Whether a text has this number, rounded as far as it is written, in any scale."""
    known = KnownNumbers([abs(value)])
    return any(known.holds(one) for one in read_numbers(text))


def is_plain_count(value: float) -> bool:
    return value <= SMALL or YEARS[0] <= value <= YEARS[1]


def readings(written: str) -> list[tuple[float, int]]:
    """Returns the values that a written number may have in English and continental form."""
    plain = re.sub("[ '\u2019\u00a0\u202f]", "", written).replace("\u2212", "-").rstrip(".,")
    found = []
    for thousands, decimal in ((",", "."), (".", ",")):
        text = plain.replace(thousands, "").replace(decimal, ".")
        is_grouped = re.fullmatch(
            rf"[-+]?\d{{1,3}}(?:\{thousands}\d{{3}})+(?:\{decimal}\d+)?", plain
        )
        if thousands in plain and not is_grouped:
            continue
        try:
            found.append((float(text), len(text.partition(".")[2])))
        except ValueError:
            continue
    return found


def _is_too_large(number: str, word: str) -> bool:
    """Whether a word such as million makes it larger than anything. A letter may be a unit: t."""
    factor = SCALES.get(word.lower(), 1.0) if len(word) > 1 or not word.isascii() else 1.0
    return factor > 1.0 and all(abs(value) * factor > LARGEST for value, _ in readings(number))


class TextFilter(Protocol):
    """A filter for a stream of text. `feed` returns what may be shown so far, `end` the rest."""

    def feed(self, text: str) -> str: ...

    def end(self) -> str: ...


async def filtered(
    events: Pieces | AsyncGenerator[Event, None], *filters: TextFilter
) -> AsyncGenerator[Event, None]:
    """Passes on a model's text through the filters, one after the other, without white space before
    it. Leaves out its thoughts and calls."""
    end: Finished | None = None
    began = False
    async with aclosing(events) as unfiltered:
        async for event in unfiltered:
            match event:
                case TextDelta(text):
                    text = text if began else text.lstrip()
                    began = began or bool(text)
                    if text := _through(filters, text):
                        yield TextDelta(text)
                case PromptProgress() | StatusNote():
                    yield event
                case Finished():
                    end = event
                case _:
                    pass
    if rest := _through(filters, "", is_end=True):
        yield TextDelta(rest)
    if end is not None:
        yield end


def _through(filters: Iterable[TextFilter], text: str, *, is_end: bool = False) -> str:
    for one in filters:
        text = one.feed(text) + (one.end() if is_end else "")
    return text


class CheckedText:
    """Fills in the placeholders of results, and marks the numbers that are not known."""

    def __init__(self, results: Results, known: KnownNumbers) -> None:
        self._results = results
        self._known = known
        self._held = ""
        self._before = ""

    @classmethod
    def of(cls, cells: Iterable[Cell], texts: Iterable[str]) -> "CheckedText":
        """Checks numbers against cells and texts. There are no placeholders to fill in."""
        return cls(Results("", 0), KnownNumbers.of(cells, texts))

    def feed(self, text: str) -> str:
        self._held += text
        cut = self._safe_end()
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._check(ready)

    def end(self) -> str:
        ready, self._held = self._held, ""
        return self._check(ready)

    def _safe_end(self) -> int:
        """Returns where the held text can be cut: outside placeholders and numbers."""
        held = self._held
        opened = held.rfind("{{")
        if opened >= 0 and "}}" not in held[opened:] and len(held) - opened < HELD:
            held = held[:opened]
        places = [place.span() for place in PLACE.finditer(held)]
        cuts = [match.start() for match in CUT.finditer(held)]
        outside = [cut for cut in cuts if not any(begin < cut < end for begin, end in places)]
        return outside[-1] if outside else 0

    def _check(self, text: str) -> str:
        text = PLACE.sub(self._fill, text).replace("**", "")
        begin = len(self._before)
        text = self._before + text
        parts: list[str] = []
        at = begin
        for one in read_numbers(text, begin):
            parts.append(text[at : one.stop])
            at = one.stop
            if one.word and _is_too_large(one.digits, one.word):
                at = one.end
                one = replace(one, word="", end=at, factors=(1.0,))
            if not self._known.has(one):
                parts += [text[at : one.end], UNKNOWN]
                at = one.end
        self._before = text[-SEEN:]
        return "".join([*parts, text[at:]])

    def _fill(self, place: re.Match[str]) -> str:
        """Returns a placeholder's value, or all names that an unordered query has found."""
        name, row, column = place[1], place[2], (place[3] or "").strip()
        try:
            if row is None and len(names := self._results.names(name, column)) > 1:
                more = f", … ({len(names)})" if len(names) > MOST_LISTED else ""
                return ", ".join(map(write_value, names[:MOST_LISTED])) + more
            value = self._results.value(name, int(row) if row else None, column)
        except (LookupError, ValueError, StopIteration):
            return "(no such result)"
        return write_value(value) or NOTHING


SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+|(?<=[。！？])")  # noqa: RUF001


class AgreeingText:
    """Drops sentences with other numbers than the figures that are certain."""

    def __init__(self, known: KnownNumbers) -> None:
        self._known = known
        self._held = ""

    def feed(self, text: str) -> str:
        self._held += text
        ends = [match.end() for match in SENTENCE_END.finditer(self._held)]
        cut = ends[-1] if ends else 0
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._keep(ready)

    def end(self) -> str:
        ready, self._held = self._held, ""
        return self._keep(ready)

    def _keep(self, text: str) -> str:
        starts = [0, *(match.end() for match in SENTENCE_END.finditer(text)), len(text)]
        sentences = [text[start:end] for start, end in itertools.pairwise(starts)]
        return "".join(filter(self._agrees, sentences))

    def _agrees(self, sentence: str) -> bool:
        return all(map(self._known.has, read_numbers(sentence)))
