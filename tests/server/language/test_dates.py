from datetime import date

import pytest

from server.language.dates import FAR_FUTURE, FAR_PAST, Span, Unclear, find, left_over, period, read

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
        ("from January to March 2025", date(2025, 1, 1), date(2025, 4, 1)),
        ("between January and March 2025", date(2025, 1, 1), date(2025, 4, 1)),
        ("from March 2025 to May", date(2025, 3, 1), date(2025, 6, 1)),
        ("from Q1 to Q3 2024", date(2024, 1, 1), date(2024, 10, 1)),
        ("2020-2024", date(2020, 1, 1), date(2025, 1, 1)),
        ("over the past three months", date(2025, 3, 20), date(2025, 6, 21)),
        ("the last five days", date(2025, 6, 15), date(2025, 6, 21)),
        ("the past eighteen months", date(2023, 12, 20), date(2025, 6, 21)),
        ("the last 12 months", date(2024, 6, 20), date(2025, 6, 21)),
        ("last year", date(2024, 1, 1), date(2025, 1, 1)),
        ("last month", date(2025, 5, 1), date(2025, 6, 1)),
        ("previous quarter", date(2025, 1, 1), date(2025, 4, 1)),
        ("last week", date(2025, 6, 9), date(2025, 6, 16)),
        ("this month", date(2025, 6, 1), date(2025, 6, 21)),
        ("yesterday", date(2025, 6, 19), date(2025, 6, 20)),
        ("in H1 2025", date(2025, 1, 1), date(2025, 7, 1)),
        ("the second half of 2024", date(2024, 7, 1), date(2025, 1, 1)),
        ("2024Q1", date(2024, 1, 1), date(2024, 4, 1)),
        ("since the start of 2025", date(2025, 1, 1), FAR_FUTURE),
        ("since the end of 2024", date(2025, 1, 1), FAR_FUTURE),
        ("on 5 March 2025", date(2025, 3, 5), date(2025, 3, 6)),
        ("on March 5th, 2025", date(2025, 3, 5), date(2025, 3, 6)),
        ("on 3/25/2025", date(2025, 3, 25), date(2025, 3, 26)),
        ("May I see May 2025?", date(2025, 5, 1), date(2025, 6, 1)),
    ],
)
def test_stretches_of_time(question: str, start: date, end: date) -> None:
    assert find(question, TODAY) == Span(start, end)


@pytest.mark.parametrize("question", ["the latest price", "on 2025-99-99", "call 20245", ""])
def test_no_time_is_none(question: str) -> None:
    assert find(question, TODAY) is None


@pytest.mark.parametrize(
    "question",
    [
        "in March",
        "in Q1",
        "on 3/5/2025",
        "in 2024 and 2026",
        "excluding 2025",
        "not in 2025",
        "at the end of 2025",
        "early 2025",
        "as of 2024-03-31",
        "2024 vs 2023",
        "last quarter of 2024",
        "last March",
        "the month before March 2025",
        "the week of March 3, 2025",
        "from November to February 2025",
        "between 5 and 10 March 2025",
        "in 2024-25",
        "from 2024",
    ],
)
def test_a_time_that_may_be_another_is_unclear(question: str) -> None:
    with pytest.raises(Unclear):
        read(question, TODAY)


@pytest.mark.parametrize(
    "question",
    [
        "the last 10 trading days",
        "the first 3 months of 2024",
        "three months ago",
        "on Mondays",
        "in the 1990s",
        "in 2024/25",
        "in spring 2025",
        "the last fiscal year",
        "the latest quarter",
    ],
)
def test_words_of_time_that_are_left_over_are_found(question: str) -> None:
    assert left_over(read(question, TODAY).rest)


@pytest.mark.parametrize(
    "question", ["over the whole period", "over all years", "since the first month", "all-time"]
)
def test_all_of_the_time_is_no_span(question: str) -> None:
    timed = read(question, TODAY)
    assert (timed.span, left_over(timed.rest)) == (None, [])


def test_the_words_of_time_are_taken_out() -> None:
    timed = read("average close over the last 30 days in total", TODAY)
    assert timed.rest.split() == ["average", "close", "in", "total"]


def test_what_may_be_a_year_or_all_since_is_fetched_as_all_since() -> None:
    assert find("prices from 2024", TODAY) == Span(date(2024, 1, 1), FAR_FUTURE)


def test_a_fiscal_year_is_known_as_one() -> None:
    assert read("in FY2025", TODAY).is_fiscal
    assert read("in fiscal year 2025", TODAY).is_fiscal
    assert not read("in 2025", TODAY).is_fiscal


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("Kurse vom 15. März 2025 bis 20. April 2025", date(2025, 3, 15), date(2025, 4, 21)),
        ("Umsatz seit Januar 2024", date(2024, 1, 1), FAR_FUTURE),
        ("Kurs am 05.03.2025", date(2025, 3, 5), date(2025, 3, 6)),
        ("Umsatz im 3. Quartal 2024", date(2024, 7, 1), date(2024, 10, 1)),
        ("bis Ende 2024", FAR_PAST, date(2025, 1, 1)),
        ("vor 2024", FAR_PAST, date(2024, 1, 1)),
        ("in den letzten 30 Tagen", date(2025, 5, 21), date(2025, 6, 21)),
        ("depuis le 1er janvier 2024", date(2024, 1, 1), FAR_FUTURE),
        ("entre mars 2024 et juin 2024", date(2024, 3, 1), date(2024, 7, 1)),
        ("l'année dernière", date(2024, 1, 1), date(2025, 1, 1)),
        ("desde el 15 de marzo de 2025", date(2025, 3, 15), FAR_FUTURE),
        ("entre enero de 2024 y marzo de 2024", date(2024, 1, 1), date(2024, 4, 1)),
        ("los últimos 6 meses", date(2024, 12, 20), date(2025, 6, 21)),
        ("自2025年3月以来的价格", date(2025, 3, 1), FAR_FUTURE),
        ("2025年3月15日的收盘价", date(2025, 3, 15), date(2025, 3, 16)),
        ("2024年第三季度的收入", date(2024, 7, 1), date(2024, 10, 1)),
        ("2023年到2024年的收入", date(2023, 1, 1), date(2025, 1, 1)),
        ("过去30天", date(2025, 5, 21), date(2025, 6, 21)),
        ("2024年之前", FAR_PAST, date(2024, 1, 1)),
        ("am ersten September 2026", date(2026, 9, 1), date(2026, 9, 2)),
        ("il 3 maggio 2026", date(2026, 5, 3), date(2026, 5, 4)),
        ("em 3 de maio de 2026", date(2026, 5, 3), date(2026, 5, 4)),
        ("on the twenty-first of March 2026", date(2026, 3, 21), date(2026, 3, 22)),
    ],
)
def test_times_in_other_languages(question: str, start: date, end: date) -> None:
    assert find(question, TODAY) == Span(start, end)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("15. März 2025", date(2025, 3, 15)),
        ("avril 2025", date(2025, 4, 1)),
        ("15 de marzo de 2025", date(2025, 3, 15)),
        ("2025年3月", date(2025, 3, 1)),
        ("05.03.2025", date(2025, 3, 5)),
    ],
)
def test_cells_that_are_times_in_other_languages(text: str, start: date) -> None:
    found = period(text)
    assert found is not None
    assert found.start == start
