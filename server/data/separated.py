"""Files of separated values: what separates them, and which sign stands before their decimals."""

import csv
import re
from collections import Counter
from collections.abc import Iterable

DELIMITERS = ",;\t|"
BEFORE = r"(?:^|;)[^;\w]*"
DECIMAL_COMMA = re.compile(BEFORE + r"\d[\d.]*,\d+[^;\w]*(?:;|$)")
THOUSANDS_COMMA = re.compile(BEFORE + r"\d{1,3},\d{3}[.,]\d")


def delimiter(start: str) -> str:
    """By the file's first lines. Nothing else of what a sniffer guesses holds for all of them."""
    try:
        return csv.Sniffer().sniff(start, DELIMITERS).delimiter
    except csv.Error:
        return max(DELIMITERS, key=lambda one: _alike(start, one))


def _alike(start: str, sign: str) -> int:
    """How many lines have it equally often."""
    counts = Counter(line.count(sign) for line in start.splitlines() if sign in line)
    return max(counts.values(), default=0)


def decimal_sign(lines: Iterable[str], separated_by: str) -> str:
    """Semicolons leave the comma free for decimals, unless a number tells otherwise."""
    sign = "."
    if separated_by == ";":
        for line in lines:
            if THOUSANDS_COMMA.search(line):
                return "."
            if DECIMAL_COMMA.search(line):
                sign = ","
    return sign
