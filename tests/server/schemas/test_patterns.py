"""Patterns of strangers are followed by an engine that takes time by the text alone."""

import re
from itertools import product

import pytest

from server.schemas import patterns
from server.schemas.openapi import anchor
from server.schemas.patterns import matches

AHEAD = (
    r"^(?!x)\w+$", r"^(?=.*[A-Z])(?=.*\d).{3,}$", r"(?=a)ab", r"a(?!b)", r"^a(?=b)|c$",
    r"^(?!ab$|ba).*$", r"^[(?=](?!a)b/c?$", r"^(?=.*\d$)[a-d0-9]+$", r"^(?!.*\\).*$",
    r"^(?!(a|b)c)[abc]*$", r"^\$(?=\d)\d$", r"^a\$(?!b)",
)  # fmt: skip
LETTERS = "abcxA1/\\($="
TEXTS = ["", *map("".join, product(LETTERS, repeat=2)), *map("".join, product("aA1", repeat=3))]


@pytest.mark.parametrize("pattern", AHEAD)
def test_a_pattern_that_looks_ahead_is_followed_as_python_does(pattern: str) -> None:
    for one in (pattern, anchor(pattern)):
        assert patterns._matcher(one) is not None
        assert [matches(one, text) for text in TEXTS] == [
            re.search(one, text) is not None for text in TEXTS
        ]


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        ("^(a+)+$", "a" * 5000 + "!", False),
        ("^(?!(a+)+$).*$", "a" * 5000, False),
        ("^(?=(x+x+)+y).*$", "x" * 5000, False),
        ("^(?=(x+x+)+y).*$", "x" * 5000 + "y", True),
    ],
)
def test_a_pattern_that_python_never_ends_is_followed(
    pattern: str, text: str, is_found: bool
) -> None:
    assert matches(pattern, text) is is_found


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(a)\1$",
        r"(?<=a)b",
        r"^(a|(?=b)b)$",
        r"(?i)^(?=A)a",
        r"(?=a)*b",
        r"^a\$$(?!b)",
        "[" * 50_000 + "(?=",
    ],
)
def test_what_cannot_be_followed_holds(pattern: str) -> None:
    assert matches(pattern, "anything")
