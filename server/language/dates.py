"""Finds dates and periods in text: 'since March 2025', 'last 30 days', 'Q2 2024'.

`read` and `find` read the time that a question names, `period` a text that is nothing but a time.
`hears_date` and `hears_time` check whether a text names a given day or time of day.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime, timedelta
from decimal import Decimal

from server.language.numbers import UNIT_WORDS

NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
MONTHS = {name: number for number, name in enumerate(NAMES, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
NUMBERS = {word: int(value) for word, value in UNIT_WORDS.items() if value}
ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
}

MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
NUMBER = rf"(?:\d{{1,3}}|{'|'.join(NUMBERS)})"
ORDINAL = "|".join(ORDINALS)
PART = rf"q[1-4]|h[12]|(?:{ORDINAL})\s+(?:quarter|half)"
UNITS = "day|week|month|quarter|year"
TH = r"(?:st|nd|rd|th)?"
MAY_VERB = r"may\s+(?:i|we|you|it|be|have|not|also)\b"

POINT = re.compile(
    rf"""(?<![\w$€£.,/])(?:
      (?P<day>\d{{4}}-\d{{2}}-\d{{2}})
    | (?P<month>\d{{4}}-\d{{2}})
    | (?P<slashed>\d{{1,2}}([/.-])\d{{1,2}}\4\d{{4}})
    | (?P<day_1>\d{{1,2}}){TH}[\s-]+(?:of\s+)?(?P<name_1>{MONTH})(?:,?[\s-]+(?P<year_1>\d{{4}}))?
    | (?!{MAY_VERB})(?P<name_2>{MONTH})(?:\s+(?P<day_2>\d{{1,2}}){TH}(?![\w%]))?
      (?:,?[\s-]+(?:of\s+)?(?P<year_2>\d{{4}}))?
    | (?P<part_3>{PART})(?:[\s/-]*(?:of\s+)?(?P<year_3>\d{{4}}))?
    | (?P<year_4>\d{{4}})[\s/-]?(?P<part_4>[qh][1-4])
    | (?P<fiscal>fy|(?:fiscal|financial)(?:\s+year)?)\s*(?P<year_5>\d{{4}})
    | (?P<year_6>(?:19|20)\d{{2}})(?![-/.]\d{{1,2}}\b)
    | (?P<named>yesterday|today|ytd|qtd|mtd|(?:year|quarter|month)[ -]to[ -]date)
    | (?P<this>this|current)\s+(?P<this_unit>week|month|quarter|year)
    | (?P<last>last|previous|prior)\s+(?P<last_unit>week|month|quarter|year)
    | past\s+(?P<past_unit>{UNITS})
    | (?:last|past|previous|prior)\s+(?P<count>{NUMBER})\s+(?P<count_unit>{UNITS})s?
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
"""A date or a period: a day, month, quarter, half or year, or a time relative to today."""
MARK = "\x00"
"""Stands for a `POINT` in the patterns below."""


def _place(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("POINT", MARK), re.IGNORECASE)


THE = r"(?:the\s+)?"
START = rf"{THE}(?:(?:start|beginning)\s+of\s+{THE})?"
END = rf"{THE}(?:end\s+of\s+{THE})?"
RANGE = _place(
    rf"\bbetween\s+{THE}POINT\s+and\s+{END}POINT"
    rf"|(?:\b(?:from|since|in|for|during|over)\s+)?{START}POINT\s*"
    rf"(?:\b(?:to|until|till|through|thru|up\s+to)\b|[-\u2013\u2014])\s*{END}POINT"
)
SIDES = {
    "since": _place(
        rf"\b(?:(?:since|starting(?:\s+(?:in|on|from|with))?)\s+{START}POINT"
        rf"|from\s+{START}POINT\s+(?:on|onwards?|forwards?)\b"
        rf"|from\s+{THE}(?:start|beginning)\s+of\s+{THE}POINT)"
    ),
    "after": _place(rf"\b(?:after\s+{END}POINT|since\s+{THE}end\s+of\s+{THE}POINT)"),
    "before": _place(rf"\b(?:before|prior\s+to)\s+{START}POINT"),
    "until": _place(rf"\b(?:until|till|through|thru|up\s+to|up\s+until)\s+{END}POINT"),
}
WITHIN = _place(
    r"(?:\b(?:in|on|during|for|of|over|within|throughout|at)\s+)?"
    rf"{THE}(?:(?:whole|entire|full)\s+)?(?:(?:calendar\s+)?year\s+|month\s+of\s+)?POINT"
)
TROUBLE_TEXT = """
excluding exclude except without outside not non than versus vs against by from to and or
between around about near early mid middle late end ending ended start beginning half rest as
first last next this previous past following every each pre post until since before after
compared week
"""
TROUBLE = frozenset(TROUBLE_TEXT.split())
"""These words change the meaning of the time that follows them."""
PASSED_OVER = frozenset({"of", "the", "in", "on", "for", "during"})
"""These words may stand between a word of `TROUBLE` and the time."""
WHOLE = re.compile(
    r"(?:\b(?:over|across|in|for|during|of|from|through|throughout)\s+)?"
    r"(?:\bthe\s+(?:whole|entire|full|complete)|\ball(?:\s+of)?(?:\s+the)?)\s+(?:available\s+)?"
    r"(?:period|time|range|history|days|weeks|months|quarters|years)\b|\ball-time\b"
    rf"|\bsince\s+(?:the\s+)?(?:first|beginning|start|inception)(?:\s+(?:{UNITS}))?\b(?!\s+of\b)",
    re.IGNORECASE,
)
"""Words for all time: every row counts."""

WHENS = (
    "mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? weekends? weekdays? "
    "ago tomorrow tonight yesterday today decades? fiscal fy\\d* ytd mtd qtd since until till "
    "during before after onwards? afterwards later earlier recently lately upcoming next tomorrow "
    "spring summer autumn winter morning afternoon evening overnight intraday q[1-4] h[12]"
)
LONGER_UNITS = rf"(?:{UNITS}|session|hour|minute|decade|season)s?"
LEFT_OVER = re.compile(
    rf"\b(?:{'|'.join(WHENS.split())}|so\s+far|to\s+date"
    r"|(?:19|20)\d{2}s?|\d{1,2}/\d{1,4}|\d{1,2}:\d{2}"
    rf"|(?:{NUMBER}|few|couple|several)[\s-]+(?:\w+\s+)?{LONGER_UNITS}"
    r"|(?:last|past|previous|prior|first|second|third|fourth|this|these|current|latest|recent|final"
    rf"|following)\s+(?:\w+\s+)?(?:{LONGER_UNITS}|periods?))\b|'\d{{2}}\b",
    re.IGNORECASE,
)
"""Words of time. What is left of them after reading was not understood."""

_FOREIGN_MONTHS = """
januar jänner janvier enero gennaio janeiro|februar février fevrier febrero febbraio fevereiro
|märz maerz mrz mars marzo março|avril abril aprile|mai mayo maggio maio|juni juin junio giugno
junho
|juli juillet julio luglio julho|août aout agosto
|septembre septiembre setiembre settembre setembro|oktober okt octobre octubre ottobre outubro
|novembre noviembre novembro|dezember dez décembre decembre diciembre dicembre dezembro
"""
FOREIGN_MONTHS = {
    word: number
    for number, words in enumerate(_FOREIGN_MONTHS.split("|"), 1)
    for word in words.split()
}
_ANY_MONTH = "|".join(sorted({*FOREIGN_MONTHS, *MONTHS}, key=len, reverse=True))
_FOREIGN_MONTH = "|".join(sorted(FOREIGN_MONTHS, key=len, reverse=True))
_ZH_UNITS = {"天": "days", "日": "days", "周": "weeks", "个月": "months", "年": "years"}
_UNITS_ABROAD = {
    "tage": "days", "tagen": "days", "wochen": "weeks", "monate": "months", "monaten": "months",
    "jahre": "years", "jahren": "years", "jours": "days", "semaines": "weeks", "mois": "months",
    "ans": "years", "années": "years", "días": "days", "dias": "days", "semanas": "weeks",
    "meses": "months", "años": "years",
}  # fmt: skip
_UNIT_ABROAD = "|".join(sorted(_UNITS_ABROAD, key=len, reverse=True))
_ZH_QUARTERS = {"一": 1, "二": 2, "三": 3, "四": 4}
_DAYS_IN_WORDS = """
first ersten erster premier primero primo primeiro|second zweiten|third dritten|fourth vierten
|fifth fünften|sixth sechsten|seventh siebten|eighth achten|ninth neunten|tenth zehnten
|eleventh elften|twelfth zwölften|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth
|nineteenth|twentieth|twenty-first|twenty-second|twenty-third|twenty-fourth|twenty-fifth
|twenty-sixth|twenty-seventh|twenty-eighth|twenty-ninth|thirtieth|thirty-first
"""
DAYS_IN_WORDS = {
    word: number
    for number, words in enumerate(_DAYS_IN_WORDS.split("|"), 1)
    for word in words.split()
}
_DAY_IN_WORDS = "|".join(sorted(DAYS_IN_WORDS, key=len, reverse=True))


def _iso(day: str, month: str, year: str) -> str:
    name = month.lower().rstrip(".")
    number = int(month) if month.isdecimal() else FOREIGN_MONTHS.get(name) or MONTHS[name]
    return f" {year}-{number:02d}-{int(day):02d} "


def _without_year(day: str, month: str) -> str:
    name = month.lower()
    number = int(month) if month.isdecimal() else FOREIGN_MONTHS.get(name) or MONTHS[name]
    return f" {day} {NAMES[number - 1].title()} " if 1 <= number <= len(NAMES) else f"{month} {day}"


_ABROAD: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"(\d{4}) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]", lambda m: _iso(m[3], m[2], m[1])),
    (r"(\d{4}) ?年 ?(\d{1,2}) ?月(?:份)?", lambda m: f" {m[1]}-{int(m[2]):02d} "),
    (
        r"(\d{4}) ?年? ?第? ?([一二三四1-4]) ?季度",
        lambda m: f" Q{_ZH_QUARTERS.get(m[2], m[2])} {m[1]} ",
    ),
    (r"(\d{4}) ?年(?:度)?", lambda m: f" {m[1]} "),
    (r"(?<!\d)(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]", lambda m: _without_year(m[2], m[1])),
    (r"(?:过去|最近) ?(\d{1,3}) ?(天|日|周|个月|年)", lambda m: f" last {m[1]} {_ZH_UNITS[m[2]]} "),
    (r"今年", lambda _: " this year "),
    (r"去年", lambda _: " last year "),
    (r"本月|这个月", lambda _: " this month "),
    (r"上个?月", lambda _: " last month "),
    (r"自从?(?= ?\d)|从(?= ?\d)", lambda _: " since "),
    (r"([\d-]{4,10}) ? ?(?:年?以前|之前)", lambda m: f" before {m[1]} "),
    (r"([\d-]{4,10}) ? ?(?:年?以后|之后)", lambda m: f" after {m[1]} "),
    (r"(?<=\d) ? ?(?:以来|至今)", lambda _: " "),
    (r"(?<=\d) ? ?(?:到|至) ? ?(?=\d)", lambda _: " to "),
    (r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)", lambda m: _iso(m[1], m[2], m[3])),
    (
        rf"\b({_DAY_IN_WORDS})\s+(?:of\s+|de\s+)?(?!{MAY_VERB})(?=(?:{_ANY_MONTH})\b)",
        lambda m: f"{DAYS_IN_WORDS[m[1].lower()]} ",
    ),
    (
        rf"\b(\d{{1,2}})(?:\.|er)?\s+(?:de\s+)?({_ANY_MONTH})\b\.?\s+(?:de\s+|del\s+)?(\d{{4}})\b",
        lambda m: _iso(m[1], m[2], m[3]),
    ),
    (
        rf"\b(\d{{1,2}})(?:(?:\.|er)\s+({_ANY_MONTH})|\s+(?:de\s+)?({_FOREIGN_MONTH}))\b",
        lambda m: _without_year(m[1], m[2] or m[3]),
    ),
    (
        rf"\b({_FOREIGN_MONTH})\b\.?\s+(?:de\s+|del\s+)?(\d{{4}})\b",
        lambda m: f"{m[2]}-{FOREIGN_MONTHS[m[1].lower()]:02d}",
    ),
    (
        r"\b([1-4])(?:\.|er|e|º|°)\s*(?:quartal|trimestre)\s+(?:de\s+)?(\d{4})\b",
        lambda m: f"Q{m[1]} {m[2]}",
    ),
    (
        rf"\b(?:letzten|vergangenen|derniers|dernières|últimos|últimas|ultimos)\s+(\d{{1,3}})\s+"
        rf"({_UNIT_ABROAD})\b",
        lambda m: f"last {m[1]} {_UNITS_ABROAD[m[2].lower()]}",
    ),
    (
        rf"\b(\d{{1,3}})\s+(?:derniers|dernières)\s+({_UNIT_ABROAD})\b",
        lambda m: f"last {m[1]} {_UNITS_ABROAD[m[2].lower()]}",
    ),
    (r"\bdieses jahr\b|\bcette année\b|\beste año\b", lambda _: "this year"),
    (r"\bletztes jahr\b|\bl['\u2019]année dernière\b|\bel año pasado\b", lambda _: "last year"),
    (r"\bdiesen monat\b|\bce mois(?:-ci)?\b|\beste mes\b", lambda _: "this month"),
    (r"\bletzten monat\b|\ble mois dernier\b|\bel mes pasado\b", lambda _: "last month"),
    (
        r"\b(?:zwischen(?:\s+dem)?|entre(?:\s+(?:le|el))?)\s+([\d-]+)\s+(?:und|et|y)"
        r"(?:\s+(?:dem|le|el))?\s+([\d-]+)\b",
        lambda m: f"between {m[1]} and {m[2]}",
    ),
    (
        r"\b(?:von|vom|du|de|desde)(?:\s+(?:el|le))?\s+([\d-]{4,10})\s+"
        r"(?:bis|bis zum|au|à|al|a|hasta)(?:\s+(?:el|le))?\s+([\d-]{4,10})\b",
        lambda m: f"from {m[1]} to {m[2]}",
    ),
    (
        r"\b(?:seit(?:\s+dem)?|depuis(?:\s+le)?|desde(?:\s+el)?)\s+(?=\d|q[1-4]\b)",
        lambda _: "since ",
    ),
    (
        r"\b(?:bis(?:\s+zum)?|jusqu['\u2019](?:en|au)|hasta(?:\s+el)?)\s+(?=\d|q[1-4]\b)",
        lambda _: "until ",
    ),
    (r"\b(?:vor(?:\s+dem)?|avant(?:\s+le)?|antes\s+(?:de|del))\s+(?=\d{4})", lambda _: "before "),
    (r"\b(?:nach(?:\s+dem)?|après(?:\s+le)?|después\s+(?:de|del))\s+(?=\d{4})", lambda _: "after "),
    (r"\bbis\s+ende\s+(?=\d{4})", lambda _: "until the end of "),
    (r"\bseit\s+anfang\s+(?=\d{4})", lambda _: "since "),
    (r"\bseit\s+ende\s+(?=\d{4})", lambda _: "since the end of "),
    (
        r"\b(?:im(?:\s+jahr)?|am|en|el|le|nel|il|em)\s+(?=\d{4}|q[1-4]\b|this\b|last\b)",
        lambda _: "in ",
    ),
)
ABROAD = tuple((re.compile(pattern, re.IGNORECASE), made) for pattern, made in _ABROAD)
"""Patterns for times in other languages, each with a function that writes the match in English."""


def in_plain_dates(text: str) -> str:
    """Rewrites times in other languages and in words as the English that `POINT` matches."""
    for pattern, made in ABROAD:
        text = pattern.sub(made, text)
    return text


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
"""Seconds around this moment that 'now' may mean."""
MOST_UNITS = 400
"""The most days, weeks, months or years that a distance such as '30 days ago' may have."""


def hears_date(day: tuple[int, ...], text: str, numbers: Set[Decimal], now: datetime) -> bool:
    """Whether the text names this year, month and day, or its distance from today. The text is in
    lower case, and `numbers` are those in it."""
    try:
        wanted = date(*day)
    except ValueError:
        return False
    return _names_day(wanted, text, numbers, now) or wanted in set(_away(text, numbers, now))


def hears_time(clock: tuple[int, int], text: str, numbers: Set[Decimal], now: datetime) -> bool:
    """Whether the text, in lower case, names this hour and minute, on a clock of 12 or 24 hours."""
    hour, minute = clock
    if _has(text, _CLOCK.get(clock, "")):
        return True
    if _has(text, _NOW):
        moment = now.replace(hour=hour, minute=minute)
        return abs((moment - now).total_seconds()) <= NEAR_S
    exact = {Decimal(hour), Decimal((hour - 1) % 12 + 1)}
    if minute in _MINUTES and _has(text, _MINUTES[minute]):
        # In German, "halb vier" (half four) is half past three.
        return bool({*exact, Decimal((hour + 1) % 24), Decimal(hour % 12 + 1)} & numbers)
    return bool(exact & numbers) and (minute == 0 or Decimal(minute) in numbers)


def _names_day(wanted: date, text: str, numbers: Set[Decimal], now: datetime) -> bool:
    """Whether the text has the day, the month and the year. A year near now may be missing."""
    names = _MONTHS.split("|")[wanted.month - 1]
    has_month = Decimal(wanted.month) in numbers or _has(text, names)
    years = {int(number) for number in numbers if 1000 <= number <= 9999}
    has_year = wanted.year in years if years else abs(wanted.year - now.year) <= 1
    has_year = has_year or Decimal(wanted.year % 100) in numbers
    return has_month and has_year and Decimal(wanted.day) in numbers


def _away(text: str, numbers: Set[Decimal], now: datetime) -> Iterator[date]:
    """Yields the days that the text may mean by their distance from today."""
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
            yield from _shift(today, unit, count)
            yield from _shift(today, unit, -count)


def _shift(today: date, unit: str, count: int) -> Iterator[date]:
    """Yields the day that many units away. A month or a year gives its first and last day too."""
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
    """Whether the text has any of the words, as a whole word if its language writes spaces."""
    return any(
        re.search(rf"(?<!\w){word}(?!\w)", text) if word[0] < "\u3000" else word in text
        for word in words.split()
    )


UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12}
TO_DATE = {"y": "year", "q": "quarter", "m": "month"}
YEARS = ("year_1", "year_2", "year_3", "year_4", "year_5", "year_6")
FAR_PAST, FAR_FUTURE = date(1, 1, 1), date(9999, 1, 1)
"""The start and the end of a span that is open on that side."""


class Unclear(Exception):
    """The text names a time whose meaning is not certain."""


@dataclass(frozen=True, slots=True)
class Span:
    """A period from `start` up to, but not including, `end`."""

    start: date
    end: date

    @property
    def is_open(self) -> bool:
        return self.start == FAR_PAST or self.end == FAR_FUTURE


@dataclass(frozen=True, slots=True)
class Timed:
    """The time that a question names, and the question without the words for that time."""

    span: Span | None
    rest: str
    points: tuple[str, ...] = ()
    is_fiscal: bool = False


def find(question: str, today: date) -> Span | None:
    """Returns the span to fetch data for, or None if it is not clear. 'From 2024' may mean that
    year or all time since: the longer span is fetched."""
    try:
        return read(re.sub(r"\bfrom\b", "since", question, flags=re.IGNORECASE), today).span
    except Unclear:
        return None


def read(question: str, today: date) -> Timed:
    """Reads the time that a question names. Raises Unclear if its meaning is not certain."""
    text = WHOLE.sub(" ", in_plain_dates(question.replace(MARK, " ")))
    points = list(POINT.finditer(text))
    if not points:
        return Timed(None, text)
    marked = POINT.sub(MARK, text)
    try:
        span, place = _place_in_time(points, marked, today)
    except (ValueError, OverflowError):
        raise Unclear from None
    rest = f"{marked[: place.start()]} {marked[place.end() :]}"
    is_fiscal = any(point["fiscal"] for point in points)
    return Timed(span, rest, tuple(point[0] for point in points), is_fiscal)


def left_over(text: str) -> list[str]:
    """Returns the words of time in a text from which all understood times were removed."""
    return [match[0] for match in LEFT_OVER.finditer(text)]


def period(text: str) -> Span | None:
    """Reads a text that is nothing but a year, half, quarter, month or day; else returns None."""
    match = POINT.fullmatch(in_plain_dates(text).strip())
    if match is None or match["slashed"]:
        return None
    try:
        return _span_of_date(match, _year(match))
    except (Unclear, ValueError):
        return None


def read_slashed(text: str) -> tuple[int, int, int] | None:
    """Returns the three numbers of a date such as 3/5/2025, which may be in March or in May."""
    match = POINT.fullmatch(text.strip())
    if match is None or not match["slashed"]:
        return None
    first, second, year = map(int, re.findall(r"\d+", match["slashed"]))
    return first, second, year


def _place_in_time(
    points: list[re.Match[str]], marked: str, today: date
) -> tuple[Span, re.Match[str]]:
    """Returns the span that one or two points give, and the match of the words for it."""
    if len(points) == 2:
        return _between(points, marked, today)
    if len(points) > 2:
        raise Unclear
    span = _span_of(points[0], _year(points[0]), today)
    for side, pattern in SIDES.items():
        place = pattern.search(marked)
        if place is not None:
            # 'The month before March 2025' is a single month, not all time before it.
            _check(marked, place, TROUBLE | set(UNITS.split("|")))
            return _on_side(span, side), place
    place = WITHIN.search(marked)
    if place is None:
        raise Unclear
    _check(marked, place, TROUBLE)
    return span, place


def _between(points: list[re.Match[str]], marked: str, today: date) -> tuple[Span, re.Match[str]]:
    """Returns the span from one point to another. If only one of them has a year, both get it."""
    place = RANGE.search(marked)
    if place is None or any(point["count"] or point["past_unit"] for point in points):
        raise Unclear
    _check(marked, place, TROUBLE)
    years = [_year(point) for point in points]
    first = _span_of(points[0], years[0] or years[1], today)
    last = _span_of(points[1], years[1] or years[0], today)
    if first.start >= last.end:
        raise Unclear
    return Span(first.start, last.end), place


def _check(marked: str, place: re.Match[str], trouble: frozenset[str]) -> None:
    """Raises Unclear if a word of `trouble` stands right before the match."""
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


def _span_of(match: re.Match[str], year: int | None, today: date) -> Span:
    """Returns the span of a point. Goes by the calendar: last month is from its first to its last
    day."""
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
    return _span_of_date(match, year)


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


def _span_of_date(match: re.Match[str], year: int | None) -> Span:
    if match["day"]:
        return _day(date.fromisoformat(match["day"]))
    if match["month"]:
        of, month = map(int, match["month"].split("-"))
        return _months(of, month, 1)
    if match["slashed"]:
        return _span_of_slashed(match["slashed"])
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


def _span_of_slashed(text: str) -> Span:
    """Reads a date such as 25/3/2025. Raises Unclear if both numbers may be the month."""
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
