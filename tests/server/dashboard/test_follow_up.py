"""What a message changes of the question before it, in five languages."""

from datetime import date

import pytest

from server.dashboard.follow_up import Earlier, find_change, look_back
from server.dashboard.inventory import take_inventory
from server.dashboard.query import Param, Query, Result, Said, Source, Widget

TODAY = date(2026, 11, 17)
SYMBOL = Param("symbol", "ticker", value="AAPL", has_value=True)
COUNTRIES = ("france", "germany", "united_states")
LABELS = ("France", "Germany", "United States")
COUNTRY = Param("country", value="france", has_value=True, options=COUNTRIES, labels=LABELS)
YEAR = Param("year", "number", value=2025, has_value=True, options=(2023, 2024, 2025))
RATING = Param("rating", value="BBB", has_value=True, options=("AA", "BBB"))
FIRST = Param("start_date", "date", value="2026-08-01", has_value=True)
ACCOUNTS = Widget("o", "accounts", "Accounts", uuid="u1", params=(SYMBOL,))
PRICES = Widget("o", "prices", "Prices", uuid="u2", params=(COUNTRY, FIRST))
GAINS = Widget("o", "gains", "Gains", uuid="u3", params=(COUNTRY, YEAR))
SPREADS = Widget("o", "spreads", "Spreads", uuid="u4", params=(RATING,))


def change(before: str, message: str, widget: Widget, **given: object) -> tuple[str, list[object]]:
    read = (widget.id, widget, widget.arguments | given)
    found = find_change(message, Earlier(before, (read,)), TODAY)
    if found is None:
        return "", []
    return found.question, [one.parameters for one in found.reads]


@pytest.mark.parametrize(
    ("before", "message", "question"),
    [
        ("What was Apple's profit in 2024?", "And for MSFT?", "What was MSFT's profit in 2024?"),
        ("Was war der Umsatz von Apple?", "Und bei Tesla?", "Was war der Umsatz von Tesla?"),
        ("Quel est le profit d'Apple ?", "Et pour Tesla ?", "Quel est le profit d'Tesla ?"),
        ("¿Cuánto ganó Apple en 2024?", "¿Y Tesla?", "¿Cuánto ganó Tesla en 2024?"),
        ("苹果2025年的收入是多少?", "那特斯拉呢?", "特斯拉2025年的收入是多少?"),
    ],
)  # fmt: skip
def test_another_company_takes_the_place_of_the_one_before(
    before: str, message: str, question: str
) -> None:
    found, (read,) = change(before, message, ACCOUNTS)
    assert found == question
    assert read == {"symbol": "MSFT" if "MSFT" in message else "TSLA"}


@pytest.mark.parametrize(
    ("message", "year"),
    [
        ("And the year before?", 2023),
        ("Und im Jahr davor?", 2023),
        ("Et l'année précédente ?", 2023),
        ("¿Y el año anterior?", 2023),
        ("前一年呢?", 2023),
        ("And the year after?", 2025),
        ("And two years earlier?", 2022),
        ("And in 2019?", 2019),
    ],
)
def test_the_time_moves_from_the_one_before(message: str, year: int) -> None:
    assert change("What was Apple's profit in 2024?", message, ACCOUNTS)[0] == (
        f"What was Apple's profit in {year}?"
    )


def test_a_month_moves_by_a_month_and_by_a_year() -> None:
    before = "What was inflation in Germany in January 2026?"
    assert "2025-12" in change(before, "And the month before?", PRICES)[0]
    assert "2025-01" in change(before, "And one year earlier?", PRICES)[0]


def test_a_month_without_a_year_has_the_year_before_it() -> None:
    before = "What was inflation in Germany in January 2024?"
    assert "March 2024" in change(before, "And in March?", PRICES)[0]


@pytest.mark.parametrize(
    "message", ["And on the first of September?", "Und am 1. September?", "¿Y el 1 de septiembre?",
                "那9月1日呢?", "E il primo settembre?"],
)  # fmt: skip
def test_a_day_without_a_year_has_the_year_before_it(message: str) -> None:
    before = "What was EUR/USD on 2026-10-01?"
    found, (_,) = change(before, message, PRICES)
    assert found.split() == "What was EUR/USD on 1 September 2026 ?".replace(" ?", "?").split()


def test_an_option_takes_the_place_of_the_one_that_was_read() -> None:
    before = "What was inflation in France in August 2026?"
    found, (read,) = change(before, "And the US?", PRICES)
    assert found == "What was inflation in US in August 2026?"
    assert read == {"country": "united_states", "start_date": "2026-08-01"}


def test_a_year_that_is_an_option_is_read_anew() -> None:
    found, (read,) = change("What were the gains of France in 2025?", "And the year before?", GAINS)
    assert found == "What were the gains of France in 2024?"
    assert read == {"country": "france", "year": 2024}


def test_an_option_that_is_also_a_ticker_is_the_option() -> None:
    found, (read,) = change("What is the spread of BBB bonds?", "And for AA?", SPREADS)
    assert (found, read) == ("What is the spread of AA bonds?", {"rating": "AA"})


def test_a_comparison_reads_both() -> None:
    found, reads = change(
        "What is the P/E ratio of AMD?", "Compare that with NVDA.", ACCOUNTS, symbol="AMD"
    )
    assert found == "What is the P/E ratio of AMD, NVDA?"
    assert reads == [{"symbol": "AMD"}, {"symbol": "NVDA"}]


@pytest.mark.parametrize(
    "message",
    [
        "And its debt?",
        "And the debt of MSFT?",
        "And MSFT's dividends in 2023?",
        "Thanks!",
        "Und die Schulden von Tesla?",
        "特斯拉的负债呢?",
        "How big is the difference?",
    ],
)
def test_a_message_with_a_subject_of_its_own_is_left_to_the_model(message: str) -> None:
    assert change("What was Apple's profit in 2024?", message, ACCOUNTS) == ("", [])


def test_nothing_changes_where_the_question_before_names_two_companies() -> None:
    assert change("Compare the profit of Apple and Nvidia.", "And MSFT?", ACCOUNTS) == ("", [])


def test_the_questions_before_are_completed_one_after_the_other() -> None:
    """The second turn needed no call, so that nothing was kept of it."""
    turns = ("What was Apple's profit in 2024?", "And the year before?", "And the year before?")
    said = tuple(Said("user", text, number) for number, text in enumerate(turns, 1))
    source = Source("o", "accounts", "u1", {"symbol": "AAPL"})
    result = Result("get_widget_data", {}, (source,), (), 1, {})
    query = Query(said, turns[-1], 3, (ACCOUNTS,), (result,))
    before = look_back(query, take_inventory(query.widgets), TODAY)
    assert before.question == "What was Apple's profit in 2023?"
    found = find_change(turns[-1], before, TODAY)
    assert found is not None
    assert found.question == "What was Apple's profit in 2022?"


ITEMS = frozenset({"Cash and Equivalents", "Total Debt", "Net Debt"})
SECTORS = frozenset({"Energy", "Utilities", "Real Estate"})
TERMS = frozenset({"2Y", "5Y", "10Y"})


@pytest.mark.parametrize(
    ("before", "message", "values", "question"),
    [
        ("What weight has Energy?", "And Utilities?", SECTORS, "What weight has Utilities?"),
        ("Wie viel wiegt Energy?", "Und Real Estate?", SECTORS, "Wie viel wiegt Real Estate?"),
        ("What is the 5-year yield?", "And the 10-year?", TERMS, "What is the 10Y yield?"),
        ("What is the total debt in 2025?", "And its cash?", ITEMS,
         "What is the Cash and Equivalents in 2025?"),
        ("What is the total debt?", "So what is the net debt?", ITEMS, "What is the Net Debt?"),
        ("What is the total debt?", "And the weather?", ITEMS, ""),
    ],
)  # fmt: skip
def test_another_row_takes_the_place_of_the_one_before(
    before: str, message: str, values: frozenset[str], question: str
) -> None:
    earlier = Earlier(before, (("spreads", SPREADS, {"rating": "AA"}),), (values,))
    found = find_change(message, earlier, TODAY)
    assert (found.question if found else "") == question
    assert found is None or [one.parameters for one in found.reads] == [{"rating": "AA"}]


@pytest.mark.parametrize(
    "message",
    ["How big is the difference?", "Wie groß ist der Unterschied?", "Quel est l'écart ?",
     "¿Cuál es la diferencia?", "相差多少?"],
)  # fmt: skip
def test_a_difference_is_that_of_the_last_two_questions(message: str) -> None:
    first = Earlier("What is the spread of AA?", (("spreads", SPREADS, {"rating": "AA"}),))
    read = ("spreads", SPREADS, {"rating": "BBB"})
    found = find_change(message, Earlier("What is that of BBB?", (read,), first=first), TODAY)
    assert found is not None
    assert found.question == f"What is the spread of AA? What is that of BBB? {message}"
    assert [one.parameters["rating"] for one in found.reads] == ["AA", "BBB"]


def test_the_wish_for_a_chart_of_another_time_keeps_the_question() -> None:
    found, _ = change(
        "What was inflation in France on 2026-09-01?", "Show me August as a line chart.", PRICES
    )
    assert found == "line chart: What was inflation in France on August 2026?"


@pytest.mark.parametrize(
    ("quarter", "message", "wanted"),
    [
        ("Q1/2025", "And the quarter before?", "Q4/2024"),
        ("2025-Q4", "And the next quarter?", "2026-Q1"),
        ("Q2 2025", "Und im Quartal davor?", "Q1 2025"),
        ("q3/2025", "And one year earlier?", "q3/2024"),
    ],
)
def test_a_quarter_moves_in_the_form_that_it_has(quarter: str, message: str, wanted: str) -> None:
    before = f"What was the coverage in Germany in {quarter}?"
    assert change(before, message, PRICES)[0] == before.replace(quarter, wanted)
