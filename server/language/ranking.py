"""Ranks short descriptions against a question: BM25 over weighted fields of word stems."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from server.language.words import COMMON_WORDS, stem

K1 = 1.2
"""BM25's saturation: how soon further occurrences of a word stop counting."""
B = 0.4
"""BM25's share of a document's length, between 0 and 1."""
KIN_WEIGHT = 0.5
"""The weight of a related word. A word of the question weighs 1."""
COMMON = 0.4
"""The weight of a word that every document has. Two widgets may both be about prices."""
WORD = re.compile(r"[^\W_]+(?:[.&][^\W_]+)*")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
SLASHED = re.compile(r"\b([A-Za-z])/([A-Za-z])\b")
"""Abbreviations such as P/E, which count as one word."""
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
RUN = re.compile(f"([{UNSPACED}]+)|[^{UNSPACED}]+")
"""A run of letters of Thai, Lao, Burmese, Khmer, Japanese or Chinese (no spaces), or another
run."""
STOP_TEXT = """
about been but can could dashboard data did do does get give had has have how i if into its let
like list me my our please s show so tell than their them then there these they those up us we were
when where which who whose why widget will would your
"""
STOP_WORDS = COMMON_WORDS | set(STOP_TEXT.split())
"""Words that do not count. Questions about a dashboard have more of them than other texts."""
KIN = (
    "price quote close ohlc trade share",
    "news headline article story press",
    "earnings eps profit income",
    "revenue sales turnover topline",
    "dividend payout yield",
    "debt liability borrowing leverage loan",
    "ratio multiple valuation metric pe",
    "inflation cpi price_index",
    "unemployment jobs labor labour payroll employment work worker",
    "house home housing building property estate mortgage",
    "consumer household retail shopper",
    "sentiment confidence mood survey feel",
    "rate interest policy fed",
    "holding position portfolio allocation weight stake",
    "option call put strike volatility",
    "insider executive director officer",
    "analyst target rating recommendation estimate consensus",
    "bond treasury yield coupon maturity",
    "currency fx forex exchange dollar euro pound yen",
    "crypto bitcoin coin token",
    "gdp economy output growth",
    "risk var drawdown volatility beta",
    "cash liquidity cashflow",
    "company firm stock equity issuer",
    "filing report 10k sec document pdf",
    "calendar event date schedule upcoming",
    "profile overview description business sector industry",
    "weather temperature",
    "peer competitor rival",
    "commodity oil gold gas",
    "return performance gain growth",
)
"""Families of words with related meanings."""


def stems(text: str) -> list[str]:
    """Returns the stems of the words that count. In scripts without spaces, each pair of
    neighbouring characters is a word."""
    spaced = CAMEL.sub(" ", SLASHED.sub(r"\1\2", text)).replace("_", " ")
    runs = (run for word in WORD.findall(spaced) for run in RUN.finditer(word.lower()))
    found = (piece for run in runs for piece in (_pairs(run[0]) if run[1] else [run[0]]))
    return [stem(word) for word in found if word not in STOP_WORDS]


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]


def _kinship() -> dict[str, set[str]]:
    related: dict[str, set[str]] = {}
    for family in KIN:
        members = {stem(word) for word in family.split()}
        for member in members:
            related.setdefault(member, set()).update(members - {member})
    return related


RELATED = _kinship()


@dataclass(frozen=True, slots=True)
class Ranked:
    index: int
    score: float


def rank(question: str, documents: Sequence[Mapping[str, float]]) -> list[Ranked]:
    """Ranks the documents, best first, and leaves out those that share no word with the question. A
    document maps texts to their weights."""
    counts = [_weigh(document) for document in documents]
    scores = bm25(_expand(question), counts, B, COMMON)
    ranked = [Ranked(index, score) for index, score in enumerate(scores) if score > 0]
    return sorted(ranked, key=lambda match: (-match.score, match.index))


def bm25(
    wanted: Mapping[str, float], counts: Sequence[Counter[str]], b: float, common: float = 0.0
) -> list[float]:
    """Scores each document for weighted words. `b` is how much a document's length counts, and
    `common` the weight of a word that all documents have."""
    lengths = [sum(count.values()) for count in counts]
    usual = sum(lengths) / max(len(lengths), 1) or 1.0
    weights = {word: weight * _rarity(word, counts, common) for word, weight in wanted.items()}
    scores = []
    for count, length in zip(counts, lengths, strict=True):
        damping = K1 * (1 - b + b * length / usual)
        scores.append(
            sum(weight * _saturate(count[word], damping) for word, weight in weights.items())
        )
    return scores


def _expand(question: str) -> dict[str, float]:
    """Returns the question's words and their related words, with their weights."""
    own = dict.fromkeys(stems(question), 1.0)
    return {**dict.fromkeys(related_words(own), KIN_WEIGHT), **own}


def related_words(words: Iterable[str]) -> list[str]:
    """Returns the stems of words related to these, without the words themselves."""
    known = set(words)
    return sorted({other for word in known for other in RELATED.get(word, ())} - known)


def _weigh(document: Mapping[str, float]) -> Counter[str]:
    count: Counter[str] = Counter()
    for text, weight in document.items():
        for word in stems(text):
            count[word] += weight  # type: ignore[assignment]
    return count


def _rarity(word: str, counts: Sequence[Counter[str]], common: float) -> float:
    having = sum(1 for count in counts if count[word])
    return common + math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))


def _saturate(frequency: float, length: float) -> float:
    return frequency * (K1 + 1) / (frequency + length)
