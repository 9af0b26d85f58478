"""The check of patterns finds those that explode, and only those."""

import re

import pytest

from tests.prove.patterns import Used, collect, time_one


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"<start>.*?<end>",
        r"\s*=\s*x",
        r"\bhow\b.*\bmuch\b",
        r"(?:\w+\s*)+:",
        r"\[[^\]]*\]",
    ],
)
def test_a_pattern_that_explodes_is_found(pattern: str) -> None:
    assert time_one(Used("here", pattern, re.DOTALL, anchored=False)).is_superlinear


@pytest.mark.parametrize("pattern", [r"\w+", r"<[^<>]*>", r"^\s+x", r"a|b|\d{1,4}", r"(?=x)y"])
def test_a_linear_pattern_is_left_alone(pattern: str) -> None:
    assert not time_one(Used("here", pattern, 0, anchored=False)).is_superlinear


def test_what_is_only_tried_at_one_place_is_timed_there() -> None:
    pattern = r"\s*="
    assert time_one(Used("here", pattern, 0, anchored=False)).is_superlinear
    assert not time_one(Used("here", pattern, 0, anchored=True)).is_superlinear


def test_patterns_in_tables_and_in_calls_are_found() -> None:
    places = {used.place.partition(":")[0] for used in collect()}
    assert "server.protocols.openbb.query.MARKER" in places
    assert "server/dashboard/arguments.py" in places
