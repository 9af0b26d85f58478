"""Whether a text speaks of a date or a time of day, in English, German and Chinese."""

import re
from calendar import monthrange
from collections.abc import Iterator, Set
from datetime import date, datetime, timedelta
from decimal import Decimal

_MONTHS = """
january jan januar jänner|february feb februar|march mar märz|april apr|may mai|june jun juni
|july jul juli|august aug|september sep sept|october oct oktober okt|november nov
|december dec dezember dez
"""
_WEEKDAYS = """
monday mon montag 周一 星期一 礼拜一|tuesday tue dienstag 周二 星期二 礼拜二
|wednesday wed mittwoch 周三 星期三 礼拜三|thursday thu donnerstag 周四 星期四 礼拜四
|friday fri freitag 周五 星期五 礼拜五|saturday sat samstag sonnabend 周六 星期六 礼拜六
|sunday sun sonntag 周日 星期日 星期天 周天 礼拜天
"""
_DAYS = {
    0: "today now tonight heute jetzt 今天 今日 现在 今晚",
    1: "tomorrow morgen 明天 明日",
    -1: "yesterday gestern 昨天 昨日",
    2: "overmorrow übermorgen 后天",
    -2: "vorgestern 前天",
}
_UNITS = {
    "day": "day days tag tage tagen 天 日",
    "week": "week weeks woche wochen 周 星期 礼拜",
    "month": "month months monat monate monaten 月",
    "year": "year years jahr jahre jahren 年",
}
_RELATIVE = (
    "next last this past previous coming in within ago since for before after later earlier "
    "nächste nächsten nächster letzte letzten letzter diese diesen dieser vor seit kommende "
    "kommenden vergangene vergangenen 下 上 前 后 内 本 这 过去 最近"
)
_CLOCK = {
    (12, 0): "noon midday mittag mittags 中午 正午",
    (0, 0): "midnight mitternacht 午夜 零点",
}
_NOW = "now jetzt 现在"
_MINUTES = {30: "half halb 半", 15: "quarter viertel 刻", 45: "quarter viertel dreiviertel 刻"}
NEAR_S = 900
MOST_UNITS = 400


def hears_date(day: tuple[int, ...], text: str, numbers: Set[Decimal], now: datetime) -> bool:
    """The text, in small letters, names this year, month and day, or how far away it is."""
    try:
        wanted = date(*day)
    except ValueError:
        return False
    return _names_day(wanted, text, numbers, now) or wanted in set(_away(text, numbers, now))


def hears_time(clock: tuple[int, int], text: str, numbers: Set[Decimal], now: datetime) -> bool:
    hour, minute = clock
    if _has(text, _CLOCK.get(clock, "")):
        return True
    if _has(text, _NOW):
        moment = now.replace(hour=hour, minute=minute)
        return abs((moment - now).total_seconds()) <= NEAR_S
    exact = {Decimal(hour), Decimal((hour - 1) % 12 + 1)}
    if minute in _MINUTES and _has(text, _MINUTES[minute]):
        # "halb vier" is half past three.
        return bool({*exact, Decimal((hour + 1) % 24), Decimal(hour % 12 + 1)} & numbers)
    return bool(exact & numbers) and (minute == 0 or Decimal(minute) in numbers)


def _names_day(wanted: date, text: str, numbers: Set[Decimal], now: datetime) -> bool:
    names = _MONTHS.split("|")[wanted.month - 1]
    has_month = Decimal(wanted.month) in numbers or _has(text, names)
    years = {int(number) for number in numbers if 1000 <= number <= 9999}
    has_year = wanted.year in years if years else abs(wanted.year - now.year) <= 1
    has_year = has_year or Decimal(wanted.year % 100) in numbers
    return has_month and has_year and Decimal(wanted.day) in numbers


def _away(text: str, numbers: Set[Decimal], now: datetime) -> Iterator[date]:
    """The days that are named by how far they are from today."""
    today = now.date()
    for distance, words in _DAYS.items():
        if _has(text, words):
            yield today + timedelta(days=distance)
    if "day after tomorrow" in text or "day before yesterday" in text:
        yield today + timedelta(days=2 if "tomorrow" in text else -2)
    for place, words in enumerate(_WEEKDAYS.split("|")):
        if _has(text, words):
            first = today + timedelta(days=(place - today.weekday()) % 7)
            yield from (first + timedelta(days=7 * count) for count in (-2, -1, 0, 1))
    counts = {1, *(int(number) for number in numbers if 0 < number <= MOST_UNITS)}
    named = [unit for unit, words in _UNITS.items() if _has(text, words)]
    for unit in named if _has(text, _RELATIVE) else ():
        for count in counts:
            yield from _shifted(today, unit, count)
            yield from _shifted(today, unit, -count)


def _shifted(today: date, unit: str, count: int) -> Iterator[date]:
    """That many units away; of a month or a year also its first and its last day."""
    if unit in ("day", "week"):
        yield today + timedelta(days=count * (7 if unit == "week" else 1))
        return
    months = today.year * 12 + today.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        return
    last = monthrange(year, month + 1)[1]
    yield from (date(year, month + 1, day) for day in (1, min(today.day, last), last))
    if unit == "year":
        yield from (date(year, 1, 1), date(year, 12, 31))


def _has(text: str, words: str) -> bool:
    """One of the words stands in the text: alone, where words are written apart."""
    return any(
        re.search(rf"(?<!\w){word}(?!\w)", text) if word[0] < "\u3000" else word in text
        for word in words.split()
    )
