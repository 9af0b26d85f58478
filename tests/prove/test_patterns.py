"""The check of patterns finds those that are not linear, and no others."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.prove import patterns
from tests.prove.patterns import Used, collect, time_all, time_one


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


def test_a_row_beside_others_names_every_place_of_a_slow_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, linear = r"(a+)+$", r"\w+"
    used = [Used("first", slow, 0, False), Used("quick", linear, 0, False)]
    used.append(Used("second", slow, 0, False))
    monkeypatch.setattr(patterns, "collect", lambda: used)
    with ThreadPoolExecutor(1) as line:
        timed = line.submit(time_all).result()
    assert {one.used.place: one.is_superlinear for one in timed} == {
        "first": True,
        "second": True,
        "quick": False,
    }
