"""Makes up a market, the same on every machine: everything that a widget could show.

Each dataset is a list of plain rows, with a column for everything that a widget can be read for
(symbol, period, country ...). `wire.py` turns them into what a backend would send.
"""

import random
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from typing import Any

from tests.evaluate import ledger

Row = dict[str, Any]
SEED = "moat-2026"
FIRST_DAY, LAST_DAY = date(2024, 1, 2), date(2026, 10, 30)
YEARS = range(2018, 2026)
QUARTERS = [(year, quarter) for year in (2023, 2024, 2025, 2026) for quarter in (1, 2, 3, 4)][:15]
QUARTER_ENDS = {1: "03-31", 2: "06-30", 3: "09-30", 4: "12-31"}

COMPANIES: dict[str, tuple[str, str, float]] = {
    "AAPL": ("Apple Inc.", "Technology", 300e9),
    "MSFT": ("Microsoft Corporation", "Technology", 180e9),
    "NVDA": ("NVIDIA Corporation", "Technology", 30e9),
    "AMZN": ("Amazon.com, Inc.", "Consumer Discretionary", 400e9),
    "GOOGL": ("Alphabet Inc.", "Communication Services", 210e9),
    "META": ("Meta Platforms, Inc.", "Communication Services", 100e9),
    "TSLA": ("Tesla, Inc.", "Consumer Discretionary", 50e9),
    "JPM": ("JPMorgan Chase & Co.", "Financials", 120e9),
    "V": ("Visa Inc.", "Financials", 25e9),
    "WMT": ("Walmart Inc.", "Consumer Staples", 520e9),
    "XOM": ("Exxon Mobil Corporation", "Energy", 280e9),
    "CVX": ("Chevron Corporation", "Energy", 170e9),
    "JNJ": ("Johnson & Johnson", "Health Care", 80e9),
    "PFE": ("Pfizer Inc.", "Health Care", 55e9),
    "PG": ("The Procter & Gamble Company", "Consumer Staples", 70e9),
    "KO": ("The Coca-Cola Company", "Consumer Staples", 37e9),
    "NFLX": ("Netflix, Inc.", "Communication Services", 25e9),
    "AMD": ("Advanced Micro Devices, Inc.", "Technology", 16e9),
    "INTC": ("Intel Corporation", "Technology", 70e9),
    "BA": ("The Boeing Company", "Industrials", 65e9),
}
NO_DIVIDEND = {"AMZN", "TSLA", "NFLX", "AMD", "BA"}
SECTORS = [
    "Technology", "Health Care", "Financials", "Energy", "Utilities", "Materials", "Industrials",
    "Real Estate", "Consumer Staples", "Consumer Discretionary", "Communication Services",
]  # fmt: skip
PERIODS = ["1D", "1W", "1M", "3M", "YTD", "1Y"]
PEOPLE = ["Ada Lind", "Ben Okoye", "Carla Ruiz", "Dmitri Vogel", "Elena Rossi", "Femi Adeyemi"]
CITIES = ["Austin", "Seattle", "Boston", "Denver", "Portland", "Dallas"]
FIRMS = ["Northgate", "Blue Harbor", "Keller & Roth", "Summit Street", "Atlas Research", "Onyx"]
HOLDERS = ["Vanward Group", "Stonerock", "State Avenue", "Fidelis", "Geodesic Capital"]

COUNTRIES: dict[str, tuple[str, float]] = {
    "united_states": ("United States", 21.0), "germany": ("Germany", 3.8),
    "france": ("France", 2.7), "spain": ("Spain", 1.4), "italy": ("Italy", 1.9),
    "united_kingdom": ("United Kingdom", 2.9), "japan": ("Japan", 4.6),
    "china": ("China", 14.2), "brazil": ("Brazil", 1.8), "switzerland": ("Switzerland", 0.8),
}  # fmt: skip
BANKS = {
    "Federal Reserve": "united_states", "European Central Bank": "germany",
    "Bank of England": "united_kingdom", "Bank of Japan": "japan",
    "Swiss National Bank": "switzerland", "People's Bank of China": "china",
    "Banco Central do Brasil": "brazil",
}  # fmt: skip
MATURITIES = {"3M": 0.25, "2Y": 2.0, "5Y": 5.0, "10Y": 10.0, "30Y": 30.0}
RATINGS = ["AAA", "AA", "A", "BBB", "BB", "B"]
SERIES: dict[str, tuple[str, float]] = {
    "PAYEMS": ("Nonfarm payrolls (thousands)", 155_000.0),
    "RSAFS": ("Retail sales (USD millions)", 690_000.0),
    "INDPRO": ("Industrial production index", 103.0),
    "HOUST": ("Housing starts (thousands)", 1_400.0),
    "UMCSENT": ("Consumer sentiment index", 70.0),
}
PORTFOLIOS: dict[str, tuple[str, ...]] = {
    "growth": ("NVDA", "MSFT", "AMZN", "TSLA", "META", "AMD", "NFLX", "GOOGL"),
    "income": ("JNJ", "KO", "PG", "XOM", "JPM", "V", "CVX", "PFE"),
}
COINS: dict[str, tuple[str, float]] = {
    "BTC-USD": ("Bitcoin", 61_000.0), "ETH-USD": ("Ethereum", 3_100.0),
    "SOL-USD": ("Solana", 140.0), "XRP-USD": ("XRP", 0.62), "ADA-USD": ("Cardano", 0.48),
    "DOGE-USD": ("Dogecoin", 0.14),
}  # fmt: skip
PAIRS = {
    "EUR/USD": 1.09, "USD/JPY": 148.0, "GBP/USD": 1.27, "USD/CHF": 0.88, "AUD/USD": 0.66,
    "USD/CNY": 7.2, "EUR/GBP": 0.86,
}  # fmt: skip
COMMODITIES = {
    "gold": 2300.0, "silver": 28.0, "wti": 78.0, "brent": 82.0, "natural_gas": 2.6, "copper": 4.2,
}  # fmt: skip
ETFS = {
    "VTX": "Total Market ETF", "SPX5": "Large Cap 500 ETF", "QTEC": "Technology Leaders ETF",
    "BNDX": "Aggregate Bond ETF", "EMGX": "Emerging Markets ETF", "DIVY": "High Dividend ETF",
}  # fmt: skip


def chance(*key: object) -> random.Random:
    """Returns a random generator for this key alone, so that datasets do not depend on each
    other."""
    return random.Random("|".join(map(str, (SEED, *key))))


def days(first: date = FIRST_DAY, last: date = LAST_DAY) -> list[date]:
    span = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return [day for day in span if day.weekday() < 5]


def months(first: int, last: tuple[int, int] = (2026, 9)) -> list[str]:
    """Lists months from January of the year `first`."""
    return [
        f"{year}-{month:02d}"
        for year in range(first, last[0] + 1)
        for month in range(1, 13)
        if (year, month) <= last
    ]


def walk(key: str, start: float, count: int, step: float, decimals: int) -> list[float]:
    """Returns a random walk with steps of about `step`, as a share of the value."""
    dice, value, found = chance("walk", key), start, []
    for _ in range(count):
        value *= 1 + dice.gauss(0.0004, step)
        found.append(round(value, decimals))
    return found


def price_history() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("price", symbol)
        closes = walk(symbol, dice.uniform(60, 480), len(days()), 0.015, 2)
        for day, close in zip(days(), closes, strict=True):
            opened = round(close * (1 + dice.gauss(0, 0.006)), 2)
            rows.append({
                "symbol": symbol, "date": day.isoformat(), "open": opened,
                "high": round(max(opened, close) * (1 + dice.random() * 0.01), 2),
                "low": round(min(opened, close) * (1 - dice.random() * 0.01), 2),
                "close": close, "volume": dice.randrange(8_000_000, 90_000_000),
            })  # fmt: skip
    return rows


def _statement(symbol: str, revenue: float, dice: random.Random) -> Row:
    revenue = round(revenue, -6)
    cost = round(revenue * dice.uniform(0.42, 0.68), -6)
    research = None if symbol in ("JPM", "V", "WMT", "XOM", "KO") else round(revenue * 0.08, -6)
    operating = round((revenue - cost) * dice.uniform(0.35, 0.6), -6)
    net = round(operating * dice.uniform(0.7, 0.86), -6)
    return {
        "revenue": int(revenue), "cost_of_revenue": int(cost),
        "gross_profit": int(revenue - cost),
        "research_and_development": None if research is None else int(research),
        "operating_income": int(operating), "net_income": int(net),
        "eps_diluted": round(net / shares(symbol), 2),
    }  # fmt: skip


@cache
def shares(symbol: str) -> int:
    return chance("shares", symbol).randrange(1_500_000_000, 9_000_000_000, 1_000_000)


def income_statement() -> list[Row]:
    rows = []
    for symbol, (_, _, base) in COMPANIES.items():
        dice = chance("income", symbol)
        revenue = base
        for year in YEARS:
            revenue *= 1 + dice.uniform(-0.06, 0.18)
            rows.append({
                "symbol": symbol, "period": "annual", "fiscal_year": year, "fiscal_period": "FY",
                "period_ending": f"{year}-12-31", **_statement(symbol, revenue, dice),
            })  # fmt: skip
        for year, quarter in QUARTERS:
            quarterly = revenue / 4 * (1 + dice.uniform(-0.12, 0.15))
            rows.append({
                "symbol": symbol, "period": "quarter", "fiscal_year": year,
                "fiscal_period": f"Q{quarter}", "period_ending": f"{year}-{QUARTER_ENDS[quarter]}",
                **_statement(symbol, quarterly, dice),
            })  # fmt: skip
    return rows


def balance_sheet() -> list[Row]:
    """Returns a row for each item and year, in millions."""
    rows = []
    for symbol, (_, _, base) in COMPANIES.items():
        dice = chance("balance", symbol)
        assets = base / 1e6 * dice.uniform(0.9, 1.6)
        for year in YEARS:
            assets *= 1 + dice.uniform(-0.04, 0.12)
            debt, cash = assets * dice.uniform(0.18, 0.33), assets * dice.uniform(0.05, 0.3)
            equity = assets * dice.uniform(0.3, 0.5)
            amounts = {
                "Total Assets": assets, "Total Liabilities": assets - equity,
                "Shareholders' Equity": equity, "Cash and Equivalents": cash,
                "Total Debt": debt, "Net Debt": debt - cash, "Inventory": assets * 0.04,
            }  # fmt: skip
            rows += [
                {"symbol": symbol, "item": item, "year": year, "amount": round(amount)}
                for item, amount in amounts.items()
            ]
    return rows


def cash_flow() -> list[Row]:
    """Returns amounts in millions."""
    rows = []
    for one in income_statement():
        if one["period"] == "annual":
            dice = chance("cash flow", one["symbol"], one["fiscal_year"])
            operating = round(one["net_income"] / 1e6 * dice.uniform(1.05, 1.4))
            spent = -round(operating * dice.uniform(0.15, 0.6))
            rows.append({
                "symbol": one["symbol"], "fiscal_year": one["fiscal_year"],
                "operating_cash_flow": operating, "capital_expenditure": spent,
                "free_cash_flow": operating + spent,
                "share_buybacks": -round(operating * dice.uniform(0.05, 0.5)),
            })  # fmt: skip
    return rows


def dividends() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        if symbol in NO_DIVIDEND:
            continue
        dice = chance("dividends", symbol)
        amount = round(dice.uniform(0.2, 1.4), 2)
        for year in range(2022, 2027):
            amount = round(amount * dice.uniform(1.02, 1.09), 2)
            for month in (2, 5, 8, 11):
                if (year, month) < (2026, 11):
                    day = date(year, month, dice.randrange(5, 20))
                    paid = day + timedelta(days=dice.randrange(10, 25))
                    rows.append({
                        "symbol": symbol, "ex_date": day.isoformat(), "amount": amount,
                        "payment_date": paid.isoformat(), "year": year,
                    })  # fmt: skip
    return rows


def earnings_calendar() -> list[Row]:
    rows = []
    for symbol, (name, _, base) in COMPANIES.items():
        dice = chance("calendar", symbol)
        day = date(2026, 11, 17) + timedelta(days=dice.randrange(0, 24))
        rows.append({
            "symbol": symbol, "name": name, "report_date": day.isoformat(),
            "eps_estimate": round(dice.uniform(0.4, 6.5), 2),
            "revenue_estimate": round(base / 4 * dice.uniform(1.2, 2.0), -8),
            "session": dice.choice(["before open", "after close"]),
        })  # fmt: skip
    return sorted(rows, key=lambda row: (row["report_date"], row["symbol"]))


def earnings_surprises() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("surprise", symbol)
        for year, quarter in QUARTERS:
            estimate = round(dice.uniform(0.6, 4.0), 2)
            actual = round(estimate * (1 + dice.uniform(-0.08, 0.14)), 2)
            rows.append({
                "symbol": symbol, "quarter": f"Q{quarter} {year}", "year": year,
                "eps_actual": actual, "eps_estimate": estimate,
                "surprise": round((actual / estimate - 1) * 100, 1),
            })  # fmt: skip
    return rows


def key_metrics() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("metrics", symbol)
        rows.append({
            "symbol": symbol, "market_cap": round(dice.uniform(0.15, 3.9), 2) * 1e12,
            "pe_ratio": round(dice.uniform(9, 62), 1),
            "price_to_book": round(dice.uniform(2, 40), 1),
            "ev_to_ebitda": round(dice.uniform(6, 40), 1), "beta": round(dice.uniform(0.5, 2.1), 2),
            "dividend_yield": 0.0 if symbol in NO_DIVIDEND else round(dice.uniform(0.4, 4.4), 2),
            "payout_ratio": round(dice.uniform(12, 70), 1),
        })  # fmt: skip
    return rows


def company_profile() -> list[Row]:
    rows = []
    for symbol, (name, sector, _) in COMPANIES.items():
        dice = chance("profile", symbol)
        rows.append({
            "symbol": symbol, "name": name, "sector": sector, "ceo": dice.choice(PEOPLE),
            "employees": dice.randrange(9_000, 400_000, 100), "founded": dice.randrange(1890, 2004),
            "city": dice.choice(CITIES), "country": "United States",
        })  # fmt: skip
    return rows


def analyst_targets() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("targets", symbol)
        last = latest("price_history", symbol=symbol)["close"]
        rows += [
            {"symbol": symbol, "firm": firm, "date": f"2026-10-{dice.randrange(1, 29):02d}",
             "rating": dice.choice(["Buy", "Buy", "Hold", "Sell"]),
             "price_target": round(last * dice.uniform(0.8, 1.4))}
            for firm in FIRMS
        ]  # fmt: skip
    return rows


def peer_comparison() -> list[Row]:
    rows = []
    for one in key_metrics():
        dice = chance("peers", one["symbol"])
        name, sector, _ = COMPANIES[one["symbol"]]
        rows.append({
            "symbol": one["symbol"], "name": name, "sector": sector,
            "market_cap": one["market_cap"], "pe_ratio": one["pe_ratio"],
            "net_margin": round(dice.uniform(2, 44), 1),
            "revenue_growth": round(dice.uniform(-9, 38), 1),
            "return_on_equity": round(dice.uniform(5, 60), 1),
        })  # fmt: skip
    return rows


def sector_performance() -> list[Row]:
    return [
        {"period": period, "sector": sector,
         "change": round(chance("sector", sector, period).uniform(-9, 14), 1)}
        for period in PERIODS
        for sector in SECTORS
    ]  # fmt: skip


def insider_trades() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("insiders", symbol)
        for day in sorted(dice.sample(days(date(2026, 4, 1)), 14), reverse=True):
            rows.append({
                "symbol": symbol, "date": day.isoformat(), "insider": dice.choice(PEOPLE),
                "transaction": dice.choice(["Buy", "Sell", "Sell"]),
                "shares": dice.randrange(500, 60_000, 100),
                "price": round(dice.uniform(60, 480), 2),
            })  # fmt: skip
    return rows


def institutional_holders() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("holders", symbol)
        rows += [
            {"symbol": symbol, "holder": holder, "shares": dice.randrange(20, 900) * 1_000_000,
             "value": round(dice.uniform(4, 180), 1) * 1e9, "stake": round(dice.uniform(0.8, 9), 1)}
            for holder in HOLDERS
        ]  # fmt: skip
    return rows


def short_interest() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("short", symbol)
        rows += [
            {"symbol": symbol, "settlement_date": f"2026-{month:02d}-15",
             "shares_short": dice.randrange(5_000_000, 120_000_000, 1000),
             "days_to_cover": round(dice.uniform(0.8, 6), 1),
             "percent_of_float": round(dice.uniform(0.4, 9), 2)}
            for month in range(1, 11)
        ]  # fmt: skip
    return rows


EXPIRATIONS = ["2026-11-20", "2026-12-18", "2027-01-15", "2027-03-19"]


def options_chain() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        middle = round(latest("price_history", symbol=symbol)["close"] / 10) * 10
        for expiration in EXPIRATIONS:
            for kind in ("call", "put"):
                dice = chance("options", symbol, expiration, kind)
                for strike in range(middle - 50, middle + 60, 10):
                    bid = round(dice.uniform(0.5, 40), 2)
                    rows.append({
                        "symbol": symbol, "expiration": expiration, "option_type": kind,
                        "strike": strike, "bid": bid, "ask": round(bid * 1.03, 2),
                        "implied_volatility": round(dice.uniform(0.15, 0.7), 3),
                        "open_interest": dice.randrange(50, 24_000),
                    })  # fmt: skip
    return rows


def esg_scores() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("esg", symbol)
        names = ("environmental", "social", "governance")
        parts = {name: round(dice.uniform(20, 90), 1) for name in names}
        total = round(sum(parts.values()) / 3, 1)
        rows.append({"symbol": symbol, **parts, "total": total})
    return rows


def news() -> list[Row]:
    made = ["opens a plant in {city}", "names {person} to its board", "raises its outlook",
            "is sued over a patent", "cuts prices in Europe", "buys back more shares"]  # fmt: skip
    rows = []
    for symbol, (name, _, _) in COMPANIES.items():
        dice = chance("news", symbol)
        for number, day in enumerate(reversed(days(date(2026, 10, 12)))):
            text = made[number % len(made)]
            text = text.format(city=dice.choice(CITIES), person=dice.choice(PEOPLE))
            rows.append({
                "symbol": symbol, "date": day.isoformat(), "headline": f"{name} {text}",
                "source": dice.choice(["Wire One", "Ledger", "Market Post"]),
            })  # fmt: skip
    return rows


def analyst_estimates() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("estimates", symbol)
        newest = {"symbol": symbol, "period": "annual", "fiscal_year": 2025}
        last = value("income_statement", "revenue", **newest)
        for year in (2026, 2027, 2028):
            last = round(last * dice.uniform(1.01, 1.12), -7)
            rows.append({
                "symbol": symbol, "fiscal_year": year, "revenue_estimate": int(last),
                "eps_estimate": round(dice.uniform(2, 18), 2), "analysts": dice.randrange(8, 45),
            })  # fmt: skip
    return rows


def _shares_of(total: int, names: list[str], dice: random.Random) -> list[tuple[str, int]]:
    weights = [dice.uniform(1, 5) for _ in names]
    parts = [int(round(total * weight / sum(weights), -6)) for weight in weights]
    parts[0] += total - sum(parts)
    return list(zip(names, parts, strict=True))


def _revenue_by(column: str, names: list[str]) -> list[Row]:
    return [
        {"symbol": one["symbol"], "fiscal_year": one["fiscal_year"], column: name, "revenue": part}
        for one in income_statement()
        if one["period"] == "annual" and one["fiscal_year"] >= 2022
        for name, part in _shares_of(
            one["revenue"], names, chance(column, one["symbol"], one["fiscal_year"])
        )
    ]


def revenue_by_segment() -> list[Row]:
    return _revenue_by("segment", ["Products", "Services", "Cloud", "Licensing"])


def revenue_by_region() -> list[Row]:
    return _revenue_by("region", ["Americas", "Europe", "Greater China", "Japan", "Rest of Asia"])


def stock_splits() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        dice = chance("splits", symbol)
        rows += [
            {"symbol": symbol, "date": f"{year}-06-{dice.randrange(1, 28):02d}",
             "ratio": f"{dice.choice([2, 3, 4, 5, 7])}:1"}
            for year in sorted(dice.sample(range(1999, 2025), 2))
        ]  # fmt: skip
    return rows


def market_movers() -> list[Row]:
    rows = []
    for symbol, (name, _, _) in COMPANIES.items():
        dice = chance("movers", symbol)
        change = round(dice.uniform(-8, 8), 2)
        rows.append({
            "direction": "gainers" if change > 0 else "losers", "symbol": symbol, "name": name,
            "price": latest("price_history", symbol=symbol)["close"], "change": change,
            "volume": dice.randrange(8_000_000, 90_000_000),
        })  # fmt: skip
    return sorted(rows, key=lambda row: -abs(row["change"]))


def moving_averages() -> list[Row]:
    rows = []
    for symbol in COMPANIES:
        closes = [one["close"] for one in rows_of("price_history", symbol=symbol)]
        for window in (20, 50, 200):
            for place, day in list(enumerate(days()))[-60:]:
                mean = sum(closes[place - window + 1 : place + 1]) / window
                rows.append({
                    "symbol": symbol, "window": window, "date": day.isoformat(),
                    "close": closes[place], "moving_average": round(mean, 2),
                })  # fmt: skip
    return rows


def market_cap_history() -> list[Row]:
    return [
        {"symbol": symbol, "date": f"{month}-28",
         "market_cap": round(worth, 2) * 1e9}
        for symbol in COMPANIES
        for month, worth in zip(
            months(2023), walk(f"cap {symbol}", chance("cap", symbol).uniform(200, 2500),
                               len(months(2023)), 0.05, 1), strict=True)
    ]  # fmt: skip


def quotes() -> list[Row]:
    return [
        {"symbol": one["symbol"], "name": one["name"], "last": one["price"],
         "change": one["change"], "volume": one["volume"]}
        for one in market_movers()
    ]  # fmt: skip


def _monthly(
    key: str, column: str, start: float, step: float, first: int = 2019
) -> list[tuple[str, float]]:
    found, value, dice = [], start, chance(key, column)
    for month in months(first):
        value = max(value + dice.gauss(0, step), -1.5)
        found.append((month, round(value, 1)))
    return found


def inflation() -> list[Row]:
    return [
        {"country": country, "month": month, "cpi_yoy": rate}
        for country in COUNTRIES
        for month, rate in _monthly(country, "cpi", chance("cpi0", country).uniform(1, 3), 0.35)
    ]


def unemployment() -> list[Row]:
    return [
        {"country": country, "month": month, "unemployment_rate": max(rate, 1.5)}
        for country in COUNTRIES
        for month, rate in _monthly(country, "jobless", chance("u0", country).uniform(4, 10), 0.15)
    ]


def gdp() -> list[Row]:
    rows = []
    for country, (_, base) in COUNTRIES.items():
        dice = chance("gdp", country)
        size = base
        for year in range(2015, 2026):
            growth = round(dice.uniform(-3.5, 6.5), 1)
            size *= 1 + growth / 100
            rows.append({
                "country": country, "year": year, "gdp": round(size, 2) * 1e12, "growth": growth,
            })  # fmt: skip
    return rows


def policy_rates() -> list[Row]:
    rows = []
    for bank, country in BANKS.items():
        dice = chance("policy", bank)
        rate = round(dice.randrange(0, 48) / 4, 2)
        rows.append({
            "central_bank": bank, "country": COUNTRIES[country][0], "policy_rate": rate,
            "previous_rate": round(rate + dice.choice([-0.5, -0.25, 0.25, 0.5]), 2),
            "last_change": f"2026-{dice.randrange(1, 11):02d}-{dice.randrange(1, 28):02d}",
        })  # fmt: skip
    return rows


def yield_curve() -> list[Row]:
    rows = []
    ends = [*[f"{month}-28" for month in months(2025)], "2026-10-30"]
    for country in ("united_states", "germany", "japan", "united_kingdom", "china"):
        base = chance("curve", country).uniform(0.8, 4.6)
        for day in ends:
            dice = chance("curve", country, day)
            rows += [
                {"country": country, "date": day, "maturity": name,
                 "yield": round(base + dice.uniform(-0.4, 0.4) + 0.25 * years ** 0.5, 2)}
                for name, years in MATURITIES.items()
            ]  # fmt: skip
    return rows


def treasury_yields() -> list[Row]:
    rows = []
    for name, years in MATURITIES.items():
        rates = walk(f"treasury {name}", 3.6 + years**0.5 * 0.2, len(days()), 0.008, 2)
        rows += [
            {"maturity": name, "date": day.isoformat(), "yield": rate}
            for day, rate in zip(days(), rates, strict=True)
        ]
    return rows


def corporate_bonds() -> list[Row]:
    rows = []
    for symbol, (name, _, _) in COMPANIES.items():
        dice = chance("bonds", symbol)
        rows.append({
            "issuer": name, "coupon": round(dice.randrange(8, 56) / 8, 3),
            "maturity_date": f"{dice.randrange(2028, 2050)}-{dice.randrange(1, 13):02d}-15",
            "price": round(dice.uniform(78, 112), 2),
            "yield_to_maturity": round(dice.uniform(3, 9), 2),
            "rating": dice.choice(RATINGS), "currency": dice.choice(["USD", "USD", "EUR"]),
        })  # fmt: skip
    return rows


def credit_spreads() -> list[Row]:
    rows = []
    for place, rating in enumerate(RATINGS):
        spreads = walk(f"spread {rating}", 40.0 * 1.6**place, len(months(2020)), 0.05, 0)
        rows += [
            {"rating": rating, "month": month, "spread_bps": int(spread)}
            for month, spread in zip(months(2020), spreads, strict=True)
        ]
    return rows


def economic_calendar() -> list[Row]:
    events = ["CPI", "Retail Sales", "GDP", "Unemployment Rate", "PMI", "Trade Balance"]
    rows = []
    for country in COUNTRIES:
        dice = chance("events", country)
        for event in events:
            before = round(dice.uniform(-1, 8), 1)
            rows.append({
                "country": country, "event": event,
                "date": f"2026-11-{dice.randrange(17, 30):02d}", "previous": before,
                "forecast": round(before + dice.uniform(-0.6, 0.6), 1),
                "importance": dice.choice(["high", "medium", "low"]),
            })  # fmt: skip
    return rows


def macro_series() -> list[Row]:
    rows = []
    for series, (_, start) in SERIES.items():
        values = walk(f"series {series}", start, len(months(2021)), 0.012, 1)
        rows += [
            {"series": series, "month": month, "value": value}
            for month, value in zip(months(2021), values, strict=True)
        ]
    return rows


def government_debt() -> list[Row]:
    """Returns a row for each country and year, in percent of the yearly product."""
    rows = []
    for country, (name, _) in COUNTRIES.items():
        dice = chance("debt", country)
        share = dice.uniform(40, 220)
        for year in range(2019, 2026):
            share += dice.uniform(-5, 7)
            rows.append({"country": name, "year": year, "share": round(share, 1)})
    return rows


def trade_balance() -> list[Row]:
    """Returns amounts in USD billions."""
    rows = []
    for country, (_, size) in COUNTRIES.items():
        for year in range(2019, 2026):
            dice = chance("trade", country, year)
            sold, bought = (round(size * dice.uniform(90, 260), 1) for _ in range(2))
            rows.append({
                "country": country, "year": year, "exports": sold, "imports": bought,
                "balance": round(sold - bought, 1),
            })  # fmt: skip
    return rows


def holdings() -> list[Row]:
    rows = []
    for portfolio, symbols in PORTFOLIOS.items():
        made = []
        for symbol in symbols:
            dice = chance("holdings", portfolio, symbol)
            price = latest("price_history", symbol=symbol)["close"]
            quantity = dice.randrange(50, 2500, 10)
            cost = round(price * dice.uniform(0.6, 1.3), 2)
            made.append({
                "portfolio": portfolio, "symbol": symbol, "name": COMPANIES[symbol][0],
                "sector": COMPANIES[symbol][1], "quantity": quantity, "cost_basis": cost,
                "price": price, "market_value": round(price * quantity, 2),
                "unrealized_pnl": round((price - cost) * quantity),
            })  # fmt: skip
        total = sum(one["market_value"] for one in made)
        rows += [{**one, "weight": round(one["market_value"] / total * 100, 2)} for one in made]
    return rows


def performance() -> list[Row]:
    rows = []
    for portfolio in PORTFOLIOS:
        dice = chance("performance", portfolio)
        rows += [
            {"portfolio": portfolio, "month": month, "return": round(dice.gauss(0.9, 3), 2),
             "benchmark": round(dice.gauss(0.7, 2.4), 2)}
            for month in months(2024)
        ]  # fmt: skip
    return rows


def _allocation(column: str, names: list[str]) -> list[Row]:
    rows = []
    for portfolio in PORTFOLIOS:
        dice = chance(column, portfolio)
        weights = [dice.uniform(1, 10) for _ in names]
        parts = [round(weight / sum(weights) * 100, 1) for weight in weights]
        parts[0] = round(parts[0] + 100 - sum(parts), 1)
        rows += [
            {"portfolio": portfolio, column: name, "weight": part,
             "target": round(part + dice.uniform(-3, 3), 1)}
            for name, part in zip(names, parts, strict=True)
        ]  # fmt: skip
    return rows


def sector_allocation() -> list[Row]:
    return _allocation("sector", SECTORS[:8])


def country_allocation() -> list[Row]:
    return _allocation("country", [name for name, _ in COUNTRIES.values()])


def currency_exposure() -> list[Row]:
    return _allocation("currency", ["USD", "EUR", "GBP", "JPY", "CHF"])


def transactions() -> list[Row]:
    rows = []
    for portfolio, symbols in PORTFOLIOS.items():
        dice = chance("transactions", portfolio)
        for day in sorted(dice.sample(days(date(2025, 1, 2)), 60)):
            symbol = dice.choice(symbols)
            rows.append({
                "portfolio": portfolio, "date": day.isoformat(), "symbol": symbol,
                "side": dice.choice(["BUY", "BUY", "SELL"]), "quantity": dice.randrange(10, 400, 5),
                "price": round(dice.uniform(60, 480), 2), "fee": round(dice.uniform(1, 12), 2),
            })  # fmt: skip
    return rows


def risk_metrics() -> list[Row]:
    rows = []
    for portfolio in PORTFOLIOS:
        dice = chance("risk", portfolio)
        rows.append({
            "portfolio": portfolio, "volatility": round(dice.uniform(8, 28), 1),
            "max_drawdown": -round(dice.uniform(6, 34), 1),
            "sharpe": round(dice.uniform(0.3, 2), 2),
            "sortino": round(dice.uniform(0.5, 3), 2), "beta": round(dice.uniform(0.6, 1.5), 2),
            "value_at_risk": round(dice.uniform(20_000, 90_000)),
        })  # fmt: skip
    return rows


def cash_accounts() -> list[Row]:
    names = ["Main", "Reserve", "Trading", "Tax", "Payroll"]
    return [
        {"account": name, "currency": currency,
         "balance": round(chance("cash", name).uniform(-9_000, 240_000), 2),
         "interest_rate": round(chance("rate", name).uniform(0.2, 4.8), 2)}
        for name, currency in zip(names, ["USD", "EUR", "USD", "CHF", "GBP"], strict=True)
    ]  # fmt: skip


def dividend_income() -> list[Row]:
    return [
        {"portfolio": portfolio, "month": month,
         "amount": round(chance("income", portfolio, month).uniform(120, 4200), 2)}
        for portfolio in PORTFOLIOS
        for month in months(2024)
    ]  # fmt: skip


def realized_gains() -> list[Row]:
    rows = []
    for portfolio, symbols in PORTFOLIOS.items():
        for year in (2024, 2025, 2026):
            rows += [
                {"portfolio": portfolio, "year": year, "symbol": symbol,
                 "gain": round(chance("gain", portfolio, symbol, year).uniform(-9000, 22000))}
                for symbol in symbols
            ]  # fmt: skip
    return rows


def crypto_price() -> list[Row]:
    rows = []
    for symbol, (_, start) in COINS.items():
        span = [day.isoformat() for day in days(date(2025, 1, 1))]
        closes = walk(symbol, start, len(span), 0.03, 2 if start > 10 else 4)
        dice = chance("coin", symbol)
        rows += [
            {"symbol": symbol, "date": day, "close": close,
             "volume": dice.randrange(10**8, 4 * 10**10)}
            for day, close in zip(span, closes, strict=True)
        ]  # fmt: skip
    return rows


def crypto_market() -> list[Row]:
    rows = []
    for symbol, (name, _) in COINS.items():
        dice = chance("coins", symbol)
        rows.append({
            "symbol": symbol, "name": name, "price": latest("crypto_price", symbol=symbol)["close"],
            "market_cap": round(dice.uniform(8, 1300), 1) * 1e9,
            "change_24h": round(dice.uniform(-9, 9), 2),
            "volume_24h": round(dice.uniform(0.4, 60), 1) * 1e9,
        })  # fmt: skip
    return rows


def fx_history() -> list[Row]:
    rows = []
    for pair, start in PAIRS.items():
        rates = walk(pair, start, len(days()), 0.004, 4)
        rows += [
            {"pair": pair, "date": day.isoformat(), "rate": rate}
            for day, rate in zip(days(), rates, strict=True)
        ]
    return rows


def fx_forwards() -> list[Row]:
    rows = []
    for pair in PAIRS:
        spot = latest("fx_history", pair=pair)["rate"]
        dice = chance("forward", pair)
        rows += [
            {"pair": pair, "tenor": tenor,
             "forward_rate": round(spot * (1 + dice.gauss(0, 0.01)), 4)}
            for tenor in ("1M", "3M", "6M", "1Y")
        ]  # fmt: skip
    return rows


def commodity_price() -> list[Row]:
    rows = []
    for name, start in COMMODITIES.items():
        prices = walk(name, start, len(days()), 0.012, 2)
        rows += [
            {"commodity": name, "date": day.isoformat(), "price": price}
            for day, price in zip(days(), prices, strict=True)
        ]
    return rows


def staking_yields() -> list[Row]:
    return [
        {"coin": name, "apy": round(chance("staking", name).uniform(1.5, 9), 2),
         "staked_share": round(chance("staked", name).uniform(8, 70), 1)}
        for name, _ in COINS.values()
    ]  # fmt: skip


def funding_rates() -> list[Row]:
    return [
        {"symbol": symbol, "exchange": exchange,
         "funding_rate": round(chance("funding", symbol, exchange).uniform(-0.03, 0.06), 4),
         "open_interest": round(chance("open", symbol, exchange).uniform(0.2, 8), 2) * 1e9}
        for symbol in COINS
        for exchange in ("Alpha", "Beta", "Gamma", "Delta")
    ]  # fmt: skip


def etf_list() -> list[Row]:
    return [
        {"ticker": ticker, "name": name,
         "expense_ratio": round(chance("fee", ticker).uniform(0.03, 0.75), 2),
         "assets": round(chance("aum", ticker).uniform(1, 480), 1) * 1e9,
         "return_1y": round(chance("etf", ticker).uniform(-6, 31), 1)}
        for ticker, name in ETFS.items()
    ]  # fmt: skip


DATASETS: dict[str, Callable[[], list[Row]]] = {
    one.__name__: one
    for one in (
        price_history, income_statement, balance_sheet, cash_flow, dividends, earnings_calendar,
        earnings_surprises, key_metrics, company_profile, analyst_targets, peer_comparison,
        sector_performance, insider_trades, institutional_holders, short_interest, options_chain,
        esg_scores, news, analyst_estimates, revenue_by_segment, revenue_by_region, stock_splits,
        market_movers, moving_averages, market_cap_history, quotes, inflation, unemployment, gdp,
        policy_rates, yield_curve, treasury_yields, corporate_bonds, credit_spreads,
        economic_calendar, macro_series, government_debt, trade_balance, holdings, performance,
        sector_allocation, country_allocation, currency_exposure, transactions, risk_metrics,
        cash_accounts, dividend_income, realized_gains, crypto_price, crypto_market, fx_history,
        fx_forwards, commodity_price, staking_yields, funding_rates, etf_list,
    )
} | ledger.DATASETS  # fmt: skip


@cache
def _kept(dataset: str) -> tuple[Row, ...]:
    return tuple(DATASETS[dataset]())


@cache
def _by_symbol(dataset: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in _kept(dataset):
        found.setdefault(row["symbol"], []).append(row)
    return found


def rows_of(dataset: str, **wanted: Any) -> list[Row]:
    """Returns the rows with these values. A list means any of them, a function is called."""
    symbol = wanted.get("symbol")
    rows = _by_symbol(dataset).get(symbol, []) if isinstance(symbol, str) else _kept(dataset)
    return [row for row in rows if all(_fits(row[key], one) for key, one in wanted.items())]


def _fits(found: Any, wanted: Any) -> bool:
    if callable(wanted):
        return bool(wanted(found))
    return found in wanted if isinstance(wanted, list | tuple) else found == wanted


def value(dataset: str, column: str, **wanted: Any) -> Any:
    """Returns the only value. Raises LookupError unless exactly one row fits."""
    found = rows_of(dataset, **wanted)
    if len(found) != 1:
        raise LookupError(f"{dataset} has {len(found)} rows for {wanted}")
    return found[0][column]


def latest(dataset: str, **wanted: Any) -> Row:
    return max(rows_of(dataset, **wanted), key=lambda row: row.get("date") or row["month"])


def generic(topic: str) -> list[Row]:
    """Returns something to show for the many widgets that no question is about."""
    dice = chance("generic", topic)
    values = walk(topic, dice.uniform(1, 900), 120, 0.02, 2)
    return [
        {"date": day.isoformat(), "value": value}
        for day, value in zip(days()[-120:], values, strict=True)
    ]
