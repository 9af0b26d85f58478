"""What comes from outside: texts and numbers that must not be passed on as they are, and JSON."""

import json
import re
from typing import Any

LARGEST_FLOAT = 2**1000


def beyond_64_bits(number: int) -> float | str:
    """Replaces a whole number that does not fit into a frame to a worker."""
    return float(number) if abs(number) < LARGEST_FLOAT else str(number)


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
"""Control characters except tab and newline, and those that turn or hide text."""


def without_halves(text: str, instead: str = "") -> str:
    """Removes lone surrogates: they can be neither stored nor sent."""
    return _LONE_SURROGATE.sub(instead, text)


def printable(text: str) -> str:
    """Makes a text from outside fit for a terminal, a log or a window."""
    return _STEERING.sub("", text)


def printable_json(value: object) -> str:
    """Writes JSON with all letters as they are; what would steer a terminal is written as code."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]|" + _STEERING.pattern, _code_of, text)


def _code_of(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def one_line(text: str) -> str:
    """Makes a name from outside printable, without line breaks, with single spaces."""
    return " ".join(printable(text).split())


def try_json(text: str | bytes, otherwise: Any = None) -> Any:
    """Parses JSON. Returns `otherwise` for what is no JSON, or nested too deep to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
