"""Which cells of a table are amounts: one rule, for a plugin's CSV files and a dashboard's rows."""

import re

MISSING = frozenset({"", "-", "--", "n/a", "na", "nan", "none", "null", "\u2014", "\u2013"})
NUMBER = re.compile(
    r"^\(?[-+]?[$\u20ac\u00a3\u00a5]?((\d{1,3}(,\d{3})+|\d+)(\.\d*)?|\.\d+)(e[-+]?\d{1,2})?%?\)?$",
    re.IGNORECASE,
)
LONGEST = 30
MOST_DIGITS = 18
"""A longer row of digits fits no whole number of a database: it is a name."""


def is_missing(text: str) -> bool:
    return len(text) < LONGEST and text.strip().lower() in MISSING


def reads_as_number(text: str) -> bool:
    if len(text) >= 2 * LONGEST:
        return False
    text = text.strip()
    # A leading zero marks an identifier, not an amount.
    if len(text) >= LONGEST or re.match(r"^0\d", text) or not NUMBER.match(text):
        return False
    return not _is_whole(text) or sum(one.isdigit() for one in text) <= MOST_DIGITS


def as_number(text: str) -> float:
    """Of a text that reads as one."""
    text = text.strip()
    negative = text.startswith("(") and text.endswith(")")
    plain = re.sub(r"[^\d.eE+-]", "", text)
    number = int(plain) if _is_whole(plain) else float(plain)
    return -number if negative else number


def _is_whole(text: str) -> bool:
    return not set(".eE") & set(text)
