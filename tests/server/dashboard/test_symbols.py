import pytest

from server.dashboard.symbols import find_symbols, name_of


def symbols(text: str, *known: str) -> list[str]:
    return [one.symbol for one in find_symbols(text, known)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What was Tesla's revenue?", ["TSLA"]),
        ("Compare Microsoft and Coca-Cola", ["MSFT", "KO"]),
        ("Wie hoch war der Umsatz von Siemens 2024?", ["SIE.DE"]),
        ("特斯拉的收入是多少?", ["TSLA"]),
        ("How is BTC-USD doing?", ["BTC-USD"]),
        ("EUR/USD this week", ["EUR-USD"]),
        ("the P/E of AAPL and MSFT", ["AAPL", "MSFT"]),
        ("Bank of America dividends", ["BAC"]),
        ("What is the target price?", []),
        ("How did the apple harvest go?", []),
        ("Now as a chart, please.", []),
        ("Next quarter? News on Apple?", ["AAPL"]),
        ("NOW and News Corp", ["NOW", "NWS"]),
        ("", []),
    ],
)
def test_names_and_tickers_are_found_in_their_order(text: str, found: list[str]) -> None:
    assert symbols(text) == found


def test_a_symbol_that_only_the_dashboard_knows_is_found() -> None:
    assert symbols("How did ZQ do?") == []
    assert symbols("How did ZQ do?", "ZQ") == ["ZQ"]
    assert symbols("How did $ZQ do?") == ["ZQ"]


def test_the_words_of_the_text_are_kept() -> None:
    (found,) = find_symbols("And Tesla?")
    assert (found.words, found.symbol) == ("Tesla", "TSLA")


def test_a_symbol_has_a_name() -> None:
    assert [one.symbol for one in find_symbols("MSFT")] == ["MSFT"]
    assert name_of("MSFT") == "microsoft"
    assert name_of("no such symbol") == ""


def test_a_quarter_is_no_company_and_french_elides() -> None:
    found = find_symbols("Le profit d'Apple au Q2 2026 ?")
    assert [(one.words, one.symbol) for one in found] == [("Apple", "AAPL")]


@pytest.mark.parametrize(
    "text",
    [
        "Target rating: which loans have it?",
        "Block the noise and show the close.",
        "Match the dividend to its date.",
        "Thanks. Shift it by a week!",
        "- Screen for cheap stocks",
        "What is the Price Target Mean?",
        "Welcher Block ist im Pool der Investor Relations?",
    ],
)
def test_an_everyday_word_with_a_capital_that_any_word_would_have_is_no_company(text: str) -> None:
    assert symbols(text) == []


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("Target's revenue in 2024?", (), ["TGT"]),
        ("Target Corp revenue", (), ["TGT"]),
        ("Target revenue", ("TGT",), ["TGT"]),
        ("What did Target earn?", (), ["TGT"]),
        ("Compare Target and Walmart", (), ["TGT", "WMT"]),
        ("Target price of Apple", (), ["AAPL"]),
        ("Tesla revenue", (), ["TSLA"]),
    ],
)
def test_an_everyday_word_is_a_company_where_something_tells_so(
    text: str, known: tuple[str, ...], found: list[str]
) -> None:
    assert symbols(text, *known) == found


def test_the_words_of_a_name_in_capitals_are_no_symbols() -> None:
    assert symbols("REVENUE OF MATCH GROUP") == symbols("Revenue of Match Group") == ["MTCH"]
    assert symbols("MATCH GROUP and AAPL") == ["MTCH", "AAPL"]
