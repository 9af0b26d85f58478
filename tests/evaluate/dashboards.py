"""Builds four dashboards as OpenBB Workspace describes them, and one of any size."""

import uuid
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tests.evaluate import ledger, market, wire

Json = dict[str, Any]
ORIGIN = "Lab Backend"
COUNTRY_OPTIONS = [{"label": name, "value": key} for key, (name, _) in market.COUNTRIES.items()]
SERIES_OPTIONS = [{"label": name, "value": key} for key, (name, _) in market.SERIES.items()]
WITH_COLUMNS = 2
"""Every second widget lists its columns: a client knows them only once data was shown."""


@dataclass(frozen=True)
class Widget:
    """A widget. `key` is its name in the questions, and `dataset` what it shows."""

    key: str
    name: str
    about: str
    params: tuple[Json, ...] = ()
    tab: str = ""
    dataset: str = ""
    category: str = ""

    @property
    def source(self) -> str:
        return self.dataset or self.key

    @property
    def uuid(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"moat-evaluate/{self.key}"))

    @property
    def shown(self) -> Json:
        """The values that the dashboard shows now."""
        return {
            one["name"]: one["current_value"]
            for one in self.params
            if one.get("current_value") is not None
        }


@dataclass(frozen=True)
class Dashboard:
    name: str
    title: str
    widgets: tuple[Widget, ...]
    tools: tuple[Json, ...] = field(default=())

    def widget(self, key: str) -> Widget:
        return next(one for one in self.widgets if one.key == key)

    def by_uuid(self, wanted: str) -> Widget | None:
        return next((one for one in self.widgets if one.uuid == wanted), None)


def param(name: str, kind: str, about: str, current: Any, **more: Any) -> Json:
    return {
        "name": name, "type": kind, "description": about,
        "default_value": more.pop("default", None), "current_value": current, **more,
    }  # fmt: skip


def ticker(current: str = "AAPL") -> Json:
    return param("symbol", "ticker", "Ticker symbol of the company", current, options=[])


def choice(name: str, about: str, values: list[Any], current: Any) -> Json:
    listed = [one if isinstance(one, dict) else {"label": str(one), "value": one} for one in values]
    return param(name, "text", about, current, options=listed, default=current)


def number(name: str, about: str, current: int) -> Json:
    return param(name, "number", about, current, default=current)


def span(first: str = "2026-05-01", last: str = "2026-10-30") -> tuple[Json, Json]:
    return (
        param("start_date", "date", "First day", first),
        param("end_date", "date", "Last day", last),
    )


def country(current: str = "united_states") -> Json:
    return choice("country", "Country", list(COUNTRY_OPTIONS), current)


def portfolio(current: str = "growth") -> Json:
    listed = [{"label": "Growth", "value": "growth"}, {"label": "Income", "value": "income"}]
    return choice("portfolio", "Portfolio", listed, current)


PERIOD = choice("period", "Annual or quarterly figures", ["annual", "quarter"], "annual")
YEAR = choice("fiscal_year", "Fiscal year", [2022, 2023, 2024, 2025], 2025)


EQUITY_FIGURES = (
    Widget("price_history", "Price History", "Daily open, high, low, close and volume of a stock",
      (ticker(), *span(), choice("interval", "Interval", ["1d", "1w", "1m"], "1d")), "Prices"),
    Widget("quotes", "Watchlist Quotes", "Last price, change and volume of several stocks",
      (param("symbols", "ticker", "Ticker symbols", ["AAPL", "MSFT", "NVDA"],
             multi_select=True),), "Prices"),
    Widget("moving_averages", "Moving Averages", "Closing price with its simple moving average",
      (ticker(), choice("window", "Days in the average", [20, 50, 200], 50)), "Prices"),
    Widget("market_movers", "Market Movers", "Stocks with the biggest moves today",
      (choice("direction", "Gainers or losers", ["gainers", "losers"], "gainers"),), "Prices"),
    Widget("sector_performance", "Sector Performance", "Change of each sector over a period",
      (choice("period", "Period", market.PERIODS, "1M"),), "Prices"),
    Widget("market_cap_history", "Historical Market Cap", "Market value of a company by month",
      (ticker(),), "Prices"),
    Widget("income_statement", "Income Statement",
      "Revenue, costs, profit and earnings per share of a company, in USD",
      (ticker(), PERIOD, number("limit", "Number of periods", 5)), "Fundamentals"),
    Widget("balance_sheet", "Balance Sheet",
      "Assets, debt, cash and equity by year, in USD millions", (ticker(),), "Fundamentals"),
    Widget("cash_flow", "Cash Flow Statement",
      "Operating and free cash flow, capital expenditure and buybacks, in USD millions",
      (ticker(), number("limit", "Number of years", 5)), "Fundamentals"),
    Widget("revenue_by_segment", "Revenue by Segment", "Revenue of each line of business in USD",
      (ticker(), YEAR), "Fundamentals"),
    Widget("revenue_by_region", "Revenue by Region", "Revenue of each part of the world in USD",
      (ticker(), YEAR), "Fundamentals"),
    Widget("key_metrics", "Key Metrics", "Valuation, risk and dividend ratios of a company",
      (ticker(),), "Fundamentals"),
    Widget("company_profile", "Company Profile", "Who runs a company, where it is, how big it is",
      (ticker(),), "Fundamentals"),
)  # fmt: skip
EQUITY_EVENTS = (
    Widget("peer_comparison", "Peer Comparison",
      "Valuation, margin and growth of twenty large companies side by side", (), "Peers"),
    Widget("dividends", "Dividend History", "Dividends per share with ex and payment dates",
      (ticker(),), "Fundamentals"),
    Widget("stock_splits", "Stock Splits", "Past splits of a stock", (ticker(),), "Fundamentals"),
    Widget("earnings_calendar", "Earnings Calendar", "Coming earnings reports and estimates", (),
      "Earnings"),
    Widget("earnings_surprises", "Earnings Surprises",
      "Actual and expected earnings per share by quarter", (ticker(),), "Earnings"),
    Widget("analyst_estimates", "Analyst Estimates", "Expected revenue and earnings per share",
      (ticker(),), "Earnings"),
    Widget("analyst_targets", "Price Targets", "Ratings and price targets of analysts",
      (ticker(),), "Earnings"),
    Widget("insider_trades", "Insider Trading", "Purchases and sales by managers and directors",
      (ticker(),), "Ownership"),
    Widget("institutional_holders", "Institutional Holders", "The largest owners of a stock",
      (ticker(),), "Ownership"),
    Widget("short_interest", "Short Interest", "Shares sold short by settlement date",
      (ticker(),), "Ownership"),
    Widget("options_chain", "Options Chain", "Bids, asks, volatility and open interest by strike",
      (ticker(),
       param("expiration", "endpoint", "Expiration date", "2026-11-20", get_options=True,
             options_params=[{"name": "symbol", "inherit_value_from": "symbol"}]),
       choice("option_type", "Calls or puts", ["call", "put"], "call")), "Options"),
    Widget("esg_scores", "ESG Scores", "Environmental, social and governance scores",
      (ticker(),), "Ownership"),
)  # fmt: skip


def equities() -> Dashboard:
    return Dashboard("equities", "Equity Research", EQUITY_FIGURES + EQUITY_EVENTS, TOOLS)


def macro() -> Dashboard:
    w = Widget
    return Dashboard("macro", "Macro and Bonds", (
        w("inflation", "Inflation", "Consumer prices against the year before, in percent by month",
          (country(), *span("2025-01-01"))),
        w("unemployment", "Unemployment Rate", "Share of people without work, in percent by month",
          (country(), *span("2025-01-01"))),
        w("gdp", "GDP", "Gross domestic product and its yearly growth", (country(),)),
        w("policy_rates", "Central Bank Rates", "Policy rates of the large central banks"),
        w("yield_curve", "Yield Curve", "Government bond yields by maturity on one day",
          (country(), choice("date", "Day", ["2026-10-30", "2026-09-28", "2026-06-28",
                                             "2025-12-28", "2025-06-28"], "2026-10-30"))),
        w("treasury_yields", "Treasury Yields", "Daily yield of US government bonds, in percent",
          (choice("maturity", "Maturity", list(market.MATURITIES), "10Y"), *span())),
        w("corporate_bonds", "Corporate Bonds",
          "Bonds of large companies with coupon, price, yield and rating"),
        w("credit_spreads", "Credit Spreads", "Spread over treasuries by rating, in basis points",
          (choice("rating", "Credit rating", market.RATINGS, "BBB"),)),
        w("economic_calendar", "Economic Calendar", "Coming releases with forecasts",
          (country(),)),
        w("macro_series", "Economic Indicator", "One monthly series of the US economy",
          (choice("series", "Series", list(SERIES_OPTIONS), "PAYEMS"),)),
        w("government_debt", "Government Debt", "Public debt in percent of GDP, years as columns"),
        w("trade_balance", "Trade Balance", "Exports, imports and balance in USD billions",
          (country(),)),
    ), TOOLS)  # fmt: skip


PORTFOLIO_FILLERS = (
    "Silver Lease Rates", "Gas Storage", "Freight Index", "Volatility Index", "Put Call Ratio",
    "Fear and Greed", "Bitcoin Dominance", "Hash Rate", "Active Addresses", "Mining Difficulty",
    "Exchange Reserves", "Liquidations", "Network Fees", "Total Value Locked", "Token Unlocks",
    "NFT Volume", "Stablecoin Supply", "Carry Index", "Currency Strength", "Real Exchange Rate",
    "Reserves of Central Banks", "Currency Volatility", "Emerging Currencies", "Money Market Rate",
    "Tracking Error", "Active Share", "Factor Exposure", "Style Drift", "Correlation", "Tax Lots",
    "Rebalancing Queue", "Liquidity Buffer", "Stress Test", "Bond Duration", "Fund Flows",
    "Turnover", "Counterparty Limits", "Margin Usage", "Securities Lending", "Compliance Alerts",
)  # fmt: skip


def fillers(names: tuple[str, ...], tab: str) -> tuple[Widget, ...]:
    return tuple(
        Widget(name.lower().replace(" ", "_"), name, f"{name} by day", (), tab) for name in names
    )


PORTFOLIO_WIDGETS = (
    Widget("holdings", "Holdings", "Positions with price, value, weight and unrealized profit",
      (portfolio(),), "Portfolio"),
    Widget("performance", "Monthly Performance", "Return of the portfolio and of its benchmark",
      (portfolio(), *span("2026-01-01")), "Portfolio"),
    Widget("sector_allocation", "Sector Allocation", "Weight and target of each sector",
      (portfolio(),), "Portfolio"),
    Widget("country_allocation", "Country Allocation", "Weight and target of each country",
      (portfolio(),), "Portfolio"),
    Widget("currency_exposure", "Currency Exposure", "Weight and target of each currency",
      (portfolio(),), "Portfolio"),
    Widget("transactions", "Transactions", "Trades with side, quantity, price and fee",
      (portfolio(), *span("2026-07-01")), "Portfolio"),
    Widget("risk_metrics", "Risk Metrics", "Volatility, drawdown, Sharpe ratio and value at risk",
      (portfolio(),), "Portfolio"),
    Widget("cash_accounts", "Cash Accounts", "Balances and interest of all accounts", (), "Cash"),
    Widget("dividend_income", "Dividend Income", "Dividends received by month, in USD",
      (portfolio(), *span("2026-01-01")), "Cash"),
    Widget("realized_gains", "Realized Gains", "Profit or loss of what was sold, by position",
      (portfolio(), choice("year", "Year", [2024, 2025, 2026], 2026)), "Cash"),
    Widget("etf_list", "ETF Screener", "Funds with fees, assets and return", (), "Portfolio"),
    Widget("crypto_price", "Crypto Price", "Daily closing price and volume of a coin",
      (param("symbol", "ticker", "Pair", "BTC-USD", options=[]), *span()), "Crypto"),
    Widget("crypto_price_eth", "Crypto Price", "Daily closing price and volume of a coin",
      (param("symbol", "ticker", "Pair", "ETH-USD", options=[]), *span()), "Crypto",
      "crypto_price"),
    Widget("crypto_market", "Crypto Market", "Price, market cap and change of the main coins", (),
      "Crypto"),
    Widget("staking_yields", "Staking Yields", "Yearly yield for staking each coin", (), "Crypto"),
    Widget("funding_rates", "Funding Rates", "Funding and open interest of perpetual futures",
      (param("symbol", "ticker", "Pair", "BTC-USD", options=[]),), "Crypto"),
)  # fmt: skip
CURRENCY_WIDGETS = (
    Widget("fx_history", "Exchange Rate History", "Daily rate of a currency pair",
      (choice("pair", "Currency pair", list(market.PAIRS), "EUR/USD"), *span()), "FX"),
    Widget("fx_forwards", "FX Forwards", "Forward rates of a currency pair by tenor",
      (choice("pair", "Currency pair", list(market.PAIRS), "EUR/USD"),), "FX"),
    Widget("commodity_price", "Commodity Price", "Daily price of a raw material in USD",
      (choice("commodity", "Raw material", list(market.COMMODITIES), "gold"), *span()), "FX"),
    Widget("price_history", "Stock Price", "Daily open, high, low, close and volume of a stock",
      (ticker("NVDA"), *span()), "Portfolio"),
    Widget("news", "Company News", "Headlines about a company",
      (ticker("NVDA"), number("limit", "Number of headlines", 10)), "Portfolio"),
    Widget("policy_rates", "Policy Rates", "Interest rates of the large central banks", (), "FX"),
)  # fmt: skip


def portfolio_board() -> Dashboard:
    widgets = PORTFOLIO_WIDGETS + CURRENCY_WIDGETS + fillers(PORTFOLIO_FILLERS, "Other")
    return Dashboard("portfolio", "Portfolio, Crypto and FX", widgets, TOOLS)


REGION = choice("region", "Region", ledger.REGIONS, "DACH")
LANES: list[Any] = [{"label": name, "value": key} for key, name in ledger.ROUTES.items()]
ROUTE = choice("route", "Trade lane", LANES, "ROT-SHA")
PORT = choice("port", "Bunkering port", ledger.PORTS, "Rotterdam")
BRANCH = choice("branch", "Branch", ledger.BRANCHES, "Hamburg")
STORE = choice("Filiale", "Apotheke", ledger.STORES, "Altstadt")
LEDGER_WIDGETS = (
    Widget("loan_book", "Kreditbuch",
      "Einzelkredite mit Saldo in Tausend Euro, Zinssatz, Rating und Stufe", (), "Kredit"),
    Widget("npl_ratio", "NPL Ratio",
      "Non-performing loans as a share of all loans, and their coverage, by quarter",
      (REGION,), "Kredit"),
    Widget("provisions", "Loan Loss Provisions",
      "Additions and releases in EUR thousands by quarter", (REGION,), "Kredit"),
    Widget("sector_exposure", "Exposure by Sector",
      "Lending per sector against its limit, EUR mn", (), "Kredit"),
    Widget("rating_migration", "Rating Migration",
      "One-year transition matrix of internal ratings", (), "Kredit"),
    Widget("capital", "Capital and Liquidity",
      "Regulatory ratios of the group", (), "Kredit"),
    Widget("annual_result", "Résultat annuel",
      "Produit net bancaire, coût du risque, frais et marge d'intérêt", (), "Kredit"),
    Widget("deposits", "Branch Deposits",
      "Deposits per month and branch, EUR millions", (BRANCH,), "Kredit"),
    Widget("watch_list", "Watch List",
      "Borrowers under observation, exposure in thousands", (), "Kredit"),
    Widget("freight_rates", "Container Freight Rates",
      "Weekly spot rate per forty-foot container", (ROUTE,), "Shipping"),
    Widget("fleet", "Fleet",
      "Own vessels with size, age and estimated arrival", (), "Shipping"),
    Widget("congestion", "Port Congestion",
      "Vessels waiting and average waiting time", (), "Shipping"),
    Widget("bunker", "Bunker Prices",
      "Marine fuel, USD per tonne", (PORT,), "Shipping"),
    Widget("fixtures", "Charter Fixtures",
      "Recent time charters with daily hire", (), "Shipping"),
    Widget("voyages", "Voyage Results",
      "Revenue, costs and result per voyage, thousand USD", (), "Shipping"),
    Widget("store_sales", "Umsatz je Filiale",
      "Wochenumsatz, Kunden und Rohertrag der Apotheken", (STORE,), "Apotheken"),
    Widget("stock", "Lagerbestand",
      "Artikel mit Bestand, Mindestbestand und Einkaufspreis", (), "Apotheken"),
    Widget("prescriptions", "Rezepte",
      "Eingelöste Rezepte nach Kasse und Monat", (), "Apotheken"),
    Widget("suppliers", "Fournisseurs",
      "Délais, taux de service et volume d'achats", (), "Apotheken"),
    Widget("recalls", "Product Recalls",
      "Batches called back from the shelves", (), "Apotheken"),
)  # fmt: skip


def ledger_board() -> Dashboard:
    return Dashboard("ledger", "Credit, Freight and Pharmacy", LEDGER_WIDGETS)


TOOLS: tuple[Json, ...] = (
    {
        "server_id": "lab", "name": "lab_convert_currency", "url": "http://localhost:9/mcp",
        "description": "Converts an amount of money from one currency to another at a fixed rate",
        "input_schema": {
            "type": "object",
            "properties": {
                "amount": {"type": "number"}, "from": {"type": "string"}, "to": {"type": "string"},
            },
            "required": ["amount", "from", "to"],
        },
    },
    {
        "server_id": "lab", "name": "lab_find_filing", "url": "http://localhost:9/mcp",
        "description": "Finds the latest annual report (10-K) of a company by ticker",
        "input_schema": {
            "type": "object", "properties": {"ticker": {"type": "string"}}, "required": ["ticker"],
        },
    },
)  # fmt: skip


def large(count: int = 200) -> Dashboard:
    """Returns all widgets of three dashboards, and fillers up to `count`."""
    unique = {
        one.key: one for board in (equities(), macro(), portfolio_board()) for one in board.widgets
    }
    widgets = list(unique.values())
    topics = ["Index", "Flow", "Ratio", "Survey", "Ranking", "Forecast", "Screen", "Monitor"]
    places = ["Asia", "Europe", "Africa", "Nordic", "Gulf", "Andean", "Pacific", "Baltic",
              "Alpine", "Iberian", "Balkan", "Caspian", "Adriatic", "Benelux", "Visegrad",
              "Maghreb"]  # fmt: skip
    names = tuple(f"{place} {topic}" for place in places for topic in topics)
    widgets += fillers(names, "Regions")[: count - len(widgets)]
    return Dashboard("large", "Everything", tuple(widgets[:count]), TOOLS)


@cache
def dashboard(name: str) -> Dashboard:
    made = {"equities": equities, "macro": macro, "portfolio": portfolio_board, "large": large,
            "ledger": ledger_board}  # fmt: skip
    return made[name]()


NAMES = ("equities", "macro", "portfolio", "ledger")


def as_sent(widget: Widget, place: int) -> Json:
    """Returns the widget as the client describes it."""
    sent: Json = {
        "uuid": widget.uuid, "origin": ORIGIN, "widget_id": widget.key, "name": widget.name,
        "description": widget.about, "category": widget.category or widget.tab or "Economy",
        "sub_category": None, "source": "Lab", "params": [dict(one) for one in widget.params],
        "metadata": {"source": "Lab", "lastUpdated": 1793404800000},
    }  # fmt: skip
    if place % WITH_COLUMNS == 0 and (columns := known_columns(widget)):
        sent["columns"] = columns
    return sent


@cache
def _columns(source: str) -> tuple[str, ...]:
    if source not in market.DATASETS:
        return ("date", "value")
    return tuple(market.rows_of(source)[0])


def known_columns(widget: Widget) -> list[str]:
    """Returns the columns, or [] for data that is not a list of rows."""
    if widget.source in (*wire.WIDE, *wire.SINGLE):
        return []
    return [one for one in _columns(widget.source) if one == "symbol" or one not in widget.shown]


def state(board: Dashboard) -> Json:
    """Returns `workspace_state`: the tab of each widget."""
    tabs: dict[str, list[Json]] = {}
    for one in board.widgets:
        named = {"widget_uuid": one.uuid, "name": one.name}
        tabs.setdefault(one.tab or "__no_tab__", []).append(named)
    listed = [{"tab_id": tab, "widgets": widgets} for tab, widgets in tabs.items()]
    return {
        "action_history": [],
        "agents": [],
        "current_dashboard_uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, board.name)),
        "current_dashboard_info": {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, board.name)), "name": board.title,
            "current_tab_id": listed[0]["tab_id"], "tabs": listed,
        },
        "current_page_context": "dashboard",
    }  # fmt: skip


def request(board: Dashboard, messages: list[Json]) -> Json:
    """Returns the body of a first request, as the web client makes it."""
    return {
        "messages": messages,
        "widgets": {
            "primary": [],
            "secondary": [as_sent(one, place) for place, one in enumerate(board.widgets)],
            "extra": [],
        },
        "context": [],
        "urls": [],
        "timezone": "Europe/Berlin",
        "workspace_state": state(board),
        "workspace_options": {"generative-ui": True},
        "tools": [dict(one) for one in board.tools],
    }


def renamed(board: Dashboard, key: str, **change: Any) -> Dashboard:
    """Returns the dashboard with one widget changed."""
    widgets = tuple(replace(one, **change) if one.key == key else one for one in board.widgets)
    return replace(board, widgets=widgets)
