from typing import Any

import pytest

from server.flows.filling import grounded


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
