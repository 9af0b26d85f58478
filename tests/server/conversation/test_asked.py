from datetime import date

import pytest

from server.conversation.asked import best_column, understand
from server.conversation.tables import Table, from_grid

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
