"""Writes the market as real backends send it: "$3.46T", "12.5%", "(1,234)", years as columns."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from tests.evaluate import ledger, market
from tests.evaluate.market import Row

Json = dict[str, Any]
DATES = ("date", "month", "ex_date", "report_date", "settlement_date", "period_ending")
UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


class NoData(Exception):
    """The backend has nothing for these arguments."""


def short_money(amount: float) -> str:
    """Writes an amount as $3.46T or $154.2B."""
    for size, letter in UNITS:
        if abs(amount) >= size:
            return f"${round(amount / size, 4):g}{letter}"
    return f"${amount:,.2f}"


def percent(amount: float) -> str:
    return f"{amount:g}%"


def in_brackets(amount: float) -> str:
    """Writes a negative amount in brackets, as accountants do."""
    text = f"{abs(amount):,.10g}" if amount % 1 else f"{abs(round(amount)):,}"
    return f"({text})" if amount < 0 else text


def epoch(day: str) -> int:
    """Returns the day in milliseconds since 1970."""
    return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


Form = Callable[[Any], Any]
FORMS: dict[str, dict[str, Form]] = {
    "cash_flow": dict.fromkeys(
        ("operating_cash_flow", "capital_expenditure", "free_cash_flow", "share_buybacks"),
        in_brackets,
    ),
    "dividends": {"payment_date": epoch},
    "earnings_calendar": {"report_date": epoch, "revenue_estimate": short_money},
    "earnings_surprises": {"surprise": percent},
    "key_metrics": {
        "market_cap": short_money, "dividend_yield": percent, "payout_ratio": percent,
    },
    "peer_comparison": {
        "market_cap": short_money, "net_margin": percent, "revenue_growth": percent,
        "return_on_equity": percent,
    },
    "sector_performance": {"change": percent},
    "institutional_holders": {"value": short_money, "stake": percent},
    "news": {"date": epoch},
    "market_movers": {"change": percent},
    "quotes": {"change": percent},
    "gdp": {"gdp": short_money, "growth": percent},
    "policy_rates": {"policy_rate": percent, "previous_rate": percent, "last_change": epoch},
    "economic_calendar": {"date": epoch},
    "trade_balance": {"exports": in_brackets, "imports": in_brackets, "balance": in_brackets},
    "holdings": {"weight": percent, "unrealized_pnl": in_brackets},
    "performance": {"return": percent, "benchmark": percent},
    "sector_allocation": {"weight": percent, "target": percent},
    "country_allocation": {"weight": percent, "target": percent},
    "currency_exposure": {"weight": percent, "target": percent},
    "transactions": {"date": epoch},
    "cash_accounts": {"balance": in_brackets, "interest_rate": percent},
    "realized_gains": {"gain": in_brackets},
    "crypto_market": {
        "market_cap": short_money, "change_24h": percent, "volume_24h": short_money,
    },
    "staking_yields": {"apy": percent, "staked_share": percent},
    "funding_rates": {"funding_rate": percent, "open_interest": short_money},
    "etf_list": {"assets": short_money, "expense_ratio": percent, "return_1y": percent},
} | ledger.FORMS  # fmt: skip
NESTED: dict[str, dict[str, tuple[str, ...]]] = {
    "key_metrics": {
        "valuation": ("market_cap", "pe_ratio", "price_to_book", "ev_to_ebitda"),
        "risk": ("beta",),
        "dividend": ("dividend_yield", "payout_ratio"),
    },
    "company_profile": {"headquarters": ("city", "country")},
    "risk_metrics": {
        "risk": ("volatility", "max_drawdown", "value_at_risk", "beta"),
        "ratios": ("sharpe", "sortino"),
    },
} | ledger.NESTED
WIDE = {
    "balance_sheet": ("item", "year", "amount"),
    "government_debt": ("country", "year", "share"),
}
SINGLE = frozenset({"key_metrics", "risk_metrics", "capital"})
"""Datasets that are sent as one object rather than as a list of rows."""
LEFT_OUT: dict[str, tuple[str, ...]] = {"earnings_surprises": ("year",), "dividends": ("year",)}


def read(dataset: str, arguments: Json) -> Any:
    """Returns the backend's answer, ready for JSON. Raises NoData."""
    if dataset not in market.DATASETS:
        return market.generic(dataset)
    rows = chosen(dataset, arguments)
    if not rows and market.rows_of(dataset):
        raise NoData(f"No data for {json.dumps(arguments)}")
    return shaped(dataset, rows, arguments)


def chosen(dataset: str, arguments: Json) -> list[Row]:
    """Returns the rows that fit the arguments. Ignores arguments that are neither column nor
    range."""
    rows = market.rows_of(dataset)
    columns = rows[0].keys()
    for name, wanted in arguments.items():
        if name in columns and wanted not in (None, ""):
            rows = [row for row in rows if _is_meant(row[name], wanted)]
        elif name == "symbols":
            rows = [row for row in rows if _is_meant(row["symbol"], wanted)]
    when = next((name for name in DATES if name in columns), "")
    if when:
        first, last = arguments.get("start_date") or "", arguments.get("end_date") or "9999"
        rows = [row for row in rows if _within(row[when], str(first), str(last))]
        rows = _thinned(rows, when, str(arguments.get("interval") or "1d"))
    limit = arguments.get("limit")
    return _newest(rows, when or "fiscal_year", int(limit)) if limit else rows


def _is_meant(found: Any, wanted: Any) -> bool:
    many = wanted if isinstance(wanted, list) else str(wanted).split(",")
    return str(found).lower() in {str(one).strip().lower() for one in many}


def _within(day: str, first: str, last: str) -> bool:
    """Whether the day is in the span. A month is if the span touches it."""
    return first[: len(day)] <= day <= last[: len(day)]


def _thinned(rows: list[Row], when: str, interval: str) -> list[Row]:
    """Returns the last row of each week or month."""
    if interval not in ("1w", "1m"):
        return rows

    def part(row: Row) -> tuple[Any, ...]:
        day = datetime.fromisoformat(row[when])
        return day.isocalendar()[:2] if interval == "1w" else (day.year, day.month)

    return [list(group)[-1] for _, group in groupby(rows, key=part)]


def _newest(rows: list[Row], when: str, limit: int) -> list[Row]:
    if not rows or when not in rows[0]:
        return rows[:limit]
    return sorted(rows, key=lambda row: str(row[when]), reverse=True)[:limit]


def shaped(dataset: str, rows: Sequence[Row], arguments: Json) -> Any:
    if dataset in WIDE:
        return _wide(rows, *WIDE[dataset])
    given = {name for name in arguments if name not in ("symbol", "symbols")}
    hidden = {*given, *LEFT_OUT.get(dataset, ())} - {"limit"}
    forms = FORMS.get(dataset, {})
    plain = [
        {
            name: cell if cell is None else forms.get(name, _same)(cell)
            for name, cell in row.items()
            if name not in hidden
        }
        for row in (*rows, *_totals(dataset, rows))
    ]
    if dataset in NESTED:
        plain = [_nested(row, NESTED[dataset]) for row in plain]
    if dataset in SINGLE and len(plain) == 1:
        return plain[0]
    if dataset == "etf_list":
        return {"columns": list(plain[0]), "data": [list(row.values()) for row in plain]}
    if dataset == "fx_forwards":
        return {name: [row[name] for row in plain] for name in plain[0]}
    return plain


def _totals(dataset: str, rows: Sequence[Row]) -> list[Row]:
    """Returns the last row of a table that adds up the others, if it has one."""
    if dataset not in ledger.TOTALS:
        return []
    label, name, columns = ledger.TOTALS[dataset]
    sums = {column: round(sum(row[column] for row in rows), 4) for column in columns}
    return [dict.fromkeys(rows[0]) | {label: name} | sums]


def _same(cell: Any) -> Any:
    return cell


def _wide(rows: Sequence[Row], label: str, across: str, amount: str) -> list[Row]:
    """Returns a column for each year, the newest first."""
    years = sorted({row[across] for row in rows}, reverse=True)
    found: dict[str, Row] = {}
    for row in rows:
        made = found.setdefault(row[label], {label: row[label], **dict.fromkeys(map(str, years))})
        made[str(row[across])] = (
            percent(row[amount]) if amount == "share" else in_brackets(row[amount])
        )
    return list(found.values())


def _nested(row: Row, groups: dict[str, tuple[str, ...]]) -> Row:
    inner = {name for names in groups.values() for name in names}
    made: Row = {name: cell for name, cell in row.items() if name not in inner}
    for group, names in groups.items():
        made[group] = {name: row[name] for name in names}
    return made


def options(dataset: str, param: str, arguments: Json) -> list[Json]:
    """Returns the values of a parameter that only the backend knows."""
    rows = [row for row in market.rows_of(dataset) if _is_meant(
        row.get("symbol"), arguments.get("symbol") or row.get("symbol"))]  # fmt: skip
    values = dict.fromkeys(row[param] for row in rows if param in row)
    return [{"label": str(value), "value": value} for value in values]
