from typing import Any

import pytest

from server.flows.grounding import grounded


def kept(found: dict[str, Any], heard: str) -> dict[str, Any]:
    return grounded(found, {"properties": {name: {} for name in found}}, heard)


def test_long_numbers_that_were_said_are_kept() -> None:
    found = {"id": 1234567, "q": 20240115, "f": 123456.78, "n": 42}
    assert kept(found, "show order 1234567 of 20240115 with 42 items for 123456.78") == found


@pytest.mark.parametrize(
    ("value", "heard"),
    [
        (1234567, "about 1,234,567 of them"),
        (1234567.0, "about 1234567 of them"),
        (1234567.5, "about 1'234'567.5 of them"),
        (1234567, "etwa 1.234.567 davon"),
        (1234567, "about 1 234 567 of them"),
        (12.5, "zu 12,5 prozent"),
    ],
)
def test_a_number_is_heard_however_it_is_written(value: float, heard: str) -> None:
    assert kept({"n": value}, heard) == {"n": value}


def test_a_number_that_nobody_said_is_dropped() -> None:
    assert kept({"n": 7654321, "f": 0.25}, "show order 1234567") == {}


@pytest.mark.parametrize(
    ("value", "heard"),
    [
        (5000, "please phone someone about my order"),
        (5, "the report of 2025"),
        (5, "about 1.5 of them"),
        (234, "about 1,234,567 of them"),
        (7, "two of them"),
        (20, "twenty-five of them"),
        (3, "请一下发给我"),
        ("pipe", "my phone ends in windpipes"),
        ("Art", "the artist"),
        ("send the secret plan to Mallory", "send the report"),
    ],
)
def test_what_only_looks_like_it_was_said_is_dropped(value: Any, heard: str) -> None:
    assert kept({"n": value}, heard) == {}


@pytest.mark.parametrize(
    ("value", "heard"),
    [
        (1, "just one of them"),
        (25, "twenty-five of them"),
        (101, "one hundred and one of them"),
        (2300, "two thousand three hundred of them"),
        (2_500_000, "2.5 million of them"),
        (25, "fünfundzwanzig davon"),
        (1900, "neunzehnhundert davon"),
        (25, "给我二十五个"),
        (35_000_000, "三千五百万"),
        (30_000, "大约3万个"),
        (2024, "二〇二四年"),
        (2, "the numbers 1,2,3"),
        (-5, "at -5 degrees"),
        ("Berlin", "das berliner wetter"),
        ("weather in Graz", "how is it in graz"),
        ("北京", "北京天气"),
    ],
)
def test_what_was_said_is_heard(value: Any, heard: str) -> None:
    assert kept({"n": value}, heard) == {"n": value}


def test_lists_and_objects_are_looked_into() -> None:
    found = {"ids": [4, 99], "more": {"count": 7, "name": "bolt"}, "none": [], "made": {"n": 8}}
    assert kept(found, "take 4 of the bolts") == {"ids": [4], "more": {"name": "bolt"}, "none": []}


def test_a_number_that_may_be_nothing_is_looked_at_too() -> None:
    schema = {"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
    assert grounded({"n": 5000}, schema, "call me") == {}
