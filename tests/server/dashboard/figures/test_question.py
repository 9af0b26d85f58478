from datetime import date

import pytest

from server.dashboard.figures.question import best_column, understand
from server.data.tables import Table, from_grid

TODAY = date(2025, 6, 20)
FIRMS = from_grid(
    ["symbol", "sector", "pe_ratio", "total_debt", "growth"],
    [
        ["AAA", "Energy", 10.5, 100, 1.0],
        ["BBB", "Energy", 20.5, 300, 2.0],
        ["CCC", "Tech", 30.5, 200, 3.0],
    ],
    "Firms",
)


@pytest.mark.parametrize(
    ("question", "operation", "column"),
    [
        ("average PE ratio", "mean", "pe_ratio"),
        ("total debt of AAA", "", "total_debt"),
        ("sum of total debt", "sum", "total_debt"),
        ("average growth by sector", "mean", "growth"),
        ("which company has the highest P/E?", "max", "pe_ratio"),
        ("how many Energy companies are there?", "count", None),
        ("top 2 by debt", "max", "total_debt"),
        ("the 2 companies with the lowest debt", "min", "total_debt"),
    ],
)
def test_computation_and_column(question: str, operation: str, column: str | None) -> None:
    asked = understand(question, FIRMS, TODAY)
    assert asked is not None
    assert (asked.operation, asked.column) == (operation, column)


def test_values_named_in_the_question_filter_the_rows() -> None:
    asked = understand("average debt in Energy", FIRMS, TODAY)
    assert asked is not None
    assert [(one.column, one.values) for one in asked.filters] == [("sector", ("Energy",))]


def test_short_values_must_be_written_as_they_are() -> None:
    asked = understand("average debt, aaa style", FIRMS, TODAY)
    assert asked is not None
    assert asked.filters == ()
    assert asked.left == {"aaa", "styl"}


def test_groups_are_columns_whose_values_repeat() -> None:
    asked = understand("mean debt per sector", FIRMS, TODAY)
    assert asked is not None
    assert asked.group == "sector"


@pytest.mark.parametrize(
    "question", ["Say hello", "What is the latest news?", "Describe the companies", "average mood"]
)
def test_questions_that_compute_nothing(question: str) -> None:
    assert understand(question, FIRMS, TODAY) is None


def test_a_whole_name_counts_more_than_a_part() -> None:
    table: Table = from_grid(["net_income", "income_tax_paid"], [[1, 2]], "T")
    found = best_column("what is the net income?", table.columns)
    assert found is not None
    assert found.name == "net_income"


@pytest.mark.parametrize(
    "question",
    [
        "how many companies have a pe ratio above 25?",
        "average debt of companies with over 150 in debt",
        "total debt excluding AAA",
        "sum of total debt without Energy",
        "average debt, but not of AAA",
        "which sector has the highest average debt?",
        "top 1 sector by sum of total debt",
        "average and sum of total debt",
        "average debt per year",
        "weighted average pe ratio",
        "average debt in 2024",
        "latest pe ratio",
        "how many people carry debt?",
    ],
)
def test_what_is_not_understood_is_not_computed(question: str) -> None:
    assert understand(question, FIRMS, TODAY) is None


def test_what_is_different_is_counted_where_a_column_is_named() -> None:
    asked = understand("How many sectors are there?", FIRMS, TODAY)
    assert asked is not None
    assert (asked.operation, asked.column) == ("distinct", "sector")


def test_a_word_of_a_column_s_name_is_no_computation() -> None:
    table = from_grid(["commodity", "price", "change_1m"], [["Oil", 1, 2], ["Gas", 3, 4]], "T")
    asked = understand("Which commodity has the highest change?", table, TODAY)
    assert asked is not None
    assert (asked.operation, asked.column) == ("max", "change_1m")


def test_years_that_are_columns_are_the_time_asked_for() -> None:
    table = from_grid(["item", "2024", "2023"], [["Revenue", 4, 3], ["Costs", 2, 1]], "T")
    asked = understand("What was Revenue in 2023?", table, TODAY)
    assert asked is not None
    assert (asked.operation, asked.column, asked.span) == ("", "2023", None)
    assert understand("total from 2023 to 2024", table, TODAY) is None


def test_a_time_in_the_name_of_a_column_is_no_span() -> None:
    rows = [["2025-01-01", 1.0], ["2024-01-01", 2.0]]
    table = from_grid(["date", "ytd_return"], rows, "T")
    assert understand("average YTD return", table, TODAY) is None


def test_a_fiscal_year_is_asked_of_years_only() -> None:
    dated = from_grid(["date", "revenue"], [["2025-01-01", 1], ["2024-01-01", 2]], "T")
    assert understand("total revenue in FY2025", dated, TODAY) is None
    years = from_grid(["fiscal_year", "revenue"], [[2025, 1], [2024, 2]], "T")
    assert understand("total revenue in FY2025", years, TODAY) is not None


def test_another_column_is_not_taken_for_one_that_cannot_be_added_up() -> None:
    rows = [["A", "$1,000", 10], ["B", "€2,000", 20]]
    mixed = from_grid(["name", "value", "pe"], rows, "Holdings")
    assert understand("total value", mixed, TODAY) is None
    only = understand("what is the total?", mixed, TODAY)
    assert only is not None
    assert only.column == "pe"


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Please, what is the average debt?", set()),
        ("average debt of Energy companies", set()),
        ("average debt of Tesla", {"tesla"}),
        ("average debt covenant", {"covenant"}),
        ("average debt in euros", {"euro"}),
        ("durchschnittliche debt, average", {"durchschnittlich"}),
        ("how many Energy insiders are there?", {"insider"}),
    ],
)
def test_words_that_nothing_uses_up_are_told(question: str, left: set[str]) -> None:
    asked = understand(question, FIRMS, TODAY)
    assert asked is not None
    assert asked.left == left


def test_what_was_read_uses_up_its_name() -> None:
    rows = [["2025-01-01", 1.0], ["2025-01-02", 2.0]]
    table = from_grid(["date", "close"], rows, "Prices")
    for about, left in (("Prices AAPL", set()), ("Prices MSFT", {"aapl"})):
        asked = understand("average close of AAPL", table, TODAY, about)
        assert asked is not None
        assert asked.left == left


def test_of_two_columns_that_fit_equally_neither_is_taken() -> None:
    table = from_grid(["name", "net_income", "gross_income"], [["A", 1, 2], ["B", 3, 4]], "T")
    assert understand("average income", table, TODAY) is None
    asked = understand("average net income", table, TODAY)
    assert asked is not None
    assert asked.column == "net_income"


@pytest.mark.parametrize(
    "question", ["sum of value", "average value", "highest value", "How many rows are there?"]
)
def test_a_total_among_the_rows_is_not_added_up(question: str) -> None:
    totals = from_grid(["name", "value"], [["A", 1], ["B", 2], ["Total", 3]], "T")
    assert understand(question, totals, TODAY) is None
    assert understand("value of A", totals, TODAY) is not None


def test_currencies_are_not_mixed_and_rates_are_not_added() -> None:
    rows = [["A", "USD", 1, "5%"], ["B", "EUR", 2, "6%"]]
    table = from_grid(["name", "currency", "value", "coupon"], rows, "T")
    assert understand("total value", table, TODAY) is None
    assert understand("total value in USD", table, TODAY) is not None
    same = from_grid(["name", "value", "coupon"], [["A", "$1", "5%"], ["B", "$2", "6%"]], "T")
    assert understand("total coupon", same, TODAY) is None
    assert understand("average coupon", same, TODAY) is not None
    assert understand("total value in €", same, TODAY) is None


def test_the_largest_row_is_not_the_largest_of_its_kind() -> None:
    rows = [["A", "Tech", 5], ["B", "Energy", 4], ["C", "Energy", 4]]
    table = from_grid(["symbol", "sector", "weight"], rows, "Holdings")
    assert understand("Which sector has the highest weight?", table, TODAY) is None
    assert understand("Which company has the highest weight?", table, TODAY) is not None


def test_a_company_needs_no_legal_form() -> None:
    rows = [["AAPL", "Apple Inc.", 5], ["TGT", "Target Corp.", 4]]
    table = from_grid(["symbol", "name", "weight"], rows, "Holdings")
    asked = understand("weight of Apple", table, TODAY)
    assert asked is not None
    assert asked.filters[0].values == ("Apple Inc.",)
    assert understand("target weight", table, TODAY) is None


def test_a_word_of_the_tables_name_does_not_stand_for_half_a_column() -> None:
    yields = from_grid(
        ["coin", "staked_share", "reward"], [["Ethereum", 32.3, 8.5], ["Solana", 60.0, 7.1]],
        "Staking Yields",
    )  # fmt: skip
    asked = understand("What is the staking yield of Ethereum?", yields, TODAY)
    assert asked is None or asked.left
    whole = understand("What is the staked share of Ethereum?", yields, TODAY)
    assert whole is not None
    assert not whole.left
