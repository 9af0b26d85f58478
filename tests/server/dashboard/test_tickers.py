from typing import Any

import pytest

from server.dashboard.query import Param
from server.dashboard.tickers import asked_for, left_out, tickers

SHOWN = Param("symbol", "ticker", "Ticker", "AAPL", has_value=True)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the EPS of AAPL and BRK.B in USD?", ["AAPL", "BRK.B"]),
        ("I am here", []),
        ("What is the P/E of AAPL?", ["AAPL"]),
        ("How do P/Es and EV/EBITDA of MSFT look?", ["MSFT"]),
        ("How does AAPL compare to the S&P 500?", ["AAPL"]),
        ("What is AAPL's R&D spending?", ["AAPL"]),
        ("Compare AAPL/MSFT, not EUR/USD", ["AAPL", "MSFT"]),
        ("Show the RSI for AAPL", ["AAPL"]),
        ("What is the U.S. outlook for T.TO?", ["T.TO"]),
        ("How is F. doing?", ["F"]),
        ("What does the 10-K of MSFT say about T-bills?", ["MSFT"]),
        ("What is the WACC of MSFT?", ["MSFT"]),
        ("Not NVDA but $RSI", ["RSI", "NVDA"]),
        ("MSFT?", ["MSFT"]),
        ("NVDA AND MSFT", ["NVDA", "MSFT"]),
        ("WHAT IS THE PRICE OF AAPL?", []),
        ("WHAT IS THE PRICE OF $AAPL?", ["AAPL"]),
        ("PREIS UND KURSZIEL VON MSFT BITTE SOFORT", []),
    ],
)
def test_tickers(question: str, found: list[str]) -> None:
    assert tickers(question) == found


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Compare MSFT and AAPL", "AAPL"),
        ("Compare $MSFT and AAPL", "MSFT"),
        ("Compare MSFT and NVDA", "MSFT"),
        ("How is it?", None),
    ],
)
def test_where_one_fits_the_marked_and_the_shown_come_first(question: str, value: Any) -> None:
    assert asked_for(SHOWN, question) == value


@pytest.mark.parametrize(
    ("question", "value", "said"),
    [
        ("Compare AAPL and MSFT", "AAPL", "MSFT left out, read for AAPL"),
        ("Compare AAPL and MSFT", ["AAPL", "MSFT"], ""),
        ("How is AAPL?", "NASDAQ:AAPL", ""),
        ("How is it?", "AAPL", ""),
        ("HOW IS AAPL?", "AAPL", ""),
        (
            "HOW IS MSFT?",
            "AAPL",
            "no ticker is taken from a question all in capitals, read for AAPL",
        ),
    ],
)
def test_what_is_left_out_is_said(question: str, value: Any, said: str) -> None:
    assert left_out(SHOWN, value, question) == said
