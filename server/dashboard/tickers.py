"""Finds the tickers in a question, and chooses those that a widget is read for."""

import re
from typing import Any

from server.dashboard.query import Param
from server.language.ranking import STOP_WORDS

TICKER = re.compile(r"(?<![\w.])(\$?)([A-Z]{1,5}(?:[.-][A-Z]{1,2})?)(?!\w)")
JOINED = re.compile(r"(?<![\w$])[A-Z]+(?:[/&][A-Za-z]+)+")
ABBREVIATED = re.compile(r"\b[A-Z](?:\.[A-Z])+\b\.?|\b[A-Z]-[a-z0-9]\w*|\b\d+-[A-Z]\b")
"""Abbreviations that are not tickers: U.S., T-bill, 10-K."""
NO_TICKER_TEXT = """
A I AM PM AI API ARR AUM BPS CAGR CAPEX CEO CFO COO CPI CSV DCF EBIT EBITDA EM EPS ESG ETF ETFS EU
EUR EV FAQ FCF FED FX FY GAAP GBP GDP IPO IRR JPY JSON KPI LTM M MCP MOM NAV NYSE OHLC OK OPEC PB
PDF PE PEG PMI PS Q QOQ ROA ROE ROI ROIC SEC SQL TTM UK US USA USD VAR VIX VWAP YOY YTD AND OR THE
FOR OF IN ON TO IS IT BY AT VS NO YES ALL NOT
ADR ADX AGM APR APY ARPU ATH ATM ATR BETA CAPM CCI CDS CHF CNY COGS CTO DAU DPS EBT ECB EMA EOD
ESOP EST FAANG FFO FIFO FOMC FTSE GMT GMV HY IFRS IG IMF ITM IV KPIS LBO LIFO LLC LLM LTV MACD MAU
MBS MTD NII NIM NPV NTM OBV OCF OEM OHLCV OTC OTM PBT PCE PER PNL PPI PPP QE QTD REIT REITS ROCE RSI
SAAS SGA SMA SOFR SPAC TAM TBD TSR UTC VAT VC WACC WMA WTI XBRL YTM
BUY CALL COULD HOLD HOW PUT SELL SHOW WHAT WHEN WHERE WHICH WHO WHY
"""
NO_TICKERS = frozenset(NO_TICKER_TEXT.split())
TICKER_NAMES = frozenset({"symbol", "symbols", "ticker", "tickers"})
SHORTEST_JOINED = 3
MOST_NAMED = 5
"""A question all in capitals with at most this many words may be a list of tickers."""


def is_ticker(param: Param) -> bool:
    return param.kind == "ticker" or param.name.lower() in TICKER_NAMES


def tickers(question: str) -> list[str]:
    """Returns the tickers in the question, those with a dollar sign first."""
    plain = ABBREVIATED.sub(" ", JOINED.sub(_told_apart, question))
    found = [(match[1] != "$", match[2]) for match in TICKER.finditer(plain)]
    shouted = is_shouted(question)
    kept = [
        (is_bare, name)
        for is_bare, name in found
        if not is_bare or not (shouted or name in NO_TICKERS)
    ]
    kept.sort(key=lambda one: one[0])
    return list(dict.fromkeys(name for _, name in kept))


def _told_apart(joined: re.Match[str]) -> str:
    """Replaces AAPL/MSFT by two tickers, and P/E, S&P and EUR/USD by a space."""
    parts = re.split("[/&]", joined[0])
    are_names = all(
        len(part) >= SHORTEST_JOINED and part.isupper() and part not in NO_TICKERS for part in parts
    )
    return " ".join(parts) if are_names else " "


def is_shouted(question: str) -> bool:
    """Whether a whole sentence is in capitals, so that capitals do not mark tickers."""
    words = [word.lower() for word in re.findall(r"[A-Z]{2,}", question)]
    speaks = not STOP_WORDS.isdisjoint(set(words) - {"and", "or"})
    return question.isupper() and (speaks or len(words) > MOST_NAMED)


def asked_for(param: Param, question: str) -> Any:
    """Returns the tickers to read a widget for, or None. One that it shows comes first."""
    found = tickers(question)
    if not found:
        return None
    shown = _shown(param)
    if set(found) <= set(shown):
        return param.value
    if param.several:
        return found
    if "," in str(param.value or ""):
        return ",".join(found)
    is_marked = f"${found[0]}" in question
    return found[0] if is_marked else next((one for one in found if one in shown), found[0])


def left_out(param: Param, value: Any, question: str) -> str:
    """Returns a note on tickers of the question that the widget is not read for, or ""."""
    held = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "its default")
    missing = [one for one in tickers(question) if not _is_in(one, held)]
    if missing:
        return f"{', '.join(missing)} left out, read for {held}"
    if is_shouted(question) and not any(_is_in(one, question) for one in [held, *_shown(param)]):
        return f"no ticker is taken from a question all in capitals, read for {held}"
    return ""


def _shown(param: Param) -> list[str]:
    values = param.value if isinstance(param.value, list) else str(param.value or "").split(",")
    return [name for one in values if (name := str(one).strip())]


def _is_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
