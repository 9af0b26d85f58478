"""Stretches of time in a question: 'since March 2025', 'last 30 days', 'Q2 2024'."""

import calendar
import re
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta

MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
POINT = re.compile(
    rf"\b(?:(?P<day>\d{{4}}-\d{{2}}-\d{{2}})|(?P<month>\d{{4}}-\d{{2}})"
    rf"|(?:(?P<name>{MONTH})\.?\s+(?:(?P<dom>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<named>\d{{4}}))"
    rf"|(?:q(?P<quarter>[1-4])\s*(?P<of>\d{{4}}))|(?P<year>(?:19|20)\d{{2}}))\b",
    re.IGNORECASE,
)
RECENT = re.compile(
    r"\b(?:last|past|previous)\s+(?:(?P<count>\d{1,3})\s+)?(?P<unit>day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)
THIS_YEAR = re.compile(r"\b(?:this year|ytd|year[- ]to[- ]date)\b", re.IGNORECASE)
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
FAR_PAST, FAR_FUTURE = date(1, 1, 1), date(9999, 1, 1)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` to before `end`."""

    start: date
    end: date

    @property
    def is_open(self) -> bool:
        return self.start == FAR_PAST or self.end == FAR_FUTURE


def find(question: str, today: date) -> Span | None:
    points = list(POINT.finditer(question))
    if not points:
        return _recent(question, today)
    spans = [span for match in points if (span := _of_point(match)) is not None]
    if not spans:
        return None
    before = question[: points[0].start()].lower().split()
    word = before[-1] if before else ""
    if len(spans) > 1:
        return Span(spans[0].start, spans[-1].end)
    if word in ("since", "from", "after"):
        return Span(spans[0].end if word == "after" else spans[0].start, FAR_FUTURE)
    if word in ("before", "until", "till", "to"):
        return Span(FAR_PAST, spans[0].start if word == "before" else spans[0].end)
    return spans[0]


def _recent(question: str, today: date) -> Span | None:
    if THIS_YEAR.search(question):
        return Span(date(today.year, 1, 1), today + timedelta(days=1))
    match = RECENT.search(question)
    if match is None:
        return None
    days = int(match["count"] or 1) * UNIT_DAYS[match["unit"].lower()]
    return Span(today - timedelta(days=days), today + timedelta(days=1))


def _of_point(match: re.Match[str]) -> Span | None:
    try:
        return _span(match)
    except ValueError:
        return None


def _span(match: re.Match[str]) -> Span:
    if match["day"]:
        return _day(date.fromisoformat(match["day"]))
    if match["month"]:
        year, month = map(int, match["month"].split("-"))
        return _months(year, month, 1)
    if match["name"]:
        month = MONTHS[match["name"].lower()]
        if match["dom"]:
            return _day(date(int(match["named"]), month, int(match["dom"])))
        return _months(int(match["named"]), month, 1)
    if match["quarter"]:
        return _months(int(match["of"]), int(match["quarter"]) * 3 - 2, 3)
    return _months(int(match["year"]), 1, 12)


def _day(day: date) -> Span:
    return Span(day, day + timedelta(days=1) if day < date.max else day)


def _months(year: int, month: int, count: int) -> Span:
    after = month - 1 + count
    start, year = date(year, month, 1), year + after // 12
    return Span(start, date(year, after % 12 + 1, 1) if year <= MAXYEAR else date.max)
