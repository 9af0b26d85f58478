"""Which cells of a table are amounts: one rule, for a plugin's CSV files and a dashboard's rows."""

import re
from collections.abc import Set

MISSING = frozenset({"", "-", "--", "n/a", "na", "nan", "none", "null", "\u2014", "\u2013"})
CURRENCIES = "$\u20ac\u00a3\u00a5"
NUMBER = re.compile(
    rf"^[-+]?[{CURRENCIES}]?((\d{{1,3}}(,\d{{3}})+|\d+)(\.\d*)?|\.\d+)(e[-+]?\d{{1,2}})?%?$",
    re.IGNORECASE,
)
LONGEST = 30
MOST_DIGITS = 18
"""A longer row of digits fits no whole number of a database: it is a name."""
SWAPPED = str.maketrans(",.", ".,")
"""From one way to write decimals to the other."""


def is_missing(text: str) -> bool:
    return len(text) < LONGEST and text.strip().lower() in MISSING


def reads_as_number(text: str, decimal: str = ".") -> bool:
    if len(text) >= 2 * LONGEST:
        return False
    plain = _plain(text, decimal)
    # A leading zero marks an identifier, not an amount.
    if len(plain) >= LONGEST or re.match(r"^0\d", plain) or not NUMBER.match(plain):
        return False
    return not _is_whole(plain) or sum(one.isdigit() for one in plain) <= MOST_DIGITS


def as_number(text: str, decimal: str = ".") -> float:
    """Of a text that reads as one."""
    digits = re.sub(r"[^\d.eE+-]", "", _plain(text, decimal))
    number = int(digits) if _is_whole(digits) else float(digits)
    return -abs(number) if _is_bracketed(text.strip()) else number


def unit(text: str) -> str:
    """The sign of a currency or of percent in a text that reads as a number."""
    return next((one for one in text if one in CURRENCIES + "%"), "")


def is_one_unit(units: Set[str]) -> bool:
    """Whether amounts with these signs may be added; beside a currency's, some may have none."""
    return len(units - {""}) <= 1 and units != {"", "%"}


def _plain(text: str, decimal: str) -> str:
    text = text.strip()
    text = text[1:-1] if _is_bracketed(text) else text
    return text.translate(SWAPPED) if decimal == "," else text


def _is_bracketed(text: str) -> bool:
    """As accountants write what is below zero."""
    return text.startswith("(") and text.endswith(")")


def _is_whole(text: str) -> bool:
    return not set(".eE") & set(text)
