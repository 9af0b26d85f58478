from datetime import date

import pytest

from server.conversation.figures import compute
from server.conversation.tables import from_grid

TODAY = date(2025, 6, 20)
PRICES = from_grid(
    ["date", "close", "volume"],
    [["2025-01-03", 110.0, 30], ["2025-01-01", 100.0, 10], ["2025-01-02", 104.1, 20]],
    "Prices",
)
LONG = from_grid(
    ["date", "symbol", "close"],
    [
        ["2025-01-01", "AAA", 10.0],
        ["2025-01-01", "BBB", 50.0],
        ["2025-01-02", "AAA", 11.0],
        ["2025-01-02", "BBB", 45.0],
    ],
    "Closes",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("average close", "Average close: 104.7"),
        ("median close", "Median close: 104.1"),
        ("sum of volume", "Sum of volume: 60"),
        ("total volume since 2025-01-02", "Sum of volume: 50"),
        ("latest close", "Latest close: 110 (2025-01-03)"),
        ("first close", "First close: 100 (2025-01-01)"),
        ("when was volume the lowest?", "Lowest volume: 10 (2025-01-01)"),
        ("top 2 days by close", "Highest close: 110 (2025-01-03); 104.1 (2025-01-02)"),
        ("How did close change?", "Change of close: 10% (from 100 to 110)"),
        ("close on 2025-01-02", "close: 104.1 (2025-01-02)"),
        ("how many rows are there?", "Number of rows: 3"),
    ],
)
def test_a_question_becomes_a_number(question: str, text: str) -> None:
    figure = compute(question, PRICES, TODAY)
    assert figure is not None
    assert figure.text == text


def test_each_entity_has_its_own_growth() -> None:
    figure = compute("How did close change?", LONG, TODAY)
    assert figure is not None
    assert figure.text == (
        "Change of close of AAA: 10% (from 10 to 11); Change of close of BBB: -10% (from 50 to 45)"
    )


def test_groups_are_computed_and_sorted() -> None:
    figure = compute("average close by symbol", LONG, TODAY)
    assert figure is not None
    assert figure.rows == [
        {"symbol": "BBB", "close": 47.5},
        {"symbol": "AAA", "close": 10.5},
    ]
    assert figure.sql.startswith('SELECT "symbol", avg("close")')


@pytest.mark.parametrize("question", ["Hello!", "average close in 1999", "close of CCC"])
def test_nothing_to_compute_is_nothing(question: str) -> None:
    assert compute(question, LONG, TODAY) is None


def test_no_rows_no_figure() -> None:
    assert compute("average close", from_grid(["close"], [], "Empty"), TODAY) is None
