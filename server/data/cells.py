"""Decides which cells of a table are amounts, and reads them. Finds a CSV file's separators."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from decimal import Decimal

DELIMITERS = ",;\t|"
BEFORE = r"(?:^|;)[^;\w]*"
DECIMAL_COMMA = re.compile(BEFORE + r"\d[\d.]*,\d+[^;\w]*(?:;|$)")
THOUSANDS_COMMA = re.compile(BEFORE + r"\d{1,3},\d{3}[.,]\d")


def delimiter(start: str) -> str:
    """Guesses the separator between cells from the start of a CSV file. Of what `csv.Sniffer`
    guesses, only the delimiter is reliable enough to be used."""
    try:
        return csv.Sniffer().sniff(start, DELIMITERS).delimiter
    except csv.Error:
        return max(DELIMITERS, key=lambda sign: _count_alike(start, sign))


def _count_alike(start: str, sign: str) -> int:
    """Counts the lines that agree on how often the sign occurs."""
    counts = Counter(line.count(sign) for line in start.splitlines() if sign in line)
    return max(counts.values(), default=0)


def decimal_sign(lines: Iterable[str], separated_by: str) -> str:
    """Returns "." or ",", the sign before decimals in a CSV file with this separator. Only
    semicolons between cells leave the comma free for decimals."""
    sign = "."
    if separated_by == ";":
        for line in lines:
            if THOUSANDS_COMMA.search(line):
                return "."
            if DECIMAL_COMMA.search(line):
                sign = ","
    return sign


DASHES = frozenset({"-", "--", "\u2014", "\u2013"})
MISSING = DASHES | {"", "n/a", "na", "nan", "none", "null"}
CURRENCIES = "$\u20ac\u00a3\u00a5\u20b9"
SCALES = {
    "k": 3, "thousand": 3, "tsd": 3, "m": 6, "mm": 6, "mn": 6, "mio": 6, "million": 6,
    "b": 9, "bn": 9, "mrd": 9, "billion": 9, "t": 12, "tn": 12, "trillion": 12,
    "\u4e07": 4, "\u4ebf": 8,
}  # fmt: skip
"""Powers of ten that may follow an amount: $3.4T, 1,2 Mrd. €, 3.5亿."""
SIGN = rf"[{CURRENCIES}]"
NUMBER = re.compile(
    rf"^[-+]?({SIGN}\s?)?((\d{{1,3}}(,\d{{3}})+|\d{{1,2}}(,\d{{2}})+,\d{{3}}|\d+)(\.\d*)?|\.\d+)(e[-+]?\d{{1,2}})?\s?%?$",
    re.IGNORECASE,
)
SCALED = re.compile(rf"(?<=[\d.])\s?({'|'.join(sorted(SCALES, key=len, reverse=True))})\.?$", re.I)
MONEY_BEHIND = re.compile(rf"(?<=[\w.])\s?({SIGN})$")
GROUPED = re.compile(r"(?<=\d)[\u00a0\u202f'\u2019](?=\d{3}(?!\d))")
"""Thousands separators other than the comma."""
MEASURED = re.compile(
    r"(?P<amount>[-+\u2212]?\d(?:[\d.,'\u2019\u00a0\u202f ]*\d)?)"
    r"[ \u00a0\u202f](?P<measure>[^\W\d_]{1,12}(?:/[^\W\d_]{1,12})?)"
)
"""An amount followed by its unit of measure: 180,200 t, 4.2 days, 12.5 USD/t."""
SHORT_MEASURES = frozenset({"t", "m", "mm", "b"})
"""Tonnes, metres, millimetres, bytes. As powers of ten, these are joined or in capitals."""
SEPARATED = re.compile(r"\d[.,'\u2019\u00a0\u202f ]\d")
LONGEST = 30
"""A longer text, in characters, is neither an amount nor a missing value."""
MOST_DIGITS = 18
"""A whole number with more digits does not fit into a database's integer: it is an identifier."""
SWAPPED = str.maketrans(",.", ".,")
"""Swaps points and commas, for `str.translate`."""


def is_missing(text: str) -> bool:
    """Whether the text stands for no value: "n/a", or a dash, also with a unit as in "$-"."""
    plain = text.strip().lower() if len(text) < LONGEST else text
    return plain in MISSING or (len(text) < LONGEST and plain.strip(f"{CURRENCIES}% ") in DASHES)


def reads_as_number(text: str, decimal: str = ".") -> bool:
    """Whether the text is an amount, such as "$3.4T", "(1,200)" or "12 %"."""
    if len(text) >= 2 * LONGEST:
        return False
    plain, power = _plain(text, decimal)
    # A leading zero marks an identifier, not an amount.
    if len(plain) >= LONGEST or re.match(r"^0\d", plain) or not NUMBER.match(plain):
        return False
    # 3M is a company or a quarter of a year; $3M and 3.0M are amounts.
    if power and not unit(plain) and "." not in plain:
        return False
    return not _is_whole(plain) or sum(sign.isdigit() for sign in plain) <= MOST_DIGITS


def as_number(text: str, decimal: str = ".") -> float:
    """Returns the amount in a text for which `reads_as_number` is true."""
    plain, power = _plain(text, decimal)
    digits = re.sub(r"[^\d.eE+-]", "", plain)
    if power:
        scaled = Decimal(digits) * 10**power
        number = int(scaled) if scaled == scaled.to_integral_value() else float(scaled)
    else:
        number = int(digits) if _is_whole(digits) else float(digits)
    return -abs(number) if _is_bracketed(text.strip()) else number


def unit(text: str) -> str:
    """Returns the currency or percent sign of an amount, or ""."""
    return next((sign for sign in text if sign in CURRENCIES + "%"), "")


def is_shortened(text: str) -> bool:
    """Whether the amount ends in a letter or a word for its power of ten, as in $3.4T."""
    return (
        len(text) < LONGEST and SCALED.search(MONEY_BEHIND.sub("", text.strip(" ()"))) is not None
    )


def find_measure(texts: Sequence[str]) -> tuple[str, list[str]] | None:
    """Returns the unit of measure that all these amounts share, and the amounts without it. Returns
    None unless one of them has decimals or thousands: "10 years" may be a bond's name."""
    found = [MEASURED.fullmatch(text.strip()) for text in texts if len(text) < 2 * LONGEST]
    parts = [part for part in found if part is not None]
    measures = {part["measure"] for part in parts}
    if len(parts) < len(texts) or len(measures) != 1:
        return None
    (measure,) = measures
    amounts = [part["amount"] for part in parts]
    is_power = measure.lower() in SCALES and measure not in SHORT_MEASURES
    if is_power or not any(map(SEPARATED.search, amounts)):
        return None
    return measure, amounts


def is_one_unit(units: Set[str]) -> bool:
    """Whether amounts with these signs may be added. With a currency, some may have no sign."""
    return len(units - {""}) <= 1 and units != {"", "%"}


def _plain(text: str, decimal: str) -> tuple[str, int]:
    """Returns an amount in the form that `NUMBER` matches, and its power of ten."""
    text = GROUPED.sub("", text.strip().replace("\u2212", "-"))
    if decimal == "," and "," in text:
        text = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "", text)
    if _is_bracketed(text):
        text = re.sub(r"[()]", "", text)
    text = MONEY_BEHIND.sub("", text) if (behind := MONEY_BEHIND.search(text)) else text
    scale = SCALED.search(text)
    text = text[: scale.start()] if scale else text
    text = text.translate(SWAPPED) if decimal == "," else text
    text = f"{behind[1]}{text}" if behind and not unit(text) else text
    text = re.sub(rf"^({SIGN})\s?-", r"-\1", text)
    return re.sub(rf"^([-+]?{SIGN})\s+", r"\1", text), SCALES[scale[1].lower()] if scale else 0


BRACKETED = re.compile(rf"^{SIGN}?\s*\([^()]*\)\s?%?$")


def _is_bracketed(text: str) -> bool:
    """Whether the amount is in brackets, which is how accountants write negative numbers."""
    return BRACKETED.match(text) is not None


def _is_whole(text: str) -> bool:
    return not set(".eE") & set(text)
