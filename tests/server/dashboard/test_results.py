"""Data as backends really send it: what the model is told of it, and whether SQL reaches it."""

import json
from typing import Any

import pytest

from server.dashboard.materials import gather
from server.dashboard.query import Element, Item, Query, Result, Source, Widget
from server.dashboard.results import Computed, Results
from server.data.sql import Answer, Refused
from server.data.tables import Cell

WIDGET = Widget("o", "odd", "Odd", uuid="u")


def take(*contents: Any, question: str = "What is the total?") -> tuple[Results, str]:
    """What was told of the last."""
    results, told = Results(question, 1500), ""
    for content in contents:
        text = content if isinstance(content, str) else json.dumps(content)
        data = Result(
            "get_widget_data", {}, (Source("o", "odd", "u"),), (Element((Item(text),)),), 1
        )
        (material,) = gather(Query((), question, 1, (WIDGET,), (data,)))
        told = results.add(material, "odd")
    return results, told


async def first_row(results: Results, sql: str) -> tuple[Cell, ...]:
    return (await results.query(sql)).rows[0]


@pytest.mark.parametrize("content", ["", "null", "{}", "[]", "[{}]", "[[], []]", "[null]"])
async def test_a_source_without_data_says_so_and_spoils_no_query(content: str) -> None:
    results, told = take([{"v": 7}], content)
    assert "no data came" in told
    assert await first_row(results, "SELECT v FROM odd") == (7,)


@pytest.mark.parametrize(
    ("header", "name"),
    [("select", "select_1"), ('he said "hi"', "he_said_hi"), ("it's; --", "it_s"),
     ("2024", "y2024"), ("Revenue ($)", "revenue"), ("%", "column"), ("🚀", "column"),
     ("价格", "价格")],
)  # fmt: skip
async def test_any_header_has_a_name_for_sql(header: str, name: str) -> None:
    results, _ = take([{"a": 1, header: 5}])
    assert await first_row(results, f"SELECT {name} FROM odd") == (5,)


async def test_columns_of_the_same_name_are_told_apart() -> None:
    results, told = take([["a", "A", "a "], [1, 2, 3]])
    assert await first_row(results, "SELECT a, a_2, a_3 FROM odd") == (1, 2, 3)
    assert "a_3 (number: 3)" in told


async def test_long_headers_keep_the_words_in_which_they_differ() -> None:
    headers = [f"Change of the costs between the fiscal years {one}, in thousands"
               for one in ("2019 and 2018", "2018 and 2017")]  # fmt: skip
    results, _ = take([["Item", *headers], ["Rent", 5, 3]])
    names = "change_of_the_costs_betwee_2019_and_2018, change_of_the_costs_betwee_2018_and_2017"
    assert await first_row(results, f"SELECT {names} FROM odd") == (5, 3)


async def test_sql_computes_with_amounts_in_several_units() -> None:
    rows = [["Item", "2024", "2023"], ["Sales", "$1,200", "$1,000"], ["Costs", "(900)", "(800)"],
            ["Margin", "25.0%", "20.0%"]]  # fmt: skip
    results, told = take(rows)
    assert "Margin, 25, 20, %" in told
    change = "SELECT y2024 - y2023, unit FROM odd WHERE item = 'Sales'"
    assert await first_row(results, change) == (200, "$")


async def test_a_single_column_of_amounts_in_several_units_stays_as_it_is() -> None:
    _, told = take([{"name": "Price", "value": "$12.50"}, {"name": "Yield", "value": "0.5%"}])
    assert "Price, $12.50" in told


@pytest.mark.parametrize(
    ("days", "first"),
    [
        (["31/01/2025", "28/02/2025"], "2025-01-31"),
        (["2025-01-31", "02/28/2025", "31.03.2025", "Apr 30, 2025"], "2025-01-31"),
        (["Jan 2025", "Feb 2025"], "2025-01"),
        (["1. März 2025", None], "2025-03-01"),
    ],
)
async def test_days_of_any_form_are_compared_by_sql(days: list[str | None], first: str) -> None:
    results, told = take([{"day": day, "v": number} for number, day in enumerate(days)])
    assert await first_row(results, "SELECT MIN(day) FROM odd") == (first,)
    assert f"day (date: {first}" in told


async def test_days_that_may_be_two_stay_as_they_are() -> None:
    results, _ = take([{"day": "03/04/2025", "v": 1}])
    assert await first_row(results, "SELECT day FROM odd") == ("03/04/2025",)


def test_units_are_told() -> None:
    rows = [{"Revenue ($m)": 5, "Cap": "$3.4T", "Weight %": 2, "Value": "₹12,34,567", "n": 1}]
    _, told = take(rows)
    for column in ("revenue_m (number in $m: 5)", "cap (number in $: ", "weight (number in %: 2)",
                   "value (number in ₹: 1234567)", "n (number: 1)"):  # fmt: skip
        assert column in told


async def test_of_a_wide_table_the_columns_are_told_that_the_question_names() -> None:
    wide = [{f"c{number}": number for number in range(150)} | {"growth": 8}] * 3
    results, told = take(wide, question="What was the growth?")
    assert "growth (number: 8)" in told
    assert len(told) < 3000
    assert "c149" in told
    assert await first_row(results, "SELECT c149 FROM odd") == (149,)


def test_a_table_of_nothing_but_nulls_is_told() -> None:
    _, told = take([{"a": None}, {"a": None}])
    assert "table odd, 2 rows" in told
    assert "a (empty)" in told


async def test_a_query_may_name_columns_by_their_headers() -> None:
    rows = [{"from": "A", "Coût du risque (M€)": 3}, {"from": "B", "Coût du risque (M€)": 5}]
    results, _ = take(rows)
    sql = 'SELECT [Coût du risque (M€)] FROM odd WHERE "from" = "A"'
    with pytest.raises(Refused):
        await results.query(sql)
    assert await first_row(results, sql.replace('"A"', "'A'")) == (3,)
    assert await first_row(results, "SELECT from_1 FROM odd WHERE 'from' = 'from'") == ("A",)


LEASES = [
    {"owner": "Hansen", "plot": "12/7", "rent": 31200},
    {"owner": "Au", "plot": "3/1", "rent": None},
    {"owner": "Petersen", "plot": "12/4", "rent": 28500},
]


async def test_what_has_no_figure_is_not_the_lowest() -> None:
    results, _ = take(LEASES)
    for order in ("rent", "rent ASC"):
        sql = f"SELECT owner FROM odd ORDER BY {order} LIMIT 1"
        assert await first_row(results, sql) == ("Petersen",)
    assert await first_row(results, "SELECT owner FROM odd ORDER BY rent DESC LIMIT 1") == (
        "Hansen",
    )


async def test_an_extreme_is_told_with_its_row() -> None:
    results, _ = take(LEASES)
    told = await results.run("SELECT MIN(rent) AS least FROM odd")
    assert "The row it is from: Owner: Petersen, Plot: 12/4" in told
    told = await results.run("SELECT owner FROM odd ORDER BY rent DESC LIMIT 1")
    assert "The row it is from: Plot: 12/7, Rent: 31,200" in told
    twice, _ = take([*LEASES, {"owner": "Lind", "plot": "9", "rent": 28500}])
    assert "The row" not in await twice.run("SELECT MIN(rent) FROM odd"), "it may be of either"


async def test_the_tables_of_a_query_come_with_what_their_widget_is_about() -> None:
    about = Widget("o", "odd", "Leases", "Rent of a year, in thousands", uuid="u")
    data = Result(
        "get_widget_data", {}, (Source("o", "odd", "u"),),
        (Element((Item(json.dumps(LEASES)),)),), 1,
    )  # fmt: skip
    (material,) = gather(Query((), "?", 1, (about,), (data,)))
    results = Results("?", 1500)
    results.add(material, "leases")
    assert results.described()[0].startswith("Rent of a year, in thousands:\ntable leases, 3 rows")


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("net_margin", "Net margin: 7"),
        ("SUM(net)", "Sum of net: 7"),
        ("count(*)", "Number of rows: 7"),
        ("revenue / eps", "Revenue / eps: 7"),
        ("SUM(CASE WHEN rating = 'BBB' THEN aaa ELSE 0 END) * 100 / SUM(aaa)", "Result: 7"),
    ],
)
def test_a_computation_without_a_name_is_told_in_words(column: str, told: str) -> None:
    answer = Answer((column,), [(7,)], total=1)
    assert Computed("q1", "SELECT 7", answer).line((7,)) == told


async def test_a_dash_beside_a_unit_is_no_text() -> None:
    results, _ = take([["Item", "Cost"], ["Rent", "$5"], ["Tax", "$\u2014"], ["Fee", "\u2013 %"]])
    assert await first_row(results, "SELECT SUM(cost), COUNT(cost) FROM odd") == (5, 1)
