"""Queries that leave out or confuse what the question names."""

from datetime import date

import pytest

from server.dashboard.conditions import (
    difference_of,
    explain_column,
    explain_nothing,
    find_fault,
    left_out,
    put_right,
    with_all_named,
)
from server.data.sql import Answer
from server.data.tables import from_grid

TODAY = date(2026, 11, 17)
CURVE = from_grid(("maturity", "yield"), [("2Y", 3.9), ("5Y", 4.1), ("10Y", 4.2)], "curve")
ITEMS = from_grid(
    ("item", "y2024", "y2025"), [("Cash and Equivalents", 5, 6), ("Total Debt", 7, 8)], "items"
)
INCOME = from_grid(("fiscal_year", "net_income"), [(2023, 5), (2024, 6), (2025, 7)], "income")
SHORT = from_grid(
    ("day", "share"), [("2026-08-14", 1.0), ("2026-09-01", 2.0), ("2026-09-30", 3.0)], "short"
)
TABLES = {"curve": CURVE, "items": ITEMS, "income": INCOME, "short": SHORT}
MANY = Answer(("value",), [(1,), (2,)], total=2)


def right(sql: str, question: str) -> str:
    return put_right(sql, question, TABLES, TODAY)


def test_the_only_value_that_the_question_names_takes_the_place_of_another() -> None:
    sql = "SELECT yield FROM curve WHERE maturity = '10Y'"
    assert right(sql, "What is the 5-year yield?").endswith("maturity = '5Y'")
    assert right(sql, "What is the 10-year yield?") == sql
    assert right(sql, "What is the yield?") == sql
    assert right(sql, "How far apart are the 2-year and the 5-year yield?") == sql


def test_a_day_that_nobody_holds_becomes_the_time_of_the_question() -> None:
    sql = "SELECT share FROM short WHERE day = '2026-09-15'"
    wanted = "day BETWEEN '2026-09-01' AND '2026-09-30'"
    assert right(sql, "What was the share in September 2026?").endswith(wanted)
    assert right(sql, "What was the share on 2026-09-15?") == sql
    held = sql.replace("15", "30")
    assert right(held, "What was the share in September 2026?") == held


@pytest.mark.parametrize(
    ("sql", "question", "fault"),
    [
        ("SELECT net_income FROM income", "Net income in 2025?", "fiscal_year = 2025"),
        ("SELECT net_income FROM income WHERE fiscal_year = 2025", "Net income in 2025?", ""),
        ("SELECT fiscal_year, net_income FROM income", "Net income in 2025?", ""),
        ("SELECT net_income FROM income", "Net income in 1999?", ""),
        ("SELECT yield FROM curve WHERE maturity = '10Y'", "10-year less 2-year?", "'2Y'"),
        ("SELECT y2025 FROM items", "How much cash in 2025?", "item = 'Cash and Equivalents'"),
        ("SELECT y2025 FROM items", "How much in 2025?", ""),
        ("SELECT net_income FROM income WHERE fiscal_year = 2025 - 1", "In 2025?", "= 2025"),
        ("SELECT net_income FROM income WHERE fiscal_year = 2025 - 1", "In 2024?", ""),
        (
            "SELECT y2025 FROM items WHERE item = 'Total Debt'",
            "What share of it is total debt?",
            "divides nothing",
        ),
        ("SELECT y2024 / y2025 FROM items WHERE item = 'Total Debt'", "The margin?", ""),
        ("SELECT share FROM short", "What percentage of it?", ""),
        ("SELECT maturity, MAX(yield), MIN(yield) FROM curve", "The best?", "maturity stands"),
        ("SELECT maturity, MAX(yield) FROM curve", "The best?", ""),
        ("SELECT maturity, AVG(yield) FROM curve GROUP BY maturity", "The best?", ""),
    ],
)
def test_what_a_query_leaves_out_is_told(sql: str, question: str, fault: str) -> None:
    found = find_fault(sql, question, TABLES, MANY)
    assert fault in found
    assert bool(found) == bool(fault)


def test_why_nothing_is_found_is_told_by_the_value_that_is_not_there() -> None:
    told = explain_nothing("SELECT yield FROM curve WHERE maturity = '7Y'", TABLES)
    assert told == " maturity is never '7Y'; it holds '10Y', '2Y', '5Y'."
    assert explain_nothing("SELECT yield FROM curve WHERE maturity = '2Y'", TABLES) == ""


def test_a_join_of_what_is_never_equal_is_told() -> None:
    sql = "SELECT 1 FROM curve JOIN items ON curve.maturity = items.item"
    assert "curve.maturity is never equal to items.item" in explain_nothing(sql, TABLES)


@pytest.mark.parametrize("names", ["a JOIN b ON a.who = b.who", "a x JOIN b AS y ON x.who = y.who"])
def test_tables_without_a_common_value_are_joined_by_what_they_share(names: str) -> None:
    first = from_grid(("who", "year", "growth"), [("es", 2023, 1), ("es", 2024, 2)], "a")
    second = from_grid(("who", "year", "growth"), [("fr", 2023, 1), ("fr", 2024, 4)], "b")
    sql = put_right(f"SELECT 1 FROM {names}", "?", {"a": first, "b": second}, TODAY)
    assert sql.endswith(names[-15:].replace("who", "year"))
    same = "SELECT 1 FROM a JOIN b ON a.year = b.year"
    assert put_right(same, "?", {"a": first, "b": second}, TODAY) == same


def test_who_names_a_column_that_is_not_there_is_told_those_that_are() -> None:
    told = explain_column("no such column: y2025", "SELECT y2025 FROM income", TABLES)
    assert told == " income has the columns fiscal_year, net_income; y2025 is a column of items."
    told = explain_column("no such column: y2026.", "SELECT y2026 FROM short", TABLES)
    assert told.endswith("2026 is day BETWEEN '2026-01-01' AND '2026-12-31'.")
    assert explain_column("it took too long", "SELECT 1 FROM income", TABLES) == ""


def test_a_column_that_is_asked_for_and_not_used_is_seen() -> None:
    asked = "What was the net income?"
    assert left_out("SELECT fiscal_year AS net_income FROM income", asked, TABLES) == {"net"}
    assert left_out("SELECT net_income FROM income", asked, TABLES) == set()


def test_rows_that_two_tables_share_may_be_asked_for() -> None:
    sql = "SELECT item FROM items INTERSECT SELECT maturity FROM curve"
    assert right(sql, "Which are in both?") == sql
    assert "To list both: UNION ALL" in explain_nothing(sql, TABLES)


def test_both_extremes_stay_beside_what_is_the_same_in_every_row() -> None:
    prices = from_grid(("symbol", "close"), [("A", 1), ("A", 3)], "prices")
    sql = "SELECT symbol, MIN(close), MAX(close) FROM prices"
    assert put_right(sql, "Lowest and highest?", {"prices": prices}, TODAY) == sql
    answer = Answer(("symbol", "low", "high"), [("A", 1, 3)])
    assert find_fault(sql, "Lowest and highest?", {"prices": prices}, answer) == ""


def test_a_plain_column_keeps_the_row_of_one_extreme() -> None:
    sql = "SELECT maturity, MAX(yield) AS best, MAX(yield) - MIN(yield) AS gap FROM curve"
    assert right(sql, "Which is best?") == "SELECT maturity, MAX(yield) AS best FROM curve"
    sums = "SELECT maturity, SUM(yield) FROM curve"
    assert right(sums, "Which is best?") == sums


def test_a_column_less_itself_is_the_column() -> None:
    sql = "SELECT yield - yield FROM curve WHERE maturity = '2Y'"
    assert right(sql, "The 2-year yield?") == "SELECT yield FROM curve WHERE maturity = '2Y'"
    other = "SELECT y2025 - y2024 FROM items WHERE item = 'Total Debt'"
    assert right(other, "The change of the total debt?") == other


def test_a_query_that_takes_one_of_those_that_are_named_takes_all() -> None:
    def whole(sql: str, question: str) -> str:
        return with_all_named(sql, question, TABLES)

    one, both = "SELECT yield FROM curve WHERE maturity = '2Y'", "The 2-year and the 5-year yield?"
    taken = "SELECT maturity, yield FROM curve WHERE maturity IN ('2Y', '5Y')"
    assert sorted(whole(one, both)) == sorted(taken)
    assert whole(one.replace("yield", "AVG(yield)"), both).endswith(" GROUP BY maturity")
    assert whole(one, "The 2-year yield?") == one
    assert whole(f"{one} LIMIT 1", both) == f"{one} LIMIT 1"


@pytest.mark.parametrize(
    "asked", ["How far apart are they?", "Wie groß ist der Abstand?", "相差多少?"]
)
def test_the_difference_of_two_figures_is_computed_where_it_is_asked_for(asked: str) -> None:
    two = Answer(("maturity", "yield"), [("2Y", 3.9), ("5Y", 4.1)], total=2)
    one = 'SELECT "yield" FROM q1 LIMIT 1'
    wanted = f"SELECT ABS(({one}) - ({one} OFFSET 1)) AS difference"
    assert difference_of("q1", two, asked) == wanted
    assert difference_of("q1", two, "What are they?") == ""
    assert difference_of("q1", MANY, asked).startswith("SELECT")
    assert difference_of("q1", Answer(("a", "b"), [(1, 2), (3, 4)], total=2), asked) == ""


def test_a_column_of_another_table_is_left_out_beside_those_of_the_query() -> None:
    sql = "SELECT net_income, yield FROM income WHERE fiscal_year = 2024"
    asked = "The net income in 2024 and the yield?"
    assert right(sql, asked) == "SELECT net_income FROM income WHERE fiscal_year = 2024"
    strange = "SELECT net_income, made_up FROM income WHERE fiscal_year = 2024"
    assert right(strange, asked) == strange
    alone = "SELECT yield FROM income WHERE fiscal_year = 2024"
    assert right(alone, asked) == alone


def test_the_only_year_of_the_question_takes_the_place_of_another() -> None:
    sql = "SELECT net_income FROM income WHERE fiscal_year = 2024 - 1"
    wanted = "SELECT net_income FROM income WHERE fiscal_year = 2024"
    assert with_all_named(sql, "The net income in 2024?", TABLES) == wanted
    assert with_all_named(sql, "The net income in the year before 2024?", TABLES) == sql
