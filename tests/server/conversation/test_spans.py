from datetime import date

import pytest

from server.conversation.spans import FAR_FUTURE, FAR_PAST, Span, find

TODAY = date(2025, 6, 20)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("close on 2025-01-04", date(2025, 1, 4), date(2025, 1, 5)),
        ("in March 2025", date(2025, 3, 1), date(2025, 4, 1)),
        ("in Dec 2024", date(2024, 12, 1), date(2025, 1, 1)),
        ("on January 5, 2025", date(2025, 1, 5), date(2025, 1, 6)),
        ("in 2024", date(2024, 1, 1), date(2025, 1, 1)),
        ("Q4 2024 results", date(2024, 10, 1), date(2025, 1, 1)),
        ("since 2024-05", date(2024, 5, 1), FAR_FUTURE),
        ("after 2023", date(2024, 1, 1), FAR_FUTURE),
        ("before March 2025", FAR_PAST, date(2025, 3, 1)),
        ("until March 2025", FAR_PAST, date(2025, 4, 1)),
        ("from 2020 to 2024", date(2020, 1, 1), date(2025, 1, 1)),
        ("between 2025-01-01 and 2025-02-01", date(2025, 1, 1), date(2025, 2, 2)),
        ("the last 30 days", date(2025, 5, 21), date(2025, 6, 21)),
        ("until 9999-12-31", FAR_PAST, date.max),
        ("since 9999-12", date(9999, 12, 1), FAR_FUTURE),
        ("in Q4 9999", date(9999, 10, 1), date.max),
        ("this year", date(2025, 1, 1), date(2025, 6, 21)),
    ],
)
def test_stretches_of_time(question: str, start: date, end: date) -> None:
    assert find(question, TODAY) == Span(start, end)


@pytest.mark.parametrize("question", ["the latest price", "on 2025-99-99", "call 20245", ""])
def test_no_time_is_none(question: str) -> None:
    assert find(question, TODAY) is None
