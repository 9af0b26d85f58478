"""The words in which questions and tables speak of time, as patterns."""

import re
from collections.abc import Callable

from server.language.numbers import UNITS as UNITS_IN_WORDS

NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
MONTHS = {name: number for number, name in enumerate(NAMES, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
NUMBERS = {word: int(value) for word, value in UNITS_IN_WORDS.items() if value}
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
    | (?P<part_3>{PART})(?:[\s-]*(?:of\s+)?(?P<year_3>\d{{4}}))?
    | (?P<year_4>\d{{4}})[\s-]?(?P<part_4>[qh][1-4])
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
MARK = "\x00"
"""Stands where a point in time was."""


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
"""Before a point in time they say something else than that it lies in it."""
PASSED_OVER = frozenset({"of", "the", "in", "on", "for", "during"})
WHOLE = re.compile(
    r"(?:\b(?:over|across|in|for|during|of|from|through|throughout)\s+)?"
    r"(?:\bthe\s+(?:whole|entire|full|complete)|\ball(?:\s+of)?(?:\s+the)?)\s+(?:available\s+)?"
    r"(?:period|time|range|history|days|weeks|months|quarters|years)\b|\ball-time\b"
    rf"|\bsince\s+(?:the\s+)?(?:first|beginning|start|inception)(?:\s+(?:{UNITS}))?\b(?!\s+of\b)",
    re.IGNORECASE,
)
"""What takes in every row."""

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

_FOREIGN_MONTHS = """
januar jänner janvier enero|februar février fevrier febrero|märz maerz mrz mars marzo|avril abril
|mai mayo|juni juin junio|juli juillet julio|août aout agosto|septembre septiembre setiembre
|oktober okt octobre octubre|novembre noviembre|dezember dez décembre decembre diciembre
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


def _iso(day: str, month: str, year: str) -> str:
    name = month.lower().rstrip(".")
    number = int(month) if month.isdecimal() else FOREIGN_MONTHS.get(name) or MONTHS[name]
    return f" {year}-{number:02d}-{int(day):02d} "


_ABROAD: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"(\d{4}) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]", lambda m: _iso(m[3], m[2], m[1])),
    (r"(\d{4}) ?年 ?(\d{1,2}) ?月(?:份)?", lambda m: f" {m[1]}-{int(m[2]):02d} "),
    (
        r"(\d{4}) ?年? ?第? ?([一二三四1-4]) ?季度",
        lambda m: f" Q{_ZH_QUARTERS.get(m[2], m[2])} {m[1]} ",
    ),
    (r"(\d{4}) ?年(?:度)?", lambda m: f" {m[1]} "),
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
        rf"\b(\d{{1,2}})(?:\.|er)?\s+(?:de\s+)?({_ANY_MONTH})\b\.?\s+(?:de\s+|del\s+)?(\d{{4}})\b",
        lambda m: _iso(m[1], m[2], m[3]),
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
    (r"\b(?:im(?:\s+jahr)?|am|en|el|le)\s+(?=\d{4}|q[1-4]\b|this\b|last\b)", lambda _: "in "),
)
ABROAD = tuple((re.compile(pattern, re.IGNORECASE), made) for pattern, made in _ABROAD)
"""Times as German, French, Spanish and Chinese write them, and how they are said here."""


def in_plain_dates(text: str) -> str:
    """The text with its times written as this module reads them; its other words stay."""
    for pattern, made in ABROAD:
        text = pattern.sub(made, text)
    return text
