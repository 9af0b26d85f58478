"""Fills in the placeholders of the model's prose, and checks every number in it."""

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from server.dashboard.results import YEARS, Results, write_value

PLACE = re.compile(r"\{\{\s?(q\d{1,3})(?:\[(\d{1,4})\])?(?:\.([^{}]{1,80}))?\}\}")
DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-(\d{2})(?!\d)")
NUMBER = re.compile("(?<![A-Za-z0-9_.-])[-+\u2212]?\\d(?:[\\d.,'\u2019\u00a0\u202f]*\\d)?")
SCALE = re.compile(
    r"\s?(?:(%|percent|prozent|pour cent|por ciento|bps|basis points)"
    r"|((?:tn|trillion|billion|bn|million|mn|mio|mrd|milliarden|millionen|milliards?|millones"
    r"|thousand|tausend|mille|mil|k|m|b|t)\b|万亿|亿|万))",
    re.IGNORECASE,
)
SCALES = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3, "万": 1e4, "m": 1e6,
    "mn": 1e6, "mio": 1e6, "million": 1e6, "millionen": 1e6, "millones": 1e6, "亿": 1e8,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "mrd": 1e9, "milliarden": 1e9, "milliard": 1e9,
    "milliards": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12, "万亿": 1e12,
}  # fmt: skip
UNKNOWN = " [not in the data]"
CUT = re.compile(r"(?<![\d}])\s(?=\S)|(?<=[\u3001-\u9fff])(?<![万亿])(?=[\u3001-\u9fff])(?![万亿])")
"""White space, but for that behind a number or a placeholder, where a word such as million follows;
or the place between two signs of a script without spaces."""
JOINS = re.compile(r",(?=\S)")
LARGEST = 1e15
"""Nothing that is told of is larger: who writes 246,765,000,000 million adds a word too many."""
SMALL = 12
"""Whole numbers up to this are counting, not figures."""

MOST_LISTED = 12
HELD = 200
"""An unfinished placeholder is waited for over so many characters."""
MOST_KNOWN = 400_000


@dataclass(slots=True)
class KnownNumbers:
    """Whether a number is one of those that were read, computed or asked about."""

    _sorted: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, numbers: Iterable[float], texts: Iterable[str]) -> "KnownNumbers":
        found = [abs(number) for _, number in zip(range(MOST_KNOWN), numbers, strict=False)]
        for text in texts:
            for start, end in find_numbers(text):
                found += [abs(value) for value, _ in readings(text[start:end])]
            # 2026-10-30 may be written out: October 30.
            found += [float(day) for day in DAY.findall(text)]
        return cls(sorted(set(found)))

    def has(self, written: str, scale: str) -> bool:
        """Rounding is allowed as far as it is written; percent may stand for a share of one."""
        factor = SCALES.get(scale.lower(), 1.0)
        for value, decimals in readings(written):
            if factor == 1.0 and value == int(value) and is_plain_count(abs(value)):
                return True
            step = 0.5000001 * 10.0**-decimals
            if any(self._is_near(abs(value) * one, step * one) for one in (factor, 1.0, 0.01)):
                return True
        return False

    def _is_near(self, value: float, distance: float) -> bool:
        at = bisect.bisect_left(self._sorted, value - distance)
        return at < len(self._sorted) and self._sorted[at] <= value + distance


def find_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Where the numbers of a text are. Between commas without spaces each is one of its own.

    So data is listed: 2026-09-15,38841.33,12. A comma within 1,234 groups its digits.
    """
    for match in NUMBER.finditer(text):
        is_joined = JOINS.match(text, match.end()) or text[: match.start()].endswith(",")
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
    for start, end in find_numbers(text):
        scale = SCALE.match(text, end)
        factor = SCALES.get((scale[2] or "").lower(), 1.0) if scale else 1.0
        for read, decimals in readings(text[start:end]):
            step = 0.5000001 * 10.0**-decimals
            if any(
                abs(abs(read) * one - abs(value)) <= step * one + 1e-9 * abs(value)
                for one in (factor, 1.0, 0.01)
            ):
                return True
    return False


def is_plain_count(value: float) -> bool:
    return value <= SMALL or YEARS[0] <= value <= YEARS[1]


def readings(written: str) -> list[tuple[float, int]]:
    """What a written number may mean in English and in continental form, with its decimals."""
    plain = re.sub("['\u2019\u00a0\u202f]", "", written).replace("\u2212", "-").rstrip(".,")
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


class CheckedText:
    """A filter for a stream of text. `feed` returns what may be shown so far, `end` the rest."""

    def __init__(self, results: Results, known: KnownNumbers) -> None:
        self._results = results
        self._known = known
        self._held = ""
        self.unknown: list[str] = []

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
        parts: list[str] = []
        at = 0
        for start, stop in find_numbers(text):
            number = text[start:stop]
            scale = SCALE.match(text, stop)
            word = (scale[2] or "") if scale else ""
            parts.append(text[at:stop])
            at = stop
            if scale and _is_too_large(number, word):
                at, word, scale = scale.end(), "", None
            if not self._known.has(number, word):
                self.unknown.append(number)
                end = scale.end() if scale else at
                parts += [text[at:end], UNKNOWN]
                at = end
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
        return write_value(value)


SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+|(?<=[。！？])")  # noqa: RUF001


class AgreeingText:
    """A filter that drops sentences with other numbers than the figures that are certain."""

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
        return all(
            self._known.has(sentence[start:end], "") for start, end in find_numbers(sentence)
        )
