"""Finds which computation a question asks for, and refuses what code does not understand."""

import re
from dataclasses import dataclass

from server.language.dates import NUMBER, NUMBERS, left_over
from server.language.ranking import stems
from server.language.words import stem

OPERATIONS = {
    "growth": "growth grow grew grown change changed rise rose risen fall fell fallen return "
    "returned gain gained increase increased decrease decreased drop dropped performance",
    "median": "median",
    "stdev": "volatility deviation stdev",
    "mean": "average mean avg averaged",
    "max": "highest maximum max largest biggest peak most greatest top best strongest longest",
    "min": "lowest minimum min smallest least cheapest worst weakest bottom fewest shortest",
    "count": "count",
    "sum": "total sum combined altogether overall",
    "last": "last latest current recent newest now",
    "first": "first earliest oldest initial",
}
BY_WORD = {word: name for name, words in OPERATIONS.items() for word in words.split()}
GROWTH_STEMS = frozenset(stem(word) for word in OPERATIONS["growth"].split())
GROWTH_ADVERBS = frozenset(map(stem, ("much", "many", "percent", "percentage", "rate")))
MOST_RECENT = re.compile(r"\bmost\s+recent(ly)?\b", re.IGNORECASE)
COUNTING = re.compile(
    r"\b(?P<how>how many|number of|count of|count the)\b(?!\s+percent)"
    r"(?:\s+(?:the|different|distinct|unique)\b)*(?P<noun>(?:\s+\w+){0,2})",
    re.IGNORECASE,
)
BEST = "top|best|worst|highest|lowest|largest|smallest|biggest"
TOP = re.compile(
    rf"\b(?:(?:{BEST}|bottom)\s+({NUMBER})"
    rf"|({NUMBER})\s+(?:\w+\s+)?(?:(?:with|have|had)\s+the\s+)?(?:{BEST}|cheapest))\b",
    re.IGNORECASE,
)
HOW_MUCH = re.compile(r"\bhow much\b", re.IGNORECASE)
MOVED = re.compile(
    r"\b(came|paid|pay|received|earned|spent|spend|bought|sold|raised)\b", re.IGNORECASE
)
BEYOND = re.compile(
    r"\b(?:above|below|beyond|exceed\w*|than|at least|at most|between|versus|vs|compar\w+|against"
    r"|(?:over|under|up to)\s+[$€£]?\d+|difference|positive|negative|profitable|unprofitable"
    r"|(?:percent|percentage|share|proportion|fraction) of|ratio of|as a ratio"
    r"|exclud\w+|except\w*|without|other|apart|besides|but|not|no|non|never|ignoring|outside"
    r"|weighted|moving|rolling|trailing|cumulative|running|compound\w*|annuali[sz]ed|cagr|yoy|qoq"
    r"|ttm|ltm|hourly|daily|weekly|monthly|quarterly|yearly|annual|annually|percentile"
    r"|(?:year|quarter|month|week|day)[- ](?:over|on|by)[- ]\w+)\b|n't\b|[<>≤≥=]|\bex-",
    re.IGNORECASE,
)
"""Comparisons, exclusions, and computations over computations, which are not understood here."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A computation. `name` is "" for a lookup of rows, `count` is the number of top rows, and
    `noun` the words for what is counted."""

    name: str = ""
    count: int = 1
    noun: str = ""
    words: frozenset[str] = frozenset()
    """The stems of the question that ask for it."""


def operation(text: str, taken: set[str], owned: set[str]) -> Operation | None:
    """Returns the computation, or None if the text asks for several or for what is not understood.

    `taken` are stems that name a column or a value, and so no computation: 'total debt' is not a
    sum. `owned` are stems in a name, where even words beyond us are harmless.
    """
    recent = set(stems(" ".join(match[0] for match in MOST_RECENT.finditer(text))))
    text = MOST_RECENT.sub("latest", text)
    if _is_beyond(text, owned):
        return None
    words = [word for word in re.findall(r"[a-z]+", text.lower()) if stem(word) not in taken]
    found = {BY_WORD[word] for word in words if word in BY_WORD}
    top, counting = TOP.search(text), COUNTING.search(text)
    if counting and stem(counting["how"].split()[0]) in taken:
        counting = None
    if counting:
        found.add("count")
    if not found and _asks_for_a_sum(text):
        found.add("sum")
    if len(found) > 1 or (top and not found <= {"max", "min"}):
        return None
    name = next(iter(found), "")
    asking = {stem(word) for word in words if BY_WORD.get(word) == name} | recent
    if top and name:
        asking |= set(stems(top[1] or top[2]))
        return Operation(name, _number(top[1] or top[2]), words=frozenset(asking))
    if counting:
        asking |= set(stems(counting["how"]))
    if name == "sum":
        asking |= {stem(word) for word in MOVED.findall(text)} | {"much"}
    if name == "growth":
        asking |= GROWTH_ADVERBS
    noun = counting["noun"] if counting else ""
    return Operation(name, noun=noun, words=frozenset(asking))


def _asks_for_a_sum(text: str) -> bool:
    """Whether a line has 'how much' and, behind it, a word for money that moved."""
    for line in text.splitlines():
        asked = HOW_MUCH.search(line)
        if asked and MOVED.search(line, asked.end()):
            return True
    return False


def _is_beyond(text: str, owned: set[str]) -> bool:
    unclear = [match[0] for match in BEYOND.finditer(text)] + left_over(TOP.sub(" ", text))
    return any(not (words := set(stems(one))) or not words <= owned for one in unclear)


def _number(text: str) -> int:
    return NUMBERS.get(text.lower()) or max(int(text), 1)
