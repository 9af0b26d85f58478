"""Figures of tables whose rows come in any order, or say their time in other ways than dates."""

from datetime import date

import pytest

from server.dashboard.figures.compute import compute
from server.data.tables import Table, from_json

TODAY = date(2026, 8, 5)


def table(**columns: list[object]) -> Table:
    found = from_json(columns, "T")
    assert found is not None
    return found


def text(question: str, asked: Table) -> str | None:
    figure = compute(question, asked, TODAY)
    return figure.text if figure else None


YEARS = table(fiscal_year=[2025, 2024, 2023], revenue=[400, 300, 200])
PERIODS = table(period=["FY2025", "FY2024", "FY2023"], revenue=[400, 300, 200])
SLASHED = table(date=["03/31/2025", "02/28/2025", "01/31/2024"], close=[50, 40, 10])
UNORDERED = table(name=["a", "b", "c"], close=[50, 40, 10])
FIRMS = table(
    year=[2025, 2025, 2024, 2024],
    company=["Acme", "Bolt", "Acme", "Bolt"],
    revenue=[20, 900, 10, 1000],
)


@pytest.mark.parametrize(
    ("question", "asked", "expected"),
    [
        ("How much did revenue grow?", YEARS, "Change of revenue: 100% (from 200 to 400)"),
        ("How much did revenue grow?", PERIODS, "Change of revenue: 100% (from 200 to 400)"),
        ("What is the latest revenue?", YEARS, "Latest revenue: 400 (2025)"),
        ("What is the latest revenue?", PERIODS, "Latest revenue: 400 (FY2025)"),
        ("What is the most recent revenue?", YEARS, "Latest revenue: 400 (2025)"),
        ("What was the first revenue?", PERIODS, "First revenue: 200 (FY2023)"),
        ("total revenue in 2024", PERIODS, "Sum of revenue in 2024: 300"),
        ("total revenue in FY2024", PERIODS, "Sum of revenue in 2024: 300"),
        ("total revenue from 2023 to 2024", YEARS, "Sum of revenue from 2023 to 2024: 500"),
        ("total revenue until 2024", YEARS, "Sum of revenue until 2024: 500"),
        ("revenue last year", YEARS, "revenue in 2025: 400 (2025)"),
        ("total revenue over the last 12 months", YEARS, None),
        (
            "average close in February 2025",
            SLASHED,
            "Average close from 2025-02-01 to 2025-02-28: 40",
        ),
        ("What is the latest close?", SLASHED, "Latest close: 50 (03/31/2025)"),
        ("change of close", SLASHED, "Change of close: 400% (from 10 to 50)"),
        ("What is the latest close?", UNORDERED, None),
        ("change of close", UNORDERED, None),
        ("average close in 2024", UNORDERED, None),
    ],
)
def test_rows_are_put_in_the_order_of_time(
    question: str, asked: Table, expected: str | None
) -> None:
    assert text(question, asked) == expected


def test_no_company_grows_out_of_another() -> None:
    assert text("How much did revenue grow?", FIRMS) == (
        "Change of revenue of Acme: 100% (from 10 to 20); "
        "Change of revenue of Bolt: -10% (from 1000 to 900)"
    )
    alone = table(date=["2024-01-01", "2025-01-01"], symbol=["AAA", "BBB"], close=[1, 2])
    assert text("How much did close grow?", alone) is None
    mixed = table(year=[2024, 2024, 2025], revenue=[1, 2, 3])
    assert text("How much did revenue grow?", mixed) is None


def test_the_latest_of_several_are_all_of_them() -> None:
    assert text("latest revenue", FIRMS) == "Latest revenue: 20 (Acme, 2025); 900 (Bolt, 2025)"


def test_a_row_without_a_time_is_not_the_first() -> None:
    asked = table(date=[None, "2025-01-01", "2025-01-02"], close=[7, 1, 2])
    assert text("first close", asked) == "First close: 1 (2025-01-01)"
    assert text("change of close", asked) == "Change of close: 100% (from 1 to 2)"


def test_tiny_numbers_keep_their_digits() -> None:
    asked = table(date=["2025-01-01", "2025-01-02"], price=[1.234e-05, 2.5e-08])
    assert text("lowest price", asked) == "Lowest price: 2.5e-08 (2025-01-02)"
    assert text("highest price", asked) == "Highest price: 1.234e-05 (2025-01-01)"
    assert text("latest price", asked) == "Latest price: 2.5e-08 (2025-01-02)"
    assert text("average price", asked) == "Average price: 6.183e-06"
    assert text("total price", asked) is None, "prices of two days are not added up"
    asked = table(date=["2025-01-01", "2025-01-02"], fee=[1.234e-05, 2.5e-08])
    assert text("total fee", asked) == "Sum of fee: 1.2365e-05"


def test_growth_out_of_nothing_has_no_percentage() -> None:
    asked = table(date=["2025-01-01", "2025-01-02"], revenue=[0, 5])
    assert text("change of revenue", asked) == "Change of revenue: from 0 to 5"


def test_what_is_different_is_counted() -> None:
    asked = table(symbol=["A", "B", "C"], sector=["Tech", "Tech", "Energy"])
    assert text("How many sectors are there?", asked) == "Number of different sector: 2"
