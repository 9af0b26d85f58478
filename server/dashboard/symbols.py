"""Company names and ticker symbols: what a question calls Tesla is TSLA."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from server.dashboard.tickers import tickers
from server.system.paths import RESOURCES

FORMS = frozenset({
    "ab", "ag", "asa", "class", "co", "company", "corp", "corporation", "group", "holding",
    "holdings", "inc", "limited", "ltd", "nv", "n", "v", "oyj", "plc", "sa", "s", "a", "se", "spa",
    "the",
})  # fmt: skip
"""Words of a company's full name that people leave out."""
WORD = re.compile("[^\\W_]+(?:['\u2019&.-][^\\W_]+)*")
ELISION = re.compile(r"\b([dl]|qu)['\u2019](?=[A-Z])")
"""French writes d'Apple."""
TIME = re.compile(r"q[1-4]|h[12]|\d{4}")
"""A quarter is no company, though one is named Q2."""
ORDINARY = frozenset({"now", "next", "news"})
"""Alone they name no company, also where they begin a sentence: 'Now as a chart'."""
PAIR = re.compile(r"\b[A-Z]{2,6}[-/][A-Z]{3,4}\b")
LONGEST_NAME = 6
"""In words."""
MOST_READ = 10_000


@dataclass(frozen=True, slots=True)
class Named:
    """A company, coin or pair that a text speaks of: the text's own words, and the symbol."""

    words: str
    symbol: str
    also: tuple[str, ...] = ()
    """Other symbols of the same name: GOOG and GOOGL."""

    def is_meant_by(self, value: str) -> bool:
        plain = _without_marks(value)
        return any(plain == _without_marks(one) for one in (self.symbol, *self.also))


@dataclass(frozen=True, slots=True)
class _Table:
    symbols: frozenset[str]
    by_words: dict[tuple[str, ...], list[str]]
    by_script: dict[str, str]
    """Names in scripts that put no space between words."""


def find_symbols(text: str, known: Collection[str] = ()) -> list[Named]:
    """What the text names, in its order. `known`: symbols that the dashboard shows."""
    text = text[:MOST_READ]
    found = [Named(pair[0], pair[0].replace("/", "-")) for pair in PAIR.finditer(text)]
    found += _find_names(text)
    pairs = {part for pair in PAIR.finditer(text) for part in re.split("[-/]", pair[0])}
    table = _read_table()
    for ticker in tickers(text):
        is_real = ticker in table.symbols or ticker in known or f"${ticker}" in text
        if ticker not in pairs and (is_real or len(ticker) > 2):
            found.append(Named(ticker, ticker))
    places = sorted(found, key=lambda one: text.find(one.words))
    return list({one.symbol: one for one in reversed(places)}.values())[::-1]


def name_of(symbol: str) -> str:
    """The shortest name of it; empty when there is none in the table."""
    names = [" ".join(words) for words, all_ in _read_table().by_words.items() if symbol in all_]
    return min(names, key=len, default="")


def _find_names(text: str) -> Iterator[Named]:
    table = _read_table()
    for name, symbol in table.by_script.items():
        if name in text:
            yield Named(name, symbol)
    text = ELISION.sub(r"\1 ", text)
    words = list(WORD.finditer(text))
    at = 0
    while at < len(words):
        found = _longest_name(words[at : at + LONGEST_NAME], table)
        if found is None:
            at += 1
            continue
        count, symbols = found
        said = text[words[at].start() : words[at + count - 1].end()]
        yield Named(re.sub("['\u2019]s$", "", said), symbols[0], tuple(symbols[1:]))
        at += count


def _longest_name(words: list[re.Match[str]], table: _Table) -> tuple[int, list[str]] | None:
    """A name begins with a capital, or with a digit as 3M does."""
    if not words or words[0][0][:1].islower():
        return None
    for count in range(len(words), 0, -1):
        key = tuple(_plain_word(word[0]) for word in words[:count])
        is_plain = words[0][0].lower() in ORDINARY or TIME.fullmatch(key[0])
        if count == 1 and is_plain:
            continue
        if symbols := table.by_words.get(key):
            return count, symbols
    return None


def _without_marks(symbol: str) -> str:
    """BTC/USD, BTC-USD and BTCUSD are one."""
    return re.sub(r"[-/$^=.]", "", symbol.strip().upper())


def _plain_word(word: str) -> str:
    return word.lower().replace("\u2019", "'").removesuffix("'s").replace(".", "")


@cache
def _read_table() -> _Table:
    symbols: set[str] = set()
    by_words: dict[tuple[str, ...], list[str]] = {}
    by_script: dict[str, str] = {}
    for line in (RESOURCES / "symbols.tsv").read_text("utf-8").splitlines():
        symbol, tab, name = line.partition("\t")
        if not tab:
            continue
        symbols.add(symbol)
        if not name.isascii() and not any(one.isascii() for one in name):
            by_script[name] = symbol
            continue
        words = tuple(_plain_word(word) for word in WORD.findall(name))
        by_words.setdefault(words, []).append(symbol)
        full = words
        while len(words) > 1 and words[-1] in FORMS:
            words = words[:-1]
        if len("".join(words)) > 1 and words != full:
            by_words.setdefault(words, []).append(symbol)
    return _Table(frozenset(symbols), by_words, by_script)
