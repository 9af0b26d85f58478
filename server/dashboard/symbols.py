"""Finds companies and coins in a text, and their ticker symbols: Tesla is TSLA."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from server.dashboard.tickers import tickers
from server.language.words import language_of
from server.system.paths import RESOURCES

FORMS = frozenset({
    "ab", "ag", "asa", "class", "co", "company", "corp", "corporation", "group", "holding",
    "holdings", "inc", "limited", "ltd", "nv", "n", "v", "oyj", "plc", "sa", "s", "a", "se", "spa",
    "the",
})  # fmt: skip
"""Words of a company's full name that people leave out."""
WORD = re.compile("[^\\W_]+(?:['\u2019&.-][^\\W_]+)*")
ELISION = re.compile(r"\b([dl]|qu)['\u2019](?=[A-Z])")
"""A French article or preposition before a name, as in d'Apple."""
TIME = re.compile(r"q[1-4]|h[12]|\d{4}")
"""A quarter, half or year. Q2 is also a company, but a question that says Q2 means the quarter."""
NEVER = frozenset({"now", "next", "news"})
"""Words that are also companies, but never mean one when alone: "Now as a chart"."""
ORDINARY_TEXT = """
admiral ball block booking box cactus canon carnival city compass continental cosmos deluxe diploma
disco domino employers enact evolution frontdoor gates harmonic hexagon hub integer interface
investor match noble norma orange organon partners phoenix plexus pool prog progressive radian
rational recruit sage screen sharp shift southern stellar stride tapestry target universal waters
workday
"""
ORDINARY = frozenset(ORDINARY_TEXT.split())
"""Everyday words that are also names of companies. Where any word has a capital, they mean the
company only if something else shows it: Target's, Target Corp, or a dashboard with TGT."""
ENDS_OF_SENTENCES = frozenset(".!?:;\u2026\n\u00bf\u00a1\u3002\uff01\uff1f\uff1a\uff1b")
LEGAL = frozenset({
    "ab", "ag", "asa", "co", "corp", "corporation", "inc", "ltd", "nv", "oyj", "plc", "se", "spa",
})  # fmt: skip
PAIR = re.compile(r"\b[A-Z]{2,6}[-/][A-Z]{3,4}\b")
LONGEST_NAME = 6
"""The most words of a name."""
MOST_READ = 10_000


@dataclass(frozen=True, slots=True)
class Named:
    """A company, coin or currency pair that a text names: the text's own words, and the symbol."""

    words: str
    symbol: str
    also: tuple[str, ...] = ()
    """Other symbols of the same company: GOOG and GOOGL."""

    def is_meant_by(self, value: str) -> bool:
        plain = _without_marks(value)
        return any(plain == _without_marks(one) for one in (self.symbol, *self.also))


@dataclass(frozen=True, slots=True)
class _Table:
    symbols: frozenset[str]
    by_words: dict[tuple[str, ...], list[str]]
    by_script: dict[str, str]
    """Maps names in scripts without spaces to their symbols."""


def find_symbols(text: str, known: Collection[str] = ()) -> list[Named]:
    """Returns what the text names, in its order. `known` are symbols that the dashboard shows."""
    text = text[:MOST_READ]
    found = [Named(pair[0], pair[0].replace("/", "-")) for pair in PAIR.finditer(text)]
    named = list(_find_names(text, known))
    found += named
    rest = text
    for one in named:
        # A word of a name in capitals is not a symbol: MATCH GROUP names one company.
        rest = rest.replace(one.words, " ")
    pairs = {part for pair in PAIR.finditer(text) for part in re.split("[-/]", pair[0])}
    table = _read_table()
    for ticker in tickers(rest):
        is_real = ticker in table.symbols or ticker in known or f"${ticker}" in text
        if ticker not in pairs and (is_real or len(ticker) > 2):
            found.append(Named(ticker, ticker))
    places = sorted(found, key=lambda one: text.find(one.words))
    return list({one.symbol: one for one in reversed(places)}.values())[::-1]


def name_of(symbol: str) -> str:
    """Returns the shortest name of a symbol, or "" if it is not in the table."""
    names = [" ".join(words) for words, all_ in _read_table().by_words.items() if symbol in all_]
    return min(names, key=len, default="")


def _find_names(text: str, known: Collection[str]) -> Iterator[Named]:
    table = _read_table()
    for name, symbol in table.by_script.items():
        if name in text:
            yield Named(name, symbol)
    text = ELISION.sub(r"\1 ", text)
    words = list(WORD.finditer(text))
    at, are_all_capital = 0, language_of(text) == "German"
    while at < len(words):
        found = _longest_name(words[at : at + LONGEST_NAME], table)
        if found is None:
            at += 1
            continue
        count, symbols = found
        is_everyday = count == 1 and _is_everyday(words[at : at + 2], symbols, known)
        if is_everyday and (are_all_capital or _has_plain_capital(text, words, at)):
            at += 1
            continue
        said = text[words[at].start() : words[at + count - 1].end()]
        yield Named(re.sub("['\u2019]s$", "", said), symbols[0], tuple(symbols[1:]))
        at += count


def _is_everyday(
    words: Sequence[re.Match[str]], symbols: Collection[str], known: Collection[str]
) -> bool:
    """Whether the word is an everyday word, and nothing shows that the company is meant."""
    word, *following = (one[0].lower() for one in words)
    is_owner = word.replace("\u2019", "'").endswith("'s")
    if _plain_word(word) not in ORDINARY or is_owner or not LEGAL.isdisjoint(following):
        return False
    shown = {_without_marks(one) for one in known}
    return shown.isdisjoint(map(_without_marks, symbols))


def _has_plain_capital(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    """Whether the word begins a sentence or is among other capitals, as in a title."""
    if _begins(text, words, at):
        return True
    beside = [place for place in (at - 1, at + 1) if 0 <= place < len(words)]
    return any(
        words[place][0].istitle()
        and not _begins(text, words, place)
        and _between(text, words, max(place, at)).isspace()
        for place in beside
    )


def _begins(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    return at == 0 or not ENDS_OF_SENTENCES.isdisjoint(_between(text, words, at))


def _between(text: str, words: Sequence[re.Match[str]], at: int) -> str:
    """Returns the text between a word and the one before it."""
    return text[words[at - 1].end() : words[at].start()]


def _longest_name(words: list[re.Match[str]], table: _Table) -> tuple[int, list[str]] | None:
    """Returns how many words the longest name here has, and its symbols. It begins with a capital
    or with a digit, as 3M does."""
    if not words or words[0][0][:1].islower():
        return None
    for count in range(len(words), 0, -1):
        key = tuple(_plain_word(word[0]) for word in words[:count])
        is_plain = words[0][0].lower() in NEVER or TIME.fullmatch(key[0])
        if count == 1 and is_plain:
            continue
        if symbols := table.by_words.get(key):
            return count, symbols
    return None


def _without_marks(symbol: str) -> str:
    """Returns the symbol without marks: BTC/USD, BTC-USD and BTCUSD are equal."""
    return re.sub(r"[-/$^=.]", "", symbol.strip().upper())


def _plain_word(word: str) -> str:
    return word.lower().replace("\u2019", "'").removesuffix("'s").replace(".", "")


@cache
def _read_table() -> _Table:
    """Reads symbols.tsv. A name is also listed without the words in `FORMS` at its end."""
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
