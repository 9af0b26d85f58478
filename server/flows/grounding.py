"""Keeps only those of a model's arguments that a person mentioned, so that none is made up."""

import re
import zoneinfo
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from server.chat import Json
from server.language.dates import hears_date, hears_time
from server.language.numbers import numbers_in
from server.language.words import terms
from server.schemas import fill

LONG_WORD = 4
"""A word of at least this length is also found as the beginning of a longer word."""
LONG_CHOICE = 3
"""A choice of at least this length is also found as the beginning of a word."""
MADE_UP = object()
"""Stands for a value that nobody mentioned."""
_LETTER = "A-Za-z0-9\u00c0-\u024f"
_ALPHANUMERIC = re.compile(r"[^\W_]")
_WRITTEN_FOR_MACHINES = re.compile(r"\S*([/\\@:_\d]|\w\.\w)\S*")
_PATH = re.compile(r".*[/\\].*")
_ZONE = re.compile(r"[A-Z][A-Za-z]+(/[A-Z][A-Za-z_-]+){1,2}")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}.*))?")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
_YES_OR_NO = re.compile(
    r"\b(yes|no|not|without|never|yep|nope|true|false|on|off|ja|nein|nicht|keine?|ohne|doch)\b"
    "|[\u662f\u4e0d\u5426\u6ca1\u8981\u5bf9\u597d]"
)


def only_choices(schema: Json) -> Json:
    """Returns the required arguments that have a single choice, so nobody is asked for them."""
    parts = schema.get("properties", {})
    required = [name for name in schema.get("required", []) if name in parts]
    return {
        name: parts[name]["enum"][0] for name in required if len(parts[name].get("enum", ())) == 1
    }


@dataclass(slots=True)
class Heard:
    """The text in which values must occur: the person's words, the conversation and results."""

    original: str
    now: datetime
    text: str = field(init=False)
    words: frozenset[str] = field(init=False)
    numbers: set[Decimal] = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.original.lower()
        self.words = frozenset(terms(self.text))
        self.numbers = numbers_in(self.text)

    @classmethod
    def of(cls, original: str, now: datetime | None = None) -> "Heard":
        return cls(original, now or datetime.now().astimezone())

    def parts(self, found: Json, schema: Json) -> Json:
        parts, fixed = schema.get("properties", {}), only_choices(schema)
        heard = {
            name: self.value(value, parts.get(name, {}), name)
            for name, value in found.items()
            if name not in fixed
        }
        kept = {name: value for name, value in heard.items() if value is not MADE_UP}
        return {**fixed, **kept} if kept or len(fixed) == len(parts) else {}

    def value(self, value: Any, part: Json, name: str = "") -> Any:
        """Returns the value, spelled as in the text; MADE_UP if the text does not mention it."""
        if value is None or ("default" in part and value == part["default"]):
            return value
        if "anyOf" in part and "enum" not in part:
            return self.value(value, _branch(value, part), name)
        if isinstance(value, dict):
            return self.parts(value, part) or (MADE_UP if value else value)
        if isinstance(value, list):
            return self._items(value, part.get("items", {}), name)
        if isinstance(value, str) and "enum" not in part:
            return self._string(value, part)
        return value if self._has_scalar(value, part, name) else MADE_UP

    def _has_scalar(self, value: Any, part: Json, name: str) -> bool:
        if isinstance(value, bool):
            # The text must have a yes or a no, or name the argument.
            is_named = bool(set(terms(split_name(name))) & self.words)
            return is_named or _YES_OR_NO.search(self.text) is not None
        if "enum" in part:
            return self.has_choice(value, part["enum"])
        return self.has_number(value)

    def has_number(self, value: float) -> bool:
        return abs(Decimal(str(value))) in self.numbers

    def has_text(self, value: str) -> bool:
        """Whether the text has all numbers and at least half of the words of the value.

        A model may use other words for the rest.
        """
        words = terms(value)
        numbers = [word for word in words if any(sign.isdigit() for sign in word)]
        if not all(map(self._has_word, numbers)):
            return False
        return 2 * sum(map(self._has_word, words)) >= len(words)

    def has_choice(self, value: Any, choices: list[Any]) -> bool:
        """Whether the text has the choice, or a word that begins with this choice and no other."""
        if not isinstance(value, str):
            return isinstance(value, int | float) and self.has_number(value)
        if self.find(value) is not None:
            return True
        if len(value) < LONG_CHOICE or not value.isalpha():
            return False
        begin = value.lower()
        others = [text for text in (str(choice).lower() for choice in choices) if text != begin]
        return any(
            word.startswith(begin) and not any(word.startswith(other) for other in others)
            for word in re.findall(r"\w+", self.text)
        )

    def find(self, value: str) -> str | None:
        """Returns the value as the text spells it, with any separators between letters; or None."""
        letters = _ALPHANUMERIC.findall(value.lower())
        if not letters:
            return value if value in self.original else None
        joined = r"[\W_]*".join(map(re.escape, letters))
        if value.isascii():
            joined = rf"(?<![{_LETTER}]){joined}(?![{_LETTER}])"
        found = re.search(joined, self.original, re.IGNORECASE)
        return found[0] if found else None

    def _string(self, value: str, part: Json) -> Any:
        dated = self._has_date(value)
        if dated is not None:
            return value if dated else MADE_UP
        if "pattern" in part:
            span = self.find(value)
            if span is None:
                return MADE_UP
            # The person's spelling if it fits the pattern, else the model's.
            return value if fill.problems(span, {**part, "type": "string"}) else span
        if "format" in part or _WRITTEN_FOR_MACHINES.fullmatch(value):
            return self._exact(value)
        if value.lower() in self.text:
            return value if self.find(value) is not None or self.has_text(value) else MADE_UP
        return value if self.has_text(value) else MADE_UP

    def _exact(self, value: str) -> Any:
        """Checks a value for machines: it must occur letter by letter, a time zone by its city."""
        # Not a place in `text`: lower case can be longer than the original.
        found = re.search(re.escape(value), self.original, re.IGNORECASE)
        if found is not None and self.find(value) is not None:
            return found[0]
        if _ZONE.fullmatch(value) and value in zoneinfo.available_timezones():
            city = value.rpartition("/")[2].replace("_", " ")
            return value if self.find(city) is not None else MADE_UP
        if _PATH.fullmatch(value) or "@" in value:
            return MADE_UP
        return value if self.find(value) is not None else MADE_UP

    def _has_date(self, value: str) -> bool | None:
        """Whether the text mentions the date or the time; None if the value is neither."""
        if found := _DATE.fullmatch(value):
            day = tuple(int(number) for number in found.groups()[:3])
            clock = _TIME.fullmatch(found[4] or "")
            hears_clock = clock is None or self._hears_clock(clock, may_be_midnight=True)
            is_named = hears_date(day, self.text, self.numbers, self.now)
            return hears_clock and (is_named or self.find(value) is not None)
        clock = _TIME.fullmatch(value)
        if clock is None or int(clock[1]) > 23:
            return None
        return self._hears_clock(clock, may_be_midnight=False)

    def _hears_clock(self, clock: re.Match[str], *, may_be_midnight: bool) -> bool:
        hour, minute = int(clock[1]), int(clock[2])
        if may_be_midnight and (hour, minute) == (0, 0):
            return True
        return hears_time((hour, minute), self.text, self.numbers, self.now)

    def _items(self, values: list[Any], part: Json, name: str) -> Any:
        """Keeps each entry only as often as the text mentions it: weak models repeat entries."""
        kept: list[Any] = []
        counts: Counter[str] = Counter()
        for value in values:
            item = self.value(value, part, name)
            counts[str(item)] += 1
            if item is not MADE_UP and counts[str(item)] <= max(self.count(item), 1):
                kept.append(item)
        return kept or (MADE_UP if values else values)

    def count(self, value: Any) -> int:
        return self.text.count(str(value).lower())

    def _has_word(self, word: str) -> bool:
        if not word.isascii():
            return word in self.text
        if word in self.words or (word.isdigit() and Decimal(word) in self.numbers):
            return True
        return len(word) >= LONG_WORD and any(known.startswith(word) for known in self.words)


def _branch(value: Any, part: Json) -> Json:
    """Returns the branch of `anyOf` that the value fits, else the first."""
    branches = [branch for branch in part["anyOf"] if branch.get("type") != "null"]
    fitting = (branch for branch in branches if not fill.problems(value, branch))
    return next(fitting, branches[0] if branches else {})


def split_name(name: str) -> str:
    """Separates the words of a name in camel case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
