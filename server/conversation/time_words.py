"""The words in which questions and tables speak of time, as patterns."""

import re

from server.flows.numerals import UNITS as UNITS_IN_WORDS

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
