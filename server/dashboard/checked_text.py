"""The model's prose about data: placeholders filled in, and every number held against the data."""

import bisect
import re
from collections.abc import Iterable
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
CUT = re.compile(r"(?<!\d)\s(?=\S)|(?<=[\u3001-\u9fff])(?<![万亿])(?=[\u3001-\u9fff])(?![万亿])")
"""White space, or the place between two signs of a script without spaces."""
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
            for match in NUMBER.finditer(text):
                found += [abs(value) for value, _ in readings(match[0])]
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


class CheckedText:
    """A stream of text. What `feed` gives back may be shown; `end` gives the rest."""

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
        """Where the text can be cut: outside a placeholder, not inside a number."""
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
        for match in NUMBER.finditer(text):
            scale = SCALE.match(text, match.end())
            word = (scale[2] or "") if scale else ""
            parts.append(text[at : match.end()])
            at = match.end()
            if not self._known.has(match[0], word):
                self.unknown.append(match[0])
                end = scale.end() if scale else at
                parts += [text[at:end], UNKNOWN]
                at = end
        return "".join([*parts, text[at:]])

    def _fill(self, place: re.Match[str]) -> str:
        """Returns the value. If an unordered query found several names, returns all of them."""
        name, row, column = place[1], place[2], (place[3] or "").strip()
        try:
            if row is None and len(names := self._results.names(name, column)) > 1:
                more = f", … ({len(names)})" if len(names) > MOST_LISTED else ""
                return ", ".join(map(write_value, names[:MOST_LISTED])) + more
            value = self._results.value(name, int(row) if row else None, column)
        except (LookupError, ValueError, StopIteration):
            return "(no such result)"
        return write_value(value)
