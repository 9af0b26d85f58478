"""Finds the numbers in a text, in digits and in English, German and Chinese words."""

import re
from collections.abc import Iterator
from decimal import Decimal

_UNITS = """
zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12
thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20
thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90
ein:1 eins:1 zwei:2 drei:3 vier:4 fünf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 zwölf:12
sechzehn:16 siebzehn:17 zwanzig:20 dreißig:30 dreissig:30 vierzig:40 fünfzig:50 sechzig:60
siebzig:70 achtzig:80 neunzig:90 零:0 \u3007:0 一:1 二:2 两:2 三:3 四:4 五:5 六:6 七:7 八:8 九:9
"""
_SCALES = """
hundred:100 thousand:1000 million:1000000 hundert:100 tausend:1000 millionen:1000000
十:10 百:100 千:1000 万:10000 亿:100000000
"""


def _read(table: str) -> dict[str, Decimal]:
    return {word: Decimal(value) for word, value in (pair.split(":") for pair in table.split())}


UNIT_WORDS, SCALES = _read(_UNITS), _read(_SCALES)
ORDINALS = _read("first:1 second:2 third:3")
JOINTS = frozenset({"and", "und"})
ARTICLE = "ein"
"""In German also the indefinite article: alone it is not a number."""
OTHER = ""
"""Stands for a word that is not part of a number."""
_ATOM = "|".join(sorted({*UNIT_WORDS, *SCALES, *JOINTS}, key=len, reverse=True))
ATOMS, COMPOUND = re.compile(_ATOM), re.compile(f"(?:{_ATOM})+")
DIGITS = re.compile("[零〇一二两三四五六七八九]{2,}")
TOKEN = re.compile(
    r"[0-9]+(?:[.,][0-9]+)*|[零〇一二两三四五六七八九十百千万亿]+|[^\W\d_\u3400-\u9fff]+|[\u3400-\u9fff]"
)
THOUSANDS = re.compile(r"(?<=\d)[,.'\u2019_ \u00a0\u202f](?=\d{3}(?!\d))")
GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(\1\d{3})*")


def numbers_in(text: str) -> set[Decimal]:
    """Returns every number that the text, in lower case, may contain."""
    found: set[Decimal] = set()
    for version in {text, THOUSANDS.sub("", text)}:
        for token in TOKEN.findall(version):
            found |= _alone(token)
        found |= set(_in_words(version))
    return found


def _alone(token: str) -> set[Decimal]:
    """Returns the numbers of a single token: 12.5 and 12,5 are one number, 1,2,3 are three."""
    if token in ORDINALS:
        return {ORDINALS[token]}
    if DIGITS.fullmatch(token):
        return {Decimal("".join(str(UNIT_WORDS[digit]) for digit in token))}
    if not token[0].isdecimal():
        return set()
    parts = re.split("[.,]", token)
    found = {Decimal(".".join(parts))} if len(parts) <= 2 else set()
    if ("," in token or len(parts) > 2) and not GROUPED.fullmatch(token):
        found |= {Decimal(part) for part in parts}
    return found


def _in_words(text: str) -> Iterator[Decimal]:
    """Yields numbers in words, also of several words: two thousand, 3 million, 二十五."""
    made: list[Decimal] = []
    for atom in _atoms(text):
        if atom in SCALES:
            made = _multiply(made, SCALES[atom])
        elif atom not in JOINTS:
            value = _value(atom)
            if made and (value is None or not _goes_on(made[-1], value)):
                yield sum(made, Decimal())
                made = []
            made += [] if value is None else [value]
    if made:
        yield sum(made, Decimal())


def _atoms(text: str) -> Iterator[str]:
    """Yields the words that make up numbers, and `OTHER` for every other word."""
    for token in TOKEN.findall(text):
        if token[0].isdecimal():
            yield token
        elif token != ARTICLE and COMPOUND.fullmatch(token):
            yield from ATOMS.findall(token)
        else:
            yield OTHER


def _value(atom: str) -> Decimal | None:
    if atom in UNIT_WORDS:
        return UNIT_WORDS[atom]
    parts = re.split("[.,]", atom)
    return Decimal(".".join(parts)) if atom and len(parts) <= 2 else None


def _goes_on(last: Decimal, value: Decimal) -> bool:
    """Whether the value continues the same number: twenty-five, neun-zehn, hundred and one."""
    low, high = sorted((last, value))
    in_tens = 0 < low < 10 <= high < 100 and high % 10 == 0
    return in_tens or (last > value and last % 100 == 0)


def _multiply(made: list[Decimal], scale: Decimal) -> list[Decimal]:
    """Multiplies the numbers right before the scale, as far as they are smaller, by it."""
    kept = list(made)
    counted = Decimal()
    while kept and kept[-1] < scale:
        counted += kept.pop()
    return [*kept, (counted or 1) * scale]
