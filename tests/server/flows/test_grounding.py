from datetime import datetime
from typing import Any

import pytest

from server.chat import Json
from server.flows.grounding import Heard


def grounded(found: Json, schema: Json, said: str, now: datetime | None = None) -> Json:
    """The part of the arguments that was said, or that the schema itself decides."""
    return Heard.of(said, now).parts(found, schema)


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


NOW = datetime.fromisoformat("2026-11-16T15:04:00+00:00")
TEXT: dict[str, Any] = {"type": "string"}
SORTED = {"enum": ["asc", "desc"]}
SYMBOL = {"type": "string", "pattern": "[A-Z]{1,5}"}
DATE = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}
MAIL = {"type": "string", "format": "email"}
NESTED = {
    "type": "object",
    "properties": {"street": TEXT, "more": {"type": "object", "properties": {"n": {}}}},
}


def is_kept(value: Any, part: dict[str, Any], heard: str) -> bool:
    return "v" in grounded({"v": value}, {"properties": {"v": part}}, heard, NOW)


@pytest.mark.parametrize(
    ("value", "part", "heard"),
    [
        ("path/to/file.txt", TEXT, "read the file for me"),
        ("/home/user/soup.txt", TEXT, "read soup.txt"),
        ("Europe/Paris", TEXT, "what time is it in Rome"),
        ("owner/moat", TEXT, "the moat repository"),
        ("order 777", TEXT, "the order"),
        ("AAPL", SYMBOL, "price of apple"),
        ("desc", SORTED, "sort them"),
        ("2026-11-18", DATE, "tomorrow"),
        ("2024-01-01", DATE, "the weather"),
        ("2026-11-17T09:00:00Z", MOMENT, "tomorrow"),
        ("08:00", TEXT, "later"),
        ("john@example.com", MAIL, "mail john"),
        (7, {"type": "integer", "format": "int64"}, "five things"),
        (True, {"type": "boolean"}, "search"),
        ({"more": {"n": 9}}, NESTED, "on Main street"),
        ("zz", {"anyOf": [TEXT, {"type": "integer"}]}, "take a1"),
    ],
)
def test_what_nobody_said_is_dropped_in_every_kind(
    value: Any, part: dict[str, Any], heard: str
) -> None:
    assert not is_kept(value, part, heard)


@pytest.mark.parametrize(
    ("value", "part", "heard"),
    [
        ("Asia/Tokyo", TEXT, "what time is it in Tokyo"),
        ("AAPL", SYMBOL, "price of aapl"),
        ("asc", SORTED, "sort ascending"),
        ("2026-11-17", DATE, "明天的天气"),
        ("2026-05-03", DATE, "am 3. Mai"),
        ("2026-05-03", TEXT, "5月3日"),
        ("2026-11-20", DATE, "next friday"),
        ("2026-11-17T09:00:00Z", MOMENT, "tomorrow at 9"),
        ("15:30", TEXT, "um halb vier"),
        ("17:00", TEXT, "at 5pm"),
        ("a@b.example", MAIL, "mail a@b.example"),
        ("metric", {"enum": ["metric", "us"], "default": "metric"}, "the weather"),
        ("monthly_report", TEXT, "the monthly report"),
    ],
)
def test_what_was_said_is_kept_in_every_kind(value: Any, part: dict[str, Any], heard: str) -> None:
    assert is_kept(value, part, heard)


def test_a_path_is_kept_as_it_was_spelled() -> None:
    found = grounded(
        {"v": "/home/me/soup.txt"}, {"properties": {"v": TEXT}}, "read /Home/me/Soup.txt"
    )
    assert found == {"v": "/Home/me/Soup.txt"}


def test_a_path_is_found_where_it_is_after_letters_that_are_longer_in_lower_case() -> None:
    heard = "\u0130\u0130 see /tmp/Abc.txt please"
    schema = {"properties": {"v": TEXT}}
    assert grounded({"v": "/tmp/abc.txt"}, schema, heard) == {"v": "/tmp/Abc.txt"}


def test_what_a_model_repeats_stands_once() -> None:
    part = {"type": "array", "items": {"enum": ["red", "blue"]}}
    schema = {"properties": {"v": part}}
    assert grounded({"v": ["red", "red", "red"]}, schema, "the red one") == {"v": ["red"]}


def test_a_single_choice_needs_no_words() -> None:
    inner = {"properties": {"kind": {"enum": ["a"]}, "n": {}}, "required": ["kind"]}
    schema = {"properties": {"v": {"type": "object", **inner}}}
    assert grounded({"v": {"kind": "a", "n": 5}}, schema, "take 5") == {"v": {"kind": "a", "n": 5}}
    assert grounded({"v": {"kind": "a", "n": 5}}, schema, "take it") == {}
