from datetime import date

import pytest

from server.data.periods import Timeline, timelines
from server.data.tables import from_grid
from server.language.dates import FAR_FUTURE, Span

TODAY = date(2025, 6, 20)


def line(*cells: object, name: str = "period") -> Timeline | None:
    table = from_grid([name, "revenue"], [[cell, 1] for cell in cells], "T")
    return next(iter(timelines(table)), None)


@pytest.mark.parametrize(
    ("cells", "grain", "starts"),
    [
        (("FY2025", None, "FY 2024"), "year", ("2025-01-01", None, "2024-01-01")),
        (("Q2 2024", "Q1 2024"), "quarter", ("2024-04-01", "2024-01-01")),
        (("2024Q2", "2024-Q1"), "quarter", ("2024-04-01", "2024-01-01")),
        (("H2 2024",), "half", ("2024-07-01",)),
        (("Mar 2024", "December 2023"), "month", ("2024-03-01", "2023-12-01")),
        (("Mar 5, 2024", "5 April 2024"), "day", ("2024-03-05", "2024-04-05")),
        (("03/31/2025", "02/01/2025"), "day", ("2025-03-31", "2025-02-01")),
        (("31.03.2025", "01.02.2025"), "day", ("2025-03-31", "2025-02-01")),
    ],
)
def test_texts_that_are_times(cells: tuple[str], grain: str, starts: tuple[str]) -> None:
    found = line(*cells)
    assert found is not None
    assert (found.grain, found.starts, found.order) == (grain, starts, "period (start)")


@pytest.mark.parametrize(
    "cells",
    [
        ("FY2024", "Q1 2024"),
        ("FY2024", "TTM"),
        ("03/04/2025", "02/01/2025"),
        ("03/31/2025", "31/03/2025"),
        ("02/31/2025",),
        ("March", "April"),
        ("today",),
    ],
)
def test_texts_that_are_not_all_times(cells: tuple[str]) -> None:
    assert line(*cells) is None


def test_dates_and_years_are_sorted_by_themselves() -> None:
    assert line("2024-03", "2024-02") == Timeline("period", "month")
    assert line("2024-03-01") == Timeline("period", "day")
    assert line(2024, 2023, name="fiscal_year") == Timeline("fiscal_year", "year")
    assert line(1976, 2004, name="founding_year") is None


def test_a_span_must_begin_and_end_with_a_period() -> None:
    years = Timeline("fiscal_year", "year")
    assert years.fits(Span(date(2023, 1, 1), date(2025, 1, 1)), TODAY)
    assert years.fits(Span(date(2025, 1, 1), date(2025, 6, 21)), TODAY)
    assert years.fits(Span(date(2023, 1, 1), FAR_FUTURE), TODAY)
    assert not years.fits(Span(date(2024, 4, 1), date(2024, 7, 1)), TODAY)
    assert not years.fits(Span(date(2024, 6, 20), date(2025, 6, 21)), TODAY)
