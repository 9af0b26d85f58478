"""Makes text, numbers and JSON from outside safe to pass on."""

import json
import re
from typing import Any

LARGEST_FLOAT = 2**1000


def beyond_64_bits(number: int) -> float | str:
    """Replaces a whole number that does not fit into a frame to a worker (MessagePack)."""
    return float(number) if abs(number) < LARGEST_FLOAT else str(number)


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
"""Control characters except tab and newline, and characters that reverse or hide text."""


def without_halves(text: str, instead: str = "") -> str:
    """Removes lone surrogates: they can be neither stored nor sent."""
    return _LONE_SURROGATE.sub(instead, text)


def printable(text: str) -> str:
    """Removes characters that could control a terminal, a log or a window."""
    return _STEERING.sub("", text)


def printable_json(value: object) -> str:
    """Writes JSON with letters as they are. Characters that control a terminal are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]|" + _STEERING.pattern, _code_of, text)


def _code_of(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def one_line(text: str) -> str:
    """Makes a name from outside printable, without line breaks and with single spaces."""
    return " ".join(printable(text).split())


GAP = "\n[…]\n"


def ends(text: str, characters: int) -> str:
    """Returns the text, or its beginning and its end if it is longer than `characters`."""
    if len(text) <= characters:
        return text
    half = (characters - len(GAP)) // 2
    return text[:half] + GAP + text[-half:]


def try_json(text: str | bytes, otherwise: Any = None) -> Any:
    """Parses JSON. Returns `otherwise` if it is not JSON or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
