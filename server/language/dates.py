"""Stretches of time in a question: 'since March 2025', 'last 30 days', 'Q2 2024'."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta

from server.language.time_words import (
    LEFT_OVER,
    MARK,
    MONTHS,
    NUMBERS,
    ORDINALS,
    PASSED_OVER,
    POINT,
    RANGE,
    SIDES,
    TROUBLE,
    UNITS,
    WHOLE,
    WITHIN,
    in_plain_dates,
)

UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12}
TO_DATE = {"y": "year", "q": "quarter", "m": "month"}
YEARS = ("year_1", "year_2", "year_3", "year_4", "year_5", "year_6")
FAR_PAST, FAR_FUTURE = date(1, 1, 1), date(9999, 1, 1)


class Unclear(Exception):
    """A time is named that is not understood for certain."""


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` to before `end`."""

    start: date
    end: date

    @property
    def is_open(self) -> bool:
        return self.start == FAR_PAST or self.end == FAR_FUTURE


@dataclass(frozen=True, slots=True)
class Timed:
    """The time that a question names, and the question without its words."""

    span: Span | None
    rest: str
    points: tuple[str, ...] = ()
    is_fiscal: bool = False


def find(question: str, today: date) -> Span | None:
    """What to fetch: 'from 2024' may mean that year or all since then, so all of it."""
    try:
        return read(re.sub(r"\bfrom\b", "since", question, flags=re.IGNORECASE), today).span
    except Unclear:
        return None


def read(question: str, today: date) -> Timed:
    text = WHOLE.sub(" ", in_plain_dates(question.replace(MARK, " ")))
    points = list(POINT.finditer(text))
    if not points:
        return Timed(None, text)
    marked = POINT.sub(MARK, text)
    try:
        span, place = _placed(points, marked, today)
    except (ValueError, OverflowError):
        raise Unclear from None
    rest = f"{marked[: place.start()]} {marked[place.end() :]}"
    is_fiscal = any(point["fiscal"] for point in points)
    return Timed(span, rest, tuple(point[0] for point in points), is_fiscal)


def left_over(text: str) -> list[str]:
    """Words of time that were not understood."""
    return [match[0] for match in LEFT_OVER.finditer(text)]


def period(text: str) -> Span | None:
    """The year, half, quarter, month or day that this text names, and nothing else."""
    match = POINT.fullmatch(in_plain_dates(text).strip())
    if match is None or match["slashed"]:
        return None
    try:
        return _dated(match, _year(match))
    except (Unclear, ValueError):
        return None


def slashed(text: str) -> tuple[int, int, int] | None:
    """The numbers of 3/5/2025, which is a day in March or in May."""
    match = POINT.fullmatch(text.strip())
    if match is None or not match["slashed"]:
        return None
    first, second, year = map(int, re.findall(r"\d+", match["slashed"]))
    return first, second, year


def _placed(points: list[re.Match[str]], marked: str, today: date) -> tuple[Span, re.Match[str]]:
    if len(points) == 2:
        return _between(points, marked, today)
    if len(points) > 2:
        raise Unclear
    span = _of(points[0], _year(points[0]), today)
    for side, pattern in SIDES.items():
        place = pattern.search(marked)
        if place is not None:
            # 'The month before March 2025' is not all that was before.
            _check(marked, place, TROUBLE | set(UNITS.split("|")))
            return _on_side(span, side), place
    place = WITHIN.search(marked)
    if place is None:
        raise Unclear
    _check(marked, place, TROUBLE)
    return span, place


def _between(points: list[re.Match[str]], marked: str, today: date) -> tuple[Span, re.Match[str]]:
    """Where one has no year, it has the other's."""
    place = RANGE.search(marked)
    if place is None or any(one["count"] or one["past_unit"] for one in points):
        raise Unclear
    _check(marked, place, TROUBLE)
    years = [_year(one) for one in points]
    first = _of(points[0], years[0] or years[1], today)
    last = _of(points[1], years[1] or years[0], today)
    if first.start >= last.end:
        raise Unclear
    return Span(first.start, last.end), place


def _check(marked: str, place: re.Match[str], trouble: frozenset[str]) -> None:
    words = re.findall(r"[a-z]+", marked[: place.start()].lower())
    words = [word for word in words[-3:] if word not in PASSED_OVER]
    if words and words[-1] in trouble:
        raise Unclear


def _on_side(span: Span, side: str) -> Span:
    match side:
        case "since":
            return Span(span.start, FAR_FUTURE)
        case "after":
            return Span(span.end, FAR_FUTURE)
        case "before":
            return Span(FAR_PAST, span.start)
        case _:
            return Span(FAR_PAST, span.end)


def _year(match: re.Match[str]) -> int | None:
    return next((int(match[name]) for name in YEARS if match[name]), None)


def _of(match: re.Match[str], year: int | None, today: date) -> Span:
    """By the calendar: last month is the one before this, from its first to its last day."""
    tomorrow = today + timedelta(days=1)
    if match["named"]:
        word = match["named"].lower()
        if word in ("today", "yesterday"):
            return _day(today if word == "today" else today - timedelta(days=1))
        return Span(_begin(today, TO_DATE[word[0]]), tomorrow)
    if match["this_unit"]:
        return Span(_begin(today, match["this_unit"].lower()), tomorrow)
    if match["last_unit"]:
        unit = match["last_unit"].lower()
        end = _begin(today, unit)
        return Span(_begin(end - timedelta(days=1), unit), end)
    if match["past_unit"] or match["count_unit"]:
        number = (match["count"] or "1").lower()
        unit = (match["past_unit"] or match["count_unit"]).lower()
        return Span(_back(today, NUMBERS.get(number) or int(number), unit), tomorrow)
    return _dated(match, year)


def _begin(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    months = UNIT_MONTHS[unit]
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def _back(day: date, count: int, unit: str) -> date:
    if unit not in UNIT_MONTHS:
        return day - timedelta(days=count * (7 if unit == "week" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 - count * UNIT_MONTHS[unit], 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _dated(match: re.Match[str], year: int | None) -> Span:
    if match["day"]:
        return _day(date.fromisoformat(match["day"]))
    if match["month"]:
        of, month = map(int, match["month"].split("-"))
        return _months(of, month, 1)
    if match["slashed"]:
        return _slashed(match["slashed"])
    if year is None:
        raise Unclear
    name, number = match["name_1"] or match["name_2"], match["day_1"] or match["day_2"]
    if name:
        month = MONTHS[name.lower().rstrip(".")]
        return _day(date(year, month, int(number))) if number else _months(year, month, 1)
    if part := (match["part_3"] or match["part_4"] or "").lower():
        place = ORDINALS.get(part.split()[0]) or int(part[-1])
        months = 6 if part.startswith("h") or part.endswith("half") else 3
        return _months(year, (place - 1) * months + 1, months)
    return _months(year, 1, 12)


def _slashed(text: str) -> Span:
    """Only where one number can be no month."""
    first, second, year = map(int, re.findall(r"\d+", text))
    if first <= 12 and second <= 12 and first != second:
        raise Unclear
    return _day(date(year, min(first, second), max(first, second)))


def _day(day: date) -> Span:
    return Span(day, day + timedelta(days=1) if day < date.max else day)


def _months(year: int, month: int, count: int) -> Span:
    after = month - 1 + count
    start, year = date(year, month, 1), year + after // 12
    return Span(start, date(year, after % 12 + 1, 1) if year <= MAXYEAR else date.max)
