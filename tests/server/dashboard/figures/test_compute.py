import asyncio
import json
import threading
from datetime import date
from typing import Any

import pytest

from server.asking.ask import Means
from server.dashboard.figures import compute as figures
from server.dashboard.figures.compute import Figure, compute, may_write, write_and_run
from server.data import tables
from server.data.sql import Answer, Refused, query
from server.data.tables import Table, from_grid, from_json
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine, fails_trial, passes_trial, says

TODAY = date(2025, 6, 20)
PRICES = from_grid(
    ["date", "close", "volume"],
    [["2025-01-03", 110.0, 30], ["2025-01-01", 100.0, 10], ["2025-01-02", 104.1, 20]],
    "Prices",
)
LONG = from_grid(
    ["date", "symbol", "close"],
    [
        ["2025-01-01", "AAA", 10.0],
        ["2025-01-01", "BBB", 50.0],
        ["2025-01-02", "AAA", 11.0],
        ["2025-01-02", "BBB", 45.0],
    ],
    "Closes",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("average close", "Average close: 104.7"),
        ("median close", "Median close: 104.1"),
        ("sum of volume", "Sum of volume: 60"),
        ("total volume since 2025-01-02", "Sum of volume since 2025-01-02: 50"),
        ("latest close", "Latest close: 110 (2025-01-03)"),
        ("first close", "First close: 100 (2025-01-01)"),
        ("when was volume the lowest?", "Lowest volume: 10 (2025-01-01)"),
        ("top 2 days by close", "Highest close: 110 (2025-01-03); 104.1 (2025-01-02)"),
        ("How did close change?", "Change of close: 10% (from 100 to 110)"),
        ("close on 2025-01-02", "close on 2025-01-02: 104.1 (2025-01-02)"),
        ("how many rows are there?", "Number of rows: 3"),
    ],
)
def test_a_question_becomes_a_number(question: str, text: str) -> None:
    figure = compute(question, PRICES, TODAY)
    assert figure is not None
    assert figure.text == text


def test_each_entity_has_its_own_growth() -> None:
    figure = compute("How did close change?", LONG, TODAY)
    assert figure is not None
    assert figure.text == (
        "Change of close of AAA: 10% (from 10 to 11); Change of close of BBB: -10% (from 50 to 45)"
    )


def test_groups_are_computed_and_sorted() -> None:
    figure = compute("average close by symbol", LONG, TODAY)
    assert figure is not None
    assert figure.rows == [
        {"symbol": "BBB", "close": 47.5},
        {"symbol": "AAA", "close": 10.5},
    ]
    assert figure.sql.startswith('SELECT "symbol", avg("close")')


@pytest.mark.parametrize("question", ["Hello!", "average close in 1999", "close of CCC"])
def test_nothing_to_compute_is_nothing(question: str) -> None:
    assert compute(question, LONG, TODAY) is None


def test_no_rows_no_figure() -> None:
    assert compute("average close", from_grid(["close"], [], "Empty"), TODAY) is None


def months(name: str, length: int) -> list[dict[str, object]]:
    days = [f"{year}-{month:02d}-01"[:length] for year in (2024, 2025) for month in range(1, 13)]
    return [{name: day, "revenue": 1100 if day.startswith("2025-01") else 100} for day in days]


@pytest.mark.parametrize("length", [7, 10])
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("total revenue in 2024", "Sum of revenue from 2024-01-01 to 2024-12-31: 1200"),
        ("total revenue in January 2025", "Sum of revenue from 2025-01-01 to 2025-01-31: 1100"),
        ("total revenue since 2025-12", "Sum of revenue since 2025-12-01: 100"),
        ("total revenue before March 2024", "Sum of revenue until 2024-02-29: 200"),
    ],
)
def test_a_month_without_a_day_lies_in_its_span(length: int, question: str, text: str) -> None:
    table = from_json(months("month", length), "T")
    assert table is not None
    figure = compute(question, table, TODAY)
    assert figure is not None
    assert figure.text == text


@pytest.mark.parametrize("year", ["2024", 2024])
def test_a_column_of_years_is_held_to_the_year_asked_for(year: str | int) -> None:
    rows = [{"fiscal_year": year, "revenue": 5}, {"fiscal_year": 2023, "revenue": 7}]
    table = from_json(rows, "T")
    assert table is not None
    figure = compute("total revenue in 2024", table, TODAY)
    assert figure is not None
    assert figure.text == "Sum of revenue in 2024: 5"
    assert compute("total revenue in Q2 2024", table, TODAY) is None


def many(count: int, name: str = "close") -> Table:
    rows = [[f"2025-01-01 {n // 60:02d}:{n % 60:02d}", f"firm {n // 2}", n] for n in range(count)]
    return from_grid(["date", "firm", name], rows, "Many")


def test_what_is_not_shown_of_a_lookup_is_said() -> None:
    figure = compute("close on 2025-01-01", many(600), TODAY)
    assert figure is not None
    assert figure.text.startswith("close on 2025-01-01 (first 12 of 600): 0 (firm 0, ")
    assert (len(figure.rows), figure.is_whole) == (500, False)


def test_what_is_not_shown_of_groups_is_said() -> None:
    figure = compute("average close by firm", many(100), TODAY)
    assert figure is not None
    assert figure.text.startswith("Average close (first 12 of 50): 98.5 (firm 49); ")
    assert len(figure.rows) == 50
    growth = compute("How did close change by firm?", many(100), TODAY)
    assert growth is not None
    assert growth.text.startswith("First 10 of 50: Change of close of firm ")


def test_rows_that_never_came_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    figure = compute("average close", many(5), TODAY)
    assert figure is not None
    told = "Average close (over the first 3 of 5 rows): 1"
    assert (figure.text, figure.is_whole) == (told, False)


def test_an_article_in_a_cell_is_shortened() -> None:
    table = from_grid(["body", "likes"], [["word " * 4000, 1], ["other " * 4000, 2]], "News")
    figure = compute("highest likes", table, TODAY)
    assert figure is not None
    assert len(figure.text) < 150


def test_rows_are_told_apart_by_titles_rather_than_articles() -> None:
    rows = [["word " * 400, "A", 1], ["other " * 400, "B", 2]]
    figure = compute("highest likes", from_grid(["body", "heading", "likes"], rows, "News"), TODAY)
    assert figure is not None
    assert figure.text == "Highest likes: 2 (B)"


def test_a_sum_beyond_all_numbers_is_no_figure() -> None:
    table = from_grid(["price"], [[1e308]] * 100, "T")
    assert compute("total price", table, TODAY) is None


def test_a_question_over_a_wide_table_needs_only_its_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filled: list[int] = []

    def count(held: dict[str, Table], *rest: Any) -> Answer:
        filled.append(len(held["data"].columns))
        return query(held, *rest)

    monkeypatch.setattr(figures, "query", count)
    table = from_grid([*map(str, range(100)), "close"], [[*range(100), 5]], "Wide")
    figure = compute("average close", table, TODAY)
    assert figure is not None
    assert figure.text == "Average close: 5"
    rows = compute("how many rows are there?", table, TODAY)
    assert rows is not None
    assert rows.text == "Number of rows: 1"
    assert filled == [1, 1]


PEERS = from_grid(
    ["symbol", "market_cap", "dividend_yield", "sales"],
    [["AAA", "$3.4T", "0.5%", 1234567], ["BBB", "$950B", "0.75%", 7654321.5]],
    "Peers",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("total market cap", "Sum of market_cap: $4.35T"),
        ("lowest market cap", "Lowest market_cap: $950B (BBB)"),
        ("average dividend yield", "Average dividend_yield: 0.625%"),
        ("highest sales", "Highest sales: 7,654,321.5 (BBB)"),
        ("sum of sales", "Sum of sales: 8,888,888.5"),
        ("total market cap by symbol", "Sum of market_cap: $3.4T (AAA); $950B (BBB)"),
    ],
)
def test_values_have_units_and_thousands(question: str, text: str) -> None:
    figure = compute(question, PEERS, TODAY)
    assert figure is not None
    assert figure.text == text


@pytest.mark.parametrize(
    "question",
    [
        "average close of Tesla",
        "average close adjusted for splits",
        "median close in rupees",
        "durchschnittlicher close",
        "最高 close",
        "Quel est le close moyen, average ?",
        "sum of all carryforwards of volume",
        "what is the 5 day average close?",
    ],
)
def test_a_word_that_is_not_used_up_makes_silent(question: str) -> None:
    assert compute(question, PRICES, TODAY) is None


PAIRS = from_grid(["a", "b"], [[1, 10], [2, 30]], "Pairs")
RATIO_QUESTION = "What is the ratio of b to a?"


async def written(sql: str, question: str = RATIO_QUESTION, *, able: bool = True) -> Figure | None:
    engine = ScriptedEngine(says(json.dumps({"sql": sql})))
    means = Means(engine, can_plan=passes_trial if able else fails_trial)
    if not await may_write(means, question):
        return None
    return await write_and_run(means, question, [PAIRS])


async def test_an_able_model_writes_the_query() -> None:
    figure = await written('SELECT sum("b") * 1.0 / sum("a") AS ratio FROM t1')
    assert figure is not None
    assert figure.text == "ratio 13.333333333333334"
    assert figure.rows[0]["ratio"] == 40 / 3


async def test_what_does_not_run_or_may_not_run_is_nothing() -> None:
    assert await written("SELECT c FROM t1") is None
    assert await written("DROP TABLE t1") is None
    assert await written("SELECT * FROM t1 WHERE a > 9") is None


async def test_small_models_and_plain_questions_are_not_asked() -> None:
    assert await written("SELECT 1", able=False) is None
    assert await written("SELECT 1", question="Tell me about it") is None


async def test_long_cells_are_shortened_and_cuts_are_said() -> None:
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40)"
    figure = await written(f"{rows} SELECT printf('%*c', 9000, 'x') AS body FROM n")
    assert figure is not None
    assert figure.text.startswith("First 12 of 40: body ")
    assert len(figure.text) < 12 * 100
    assert not figure.is_whole


async def test_other_answers_go_on_while_the_query_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, began, may_end = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def slow(*_: object) -> Answer:
        loop.call_soon_threadsafe(began.set)
        if not may_end.wait(60):
            raise Refused("The loop stood still.")
        return Answer(("n",), [(1,)], total=1)

    monkeypatch.setattr(figures, "query", slow)
    running = spawn(written("SELECT 1"), "query")
    await began.wait()
    may_end.set()
    figure = await running
    assert figure is not None
    assert figure.text == "n 1"


EXPOSURE = from_grid(
    ["sector", "exposure"],
    [["Estate", 912.4], ["Energy", 377.1], ["Retail", 251.9], ["Ships", 118.6]],
    "Exposure by Sector",
)


def test_an_average_per_name_that_has_one_row_is_none() -> None:
    assert compute("What is the average exposure per sector?", EXPOSURE, TODAY) is None
    figure = compute("total exposure per sector", EXPOSURE, TODAY)
    assert figure is not None
    assert figure.text.startswith("Sum of exposure: 912.4 (Estate); 377.1 (Energy)")


@pytest.mark.parametrize(
    "name", ["Total", "Gesamtsumme", "Zwischensumme", "Sous-total", "合计", "Σ", None, "Group"]
)
@pytest.mark.parametrize(
    "question", ["average exposure", "highest exposure", "total exposure by sector"]
)
def test_a_row_that_is_made_of_others_silences_what_is_computed_over_all(
    question: str, name: str | None
) -> None:
    rows = [*EXPOSURE.rows, (name, 1660.0)]
    table = from_grid(["sector", "exposure"], rows, "Exposure by Sector")
    assert compute(question, EXPOSURE, TODAY) is not None
    assert compute(question, table, TODAY) is None


@pytest.mark.parametrize(("name", "text"), [("Total", "exposure (Total): 1660"), ("Group", None)])
def test_a_total_that_is_there_is_looked_up_and_never_added(name: str, text: str | None) -> None:
    rows = [*EXPOSURE.rows, (name, 1660.0)]
    figure = compute("total exposure", from_grid(["sector", "exposure"], rows, "E"), TODAY)
    assert (figure.text if figure else None) == text


@pytest.mark.parametrize("name", ["Alle Filialen", "Tous", "Todas", "Group"])
def test_a_total_row_is_seen_by_any_of_its_columns(name: str) -> None:
    rows = [["Bonn", 80.2, 0.2], ["Trier", 60.1, 0.3], ["Jena", 50.0, 0.4]]
    head = ["Filiale", "Umsatz", "Quote"]
    assert compute("average Quote", from_grid(head, rows, "F"), TODAY) is not None
    assert (
        compute("average Quote", from_grid(head, [*rows, [name, 190.3, 0.3]], "F"), TODAY) is None
    )


def test_what_is_named_is_not_said_twice() -> None:
    figure = compute("What is the exposure of Energy?", EXPOSURE, TODAY)
    assert figure is not None
    assert figure.text == "exposure (Energy): 377.1"


def test_a_measure_stands_behind_its_amount() -> None:
    table = from_grid(["vessel", "size"], [["Aurelia", "76,500 t"], ["Fjord", "56,100 t"]], "Fleet")
    figure = compute("What is the average size?", table, TODAY)
    assert figure is not None
    assert figure.text == "Average size: 66,300 t"


LOANS = from_grid(
    ["loan", "balance", "maturity"],
    [["K-1", 100.0, "2027-03-31"], ["K-2", 640.0, "2025-02-28"], ["K-3", 910.0, "2035-12-31"]],
    "Loans",
)


@pytest.mark.parametrize(
    "question", ["latest balance", "How did balance change?", "total balance in 2027"]
)
def test_the_end_of_a_loan_is_not_the_time_of_its_balance(question: str) -> None:
    assert compute(question, LOANS, TODAY) is None
    figure = compute("What is the balance of K-2?", LOANS, TODAY)
    assert figure is not None
    assert figure.text == "balance (K-2): 640"


def test_nothing_grows_from_one_thing_to_another() -> None:
    trades = from_grid(
        ["id", "date", "price"],
        [["T-1", "2025-01-01", 5.0], ["T-2", "2025-01-02", 7.0], ["T-3", "2025-01-03", 90.0]],
        "Trades",
    )
    assert compute("How did price change?", trades, TODAY) is None
    figure = compute("latest price", trades, TODAY)
    assert figure is not None
    assert figure.text == "Latest price: 90 (T-3, 2025-01-03)"


MIGRATION = from_grid(
    ["from", "AAA", "BBB"], [["AAA", "92.1%", "0.2%"], ["BBB", "0%", "88.9%"]], "Migration"
)


@pytest.mark.parametrize("question", ["What is the average AAA?", "highest BBB", "AAA"])
def test_a_word_that_is_a_column_and_a_row_is_not_understood(question: str) -> None:
    assert compute(question, MIGRATION, TODAY) is None


@pytest.mark.parametrize("question", ["What is the total value?", "average value", "sum of total"])
def test_the_fields_of_one_object_are_not_added(question: str) -> None:
    table = from_json({"solvency": {"cet1": 0.14, "total": 0.18}, "cash": {"lcr": 1.43}}, "Capital")
    assert table is not None
    assert compute(question, table, TODAY) is None


@pytest.mark.parametrize("year", ["Année", "Jahr", "Geschäftsjahr", "año", "年度"])
def test_years_have_names_in_other_languages(year: str) -> None:
    table = from_grid([year, "Umsatz"], [[2023, 5.5], [2024, 7.25]], "Konzern")
    figure = compute("Umsatz 2024", table, TODAY)
    assert figure is not None
    assert figure.text == "Umsatz in 2024: 7.25 (2024)"


DEPOSITS = from_grid(
    ["month", "deposits", "fees", "Zinssatz", "IMO"],
    [["2025-01", 500.0, 3.5, 0.03, 9456], ["2025-02", 520.0, 4.5, 0.04, 9512]],
    "Branch Deposits",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What are the total deposits?", None),
        ("What is the average of deposits?", "Average deposits: 510"),
        ("What are the total fees?", "Sum of fees: 8"),
        ("What are the total fees by branch?", None),
        ("average deposits per customer", None),
        ("sum of Zinssatz", None),
        ("average IMO", None),
        ("total fees in February 2025", "Sum of fees from 2025-02-01 to 2025-02-28: 4.5"),
    ],
)
def test_only_amounts_that_add_up_are_added_and_no_group_is_left_out(
    question: str, text: str | None
) -> None:
    figure = compute(question, DEPOSITS, TODAY)
    assert (figure.text if figure else None) == text


TARGETS = from_grid(
    ["analyst", "date", "price_target", "fiscal_year", "shares_usd_mn"],
    [
        ["Ada", "2025-01-03", 110.0, 2023, 5.0],
        ["Ben", "2025-01-04", 140.0, 2024, 6.0],
        ["Ada", "2025-01-05", 90.0, 2025, 8.0],
    ],
    "Targets",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the latest price?", None),
        ("highest price", None),
        ("highest target", "Highest price_target: 140 (Ben, 2025-01-04)"),
        ("highest shares", "Highest shares_usd_mn: 8 (Ada, 2025-01-05)"),
        ("How did the price target change?", None),
        ("How did the fiscal year change?", None),
    ],
)
def test_half_a_name_names_nothing_and_trades_are_no_course(
    question: str, text: str | None
) -> None:
    figure = compute(question, TARGETS, TODAY)
    assert (figure.text if figure else None) == text


def test_the_time_of_a_bond_is_not_the_day_of_its_end() -> None:
    rows = [["A", 4.0, "2046-02-15"], ["A", 4.25, "2024-02-15"], ["B", 5.0, "2030-05-01"]]
    table = from_grid(["issuer", "coupon", "maturity"], rows, "Bonds")
    assert compute("latest coupon", table, TODAY) is None


def test_the_day_of_a_last_change_makes_no_rate_the_latest() -> None:
    rows = [["Fed", 4.5, "2025-05-01"], ["ECB", 2.5, "2025-06-01"], ["BoJ", 0.5, "2025-01-24"]]
    table = from_grid(["bank", "policy_rate", "last_change"], rows, "Rates")
    assert compute("latest policy rate", table, TODAY) is None
    figure = compute("policy rate of Fed", table, TODAY)
    assert figure is not None
    assert figure.text.startswith("policy_rate (Fed): 4.5")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("highest total", "Highest Total: 65 thousand (Rent)"),
        ("total of wages per share", "Total (Wages per share): 4"),
        ("highest rate", "Highest Rate: 5.1 (Rent)"),
    ],
)
def test_the_header_of_the_names_tells_the_scale_of_amounts(question: str, text: str) -> None:
    rows = [["Rent", 65, 5.1], ["Wages per share", 4, 2.5]]
    table = from_grid(["Cost (in thousands)", "Total", "Rate"], rows, "Costs")
    figure = compute(question, table, TODAY)
    assert figure is not None
    assert figure.text == text
