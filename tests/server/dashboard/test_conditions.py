"""Queries that leave out or confuse what the question names."""

from datetime import date

import pytest

from server.dashboard.conditions import (
    add_up,
    count_bare,
    difference_of,
    explain_column,
    explain_nothing,
    find_absent,
    find_contradiction,
    find_fault,
    find_nearest,
    left_out,
    propose,
    row_of_extreme,
    with_all_named,
    with_change_first,
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
    return propose(sql, question, TABLES, TODAY)


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
    sql = propose(f"SELECT 1 FROM {names}", "?", {"a": first, "b": second}, TODAY)
    assert sql.endswith(names[-15:].replace("who", "year"))
    same = "SELECT 1 FROM a JOIN b ON a.year = b.year"
    assert propose(same, "?", {"a": first, "b": second}, TODAY) == same


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
    assert propose(sql, "Lowest and highest?", {"prices": prices}, TODAY) == sql
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


SECTORS = from_grid(
    ("sector", "exposure"), [("Farms", 5), ("Trade", 6), ("Homes", 1), ("Total", 12)], "sectors"
)
TOTAL_ITEMS = from_grid(
    ("item", "amount"), [("Cash", 3), ("Debt", 6), ("Equity", 1), ("Total Assets", 31)], "balance"
)


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (
            "SELECT sector FROM sectors ORDER BY exposure DESC LIMIT 3",
            "SELECT sector FROM sectors WHERE sector IS NOT 'Total' ORDER BY exposure DESC LIMIT 3",
        ),
        (
            "SELECT AVG(exposure) FROM sectors WHERE exposure > 1 OR exposure < 0",
            "SELECT AVG(exposure) FROM sectors WHERE sector IS NOT 'Total' AND "
            "(exposure > 1 OR exposure < 0)",
        ),
        (
            "SELECT exposure FROM sectors WHERE sector = 'Total'",
            "SELECT exposure FROM sectors WHERE sector = 'Total'",
        ),
        (
            "SELECT MAX(exposure) FROM sectors WHERE sector = 'Total'",
            "SELECT MAX(exposure) FROM sectors WHERE sector = 'Total'",
        ),
        (
            "SELECT sector, exposure FROM sectors ORDER BY exposure DESC",
            "SELECT sector, exposure FROM sectors ORDER BY exposure DESC",
        ),
        (
            "SELECT item FROM balance ORDER BY amount DESC LIMIT 1",
            "SELECT item FROM balance ORDER BY amount DESC LIMIT 1",
        ),
    ],
)
def test_a_row_that_adds_up_the_others_is_not_one_of_them(sql: str, wanted: str) -> None:
    tables = {"sectors": SECTORS, "balance": TOTAL_ITEMS}
    assert propose(sql, "Which sectors?", tables, TODAY) == wanted


def test_a_share_is_of_the_whole_and_not_of_the_part_itself() -> None:
    share = "SELECT 100.0 * SUM(CASE WHEN item = 'Debt' THEN amount END) / SUM(amount) FROM balance"
    tables = {"balance": TOTAL_ITEMS}
    question = "What share of it is debt?"
    assert propose(f"{share} WHERE item = 'Debt'", question, tables, TODAY) == share
    more = f"{share} WHERE item = 'Debt' AND amount > 2"
    assert propose(more, question, tables, TODAY) == f"{share} WHERE amount > 2"
    assert propose(f"{share} WHERE amount > 2", question, tables, TODAY).endswith("amount > 2")
    for whole in ("SUM(other)", "COUNT(*)"):
        mean = f"{share} WHERE item = 'Debt'".replace("SUM(amount)", whole)
        assert propose(mean, question, tables, TODAY) == mean


GERMANY = from_grid(
    ("maturity", "yield", "country"), [("2Y", 1.9, "de"), ("5Y", 2.1, "de")], "germany"
)


def test_an_inner_query_of_several_rows_takes_the_conditions_of_the_outer_one() -> None:
    inner = "(SELECT yield FROM germany WHERE country = 'de')"
    sql = f"SELECT yield - {inner} AS difference FROM curve WHERE maturity = '5Y'"
    tables = {**TABLES, "germany": GERMANY}
    question = "How far apart are the yields at 5Y?"
    found = propose(sql, question, tables, TODAY)
    assert "FROM germany WHERE maturity = '5Y' AND country = 'de')" in found
    assert propose(found, question, tables, TODAY) == found
    one = Answer(("difference",), [(2.0,)], total=1)
    alone = f"SELECT yield - {inner} AS difference FROM curve LIMIT 1"
    assert "finds 2 rows" in find_fault(alone, "How far apart are they?", tables, one)
    listed = "SELECT yield FROM curve WHERE maturity IN (SELECT maturity FROM germany)"
    assert "finds 2 rows" not in find_fault(listed, "Which yields?", tables, one)


SURPRISES = from_grid(
    ("quarter", "actual", "estimate", "surprise", "percent_of_float"),
    [("Q1 2026", 3, 4.1, 1, 0.5), ("Q2 2026", 4, 0.7, 2, 0.7)],
    "surprises",
)


@pytest.mark.parametrize(
    ("chosen", "question", "wanted"),
    [
        ("estimate - actual AS surprise", "By how much was it beaten?", "surprise"),
        ("estimate - actual AS gap", "By how much was it beaten?", "estimate - actual AS gap"),
        (
            "percent_of_float * 100 / actual",
            "Short interest as a percentage of the float?",
            "percent_of_float",
        ),
        ("actual * 0.1 AS surprise", "If it were 10 %?", "actual * 0.1 AS surprise"),
        (
            "estimate - actual AS surprise",
            "How did it change from 2023 to 2024?",
            "estimate - actual AS surprise",
        ),
    ],
)
def test_a_column_that_holds_what_is_computed_is_taken(
    chosen: str, question: str, wanted: str
) -> None:
    tables = {"surprises": SURPRISES}
    rest = "FROM surprises WHERE quarter = 'Q2 2026'"
    found = propose(f"SELECT {chosen} {rest}", question, tables, TODAY)
    assert found == f"SELECT {wanted} {rest}"


MONTHS = from_grid(("month", "deposits"), [("2026-01", 3.9), ("2026-02", 4.1)], "months")


@pytest.mark.parametrize(
    ("condition", "question", "wanted"),
    [
        (
            " WHERE month BETWEEN '2026-02-01' AND '2026-02-28'",
            "The deposits in February 2026?",
            " WHERE month BETWEEN '2026-02' AND '2026-02'",
        ),
        (" WHERE month >= '2026-02-01'", "Since February 2026?", " WHERE month >= '2026-02'"),
        (" WHERE month BETWEEN '2026-11-01' AND '2026-11-30'", "Chart the deposits.", ""),
        (
            " WHERE month BETWEEN '2026-11-01' AND '2026-11-30'",
            "Chart the deposits of November 2026.",
            " WHERE month BETWEEN '2026-11' AND '2026-11'",
        ),
    ],
)
def test_time_is_compared_as_the_data_writes_it_and_only_where_it_is_asked_for(
    condition: str, question: str, wanted: str
) -> None:
    sql = "SELECT month, deposits FROM months"
    assert propose(f"{sql}{condition}", question, {"months": MONTHS}, TODAY) == f"{sql}{wanted}"


def test_all_years_are_not_listed_where_one_is_asked_for() -> None:
    other = from_grid(("fiscal_year", "net_income"), [(2023, 1), (2024, 2)], "other")
    tables = {"income": INCOME, "other": other}
    sql = (
        "SELECT fiscal_year, net_income FROM income UNION SELECT fiscal_year, net_income FROM other"
    )
    found = propose(sql, "Compare the net income in 2024.", tables, TODAY)
    assert found.count("WHERE fiscal_year = 2024") == 2
    for question in ("Compare the net income since 2024.", "The net income from 2023 to 2024?"):
        assert propose(sql, question, tables, TODAY) == sql
    one = "SELECT fiscal_year, net_income FROM income"
    assert propose(one, "The net income in 2024?", tables, TODAY).endswith(" fiscal_year = 2024")
    for question in (
        "How does net income in 2024 compare with the year before?",
        "Wie ist das net income 2024 im Vergleich zum Vorjahr?",
        "Was 2024 the best year for net income?",
        "Is the net income of 2024 above the average?",
    ):
        assert propose(one, question, tables, TODAY) == one


def test_a_share_is_asked_for_in_the_own_language_of_a_question() -> None:
    sql, own = "SELECT net_income FROM income WHERE fiscal_year = 2025", "2025年的净利率是多少?"
    one = Answer(("net_income",), [(7,)], total=1)
    assert "part of a whole" in find_fault(sql, "The net profit in 2025?", TABLES, one, own)
    assert not find_fault(sql, "The net profit in 2025?", TABLES, one)


def test_a_verb_asks_for_the_column_of_its_kin() -> None:
    table = from_grid(("year", "gdp", "growth"), [(2015, 5, 5.9), (2016, 6, 1.0)], "gdp")
    question = "In which year since 2015 did Japan grow fastest?"
    assert left_out("SELECT MAX(gdp) - MIN(gdp) FROM gdp", question, {"gdp": table}) == {"growth"}
    assert not left_out("SELECT year, growth FROM gdp", question, {"gdp": table})


DAILY = from_grid(
    ("port", "date", "mgo"),
    [(port, f"2026-10-{day}", 700.0 + day) for port in ("Rotterdam", "Oslo") for day in (18, 20)],
    "daily",
)
MONTHLY = from_grid(("month", "gkv"), [("2026-03", 5), ("2026-04", 6), ("2026-05", 7)], "monthly")
WEEKLY = from_grid(("week", "rate"), [("2026-W25", 5.0), ("2026-W26", 6.0)], "weekly")
SEGMENTS = from_grid(("segment", "revenue"), [("Services", 5), ("Devices", 6)], "segments")
TIMED = {"daily": DAILY, "monthly": MONTHLY, "weekly": WEEKLY, "segments": SEGMENTS} | TABLES
SHARE = (
    "SELECT 100.0 * SUM(CASE WHEN segment = 'Services' THEN revenue END) / SUM(revenue) "
    "FROM segments"
)


@pytest.mark.parametrize(
    ("sql", "question", "told"),
    [
        ("SELECT mgo FROM daily WHERE date = '2026-10-18'", "MGO on 20 October 2026?", "10-20"),
        ("SELECT mgo FROM daily WHERE date = '2026-10-20'", "MGO on 20 October 2026?", ""),
        (
            "SELECT mgo FROM daily WHERE date = '2026-10-18'",
            "MGO two days before 20 October 2026?",
            "",
        ),
        ("SELECT mgo FROM daily WHERE date = '2026-10-18'", "MGO on 21 October 2026?", ""),
        ("SELECT mgo FROM daily WHERE date >= '2026-10-18'", "MGO on 20 October 2026?", ""),
        ("SELECT gkv FROM monthly WHERE month = '2026-04'", "GKV in March 2026?", "2026-03"),
        ("SELECT gkv FROM monthly WHERE month = '2026-04'", "GKV from March to May 2026?", ""),
        ("SELECT net_income FROM income WHERE fiscal_year = 2023", "Net income in 2025?", "2025"),
        (
            "SELECT net_income FROM income WHERE fiscal_year = 2026 - 1",
            "Net income in 2025?",
            "",
        ),
        (
            "SELECT net_income FROM income WHERE fiscal_year = 2024",
            "Net income in the year before 2025?",
            "",
        ),
        (
            "SELECT net_income FROM income WHERE fiscal_year = 2024",
            "Jahresüberschuss im Vorjahr von 2025?",
            "",
        ),
        ("SELECT AVG(rate) FROM weekly", "The average rate in 2019?", "2019"),
        ("SELECT AVG(rate) FROM weekly", "The average rate in 2026?", ""),
        ("SELECT SUM(revenue) FROM segments", "The revenue in 2019?", ""),
        ("SELECT net_income FROM income", "Net income in 1999?", "1999"),
        (f"{SHARE} WHERE segment = 'Services'", "What share came from services?", "100 %"),
        (SHARE, "What share came from services?", ""),
        ("SELECT rate - rate FROM weekly", "How big is the difference?", "always 0"),
    ],
)
def test_a_query_that_contradicts_its_question_is_refused(
    sql: str, question: str, told: str
) -> None:
    found = find_contradiction(sql, (question,), TIMED, "", TODAY)
    assert told in found if told else found == ""


def test_a_time_of_a_parameter_or_an_earlier_query_is_considered() -> None:
    asked = ("The rate in 2019?",)
    average = "SELECT AVG(rate) FROM weekly"
    assert find_contradiction(average, asked, TIMED, "2019-01-01", TODAY) == ""
    asked = ("MGO on 20 October 2026 and at the end?",)
    first = "SELECT mgo FROM daily WHERE date = '2026-10-20'"
    second = "SELECT mgo FROM daily WHERE date = '2026-10-18'"
    assert find_contradiction(second, asked, TIMED, "", TODAY)
    assert find_contradiction(second, asked, TIMED, first, TODAY) == ""


def test_a_name_with_a_hyphen_is_no_difference() -> None:
    named = "SELECT revenue FROM segments WHERE segment = 'Cola - Cola zero'"
    assert find_contradiction(named, ("Revenue of Cola?",), TIMED, "", TODAY) == ""


def test_the_named_time_is_proposed_for_another() -> None:
    question = "MGO in Rotterdam and Oslo on 20 October 2026?"
    sql = "SELECT port, mgo FROM daily WHERE date = '2026-10-18'"
    assert propose(sql, question, TIMED, TODAY) == sql.replace("18", "20")
    sql = "SELECT net_income FROM income WHERE fiscal_year = 2023"
    assert propose(sql, "Net income in 2025?", TIMED, TODAY) == sql.replace("2023", "2025")


def test_the_values_of_a_plain_column_beside_aggregates_are_counted() -> None:
    sql = "SELECT item, MAX(y2024), MIN(y2024) FROM items WHERE y2025 > 1 ORDER BY 2 LIMIT 1"
    assert count_bare(sql, TABLES) == "SELECT COUNT(DISTINCT item) FROM items WHERE y2025 > 1"
    assert count_bare("SELECT item, MAX(y2024) FROM items", TABLES) == ""


def test_a_value_that_another_table_has_is_taken_from_there() -> None:
    """A widget that was read for two ports gives two tables."""
    days = ("2026-10-18", "2026-10-20")
    ports = {
        name: from_grid(("port", "date", "mgo"), [(port, day, 7.5) for day in days], name)
        for name, port in (("prices", "Rotterdam"), ("prices_houston", "Houston"))
    }
    one = "SELECT port, mgo FROM prices WHERE port = 'Houston' AND date = '2026-10-20'"
    question = "MGO in Rotterdam and Houston on 20 October 2026?"
    assert explain_nothing(one, ports).endswith(" prices_houston has 'Houston'.")
    assert propose(one, question, ports, TODAY) == one.replace("prices", "prices_houston")
    both = one.replace("= 'Houston'", "IN ('Rotterdam', 'Houston')")
    assert "but in prices_houston" in find_fault(both, question, ports, MANY)
    other = both.replace("FROM prices", "FROM prices_houston")
    assert propose(both, question, ports, TODAY) == f"{both} UNION ALL {other}"
    assert find_fault(f"{both} UNION ALL {other}", question, ports, MANY) == ""


CLINIC = from_grid(
    ("vet", "quarter", "month", "booked", "weight", "target"),
    [
        ("Dr. Ahmed", "Q3/2025", "2026-08", 24, 12.5, 10),
        ("Dr. Costa", "Q4/2025", "2026-09", 19, 8.5, 7),
        ("Petersen", "Q1/2026", "2026-10", 21, None, 3),
        ("Mueller", "KW 44/2026", "2026-11", 20, 3, None),
        ("Mueller-Lind", "KW 45/2026", "2026-12", 18, 4, 5),
    ],
    "clinic",
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Costa", "Dr. Costa"),
        ("dr. costa", "Dr. Costa"),
        ("Mr. Petersen", "Petersen"),
        ("Peter", "Petersen"),
        ("Mueller", "Mueller"),
        ("Dr.", ""),
        ("Ms. Lind", ""),
        ("", ""),
    ],
)
def test_a_name_that_is_written_in_another_way_is_found(text: str, wanted: str) -> None:
    assert find_nearest(text, [str(row[0]) for row in CLINIC.rows]) == wanted


@pytest.mark.parametrize(
    ("text", "values", "wanted"),
    [
        ("DVD", ["DVDs", "Books"], "DVDs"),
        ("慕尼黑", ["慕尼黑分行", "汉堡分行"], "慕尼黑分行"),
        ("Ibuprofène", ["Ibuprofène 400 mg", "Paracétamol"], "Ibuprofène 400 mg"),
        ("B", ["BBB", "A"], ""),
        ("2019-W20", ["2026-W20", "2026-W21"], ""),
    ],
)
def test_a_value_of_any_script_is_found_and_no_other(
    text: str, values: list[str], wanted: str
) -> None:
    assert find_nearest(text, values) == wanted


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("vet = 'Costa'", "vet = 'Dr. Costa'"),
        ("quarter = 'Q3 2025'", "quarter = 'Q3/2025'"),
        ("quarter = '2025-Q4'", "quarter = 'Q4/2025'"),
        ("quarter = 'Q3 2019'", "quarter = 'Q3 2019'"),
        ("vet = 'Dr. Ahmed'", "vet = 'Dr. Ahmed'"),
    ],
)
def test_a_value_that_the_column_writes_in_another_way_is_proposed(
    condition: str, wanted: str
) -> None:
    sql = "SELECT booked FROM clinic WHERE "
    found = propose(f"{sql}{condition}", "How many?", {"clinic": CLINIC}, TODAY)
    assert found == f"{sql}{wanted}"


def test_what_the_data_writes_in_another_way_is_not_absent() -> None:
    nothing = Answer(("booked",), [], total=0)
    for text, absent in (("Q3 2025", ""), ("Q3 2019", "Q3 2019")):
        sql = f"SELECT booked FROM clinic WHERE quarter = '{text}'"
        assert find_absent(sql, (f"Bookings in {text}?",), {"clinic": CLINIC}, nothing) == absent


def test_a_month_in_words_becomes_the_month_of_the_question() -> None:
    months = from_grid(("month", "booked"), [("2026-08", 24), ("2026-09", 19)], "months")
    sql = "SELECT booked FROM months WHERE month = 'September 2026'"
    for question in ("How many in September 2026?", "Wie viele im September 2026?"):
        found = propose(sql, question, {"months": months}, TODAY)
        assert found.endswith("WHERE month BETWEEN '2026-09' AND '2026-09'")


def test_a_share_of_another_share_is_not_computed_where_one_of_them_is_asked_for() -> None:
    rows = [("Energy", "15%", "16.4%"), ("Tech", "22%", "20%")]
    table = from_grid(("sector", "weight", "target"), rows, "sectors")
    sql = "SELECT target * weight / 100 FROM sectors WHERE sector = 'Energy'"
    for question, wanted in (
        ("What part is meant to sit in energy, by the target?", "SELECT target FROM"),
        ("What is target times weight of energy?", "SELECT target * weight / 100 FROM"),
    ):
        assert propose(sql, question, {"sectors": table}, TODAY).startswith(wanted)
    sql = sql.replace("target * weight / 100", "weight - target")
    assert propose(sql, "How far is energy from its target?", {"sectors": table}, TODAY) == sql


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (
            "SELECT MAX(booked) AS most FROM clinic WHERE booked < 24",
            "SELECT * FROM (SELECT * FROM clinic WHERE booked < 24) WHERE booked = 21",
        ),
        (
            "SELECT booked FROM clinic ORDER BY booked DESC LIMIT 1",
            "SELECT * FROM clinic ORDER BY booked DESC LIMIT 1",
        ),
        ("SELECT booked FROM clinic ORDER BY booked DESC LIMIT 3", ""),
        ("SELECT AVG(booked) FROM clinic", ""),
        ("SELECT booked FROM clinic WHERE vet = 'Costa'", ""),
        ("SELECT MAX(booked) FROM clinic GROUP BY vet", ""),
        ("SELECT MAX(a.booked) FROM clinic a JOIN clinic b ON a.vet = b.vet", ""),
        ("SELECT SUM(booked) FROM clinic ORDER BY booked LIMIT 1", ""),
    ],
)
def test_the_row_of_an_extreme_is_looked_up(sql: str, wanted: str) -> None:
    assert row_of_extreme(sql, Answer(("x",), [(21,)], total=1)) == wanted


BOOKED = from_grid(
    ("clinic", "month", "visits", "visits_growth"),
    [("Nord", "2026-01", 40, 5), ("Nord", "2026-02", 42, 3), ("Sued", "2026-01", 30, 4)],
    "bookings",
)
COSTS = from_grid(
    ("clinic", "month", "rent"), [("Nord", "2026-01", 9), ("Nord", "2026-02", 8)], "costs"
)
CLINICS = {"bookings": BOOKED, "costs": COSTS}


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        # The name is that of a column, which is meant.
        (
            "SELECT SUM(visits) AS visits_growth FROM bookings WHERE month = '2026-01'",
            "SELECT SUM(visits_growth) FROM bookings WHERE month = '2026-01'",
        ),
        (
            "SELECT 'a' AS whose, SUM(visits) AS visits_growth FROM bookings WHERE clinic = 'Nord' "
            "UNION ALL SELECT 'b' AS whose, SUM(visits_growth) FROM bookings WHERE clinic = 'Sued'",
            "SELECT 'a' AS whose, SUM(visits_growth) FROM bookings WHERE clinic = 'Nord' "
            "UNION ALL SELECT 'b' AS whose, SUM(visits_growth) FROM bookings WHERE clinic = 'Sued'",
        ),
        ("SELECT SUM(visits) AS seen FROM bookings", "SELECT SUM(visits) AS seen FROM bookings"),
        # The only table that has all columns.
        (
            "SELECT visits FROM costs WHERE clinic = 'Nord' AND month = '2026-02'",
            "SELECT visits FROM bookings WHERE clinic = 'Nord' AND month = '2026-02'",
        ),
        # A column of each table, under the same conditions.
        (
            "SELECT visits, rent FROM bookings WHERE clinic = 'Nord' AND month = '2026-02'",
            "SELECT visits, (SELECT rent FROM costs WHERE clinic = 'Nord' AND month = '2026-02') "
            "AS rent FROM bookings WHERE clinic = 'Nord' AND month = '2026-02'",
        ),
        (
            "SELECT visits, rent FROM bookings WHERE clinic LIKE '%o%' AND month = '2026-02'",
            "SELECT visits FROM bookings WHERE clinic LIKE '%o%' AND month = '2026-02'",
        ),
        # Two rows fit there, so it is not known which is meant.
        (
            "SELECT visits, rent FROM bookings WHERE clinic = 'Nord'",
            "SELECT visits FROM bookings WHERE clinic = 'Nord'",
        ),
    ],
)
def test_columns_are_taken_from_where_they_are(sql: str, wanted: str) -> None:
    assert propose(sql, "What was it?", CLINICS, TODAY) == wanted


def test_parts_are_added_up_if_a_total_is_asked_for() -> None:
    sql, parts = (
        "SELECT visits FROM bookings WHERE clinic = 'Nord'",
        Answer(("visits",), [(40,), (42,)], total=2),
    )
    asked = "What are the total visits of Nord?"
    wanted = sql.replace("visits FROM", "SUM(visits) AS total FROM")
    assert add_up(sql, asked, CLINICS, parts) == wanted
    assert "asks for a total" in find_fault(sql, asked, CLINICS, parts)
    assert add_up(sql, "What are the visits of Nord?", CLINICS, parts) == sql
    one = Answer(("visits",), [(40,)], total=1)
    assert add_up(sql, asked, CLINICS, one) == sql
    debts = from_grid(("item", "y2025"), [("Total debt", 8), ("Net debt", 3)], "debts")
    sql = "SELECT y2025 FROM debts"
    assert add_up(sql, "What is the total debt?", {"debts": debts}, MANY) == sql


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT a - b / b FROM t", "SELECT (a - b) / b FROM t"),
        ("SELECT 100 * (t.a - t.b / t.b) FROM t", "SELECT 100 * ((t.a - t.b) / t.b) FROM t"),
        (
            "SELECT MAX(a) - MIN(a) / MIN(a) * 100 FROM t",
            "SELECT (MAX(a) - MIN(a)) / MIN(a) * 100 FROM t",
        ),
        (
            "SELECT (SELECT a FROM t WHERE y = 2) - (SELECT a FROM t WHERE y = 1) "
            "/ (SELECT a FROM t WHERE y = 1) * 100 AS growth",
            "SELECT ((SELECT a FROM t WHERE y = 2) - (SELECT a FROM t WHERE y = 1)) "
            "/ (SELECT a FROM t WHERE y = 1) * 100 AS growth",
        ),
        ("SELECT (a - b) / b FROM t", "SELECT (a - b) / b FROM t"),
        ("SELECT a - b / c FROM t", "SELECT a - b / c FROM t"),
        ("SELECT a FROM t WHERE name = 'x - b/b'", "SELECT a FROM t WHERE name = 'x - b/b'"),
        ("SELECT a - b /", "SELECT a - b /"),
        (")/(", ")/("),
    ],
)
def test_a_change_is_taken_before_it_is_divided(sql: str, wanted: str) -> None:
    assert with_change_first(sql) == wanted


def test_the_row_that_adds_up_the_others_is_no_group_of_the_largest() -> None:
    rows = [("Lyon", 5), ("Porto", 3), ("Turku", 2), ("Total", 10)]
    tables = {"visits": from_grid(("town", "count"), rows, "visits")}
    sql = "SELECT town, MAX(count) FROM visits GROUP BY town ORDER BY MAX(count) DESC LIMIT 2"
    wanted = sql.replace("visits GROUP", "visits WHERE town IS NOT 'Total' GROUP")
    assert propose(sql, "Which two towns have the most?", tables, TODAY) == wanted
    every = "SELECT town, MAX(count) FROM visits GROUP BY town ORDER BY town"
    assert propose(every, "The visits of each town?", tables, TODAY) == every


def test_a_table_that_goes_by_two_names_is_one_owner() -> None:
    tables = {"costs": COSTS, "bookings_nord": BOOKED, "bookings": BOOKED}
    sql = "SELECT visits FROM costs WHERE clinic = 'Nord' AND month = '2026-02'"
    assert propose(sql, "How many?", tables, TODAY) == sql.replace("costs", "bookings_nord")


PRICES = from_grid(
    ("date", "price"),
    [("2025-12-20", 5), ("2026-10-02", 7), ("2026-10-20", 8), ("2026-12-20", 9)],
    "prices",
)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What was the price on October 20th?", "2026-10-20"),
        ("Was kostete es am 20. Oktober?", "2026-10-20"),
        ("10月20日的价格是多少?", "2026-10-20"),
        # In two years, or in none: nobody knows which is meant.
        ("What was the price on December 20th?", "2026-10-02"),
        ("What was the price on May 1st?", "2026-10-02"),
    ],
)
def test_a_day_without_a_year_is_of_the_only_year_of_the_data(question: str, day: str) -> None:
    sql = "SELECT price FROM prices WHERE date = '%s'"
    wrong = sql % "2026-10-02"
    assert propose(wrong, question, {"prices": PRICES}, TODAY) == sql % day
    contradiction = find_contradiction(wrong, [question], {"prices": PRICES}, "", TODAY)
    assert bool(contradiction) == (day != "2026-10-02")


@pytest.mark.parametrize(
    "sql",
    [
        ")/" * 50_000,
        "SELECT rent, visits FROM costs" + " " * 100_000 + "x",
        "SELECT rent, visits FROM costs WHERE " + ";" * 100_000 + "x",
    ],
)
@pytest.mark.timeout(60)
def test_a_query_made_to_be_slow_is_read_at_once(sql: str) -> None:
    assert propose(sql, "What was it in October?", CLINICS, TODAY)
